
// Keeps the screen on while a board is in view. The browser releases the lock when the page is hidden.
if (board && navigator.wakeLock) keepScreenOn();

function keepScreenOn() {
  let lock = null;
  const hold = async () => {
    if (document.visibilityState !== "visible" || (lock && !lock.released)) return;
    try { lock = await navigator.wakeLock.request("screen"); } catch { /* Low battery, or not allowed: tried again later. */ }
  };
  document.addEventListener("visibilitychange", hold);
  addEventListener("pointerdown", hold);
  hold();
}
