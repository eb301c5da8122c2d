/** A typed client of Garson: every operation of `openapi.json` through openapi-fetch, and errors as exceptions with a code. */

import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./schema.js";

export type Schemas = components["schemas"];
export type ErrorCode = Schemas["Code"];
export type Garson = Client<paths, "application/json">;

/** A response that is not a success. */
export class GarsonError extends Error {
  override readonly name = "GarsonError";

  constructor(
    readonly status: number,
    /** For programs. Undefined if the response is not from Garson, but from a proxy for example. */
    readonly code: ErrorCode | undefined,
    message: string,
    /** The fields that are wrong. */
    readonly details: Schemas["Detail"][],
    /** What the operator needs to find the request in the log. */
    readonly requestId: string | undefined,
  ) {
    super(message);
  }
}

export interface Options {
  /** Replaces the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
  /** How long a response may take. Long polling needs more. */
  timeoutMillis?: number;
}

/** A client with an API key of an account. */
export function connect(url: string, apiKey: string, options: Options = {}): Garson {
  return withHeaders(url, { authorization: `Bearer ${apiKey}` }, options);
}

/** A client for the operations of own shops (`/hooks/direct/…`), with the `inboundKey` of an integration. */
export function connectShop(url: string, inboundKey: string, options: Options = {}): Garson {
  return withHeaders(url, { "x-api-key": inboundKey }, options);
}

function withHeaders(url: string, headers: Record<string, string>, options: Options): Garson {
  const { fetch: send = globalThis.fetch, timeoutMillis = 30_000 } = options;
  return createClient<paths, "application/json">({
    baseUrl: url.replace(/\/+$/, ""),
    headers,
    fetch: (request) => {
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMillis)]);
      return send(new Request(request, { signal }));
    },
  });
}

/** What a call of openapi-fetch yields. */
type Outcome<T> =
  | { data: T; error?: never; response: Response }
  | { data?: never; error: Schemas["ErrorBody"] | undefined; response: Response };

/** The body of a success; throws a `GarsonError` otherwise. */
export function answerOf<T>({ data, error, response }: Outcome<T>): T {
  if (response.ok && data !== undefined) {
    return data;
  }
  // A proxy may have answered with anything.
  const content = error?.error as Partial<Schemas["ErrorContent"]> | undefined;
  throw new GarsonError(
    response.status,
    content?.code,
    content?.message ?? `The server answered ${response.status}.`,
    content?.details ?? [],
    error?.requestId ?? response.headers.get("x-request-id") ?? undefined,
  );
}

/** All events after a position, oldest first, page by page; and the position after them. */
export async function* eventPages(garson: Garson, cursor?: string, limit = 200) {
  for (;;) {
    const query = { dir: "prev" as const, limit, ...(cursor === undefined ? {} : { cursor }) };
    const page = answerOf(await garson.GET("/web-api/v1/events", { params: { query } }));
    const next = page.paging.prev ?? undefined;
    if (page.data.length === 0 || next === undefined) {
      return;
    }
    // Pages are newest first, whatever their direction.
    yield { events: [...page.data].reverse(), cursor: next };
    cursor = next;
  }
}
