// The strip of stores on the board: changes are posted in the background, and the live stream replaces the states.
(() => {
  "use strict";
  const stores = document.getElementById("stores");
  const board = document.getElementById("board");
  if (!stores || !board) return;
  const announcement = document.getElementById("store-said");
  let isBusy = false;

  addEventListener("board:stores", (event) => place(event.detail));

  // Replaces the states, unless the markup is older than what is shown.
  function place(markup, isResponse) {
    const template = document.createElement("template");
    template.innerHTML = markup;
    const next = template.content.firstElementChild;
    const shown = document.getElementById("store-state");
    if (next?.id !== "store-state" || !shown) return false;
    if (Number(next.dataset.at) < Number(shown.dataset.at)) return true;
    const focused = shown.contains(document.activeElement) ? document.activeElement : null;
    const folded = next.querySelector(".store-others");
    if (folded) folded.open = shown.querySelector(".store-others")?.open ?? false;
    const hasChanged = next.dataset.said !== shown.dataset.said;
    shown.replaceWith(next);
    // The message of a change that was not possible stays until the next change is made.
    const problem = shown.querySelector("[role=alert]");
    if (problem && !isResponse) next.prepend(problem);
    if (hasChanged) announcement.textContent = next.dataset.said;
    if (focused) restoreFocus(next, focused.dataset.focus);
    return true;
  }

  // The same button, or else the button that pauses.
  function restoreFocus(next, key) {
    const same = key && next.querySelector(`[data-focus="${CSS.escape(key)}"]`);
    (same || stores.querySelector("#pause > summary")).focus({ preventScroll: true });
  }

  stores.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!event.submitter) return;
    event.preventDefault();
    // Ignores a second press.
    if (isBusy) return;
    const body = new URLSearchParams(new FormData(form, event.submitter));
    const menu = form.closest("#pause");
    if (menu) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
    isBusy = true;
    stores.setAttribute("aria-busy", "true");
    announcement.textContent = stores.dataset.sending;
    try {
      const response = await fetch(form.action, { method: "POST", headers: { "x-part": "stores" }, body });
      if (response.status === 401 || response.status === 403) return location.reload();
      if (!place(await response.text(), true)) throw new Error("no strip");
    } catch {
      showProblem(stores.dataset.failed);
    } finally {
      isBusy = false;
      stores.removeAttribute("aria-busy");
    }
  });

  function showProblem(text) {
    const state = document.getElementById("store-state");
    state.querySelector("[role=alert]")?.remove();
    const message = document.createElement("p");
    message.className = "notice bad";
    message.setAttribute("role", "alert");
    state.prepend(message);
    message.textContent = text;
  }
})();
