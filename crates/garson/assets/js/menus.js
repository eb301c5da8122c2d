// Closes an open menu on a press outside of it or on Escape. Without this script a second press on the menu closes it.
addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll(".drop[open]")) if (!menu.contains(event.target)) menu.open = false;
});
addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll(".drop[open]")) {
    const hadFocus = menu.contains(document.activeElement);
    menu.open = false;
    if (hadFocus) menu.querySelector("summary").focus();
  }
});
