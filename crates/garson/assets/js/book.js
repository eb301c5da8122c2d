// The search of the book. The index is loaded when the field is used first; without script the list of pages is enough.
const bookSearch = document.getElementById("book-search");
if (bookSearch) startBookSearch(bookSearch);

// The API reference was at /docs/ before: addresses with the name of an operation lead to it.
if (location.pathname === "/docs/" && location.hash && !document.getElementById(location.hash.slice(1)))
  location.replace("/docs/api/" + location.hash);

// Letters without their marks, as the orders are searched: İ, I, ı and i are one letter.
function foldLetters(text) {
  return text.replace(/[İIı]/g, "i").toLowerCase().normalize("NFD").replace(/[\u0300-\u036f]/g, "");
}

function startBookSearch(form) {
  const query = form.querySelector("input");
  const status = document.getElementById("book-count");
  const list = document.getElementById("book-found");
  let sections = null;
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  const load = () => sections ??= loadSections(form.dataset.index);
  query.addEventListener("focus", load);
  query.addEventListener("input", async () => {
    const text = query.value;
    let all;
    try {
      all = await load();
    } catch {
      sections = null;
      status.textContent = form.dataset.failed;
      return;
    }
    // An answer that came late must not replace the results of a later text.
    if (text !== query.value) return;
    const words = foldLetters(text).split(/[^\p{L}\p{N}_.]+/u).filter(Boolean);
    const found = words.length ? findSections(all, words) : [];
    status.textContent = words.length ? `${found.length} ${found.length === 1 ? form.dataset.one : form.dataset.many}` : "";
    list.replaceChildren(...found.slice(0, 20).map((section) => resultOf(section, words[0])));
  });
}

async function loadSections(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  const { sections } = await answer.json();
  for (const section of sections) {
    section.name = foldLetters(section.page + " " + section.title);
    section.folded = foldLetters(section.text);
  }
  return sections;
}

// Sections with all words, those with the words in their titles first.
function findSections(sections, words) {
  const rank = (section) => words.reduce((sum, word) => sum + (section.name.includes(word) ? 1 : 0), 0);
  return sections
    .filter((section) => words.every((word) => section.name.includes(word) || section.folded.includes(word)))
    .map((section) => ({ section, rank: rank(section) }))
    .sort((a, b) => b.rank - a.rank)
    .map((it) => it.section);
}

function resultOf(section, word) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = section.path;
  link.textContent = section.title === section.page ? section.page : `${section.page}: ${section.title}`;
  // Some words before the one that was found, not parts of words.
  const near = section.folded.indexOf(word) - 40;
  const at = near > 0 ? section.text.indexOf(" ", near) + 1 : 0;
  const excerpt = document.createElement("span");
  excerpt.textContent = section.text.slice(at, at + 120).trim();
  link.append(excerpt);
  item.append(link);
  return item;
}
