// The alarm of the board: rings until an order is accepted or silenced, more urgently near its deadline. All sounds are synthesised.
(() => {
  "use strict";
  const KEY = "alarm";
  const TICK = 500;
  const URGENT_EVERY = 3;
  const CANCELLED_EVERY = 10;
  const LOST_EVERY = 30;
  const LAST_MINUTE = 60000;
  const DEFAULTS = { isOn: true, volume: 80, sound: "bell", every: 8, mutedUntil: 0 };

  // Notes: start in seconds, pitch in Hz, length in seconds.
  const SOUNDS = {
    bell: { shape: "sine", notes: [[0, 880, 0.6], [0, 1760, 0.4], [0.25, 1175, 0.7], [0.25, 2350, 0.4]] },
    chime: { shape: "triangle", notes: [[0, 659, 0.3], [0.16, 784, 0.3], [0.32, 1047, 0.6]] },
    beep: { shape: "square", notes: [[0, 988, 0.14], [0.22, 988, 0.14]] },
    marimba: { shape: "sine", notes: [[0, 523, 0.25], [0.12, 784, 0.25], [0.24, 523, 0.25], [0.36, 988, 0.4]] },
  };
  const CANCELLED = { shape: "sawtooth", notes: [[0, 523, 0.3], [0.3, 415, 0.3], [0.6, 311, 0.6]] };
  const LOST = { shape: "square", notes: [[0, 196, 0.25], [0.4, 147, 0.5]] };

  let settings = load();
  let audio = null;

  function load() {
    let saved = {};
    try { saved = JSON.parse(localStorage.getItem(KEY)) ?? {}; } catch { /* Storage is disabled, or holds something else. */ }
    const loaded = { ...DEFAULTS, ...saved };
    if (!(loaded.sound in SOUNDS)) loaded.sound = DEFAULTS.sound;
    for (const name of ["volume", "every", "mutedUntil"])
      if (!Number.isFinite(loaded[name])) loaded[name] = DEFAULTS[name];
    return loaded;
  }
  function change(values) {
    settings = { ...settings, ...values };
    try { localStorage.setItem(KEY, JSON.stringify(settings)); } catch { /* The default is used next time. */ }
  }

  function context() {
    if (!audio) try { audio = new AudioContext(); } catch { /* Without sound the card is still shown. */ }
    return audio;
  }
  const isHeld = () => settings.isOn && context()?.state === "suspended";
  const isMuted = () => settings.mutedUntil > Date.now();

  // Plays a sound; the urgent form is higher and comes three times.
  function play({ shape, notes }, isUrgent) {
    const output = context();
    if (output?.state !== "running") return false;
    const volume = output.createGain();
    volume.gain.value = (settings.volume / 100) * (shape === "square" || shape === "sawtooth" ? 0.3 : 0.7);
    volume.connect(output.destination);
    const length = Math.max(...notes.map(([at, , lasts]) => at + lasts));
    const repeats = isUrgent ? [0, 0.6 * length, 1.2 * length] : [0];
    for (const later of repeats)
      for (const [at, pitch, lasts] of notes) {
        const start = output.currentTime + at + later;
        const tone = output.createOscillator();
        const fade = output.createGain();
        tone.type = shape;
        tone.frequency.value = isUrgent ? pitch * 1.26 : pitch;
        fade.gain.setValueAtTime(0.5, start);
        fade.gain.exponentialRampToValueAtTime(0.001, start + lasts);
        tone.connect(fade).connect(volume);
        tone.start(start);
        tone.stop(start + lasts + 0.05);
      }
    return true;
  }
  function sound(tones, isUrgent) {
    return settings.isOn && !isMuted() && play(tones, isUrgent);
  }

  // Browsers mute the sound until the first interaction with the page.
  for (const touch of ["pointerdown", "keydown"])
    addEventListener(touch, () => { if (audio?.state === "suspended") audio.resume(); }, true);

  // The connection to the server is lost: on every page.
  let lostTimer = 0;
  addEventListener("connection-lost", () => {
    sound(LOST);
    clearInterval(lostTimer);
    lostTimer = setInterval(() => sound(LOST), LOST_EVERY * 1000);
  });
  addEventListener("connection-back", () => clearInterval(lostTimer));

  const board = document.querySelector("[data-stream]");
  const button = document.getElementById("sound");
  if (!board || !button) return;

  const silence = document.getElementById("silence");
  const opener = document.getElementById("alarm-open");
  const dialog = document.getElementById("alarm-settings");
  const said = document.getElementById("alarm-said");
  // Offset of the server's clock: the tablet's may be wrong.
  const clockOffset = board.dataset.now ? Number(board.dataset.now) - Date.now() : 0;
  // Orders that were silenced here, each with the level at which it was.
  const silenced = new Map();
  const known = new Map();
  let lastRing = 0;
  let lastCancelled = 0;
  let silenceCount = "";

  function level(card) {
    if (card.querySelector(".cancelled-notice")) return "cancelled";
    if ("held" in card.dataset || !card.querySelector('button[name="do"][value="verify"]')) return "";
    if ("escalated" in card.dataset) return "urgent";
    const by = Number(card.dataset.acceptBy);
    if (!by) return "waiting";
    const left = by - (Date.now() + clockOffset);
    const isLate = left < LAST_MINUTE || left < (by - Number(card.dataset.created)) / 3;
    return isLate ? "urgent" : "waiting";
  }

  // What rings now, by level. A silenced order rings again when it gets more urgent.
  function ringing() {
    const found = { waiting: 0, urgent: 0, cancelled: 0 };
    const present = new Map();
    for (const card of board.querySelectorAll(".order")) {
      const now = level(card);
      if (!now) continue;
      present.set(card.id, now);
      if (known.get(card.id) !== now) announce(card, now);
      if (silenced.get(card.id) !== now) found[now] += 1;
    }
    for (const id of silenced.keys()) if (!present.has(id)) silenced.delete(id);
    known.clear();
    for (const [id, now] of present) known.set(id, now);
    return found;
  }
  let hasLooked = false;
  function announce(card, now) {
    // A change of an order rings at once.
    if (now === "cancelled") lastCancelled = 0;
    else lastRing = 0;
    if (hasLooked && now !== "waiting") said.textContent = `${said.dataset[now]}: ${card.getAttribute("aria-label")}`;
  }

  function tick() {
    const found = ringing();
    hasLooked = true;
    const count = found.waiting + found.urgent + found.cancelled;
    const mayRing = count > 0 && settings.isOn && !isMuted();
    silence.hidden = !mayRing;
    if (mayRing && silenceCount !== count) {
      silence.dataset.label ??= silence.textContent;
      silence.textContent = `${silence.dataset.label} (${count})`;
      silenceCount = count;
    }
    show();
    if (!mayRing) return;
    const now = Date.now();
    if (found.cancelled && now - lastCancelled >= CANCELLED_EVERY * 1000) {
      if (sound(CANCELLED)) lastCancelled = now;
      return;
    }
    const every = found.urgent ? Math.min(URGENT_EVERY, settings.every) : settings.every;
    if (found.waiting + found.urgent && now - lastRing >= every * 1000)
      if (sound(SOUNDS[settings.sound], found.urgent > 0)) lastRing = now;
  }

  function show() {
    const minutes = Math.ceil((settings.mutedUntil - Date.now()) / 60000);
    const text = !settings.isOn ? button.dataset.off
      : isHeld() ? button.dataset.held
      : isMuted() ? `${button.dataset.muted}: ${minutes} ${button.dataset.minutes}`
      : button.dataset.on;
    const label = button.firstElementChild;
    if (label.textContent !== text) label.textContent = button.title = text;
    button.setAttribute("aria-pressed", String(settings.isOn && !isHeld() && !isMuted()));
  }

  // If the browser muted the sound, the interaction itself has enabled it.
  let wasHeld = false;
  for (const touch of ["pointerdown", "keydown"])
    button.addEventListener(touch, () => { wasHeld = isHeld(); }, true);
  button.addEventListener("click", () => {
    if (wasHeld) wasHeld = false;
    else if (settings.isOn && isMuted()) change({ mutedUntil: 0 });
    else change({ isOn: !settings.isOn });
    tick();
  });
  addEventListener("pointerdown", (event) => { if (button.contains(event.target)) wasHeld = isHeld(); }, true);
  silence.addEventListener("click", () => {
    for (const card of board.querySelectorAll(".order")) {
      const now = level(card);
      if (now) silenced.set(card.id, now);
    }
    tick();
    button.focus();
  });

  // Settings of this device.
  const fields = { volume: "alarm-volume", sound: "alarm-sound", every: "alarm-every" };
  for (const [name, id] of Object.entries(fields)) {
    const field = document.getElementById(id);
    const save = () => change({ [name]: name === "sound" ? field.value : Number(field.value) });
    for (const kind of ["input", "change"]) field.addEventListener(kind, save);
  }
  function fill() {
    for (const [name, id] of Object.entries(fields)) document.getElementById(id).value = settings[name];
  }
  opener.addEventListener("click", () => { fill(); dialog.showModal(); });
  document.getElementById("alarm-close").addEventListener("click", () => dialog.close());
  document.getElementById("alarm-test").addEventListener("click", () => play(SOUNDS[settings.sound]));
  dialog.addEventListener("click", (event) => {
    const minutes = event.target.dataset?.mute;
    if (minutes === undefined) return;
    change({ mutedUntil: minutes === "0" ? 0 : Date.now() + Number(minutes) * 60000 });
    tick();
    dialog.close();
  });
  addEventListener("storage", (event) => { if (event.key === KEY) { settings = load(); tick(); } });

  // The kitchen has nothing to accept: an order rings once when it arrives there.
  board.addEventListener("board:card", (event) => {
    if (event.detail.isArrival && board.matches(".kitchen")) sound(SOUNDS[settings.sound]);
  });
  context()?.addEventListener("statechange", tick);
  button.hidden = opener.hidden = false;
  new MutationObserver(tick).observe(board, { childList: true, subtree: true });
  setInterval(tick, TICK);
  tick();
})();
