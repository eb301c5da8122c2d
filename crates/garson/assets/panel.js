// Adds the live parts; every action works without it.
"use strict";

const board = document.getElementById("board");
if (board) live(board);

function live(board) {
  const status = document.getElementById("live");
  const sound = document.getElementById("sound");
  const said = document.getElementById("said");
  status.hidden = sound.hidden = false;
  // How far the service's clock is ahead of this machine's, which may be wrong.
  const ahead = Number(board.dataset.now) - Date.now();

  // Sound: on unless it was switched off in this browser. Browsers are silent until somebody has touched the page.
  let loud = remembered("sound") !== "off";
  let audio = null;
  try { audio = new AudioContext(); } catch { /* A browser without sound shows the card all the same. */ }
  const showSound = () => {
    const isHeld = loud && audio?.state === "suspended";
    sound.textContent = isHeld ? sound.dataset.held : loud ? sound.dataset.on : sound.dataset.off;
    sound.setAttribute("aria-pressed", String(loud && !isHeld));
  };
  sound.addEventListener("click", () => {
    // What is only held back is let go by the touch itself.
    if (!sound.dataset.wasHeld) loud = !loud;
    remember("sound", loud ? "on" : "off");
    showSound();
    ring();
  });
  for (const touch of ["pointerdown", "keydown"])
    addEventListener(touch, (event) => {
      const isHeld = loud && audio?.state === "suspended";
      sound.dataset.wasHeld = isHeld && sound.contains(event.target) ? "1" : "";
      if (isHeld) audio.resume();
    }, true);
  audio?.addEventListener("statechange", showSound);
  showSound();

  // Another restaurant is shown as soon as it is chosen.
  const filter = document.getElementById("filter");
  if (filter) {
    filter.querySelector("button").hidden = true;
    filter.addEventListener("change", () => filter.submit());
  }

  // What changes comes by itself; a stream that is refused for good means that the page is out of date.
  const source = new EventSource(board.dataset.stream);
  source.addEventListener("open", () => say(true));
  source.addEventListener("error", () => {
    say(false);
    if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 5000);
  });
  source.addEventListener("card", (event) => place(event.data));
  source.addEventListener("away", (event) => {
    const shown = parsed(event.data);
    if (shown) document.getElementById("away").replaceWith(shown);
  });

  function say(isLive) {
    status.textContent = isLive ? status.dataset.live : status.dataset.offline;
    status.className = "tag " + (isLive ? "good" : "bad");
  }

  // A card takes its place. One that somebody is working on is left alone until that is done.
  function place(markup, isAnswer) {
    const card = parsed(markup);
    if (!card?.matches(".order")) return false;
    const before = document.getElementById(card.id);
    // What was overtaken on its way stays away.
    if (before && Number(card.dataset.sequence) < Number(before.dataset.sequence)) return true;
    if (before && !isAnswer && isInUse(before)) {
      before.dataset.later = markup;
      return true;
    }
    const meanwhile = isAnswer ? before?.dataset.later : undefined;
    const cards = board.querySelector(`.column[data-column="${card.dataset.column}"] .cards`);
    if (!cards) return false;
    const hadFocus = before?.contains(document.activeElement);
    const hasMoved = before?.dataset.column !== card.dataset.column;
    before?.remove();
    if (hasMoved) card.classList.add("fresh");
    if (card.dataset.column === "done") {
      cards.prepend(card);
      while (cards.children.length > Number(board.dataset.done)) cards.lastElementChild.remove();
    } else {
      const later = [...cards.children].find((other) => Number(other.dataset.created) > Number(card.dataset.created));
      cards.insertBefore(card, later ?? null);
    }
    if (hadFocus) card.querySelector("button, a")?.focus({ preventScroll: true });
    document.getElementById("empty")?.remove();
    for (const column of board.querySelectorAll(".column"))
      for (const shown of document.querySelectorAll(`[data-column="${column.dataset.column}"] .count`))
        shown.textContent = column.querySelectorAll(".order").length;
    if (!before && card.dataset.column === "new") {
      said.textContent = `${said.dataset.new}: ${card.getAttribute("aria-label")}`;
      ring();
    }
    tick();
    // The answer may say why something was not done: only what is newer takes its place.
    if (meanwhile && Number(parsed(meanwhile)?.dataset.sequence) > Number(card.dataset.sequence)) place(meanwhile);
    return true;
  }

  function isInUse(card) {
    return card.getAttribute("aria-busy") === "true" || card.querySelector(".cancel[open]");
  }

  // Buttons work without leaving the board, so that the stream and the sound go on.
  board.addEventListener("submit", async (event) => {
    const form = event.target;
    const card = form.closest(".order");
    if (!card || !event.submitter) return;
    event.preventDefault();
    // Once is enough. Its buttons are not disabled, which would take the focus away from whoever pressed one.
    if (card.getAttribute("aria-busy") === "true") return;
    const body = new URLSearchParams(new FormData(form, event.submitter));
    card.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(form.action, { method: "POST", headers: { "x-part": "card" }, body });
      if (answer.status === 401 || answer.status === 403) return location.reload();
      if (!place(await answer.text(), true)) throw new Error("no card");
    } catch {
      card.removeAttribute("aria-busy");
      alert(board.dataset.failed);
      if (card.dataset.later && card.isConnected) place(card.dataset.later);
    }
  });

  // The platform's own reasons are asked for when somebody is about to cancel.
  board.addEventListener("toggle", async (event) => {
    const details = event.target;
    if (!details.matches(".cancel")) return;
    const card = details.closest(".order");
    if (!details.open) {
      if (card.dataset.later) place(card.dataset.later);
      return;
    }
    const list = details.querySelector("select");
    if ("known" in list.dataset) return;
    const answer = await fetch(list.dataset.from, { headers: { "x-part": "reasons" } }).catch(() => null);
    if (!answer?.ok) return;
    list.innerHTML = await answer.text();
    list.dataset.known = "";
  }, true);

  function ring() {
    if (!loud || audio?.state !== "running") return;
    try {
      for (const [at, pitch] of [[0, 880], [0.18, 1175]]) {
        const tone = audio.createOscillator();
        const volume = audio.createGain();
        tone.frequency.value = pitch;
        volume.gain.setValueAtTime(0.25, audio.currentTime + at);
        volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + at + 0.35);
        tone.connect(volume).connect(audio.destination);
        tone.start(audio.currentTime + at);
        tone.stop(audio.currentTime + at + 0.4);
      }
    } catch { /* A browser without sound shows the card all the same. */ }
  }

  function tick() {
    const now = Date.now() + ahead;
    for (const card of board.querySelectorAll(".order")) {
      const age = Math.max(0, Math.floor((now - Number(card.dataset.created)) / 60000));
      card.querySelector(".age").textContent = `${age} ${board.dataset.minutes}`;
      const by = Number(card.dataset.acceptBy);
      const shown = card.querySelector(".countdown");
      if (!by || !shown) continue;
      const left = Math.floor((by - now) / 1000);
      shown.textContent = left < 0 ? board.dataset.late : `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
      if (left < 60) card.classList.add("red");
    }
  }
  setInterval(tick, 1000);
  tick();
}

// Only markup that this service has made comes here; what customers wrote is text in it.
function parsed(markup) {
  const made = document.createElement("template");
  made.innerHTML = markup;
  return made.content.firstElementChild;
}

// Storage may be switched off.
function remembered(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}
function remember(name, value) {
  try { localStorage.setItem(name, value); } catch { /* It is asked again next time. */ }
}
