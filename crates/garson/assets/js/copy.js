// Buttons that copy the text of an element, or a text of their own. Without this script the text can be selected by hand.
for (const button of document.querySelectorAll("button[data-copy], button[data-copy-text]")) {
  const source = document.getElementById(button.dataset.copy);
  if (!source && !button.dataset.copyText) continue;
  const label = button.querySelector(".unseen") ?? button;
  const name = label.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    if (!await (source ? copyElement(source) : copyText(button.dataset.copyText))) return;
    label.textContent = button.dataset.done;
    button.classList.add("done");
    setTimeout(() => {
      label.textContent = name;
      button.classList.remove("done");
    }, 2000);
  });
}

// The clipboard is not available without TLS: then the text is selected and copied as by hand.
async function copyElement(source) {
  try {
    await navigator.clipboard.writeText(source.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(source);
    return document.execCommand("copy");
  }
}

async function copyText(text) {
  const shown = document.createElement("span");
  shown.className = "unseen";
  shown.textContent = text;
  document.body.append(shown);
  try {
    return await copyElement(shown);
  } finally {
    shown.remove();
  }
}
