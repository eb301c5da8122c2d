// Parts of a page that the server sends again when they have changed, and whether the page is live.
(() => {
  "use strict";
  const status = document.getElementById("page-live");
  if (!status) return;
  const showConnection = (isLive) => {
    status.hidden = false;
    status.textContent = isLive ? status.dataset.live : status.dataset.offline;
    status.className = "tag " + (isLive ? "good" : "bad");
  };
  addEventListener("page:live", (event) => showConnection(event.detail));
  // The page was just made.
  showConnection(true);
  if (!status.dataset.stream) return;
  const announcement = document.getElementById("page-said");

  connect();
  function connect() {
    const source = new EventSource(status.dataset.stream);
    source.addEventListener("open", () => showConnection(true));
    source.addEventListener("error", () => {
      showConnection(false);
      // It was refused. The page is not loaded again by itself: what was typed into its forms would be lost.
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, 15000);
    });
    source.addEventListener("parts", (event) => place(event.data));
  }

  let later;
  function place(markup) {
    clearTimeout(later);
    const template = document.createElement("template");
    template.innerHTML = markup;
    const parts = [...template.content.children];
    const shown = (part) => part.id && document.getElementById(part.id);
    // A press on a button that is being replaced would be lost.
    if (parts.some((part) => shown(part)?.matches(":active"))) {
      later = setTimeout(() => place(markup), 300);
      return;
    }
    for (const part of parts) {
      const before = shown(part);
      if (!before || before.isEqualNode(part)) continue;
      const focused = before.contains(document.activeElement) ? document.activeElement : null;
      for (const details of before.querySelectorAll("details[id][open]"))
        part.querySelector(`#${CSS.escape(details.id)}`)?.setAttribute("open", "");
      before.replaceWith(part);
      if (part.dataset.said && part.dataset.said !== before.dataset.said) announcement.textContent = part.dataset.said;
      if (focused) restoreFocus(part, focused);
    }
    dispatchEvent(new Event("times:changed"));
  }

  // The same control, or else the part.
  function restoreFocus(part, was) {
    const key = was.dataset.focus || was.closest("[id]")?.id;
    const same = key && part.querySelector(`[data-focus="${CSS.escape(key)}"], #${CSS.escape(key)} summary`);
    if (!same) part.tabIndex = -1;
    (same || part).focus({ preventScroll: true });
  }
})();
