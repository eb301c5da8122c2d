// Closes an open menu on a press outside of it, on Escape, and when it has opened a dialog, after which the menu gets the
// focus back. Without this script a second press on the menu closes it.
addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll(".drop[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
    else if (event.target.closest("[aria-haspopup=dialog]")) {
      menu.open = false;
      const focus = () => menu.querySelector("summary").focus();
      document.querySelector("dialog[open]")?.addEventListener("close", focus, { once: true });
    }
  }
});
addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll(".drop[open]")) {
    const hadFocus = menu.contains(document.activeElement);
    menu.open = false;
    if (hadFocus) menu.querySelector("summary").focus();
  }
});
