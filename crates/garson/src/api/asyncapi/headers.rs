//! What comes with an event: the headers of a webhook request, and the fields of a block of the stream.

use crate::api::openapi::of_event;
use serde_json::{Value, json};

/// The name of the schema of a webhook's headers.
pub const WEBHOOK: &str = "WebhookHeaders";
pub const CURSOR_EXAMPLE: &str = "000000000000002a";

/// The headers of a webhook request. Their names are case-insensitive.
pub fn of_webhook() -> Value {
    json!({
        "type": "object",
        "description": "Header names are case-insensitive; they are in lower case here. Headers named `webhook-…` are those of \
            Standard Webhooks; only endpoints with `signed` get them.",
        "required": ["content-type"],
        "properties": {
            "content-type": { "type": "string", "const": "application/json" },
            "user-agent": { "type": "string", "description": "`garson/` and its version." },
            "authorization": {
                "type": "string",
                "description": "By the setting `authorization` of the endpoint: `Bearer` and the account's primary API key, the bare \
                    key, `Bearer` and the endpoint's own token, or nothing."
            },
            "webhook-id": { "type": "string", "format": "uuid", "description": "The same as `veri.id`, also on retries." },
            "webhook-timestamp": {
                "type": "string",
                "pattern": "^[0-9]+$",
                "description": "When this attempt was made, in seconds since 1970."
            },
            "webhook-signature": {
                "type": "string",
                "pattern": "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$",
                "description": "`v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; two of them while a secret is rotated."
            }
        },
        "dependencies": { "webhook-signature": ["webhook-id", "webhook-timestamp"] }
    })
}

pub fn webhook_example(event: &str) -> Value {
    json!({
        "content-type": "application/json",
        "user-agent": concat!("garson/", env!("CARGO_PKG_VERSION")),
        "authorization": "Bearer gsn_example",
        "webhook-id": of_event(event)["veri"]["id"],
        "webhook-timestamp": "1772378530",
        "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="
    })
}

/// The fields of a block of the stream, beside `data`.
pub fn of_block(event: &str) -> Value {
    json!({
        "type": "object",
        "description": "The fields of the block. `data` is the payload.",
        "required": ["id", "event"],
        "properties": {
            "id": {
                "type": "string",
                "pattern": "^[0-7][0-9a-f]{15}$",
                "description": "The position after this event, for `Last-Event-ID`."
            },
            "event": { "type": "string", "const": event, "description": "The same as `olay`." }
        }
    })
}
