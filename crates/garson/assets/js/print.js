// Prints tickets: by the print links, and automatically from an open board. Without this script the links open the ticket.
startPrinting();

function startPrinting() {
  // A print link prints at once, without leaving the page.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-print]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    printTicket(link.href).catch(() => window.open(link.href, "_blank", "noopener"));
  });
  const settings = document.getElementById("auto-print");
  if (settings) startAutomaticPrinting(settings);
  const notice = document.getElementById("printers");
  if (notice) setInterval(loadPrinterNotice, 20000);
}

// Prints a ticket through a frame that is not seen.
function printTicket(url) {
  return new Promise((resolve, reject) => {
    const frame = document.createElement("iframe");
    frame.className = "print-frame";
    frame.setAttribute("aria-hidden", "true");
    frame.tabIndex = -1;
    const timer = setTimeout(() => finish(new Error("the ticket did not load")), 20000);
    const finish = (error) => {
      clearTimeout(timer);
      // The print dialog may still need the frame.
      setTimeout(() => frame.remove(), error ? 0 : 60000);
      if (error) reject(error);
      else resolve();
    };
    frame.addEventListener("load", () => {
      try {
        // A page that is not a ticket is an error, or the sign-in form.
        if (!frame.contentDocument.querySelector(".ticket")) throw new Error("no ticket");
        frame.contentWindow.focus();
        frame.contentWindow.print();
        finish();
      } catch (error) {
        finish(error);
      }
    });
    frame.src = url;
    document.body.append(frame);
  });
}

// Prints the kitchen ticket of each order once on this device. What is printed is remembered in this browser.
function startAutomaticPrinting(settings) {
  const KEY = "printed", MAX = 1000;
  const board = document.getElementById("board");
  const [when, paper] = settings.querySelectorAll("select");
  const alert = settings.querySelector("[role=alert]");
  const tag = settings.querySelector(".tag");
  settings.hidden = false;
  when.value = stored("print-when") ?? "off";
  paper.value = stored("print-paper") ?? "80";
  let isPrinting = false;
  const failures = new Map();

  const printed = () => {
    try { return JSON.parse(stored(KEY)) ?? []; } catch { return []; }
  };
  const remember = (ids) => store(KEY, JSON.stringify([...printed().filter((id) => !ids.includes(id)), ...ids].slice(-MAX)));
  const columns = () => (when.value === "new" ? ["new", "preparing"] : ["preparing"]);
  const due = () => {
    if (when.value === "off") return [];
    const done = new Set(printed());
    const cards = columns().flatMap((name) => [...board.querySelectorAll(`.order[data-column="${name}"]`)]);
    return cards.map((card) => card.id.slice(2)).filter((id) => !done.has(id) && (failures.get(id) ?? 0) < 3);
  };

  when.addEventListener("change", () => {
    // What is on the board already was handled without a ticket.
    const there = [...board.querySelectorAll('.order[data-column="new"], .order[data-column="preparing"]')];
    const already = when.value === "preparing" ? there.filter((card) => card.dataset.column === "preparing") : there;
    if (when.value !== "off") remember(already.map((card) => card.id.slice(2)));
    store("print-when", when.value);
    show();
  });
  paper.addEventListener("change", () => store("print-paper", paper.value));
  const show = () => { tag.hidden = when.value === "off"; };
  show();

  // Two boards of one browser print an order once.
  const exclusively = (work) => (navigator.locks ? navigator.locks.request("print", work) : work());

  async function printDue() {
    if (isPrinting) return;
    isPrinting = true;
    try {
      for (let ids = due(); ids.length > 0; ids = due()) {
        const id = ids[0];
        await exclusively(async () => {
          if (printed().includes(id)) return;
          try {
            await printTicket(`/orders/${id}/ticket?kind=kitchen&width=${paper.value}`);
            remember([id]);
            alert.textContent = "";
          } catch {
            failures.set(id, (failures.get(id) ?? 0) + 1);
            const card = document.getElementById(`o-${id}`);
            alert.textContent = `${settings.dataset.failed}: ${card?.getAttribute("aria-label") ?? ""}`;
            settings.open = true;
            await new Promise((resolve) => setTimeout(resolve, 2000));
          }
        });
      }
    } finally {
      isPrinting = false;
    }
  }

  new MutationObserver(printDue).observe(board, { childList: true, subtree: true });
  when.addEventListener("change", printDue);
  printDue();
}

// Printers that have run out of paper do not appear among the orders' events.
async function loadPrinterNotice() {
  const notice = document.getElementById("printers");
  const response = await fetch(notice.dataset.from, { headers: { "x-part": "notice" } }).catch(() => null);
  if (!response?.ok) return;
  const markup = await response.text();
  const fresh = parse(markup);
  // An unchanged notice is not announced again.
  if (fresh?.id === "printers" && fresh.innerHTML !== notice.innerHTML) notice.innerHTML = fresh.innerHTML;
}
