// Lists of products: search while typing, switching without leaving the page, and what platforms answer later.
(() => {
  "use strict";
  const TYPING = 250;
  const REFRESH = 2000;
  const SELDOM = 20000;
  // After so many looks without an end, a list that waits is looked at seldom.
  const MOST_LOOKS = 90;

  const said = () => document.querySelector("dialog[open] [data-said-here]") ?? document.getElementById("products-said");
  const say = (text) => {
    const region = said();
    if (region) region.textContent = text;
  };
  const list = () => document.getElementById("products");

  function parseAll(markup) {
    const template = document.createElement("template");
    template.innerHTML = markup;
    return template.content;
  }

  async function load(url, signal) {
    const response = await fetch(url, { headers: { "x-part": "products" }, signal });
    if (response.status === 401) location.reload();
    if (!response.ok) throw new Error(response.status);
    return parseAll(await response.text());
  }

  // Search while typing. What is selected stays selected, also when it is not in the list.
  const search = document.querySelector("form[data-instant]");
  const picked = new Set();
  if (search) {
    let timer, request;
    search.querySelector("button").hidden = true;
    const start = (delay) => {
      clearTimeout(timer);
      timer = setTimeout(find, delay);
    };
    search.addEventListener("input", (event) => start(event.target.matches("input") ? TYPING : 0));
    search.addEventListener("submit", (event) => {
      event.preventDefault();
      start(0);
    });
    async function find() {
      const fields = [...new FormData(search)].filter(([, value]) => value);
      const query = new URLSearchParams(fields).toString();
      const url = search.getAttribute("action") + (query && `?${query}`);
      request?.abort();
      request = new AbortController();
      try {
        const found = (await load(url, request.signal)).querySelector("#products");
        list().replaceWith(found);
        history.replaceState(null, "", url);
        say(found.dataset.listed);
        showPicked();
        watch();
      } catch (error) {
        if (error.name !== "AbortError") search.submit();
      }
    }
    addEventListener("change", (event) => {
      const box = event.target;
      if (!box.matches?.("#products [name=product]")) return;
      picked[box.checked ? "add" : "delete"](box.value);
      showPicked();
    });
    for (const box of document.querySelectorAll("#products [name=product]:checked")) picked.add(box.value);
    showPicked();
  }

  function showPicked() {
    const form = list()?.querySelector("form");
    if (!form) return;
    for (const hidden of form.querySelectorAll("input[type=hidden][name=product]")) hidden.remove();
    const left = new Set(picked);
    for (const box of form.querySelectorAll("input[type=checkbox][name=product]")) {
      box.checked = picked.has(box.value);
      left.delete(box.value);
    }
    for (const id of left) {
      const hidden = document.createElement("input");
      Object.assign(hidden, { type: "hidden", name: "product", value: id });
      form.append(hidden);
    }
    const count = form.querySelector("[data-picked]");
    if (!count) return;
    count.hidden = picked.size === 0;
    count.textContent = `(${picked.size})`;
  }

  // A button of one row is posted in the background; its row is replaced by what came of it.
  addEventListener("submit", async (event) => {
    const form = event.target;
    const button = event.submitter;
    if (!form.matches?.("form[data-switch]") || !button?.value.includes(":")) return;
    event.preventDefault();
    const row = button.closest(".product");
    if (row.getAttribute("aria-busy") === "true") return;
    row.setAttribute("aria-busy", "true");
    row.querySelector(".failed")?.remove();
    try {
      const body = new URLSearchParams(new FormData(form, button));
      const response = await fetch(form.action, { method: "POST", headers: { "x-part": "products" }, body });
      if (response.status === 401 || response.status === 403) return location.reload();
      if (!response.ok) throw new Error(response.status);
      const fresh = replace(row, parseAll(await response.text()));
      if (fresh) say(fresh.dataset.said);
      watch();
    } catch {
      row.removeAttribute("aria-busy");
      const message = document.createElement("p");
      message.className = "small bad failed";
      message.setAttribute("role", "alert");
      row.querySelector(".product-text").append(message);
      message.textContent = form.dataset.failed;
    }
  });

  // Puts the row of the same product in place, with the focus where it was.
  function replace(row, content) {
    const fresh = content.querySelector(`#${CSS.escape(row.id)}`);
    if (!fresh) return null;
    const hadFocus = row.contains(document.activeElement);
    const box = row.querySelector("[name=product]");
    row.replaceWith(fresh);
    const freshBox = fresh.querySelector("[name=product]");
    if (box && freshBox) freshBox.checked = box.checked;
    if (hadFocus) fresh.querySelector("button").focus({ preventScroll: true });
    return fresh;
  }

  // The list is looked at again: often while something in it waits for an answer, otherwise now and then.
  let looks = 0;
  let timer;
  function watch() {
    looks = 0;
    plan();
  }
  function plan() {
    clearTimeout(timer);
    if (!list()) return;
    const isWaiting = list().matches("[data-behind], :has(.product[data-pending])");
    timer = setTimeout(look, isWaiting && looks < MOST_LOOKS ? REFRESH : SELDOM);
  }
  async function look() {
    looks += 1;
    if (!document.hidden && list()) {
      try {
        refresh(await load(list().dataset.url));
        dispatchEvent(new CustomEvent("page:live", { detail: true }));
      } catch {
        // Looked at again later.
        dispatchEvent(new CustomEvent("page:live", { detail: false }));
      }
    }
    plan();
  }
  const isInUse = (element) => element.matches("[aria-busy=true], :has([aria-busy=true], details[open], :active)");
  function refresh(content) {
    const fresh = content.querySelector("#products");
    if (list().matches("[data-behind]") && fresh && !fresh.matches("[data-behind]") && !isInUse(list())) {
      const hadFocus = list().contains(document.activeElement);
      list().replaceWith(fresh);
      if (hadFocus) fresh.querySelector("button")?.focus({ preventScroll: true });
      return;
    }
    for (const part of document.querySelectorAll("[data-refresh]")) {
      const now = content.getElementById(part.id);
      if (now && !isInUse(part) && !part.contains(document.activeElement)) part.replaceWith(now);
    }
    dispatchEvent(new Event("times:changed"));
    for (const row of list().querySelectorAll(".product[id]")) {
      const now = content.querySelector(`#${CSS.escape(row.id)}`);
      if (!now || isInUse(row) || (now.dataset.said === row.dataset.said && now.matches("[data-pending]") === row.matches("[data-pending]"))) continue;
      if (now.dataset.said !== row.dataset.said) say(now.dataset.said);
      replace(row, content);
    }
  }
  addEventListener("products:shown", watch);
  if (list()) watch();
})();
