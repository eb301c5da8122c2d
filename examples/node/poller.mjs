// Fetches Garson's events, for a shop without a public address, and stores each of them once. Needs Node 18 or newer.
//
//   KEY_FILE=key URL=https://orders.example.com node poller.mjs
//
// KEY_FILE (or KEY): an API key. URL: where Garson is. DATA: the folder of events.jsonl and cursor, by default the current one.
import { appendFileSync, closeSync, existsSync, fstatSync, fsyncSync, ftruncateSync } from "node:fs";
import { openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const WAIT_SECONDS = 30;
// The whole request, with the time that Garson waits for an event.
const REQUEST_MS = (WAIT_SECONDS + 15) * 1000;
const MAX_PAUSE = 60;
const MAX_RETRY_AFTER = 600;

function readKey() {
  const { KEY_FILE, KEY = "" } = process.env;
  const key = KEY_FILE ? readFileSync(KEY_FILE, "utf8").trim() : KEY;
  if (!key) throw new Error("set KEY_FILE to a file with the API key, or KEY to the key");
  return key;
}

class Journal {
  ids = new Set();
  failed = false;

  constructor(path) {
    this.file = openSync(path, "a+", 0o600);
    const bytes = readFileSync(path);
    // A crash may have left half a line. The cursor is older than it, so it is fetched again.
    this.size = bytes.lastIndexOf("\n") + 1;
    ftruncateSync(this.file, this.size);
    fsyncSync(this.file);
    for (const line of bytes.toString("utf8", 0, this.size).split("\n").slice(0, -1)) this.ids.add(JSON.parse(line).veri.id);
  }

  /** Stores the events that are new. */
  add(events) {
    const fresh = events.filter((event) => !this.ids.has(event.veri.id));
    if (fresh.length === 0) return;
    if (this.failed) ftruncateSync(this.file, this.size); // what the failed attempt has left
    this.size = fstatSync(this.file).size;
    this.failed = true;
    appendFileSync(this.file, fresh.map((event) => JSON.stringify(event) + "\n").join(""));
    fsyncSync(this.file);
    this.failed = false;
    for (const event of fresh) this.ids.add(event.veri.id);
  }
}

/** Replaces the file by a complete one: a crash leaves the old cursor or the new one. */
function storeCursor(path, cursor) {
  const file = openSync(`${path}.new`, "w", 0o600);
  try {
    writeSync(file, cursor);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.new`, path);
}

/** Ends the program: repeating the request would not help. */
function giveUp(reason) {
  console.error(reason);
  process.exit(1);
}

/** The events after the cursor, oldest first, and the next cursor. Waits until there are some, up to WAIT_SECONDS. */
async function fetchPage(cursor) {
  const query = new URLSearchParams({ dir: "prev", limit: "100", wait: String(WAIT_SECONDS) });
  if (cursor) query.set("cursor", cursor);
  const response = await fetch(`${url}/web-api/v1/events?${query}`, {
    headers: { Authorization: `Bearer ${key}` },
    redirect: "manual",
    signal: AbortSignal.timeout(REQUEST_MS),
  });
  if (response.status === 401) giveUp("Garson refuses the key");
  if (response.status === 422)
    giveUp("The events after the cursor are not kept any more: read the orders, delete the cursor, start again");
  const body = await response.text();
  if (response.status !== 200) {
    // It may also be a date, which a proxy sends.
    const seconds = Number(response.headers.get("retry-after")) || 0;
    throw Object.assign(new Error(`Garson answered ${response.status}`), { retryAfter: Math.min(seconds, MAX_RETRY_AFTER) });
  }
  const page = JSON.parse(body);
  return { events: page.data.reverse(), next: page.paging.prev };
}

const url = (process.env.URL ?? "http://127.0.0.1:8080").replace(/\/+$/, "");
const key = readKey();
const data = process.env.DATA ?? ".";
const journal = new Journal(join(data, "events.jsonl"));
const cursorFile = join(data, "cursor");
let cursor = existsSync(cursorFile) ? readFileSync(cursorFile, "utf8") : undefined;
let failures = 0;

// It may be killed at any time: what is stored is complete, and the rest is fetched again.
for (;;) {
  const began = Date.now();
  try {
    const { events, next } = await fetchPage(cursor);
    // In this order: after a crash between the two, the events are fetched again, and their ids are known.
    journal.add(events);
    if (next !== cursor) storeCursor(cursorFile, next);
    cursor = next;
    failures = 0;
    if (events.length > 0) console.log(events.length, "events, up to", cursor);
    // A server that is about to stop does not wait.
    else if (Date.now() - began < 1000) await sleep(1000);
  } catch (error) {
    // Random, so that many shops do not return at the same moment after an outage.
    const pause = Math.max(Math.min(2 ** failures, MAX_PAUSE) * (0.5 + Math.random() / 2), error.retryAfter ?? 0);
    failures = Math.min(failures + 1, 10);
    console.error(`${error.message}; again in ${pause.toFixed(1)} s`);
    await sleep(pause * 1000);
  }
}
