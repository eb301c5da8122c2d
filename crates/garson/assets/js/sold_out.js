// The products of an order are shown in a dialog, so that the board goes on. Without this script they are a page.
(() => {
  "use strict";
  // Style and script of product lists, once.
  const load = (name, fields) =>
    new Promise((resolve, reject) => {
      const element = Object.assign(document.createElement(name), fields);
      element.addEventListener("load", resolve);
      element.addEventListener("error", reject);
      document.head.append(element);
    });
  let loaded;
  const loadOnce = async ({ style, script }) => {
    loaded ??= Promise.all([load("link", { rel: "stylesheet", href: style }), load("script", { src: script })]);
    try {
      await loaded;
    } catch (error) {
      loaded = undefined;
      throw error;
    }
  };
  addEventListener("click", async (event) => {
    const link = event.target.closest?.("a[data-sold]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    if (document.querySelector(".sold-dialog")) return;
    const dialog = document.createElement("dialog");
    dialog.className = "sold-dialog";
    dialog.setAttribute("aria-labelledby", "sold-title");
    dialog.setAttribute("aria-busy", "true");
    document.body.append(dialog);
    const card = link.closest(".order")?.id;
    dialog.addEventListener("close", () => {
      dialog.remove();
      const now = link.isConnected ? link : document.getElementById(card)?.querySelector("a[data-sold]");
      now?.focus({ preventScroll: true });
    });
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog || event.target.closest("[data-close]")) dialog.close();
    });
    try {
      const response = await fetch(link.href, { headers: { "x-part": "products" } });
      if (!response.ok) throw new Error(response.status);
      dialog.innerHTML = await response.text();
      const said = document.createElement("p");
      said.className = "unseen";
      said.setAttribute("role", "status");
      said.dataset.saidHere = "";
      dialog.append(said);
      await loadOnce(dialog.querySelector("[data-script]").dataset);
      dialog.removeAttribute("aria-busy");
      dialog.showModal();
      dispatchEvent(new Event("products:shown"));
    } catch {
      dialog.remove();
      location.href = link.href;
    }
  });
})();
