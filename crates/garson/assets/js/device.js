// What this device remembers; nothing where the browser forbids it.
function stored(name) {
  try { return localStorage.getItem(name); } catch { return null; }
}
function store(name, value) {
  try { localStorage.setItem(name, value); } catch { /* The default is used next time. */ }
}
