// Receives Garson's events and stores each of them once, in a file with an event in each line. Needs Node 18 or newer.
//
//   KEY_FILE=key node receiver.mjs
//
// KEY_FILE (or KEY): the account's primary API key. PORT: 3000. DATA: the folder of events.jsonl, by default the current one.
import { createHash, timingSafeEqual } from "node:crypto";
import { appendFileSync, fstatSync, fsyncSync, ftruncateSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const MAX_BODY = 1024 * 1024;
// Garson waits 10 seconds for an answer. A request that takes longer is useless, and holds a connection.
const REQUEST_MS = 10_000;

function readKey() {
  const { KEY_FILE, KEY = "" } = process.env;
  const key = KEY_FILE ? readFileSync(KEY_FILE, "utf8").trim() : KEY;
  if (!key) throw new Error("set KEY_FILE to a file with the API key, or KEY to the key");
  return key;
}

/** The stored events. Calls block, so that two deliveries of an event cannot overtake each other between check and write. */
class Journal {
  ids = new Set();
  /** The newest event of each order. */
  orders = new Map();
  failed = false;

  constructor(path) {
    this.file = openSync(path, "a+", 0o600);
    const bytes = readFileSync(path);
    // A crash may have left half a line. It was not acknowledged, so it is sent again.
    this.size = bytes.lastIndexOf("\n") + 1;
    ftruncateSync(this.file, this.size);
    fsyncSync(this.file);
    for (const line of bytes.toString("utf8", 0, this.size).split("\n").slice(0, -1)) this.remember(JSON.parse(line));
  }

  /** Stores an event. Returns what it was: new, known or late. */
  add(event, text) {
    if (this.ids.has(event.veri.id)) return "known";
    if (this.failed) ftruncateSync(this.file, this.size); // what the failed attempt has left
    this.size = fstatSync(this.file).size;
    this.failed = true;
    // Outside of strings, a line break in JSON means the same as a space; inside there is none.
    appendFileSync(this.file, text.replace(/[\r\n]/g, " ") + "\n");
    fsyncSync(this.file);
    this.failed = false;
    return this.remember(event);
  }

  remember({ olay, veri }) {
    this.ids.add(veri.id);
    if (!veri.orderId) return "new"; // It is not about an order.
    // A later event may have come first: it stays the state of the order.
    if (this.orders.get(veri.orderId)?.veri.sequence > veri.sequence) return "late";
    this.orders.set(veri.orderId, { olay, veri });
    return "new";
  }
}

/** The body, or undefined if it is too large. The rest is read nevertheless: a sender that still writes might miss the answer. */
async function read(request) {
  let chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY) chunks = [];
    else chunks.push(chunk);
  }
  return size > MAX_BODY ? undefined : Buffer.concat(chunks);
}

/** The text and the event of a body, or undefined if it is not an event. */
function parse(body) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    const event = JSON.parse(text);
    return typeof event.veri.id === "string" ? { text, event } : undefined;
  } catch {
    return undefined;
  }
}

const digest = (text) => createHash("sha256").update(text).digest();
const authorization = digest(`Bearer ${readKey()}`);
let journal;

async function handle(request) {
  if (request.method !== "POST") return 405;
  // timingSafeEqual needs values of the same length, which hashes are.
  if (!timingSafeEqual(digest(request.headers.authorization ?? ""), authorization)) return 401;
  const body = await read(request);
  if (!body) return 413;
  const parsed = parse(body);
  if (!parsed) return 400;
  const outcome = journal.add(parsed.event, parsed.text);
  console.log(outcome, parsed.event.olay, parsed.event.veri.id);
  return 200;
}

const limits = { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, connectionsCheckingInterval: 1_000 };
const server = createServer(limits, async (request, response) => {
  let status = 500;
  try {
    status = await handle(request);
  } catch (error) {
    // The event is not stored, and Garson must send it again.
    if (!request.destroyed || request.complete) console.error("not stored:", error.message);
  }
  response.writeHead(status, status === 405 ? { Allow: "POST" } : {}).end();
});

// This machine only: put a proxy with TLS in front of it. The port comes before the journal: a second receiver fails here.
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  journal = new Journal(join(process.env.DATA ?? ".", "events.jsonl"));
  console.log(`listening on http://127.0.0.1:${server.address().port}/`);
});
for (const signal of ["SIGTERM", "SIGINT"]) {
  process.once(signal, () => {
    server.close();
    server.closeIdleConnections();
  });
}
