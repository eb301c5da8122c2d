
// Keyboard shortcuts of the board. They can be switched off, and are ignored while typing.
if (board && document.getElementById("shortcuts")) startShortcuts(board);

function startShortcuts(board) {
  const help = document.getElementById("shortcuts");
  const opener = document.getElementById("keys");
  const isOn = document.getElementById("keys-on");
  isOn.checked = stored("keys") !== "off";
  isOn.addEventListener("change", () => store("keys", isOn.checked ? "on" : "off"));
  opener.hidden = false;
  opener.addEventListener("click", () => help.showModal());
  help.querySelector("button").addEventListener("click", () => help.close());

  const selected = () => document.activeElement?.closest(".order");
  const press = (selector) => selected()?.querySelector(selector)?.click();
  function move(step) {
    const cards = [...board.querySelectorAll(".order")].filter((card) => card.checkVisibility());
    const at = cards.indexOf(selected());
    const next = at < 0 ? cards[step > 0 ? 0 : cards.length - 1] : cards[at + step];
    if (!next) return;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }
  const keys = {
    j: () => move(1),
    k: () => move(-1),
    u: () => goToCard(board.querySelector(".order[data-waiting]")),
    a: () => press("button[value=verify]"),
    r: () => press("button[value=ready]"),
    n: () => press("button[value=next]"),
    o: () => selected()?.querySelector(".code")?.click(),
    "/": () => { location.href = "/orders#f-q"; },
    "?": () => help.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (!isOn.checked || event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]") || event.target.closest("input, select, textarea, [contenteditable]")) return;
    const run = keys[event.key];
    if (!run) return;
    event.preventDefault();
    run();
  });
}
