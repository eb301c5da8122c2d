/**
 * The life of two orders: one is delivered and reported, one is cancelled. Prints what it has seen as JSON.
 *
 * usage: node order_life.js URL KEY_FILE
 */

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { answerOf, connect, connectShop, eventPages, GarsonError, type Schemas } from "../src/index.js";

const DELIVERED = 900;

const [url, keyFile] = process.argv.slice(2);
if (url === undefined || keyFile === undefined) {
  throw new Error("usage: order_life URL KEY_FILE");
}
const garson = connect(url, readFileSync(keyFile, "utf8").trim());

// A restaurant, and the secret with which its own shop hands over orders.
const restaurant = answerOf(await garson.POST("/web-api/v1/restaurants", { body: { name: "Moda" } })).data;
const inboundKey = randomUUID();
answerOf(
  await garson.PUT("/web-api/v1/restaurants/{restaurantId}/integrations/{provider}", {
    params: { path: { restaurantId: restaurant.id, provider: "direct" } },
    body: { isActive: true, remoteId: "moda-typescript", credentials: { inboundKey } },
  }),
);

const shop = connectShop(url, inboundKey);
async function placeOrder(providerOrderId: string): Promise<string> {
  const order: Schemas["ShopOrder"] = {
    storeId: "moda-typescript",
    providerOrderId,
    items: [{ name: "Lahmacun", quantity: 2, unitPrice: 7_500 }],
    amount: { total: 15_000 },
    payment: { type: "cash" },
  };
  return answerOf(await shop.POST("/hooks/direct/orders", { body: order })).data.orderId;
}
const delivered = await placeOrder("TS-1");
const cancelled = await placeOrder("TS-2");

const listed = answerOf(
  await garson.GET("/web-api/v1/orders", { params: { query: { restaurantId: restaurant.id, open: true } } }),
).data.map((order) => order.providerOrderId);

// The first order, until it is delivered. A repeated request with the same key has no further effect.
const verifyKey = { "Idempotency-Key": randomUUID() };
const path = { orderId: delivered };
const verified = answerOf(
  await garson.POST("/web-api/v1/orders/verify/{orderId}", { params: { path, header: verifyKey } }),
).data;
const statuses = [verified.status];
while (statuses.at(-1) !== DELIVERED) {
  const moved = answerOf(await garson.POST("/web-api/v1/orders/change-status/{orderId}", { params: { path } })).data;
  statuses.push(moved.newStatus);
}

// The second one is cancelled, with a reason that its platform accepts.
const { reasons } = answerOf(
  await garson.GET("/web-api/v1/orders/reasons/{orderId}", { params: { path: { orderId: cancelled } } }),
).data;
const reason = reasons[0];
if (reason === undefined) {
  throw new Error("there is no reason");
}
answerOf(
  await garson.POST("/web-api/v1/orders/cancel/{orderId}", {
    params: { path: { orderId: cancelled } },
    body: { reason: reason.id, note: "No lahmacun left" },
  }),
);
const detail = answerOf(
  await garson.GET("/web-api/v1/orders/{orderId}", { params: { path: { orderId: cancelled } } }),
).data;

// Everything that happened, in pages of two.
const events: string[] = [];
for await (const page of eventPages(garson, undefined, 2)) {
  events.push(...page.events.map(({ olay, veri }) => `${olay} ${veri.providerOrderId ?? "-"} ${veri.sequence ?? "-"}`));
}

// Accounting: what waits to be reported, before and after the delivered order is.
async function pendingReports(): Promise<string[]> {
  const query = { status: String(DELIVERED) };
  const pending = answerOf(await garson.GET("/web-api/v1/orders/reports/pending", { params: { query } }));
  return pending.data.map((order) => order.providerOrderId);
}
const pendingBefore = await pendingReports();
answerOf(await garson.POST("/web-api/v1/orders/reports/mark", { body: { providerOrderId: delivered } }));
const pendingAfter = await pendingReports();

// An error has a code for programs, which the compiler knows.
const errors: [number, string | undefined, string[]][] = [];
async function expectError(call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof GarsonError)) {
      throw error;
    }
    errors.push([error.status, error.code, error.details.map(({ field }) => field)]);
    return;
  }
  throw new Error("a request that is wrong was accepted");
}
await expectError(async () =>
  answerOf(await garson.POST("/web-api/v1/orders/verify/{orderId}", { params: { path: { orderId: "nothing" } } })),
);
await expectError(async () => answerOf(await garson.POST("/web-api/v1/restaurants", { body: { name: "" } })));
await expectError(async () => answerOf(await connect(url, "gsn_wrong").GET("/web-api/v1/orders")));

console.log(
  JSON.stringify({
    listed,
    statuses,
    cancelled: { status: detail.status, by: detail.cancellation?.by, reason: detail.cancellation?.reason?.id },
    events,
    pendingBefore,
    pendingAfter,
    errors,
  }),
);
