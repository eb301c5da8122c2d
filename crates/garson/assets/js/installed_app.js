
// The installed app: a service worker that shows a page while the server cannot be reached, and the way back from that page.
const scriptPath = new URL(document.currentScript.src).pathname;
addEventListener("load", () => {
  const style = document.querySelector("link[rel=stylesheet]")?.href;
  if (!style || document.getElementById("offline")) return;
  const files = { lang: document.documentElement.lang, style: new URL(style).pathname, script: scriptPath };
  // Only over HTTPS or on this machine; without it everything else works.
  navigator.serviceWorker?.register(`/service-worker.js?${new URLSearchParams(files)}`).catch(() => {});
});

// The page stands in for the one that was asked for, which is loaded as soon as the server can be reached.
if (document.getElementById("offline") && location.pathname !== "/offline") {
  const retry = async () => {
    const response = await fetch("/offline", { cache: "no-store" }).catch(() => null);
    if (response?.ok) location.reload();
  };
  addEventListener("online", retry);
  setInterval(retry, 3000);
}
