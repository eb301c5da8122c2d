// Buttons that copy the text of an element. Without this script the text can be selected by hand.
for (const button of document.querySelectorAll("button[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  if (!source) continue;
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    if (!await copyText(source)) return;
    button.textContent = button.dataset.done;
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}

// The clipboard is not available without TLS: then the text is selected and copied as by hand.
async function copyText(source) {
  try {
    await navigator.clipboard.writeText(source.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(source);
    return document.execCommand("copy");
  }
}
