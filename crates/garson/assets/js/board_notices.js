
// Draws attention to new orders: a bar for those out of view, the title, the icon, and notifications of the browser.
if (board && document.getElementById("below")) startNotices(board);

function startNotices(board) {
  const bar = document.getElementById("below");
  const icon = document.querySelector("link[rel=icon]");
  const plainIcon = icon.href;
  const plainTitle = document.title.replace(/^\(\d+\) /, "");
  const waiting = new Set(), inView = new Set(), unseen = new Set(), notifications = new Map();
  let shownCount = -1;

  const observer = new IntersectionObserver((entries) => {
    for (const { target, intersectionRatio } of entries) {
      if (intersectionRatio >= 0.2) {
        inView.add(target);
        unseen.delete(target.id);
      } else inView.delete(target);
    }
    showBar();
  }, { rootMargin: "-56px 0px 0px 0px", threshold: [0, 0.2] });

  // Follows the cards that wait to be accepted.
  function update() {
    const now = new Set(board.querySelectorAll(".order[data-waiting]"));
    for (const card of waiting) if (!now.has(card)) {
      waiting.delete(card);
      inView.delete(card);
      observer.unobserve(card);
    }
    for (const card of now) if (!waiting.has(card)) {
      waiting.add(card);
      observer.observe(card);
    }
    for (const [id, notification] of notifications)
      if (!document.getElementById(id)?.matches("[data-waiting]")) {
        notification.close();
        notifications.delete(id);
      }
    showCount(waiting.size);
    showBar();
  }

  // Those that were scrolled past, and arrivals that were never in view. Others below are less urgent than those in view.
  function outOfView() {
    const cards = [...board.querySelectorAll(".order[data-waiting]")].filter((card) => !inView.has(card));
    return cards.filter((card) => unseen.has(card.id) || card.getBoundingClientRect().top < 0);
  }

  function showBar() {
    const cards = outOfView();
    bar.hidden = cards.length === 0;
    if (bar.hidden) return;
    const text = cards.length === 1 ? bar.dataset.one : bar.dataset.many;
    bar.textContent = `${cards.length} ${text} · ${bar.dataset.show}`;
    bar.dataset.to = target(cards).getBoundingClientRect().top < 0 ? "up" : "down";
  }

  // An order that was never in view, or else the most urgent one.
  const target = (cards) => cards.find((card) => unseen.has(card.id)) ?? cards[0];
  bar.addEventListener("click", () => {
    const cards = outOfView();
    if (cards.length) goToCard(target(cards));
  });

  function showCount(count) {
    if (count === shownCount) return;
    shownCount = count;
    document.title = count ? `(${count}) ${plainTitle}` : plainTitle;
    icon.href = count ? drawIcon(count) : plainIcon;
  }

  function drawIcon(count) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 64;
    const pen = canvas.getContext("2d");
    if (!pen) return plainIcon;
    pen.fillStyle = "#5b3fc4";
    pen.beginPath();
    pen.roundRect(0, 0, 64, 64, 16);
    pen.fill();
    pen.fillStyle = "#fff";
    pen.font = `bold ${count > 99 ? 30 : 44}px sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(count > 99 ? "99+" : String(count), 32, 36);
    return canvas.toDataURL();
  }

  // Notifications, once the user has allowed them by the button.
  const button = document.getElementById("notify");
  if ("Notification" in window) {
    button.hidden = Notification.permission !== "default";
    button.addEventListener("click", async () => {
      const permission = await Notification.requestPermission();
      if (permission !== "default") button.textContent = permission === "granted" ? button.dataset.on : button.dataset.denied;
    });
  }

  // Only first name and code: others may see the screen.
  function notify(card) {
    if (!("Notification" in window) || Notification.permission !== "granted") return;
    if (document.visibilityState === "visible" && document.hasFocus()) return;
    const title = `${document.getElementById("said").dataset.new}: ${card.querySelector(".code").textContent}`;
    const body = card.querySelector(".customer")?.textContent ?? "";
    const options = { tag: card.id, body, icon: "/icons/icon-192.png", data: { card: card.id } };
    try {
      const notification = new Notification(title, options);
      notification.addEventListener("click", () => {
        window.focus();
        goToCard(document.getElementById(card.id));
        notification.close();
      });
      notifications.set(card.id, notification);
    } catch {
      // Phones show notifications only through the service worker.
      navigator.serviceWorker?.ready.then((worker) => worker.showNotification(title, options)).catch(() => {});
    }
  }
  navigator.serviceWorker?.addEventListener("message", (event) => {
    if (event.data?.card) goToCard(document.getElementById(event.data.card));
  });

  board.addEventListener("board:card", ({ detail: { card, isArrival } }) => {
    if (!isArrival || !card.matches("[data-waiting]")) return;
    unseen.add(card.id);
    notify(card);
  });
  // Only the lists of cards: times change every second.
  const lists = new MutationObserver(update);
  for (const cards of board.querySelectorAll(".cards")) lists.observe(cards, { childList: true });
  update();
}

// Scrolls to a card and moves the focus there.
function goToCard(card) {
  if (!card) return;
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  card.focus({ preventScroll: true });
  card.scrollIntoView({ block: "center", behavior: isCalm ? "instant" : "smooth" });
}
