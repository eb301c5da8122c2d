// The page of a ticket: fits the paper to its length, and prints it.
"use strict";

const paper = document.body.dataset.paper;
if (paper !== "a4") {
  // A roll has no pages: the page is as long as the ticket.
  const height = document.querySelector(".ticket").getBoundingClientRect().height;
  const millimetres = Math.ceil((height * 25.4) / 96) + 6;
  const sheet = document.styleSheets[0];
  sheet.insertRule(`@page { size: ${paper}mm ${millimetres}mm; margin: 0; }`, sheet.cssRules.length);
}
const button = document.querySelector(".print-now");
if (button) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}
