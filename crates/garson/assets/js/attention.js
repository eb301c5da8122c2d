// The banner of every page: asks for it again from time to time, and shows when the connection to the server is lost.
(() => {
  "use strict";
  const EVERY = 20000;
  const AGAIN = 3000;
  const PATIENCE = 8000;
  let banner = document.getElementById("attention");
  if (!banner) return;
  let failures = 0;
  let timer = 0;
  let isAsking = false;
  let lost = null;

  async function check() {
    if (isAsking) return;
    isAsking = true;
    clearTimeout(timer);
    let isSignedOut = false;
    try {
      const asked = { headers: { "x-part": "attention" }, cache: "no-store", signal: AbortSignal.timeout(PATIENCE) };
      const response = await fetch(banner.dataset.from, asked);
      isSignedOut = response.status === 401;
      if (!response.ok && !isSignedOut) throw new Error(String(response.status));
      if (!isSignedOut) replace(await response.text());
      failures = 0;
      showBack();
    } catch {
      failures += 1;
      if (failures > 1) showLost();
    }
    isAsking = false;
    // Devices that lost the connection together do not come back together.
    if (!isSignedOut) timer = setTimeout(check, failures ? AGAIN : EVERY + Math.random() * 5000);
  }

  // The markup comes from this server.
  function replace(markup) {
    const template = document.createElement("template");
    template.innerHTML = markup;
    const next = template.content.querySelector("#attention");
    if (!next || next.innerHTML === banner.innerHTML) return;
    banner.replaceChildren(...next.childNodes);
  }

  function showLost() {
    if (lost) return;
    lost = document.createElement("p");
    lost.id = "connection";
    lost.className = "notice bad attention";
    lost.setAttribute("role", "alert");
    banner.before(lost);
    lost.textContent = banner.dataset.offline;
    dispatchEvent(new Event("connection-lost"));
  }
  function showBack() {
    if (!lost) return;
    const back = lost;
    lost = null;
    back.className = "notice good";
    back.setAttribute("role", "status");
    back.textContent = banner.dataset.online;
    setTimeout(() => back.remove(), 5000);
    dispatchEvent(new Event("connection-back"));
  }

  // Hints that something is wrong, or well again.
  for (const hint of ["offline", "online"]) addEventListener(hint, check);
  const live = document.getElementById("live");
  if (live) new MutationObserver(check).observe(live, { attributes: true, attributeFilter: ["class"] });
  timer = setTimeout(check, EVERY);
})();
