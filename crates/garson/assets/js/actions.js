// One-tap actions on the board are held for some seconds, in which they can be undone. Leaving the page sends them at once.
(() => {
  "use strict";
  const HOLD = 5000;
  // An order whose deadline is nearer than this is not held.
  const TOO_LATE = 15000;

  const board = document.querySelector("[data-stream]");
  const bar = document.getElementById("held");
  if (!board || !bar) return;
  const list = bar.querySelector("ul");
  const said = document.getElementById("held-said");
  const clockOffset = board.dataset.now ? Number(board.dataset.now) - Date.now() : 0;
  // Held actions by the id of their card, oldest first.
  const held = new Map();

  addEventListener("submit", (event) => {
    const form = event.target;
    const card = form.closest?.(".order");
    if (!card || !board.contains(card) || !form.matches("form.do") || !event.submitter) return;
    if ("now" in form.dataset || isTooLate(card)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    // A second press, or another action of a held order.
    if (held.has(card.id) || card.getAttribute("aria-busy") === "true") return;
    hold(card, form, event.submitter);
  }, true);

  function isTooLate(card) {
    const by = Number(card.dataset.acceptBy);
    return by > 0 && by - (Date.now() + clockOffset) < TOO_LATE;
  }

  function hold(card, form, submitter) {
    const code = card.querySelector(".code")?.textContent.trim() ?? "";
    const name = `${code} · ${submitter.textContent.trim()}`;
    const action = { url: form.action, body: new URLSearchParams(new FormData(form, submitter)), value: submitter.value, name };
    const item = document.createElement("li");
    const text = document.createElement("span");
    text.textContent = name;
    const undo = document.createElement("button");
    undo.type = "button";
    undo.textContent = bar.dataset.undo;
    undo.setAttribute("aria-label", `${bar.dataset.undo}: ${name}`);
    undo.addEventListener("click", () => take(card.id, true));
    item.append(text, undo);
    list.append(item);
    action.item = item;
    action.timer = setTimeout(() => send(card.id), HOLD);
    held.set(card.id, action);
    bar.hidden = false;
    said.textContent = `${name}: ${bar.dataset.held}. ${bar.dataset.undo}`;
    mark();
  }

  // Takes an action out of the bar.
  function take(id, isUndone) {
    const action = held.get(id);
    if (!action) return null;
    clearTimeout(action.timer);
    held.delete(id);
    const hadFocus = action.item.contains(document.activeElement);
    action.item.remove();
    bar.hidden = held.size === 0;
    const card = document.getElementById(id);
    if (card) delete card.dataset.held;
    if (isUndone) said.textContent = `${action.name}: ${bar.dataset.undone}`;
    if (hadFocus) (list.querySelector("button") ?? card?.querySelector(`[value="${CSS.escape(action.value)}"]`))?.focus();
    return action;
  }

  // Submits what was held, from the card as it is now: the board's script posts it and shows the answer.
  function send(id) {
    const action = take(id);
    if (!action) return;
    const card = document.getElementById(id);
    if (!card) return post(action);
    const form = document.createElement("form");
    form.method = "post";
    form.action = action.url;
    form.hidden = true;
    form.dataset.now = "";
    for (const [name, value] of action.body) {
      const field = document.createElement("input");
      field.type = "hidden";
      field.name = name;
      field.value = value;
      form.append(field);
    }
    const button = document.createElement("button");
    form.append(button);
    card.append(form);
    form.requestSubmit(button);
    form.remove();
  }

  function post({ url, body }) {
    fetch(url, { method: "POST", headers: { "x-part": "card" }, body, keepalive: true }).catch(() => {});
  }
  function flush() {
    for (const id of [...held.keys()]) post(take(id));
  }
  addEventListener("pagehide", flush);
  document.addEventListener("visibilitychange", () => { if (document.hidden) flush(); });

  // Undoes the newest.
  addEventListener("keydown", (event) => {
    const isTyping = event.target.closest?.("input, select, textarea, dialog");
    if (isTyping || !(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || held.size === 0) return;
    event.preventDefault();
    take([...held.keys()].pop(), true);
  });

  // A card that was replaced meanwhile still shows that it is held.
  function mark() {
    for (const id of held.keys()) {
      const card = document.getElementById(id);
      if (card && !("held" in card.dataset)) card.dataset.held = "";
    }
  }
  new MutationObserver(mark).observe(board, { childList: true, subtree: true });

  // An action that did not reach the server.
  board.addEventListener("action-failed", (event) => {
    const card = event.target;
    card.querySelector(".action-failed")?.remove();
    const message = document.createElement("p");
    message.className = "small bad action-failed";
    message.setAttribute("role", "alert");
    card.append(message);
    message.textContent = board.dataset.failed;
  });
})();
