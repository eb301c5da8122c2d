// Shows a page while the server cannot be reached. That page with its style and script is all that is stored: never orders.
"use strict";

const wanted = new URL(location.href).searchParams;
const page = `/offline?lang=${wanted.get("lang") === "en" ? "en" : "tr"}`;
const assets = ["style", "script"].map((name) => wanted.get(name) ?? "")
  .filter((path) => /^\/assets\/panel-[0-9a-f]+\.(css|js)$/.test(path));
const cacheName = `offline ${[page, ...assets].join(" ")}`;

self.addEventListener("install", (event) => event.waitUntil((async () => {
  const cache = await caches.open(cacheName);
  await cache.addAll([page, ...assets].map((path) => new Request(path, { cache: "reload", credentials: "omit" })));
  // What is sent while a page closes must not wait for this worker, which may be ended with the page.
  await event.addRoutes?.({ condition: { requestMethod: "POST" }, source: "network" });
  await self.skipWaiting();
})()));

self.addEventListener("activate", (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name !== cacheName) await caches.delete(name);
  await self.clients.claim();
})()));

// What a proxy answers while the server is away would stay on the screen. Answers of the server itself have a request id.
const isAway = (response) => [502, 503, 504].includes(response.status) && !response.headers.has("x-request-id");

async function navigate(request) {
  const response = await fetch(request).catch(() => null);
  if (response && !isAway(response)) return response;
  return (await caches.match(page)) ?? response ?? Response.error();
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  if (request.mode === "navigate") event.respondWith(navigate(request));
  else if (assets.includes(new URL(request.url).pathname))
    event.respondWith(fetch(request).catch(async () => (await caches.match(request)) ?? Response.error()));
});

// Leads to the card of the order.
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const card = event.notification.data?.card ?? "";
  event.waitUntil((async () => {
    const windows = await self.clients.matchAll({ type: "window" });
    const open = windows.find((it) => new URL(it.url).pathname === "/");
    if (!open) return self.clients.openWindow(`/#${card}`);
    open.postMessage({ card });
    return open.focus();
  })());
});
