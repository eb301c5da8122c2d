// The filter of the API reference: hides the operations and events that do not contain the words.
const referenceFilter = document.getElementById("reference-filter");
if (referenceFilter) startReferenceFilter(referenceFilter);

function startReferenceFilter(form) {
  const query = form.querySelector("input");
  const status = document.getElementById("reference-matches");
  const operations = [...document.querySelectorAll("article.operation")];
  const links = new Map([...document.querySelectorAll(".contents li li a")].map((link) => [link.hash, link.parentElement]));
  const texts = new Map();
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  query.addEventListener("input", () => {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const operation of operations) {
      if (!texts.has(operation)) texts.set(operation, operation.textContent.toLowerCase());
      const matches = words.every((word) => texts.get(operation).includes(word));
      operation.hidden = !matches;
      const link = links.get("#" + operation.id);
      if (link) link.hidden = !matches;
      if (matches) shown += 1;
    }
    for (const chapter of document.querySelectorAll("section.chapter"))
      if (chapter.querySelector("article"))
        chapter.hidden = !chapter.querySelector("article:not([hidden])");
    status.textContent = words.length ? `${shown} ${shown === 1 ? status.dataset.one : status.dataset.many}` : "";
  });
}
