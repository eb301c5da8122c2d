// The live parts of the board. Every action works without this script.
"use strict";

const board = document.getElementById("board");
if (board) startLiveBoard(board);

function startLiveBoard(board) {
  const status = document.getElementById("live");
  const announcement = document.getElementById("said");
  status.hidden = false;
  // Offset of the server's clock: the tablet's may be wrong.
  const clockOffset = Number(board.dataset.now) - Date.now();

  // Choosing a restaurant submits the filter.
  const filter = document.getElementById("filter");
  if (filter) {
    filter.querySelector("button").hidden = true;
    // The density is in the menu, outside of the form.
    for (const control of filter.elements) control.addEventListener("change", () => filter.submit());
  }

  // Server-sent events. A stream that is closed for good means that the page is outdated.
  const source = new EventSource(board.dataset.stream);
  source.addEventListener("open", () => showConnection(true));
  source.addEventListener("error", () => {
    showConnection(false);
    if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 5000);
  });
  source.addEventListener("card", (event) => placeCard(event.data));
  source.addEventListener("away", (event) => {
    const alerts = parse(event.data);
    if (alerts) document.getElementById("away").replaceWith(alerts);
  });
  source.addEventListener("stores", (event) => dispatchEvent(new CustomEvent("board:stores", { detail: event.data })));

  function showConnection(isLive) {
    status.textContent = isLive ? status.dataset.live : status.dataset.offline;
    status.className = "tag " + (isLive ? "good" : "bad");
  }

  // Inserts or replaces a card at its place. A card in use is replaced later.
  function placeCard(markup, isResponse) {
    const card = parse(markup);
    if (!card?.matches(".order")) return false;
    const before = document.getElementById(card.id);
    // Drops a card that is older than the one shown.
    if (before && Number(card.dataset.sequence) < Number(before.dataset.sequence)) return true;
    if (before && !isResponse && isInUse(before)) {
      before.dataset.later = markup;
      return true;
    }
    const meanwhile = isResponse ? before?.dataset.later : undefined;
    const hasMoved = before?.dataset.column !== card.dataset.column;
    if (hasMoved) card.classList.add("fresh");
    keepInPlace(hasMoved ? before : null, () => insertCard(card, before));
    document.getElementById("empty")?.remove();
    for (const column of board.querySelectorAll(".column"))
      for (const shown of document.querySelectorAll(`[data-column="${column.dataset.column}"] .count`))
        shown.textContent = column.querySelectorAll(".order").length;
    const isArrival = !before && card.isConnected && (card.dataset.column === "new" || board.matches(".kitchen"));
    if (isArrival) {
      announcement.textContent = `${announcement.dataset.new}: ${card.getAttribute("aria-label")}`;
    }
    updateTimes();
    board.dispatchEvent(new CustomEvent("board:card", { detail: { card, before, isArrival } }));
    // The response may show an error: only a newer card replaces it.
    if (meanwhile && Number(parse(meanwhile)?.dataset.sequence) > Number(card.dataset.sequence)) placeCard(meanwhile);
    return true;
  }

  // A screen that does not have the card's column removes the card.
  function insertCard(card, before) {
    const focused = before?.contains(document.activeElement) ? document.activeElement : null;
    const cards = board.querySelector(`.column[data-column="${card.dataset.column}"] .cards`);
    if (!cards) {
      const neighbour = before?.nextElementSibling ?? before?.previousElementSibling;
      before?.remove();
      if (focused) (neighbour ?? document.getElementById("content")).focus({ preventScroll: true });
      return;
    }
    before?.remove();
    if (card.dataset.column === "done") {
      cards.prepend(card);
      while (cards.children.length > Number(board.dataset.done)) cards.lastElementChild.remove();
    } else {
      const later = [...cards.children].find((other) => isBefore(card, other));
      cards.insertBefore(card, later ?? null);
    }
    if (focused) restoreFocus(card, focused);
  }

  // Cards are sorted by deadline, those without one after them by age.
  function isBefore(card, other) {
    const deadline = (it) => Number(it.dataset.acceptBy) || Infinity;
    if (deadline(card) !== deadline(other)) return deadline(card) < deadline(other);
    return Number(card.dataset.created) < Number(other.dataset.created);
  }

  // The same control of the new card, or else its first button.
  function restoreFocus(card, was) {
    const selector = was.matches(".code, summary") ? was.matches("summary") ? "summary" : ".code"
      : was.matches("button[value]") ? `button[value="${CSS.escape(was.value)}"]` : null;
    const same = was.matches(".order") ? card : selector && card.querySelector(selector);
    (same ?? card.querySelector("button, summary") ?? card).focus({ preventScroll: true });
  }

  // Changes the board without moving what is being looked at: the card in use, or else the first one in view.
  function keepInPlace(moving, change) {
    const anchor = scrollY > 0 ? anchorCard(moving) : null;
    const top = anchor?.getBoundingClientRect().top;
    change();
    const shown = anchor && document.getElementById(anchor.id);
    const shift = shown ? shown.getBoundingClientRect().top - top : 0;
    if (shift) scrollBy({ top: shift, behavior: "instant" });
  }

  function anchorCard(moving) {
    const isInView = (card) => {
      const { top, bottom } = card.getBoundingClientRect();
      return bottom > 0 && top < innerHeight;
    };
    const inUse = [document.activeElement?.closest(".order"), board.querySelector(".order:hover")];
    return [...inUse, ...board.querySelectorAll(".order")].find((card) => card && card !== moving && isInView(card)) ?? null;
  }

  function isInUse(card) {
    return card.getAttribute("aria-busy") === "true" || card.querySelector(".cancel[open]");
  }

  // Posts forms in the background, so that the stream and the sound continue.
  board.addEventListener("submit", async (event) => {
    const form = event.target;
    const card = form.closest(".order");
    if (!card || !event.submitter) return;
    event.preventDefault();
    // Ignores a second press. Disabling the buttons would move the focus away.
    if (card.getAttribute("aria-busy") === "true") return;
    const body = new URLSearchParams(new FormData(form, event.submitter));
    card.setAttribute("aria-busy", "true");
    try {
      const response = await fetch(form.action, { method: "POST", headers: { "x-part": "card" }, body });
      if (response.status === 401 || response.status === 403) return location.reload();
      if (!placeCard(await response.text(), true)) throw new Error("no card");
    } catch {
      card.removeAttribute("aria-busy");
      card.dispatchEvent(new Event("action-failed", { bubbles: true }));
      if (card.dataset.later && card.isConnected) placeCard(card.dataset.later);
    }
  });

  // Loads the platform's reasons when the cancel form is opened.
  board.addEventListener("toggle", async (event) => {
    const details = event.target;
    if (!details.matches(".cancel")) return;
    const card = details.closest(".order");
    if (!details.open) {
      if (card.dataset.later) placeCard(card.dataset.later);
      return;
    }
    const list = details.querySelector("select");
    if ("known" in list.dataset) return;
    const response = await fetch(list.dataset.from, { headers: { "x-part": "reasons" } }).catch(() => null);
    if (!response?.ok) return;
    list.innerHTML = await response.text();
    list.dataset.known = "";
  }, true);

  function updateTimes() {
    const now = Date.now() + clockOffset;
    for (const card of board.querySelectorAll(".order")) {
      const age = Math.max(0, Math.floor((now - Number(card.dataset.created)) / 60000));
      const shownAge = card.querySelector(".age");
      if (shownAge) setText(shownAge, `${age} ${board.dataset.minutes}`);
      const by = Number(card.dataset.acceptBy);
      const countdown = card.querySelector(".countdown");
      if (!by || !countdown) continue;
      const left = Math.floor((by - now) / 1000);
      const bar = card.querySelector("progress");
      if (bar) bar.value = Math.max(0, left);
      countdown.textContent = left < 0 ? board.dataset.late : `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
      if (left < 60) card.classList.add("red");
    }
  }
  // Writing the same text again would make the browser lay the page out again.
  function setText(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }
  setInterval(updateTimes, 1000);
  updateTimes();
}

// The markup comes from this server, with customer input escaped.
function parse(markup) {
  const template = document.createElement("template");
  template.innerHTML = markup;
  return template.content.firstElementChild;
}
