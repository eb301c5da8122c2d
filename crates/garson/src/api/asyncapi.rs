//! The AsyncAPI document: the events that the service sends to webhooks and streams, each with its payload and headers. The payloads
//! are made of the schemas of the OpenAPI document.

mod events;
mod headers;
mod payloads;

use super::openapi;
use crate::http::path::API_PREFIX;
use events::{Described, events};
use payloads::Payloads;
use serde_json::{Map, Value, json};
use url::Url;

const DESCRIPTION: &str = "What Garson sends when something has happened: to the webhook endpoints of an account, and on the \
event stream. `openapi.json` describes the operations that a client calls.";

const WEBHOOK: &str = "The URL that the account has registered with `PUT /web-api/v1/webhook`, or that of one of its \
`/web-api/v1/webhook-endpoints`. Each event is a POST. Only 2xx is a success; anything else is tried again, with the same bytes and \
the same `veri.id`. Events of an order come one after the other, and `veri.sequence` counts them; a later event overtakes an earlier one \
only after that has failed twice. Ignore unknown fields and unknown values of `olay`.";

const STREAM: &str = "The same events as server-sent events, oldest first, for clients without a public address. Request it with \
`Accept: text/event-stream` and a key that may read orders. It begins after `Last-Event-ID` (an `id` of an earlier stream, or a \
`veri.id`), or after `cursor`; without either with new events. The first block has only an `id`, and so have events of restaurants that \
the key may not see. Lines that begin with a colon keep the connection alive.";

/// The finished document.
#[must_use]
pub fn document() -> Value {
    served_at("")
}

/// The document with the address at which this service is reached, if that is known.
pub(super) fn served_at(public_url: &str) -> Value {
    let payloads = Payloads::new(&openapi::document());
    let mut schemas = Map::new();
    let mut messages = Map::new();
    let mut webhook_messages = Map::new();
    let mut stream_messages = Map::new();
    for event in events() {
        let schema = payloads::schema_name(event.id);
        schemas.insert(schema.clone(), payloads.of(&event));
        let message = describe(&event, &schema, &reference("schemas", headers::WEBHOOK));
        let example = json!({ "headers": headers::webhook_example(event.name), "payload": openapi::of_event(event.name) });
        add_message(&mut messages, &mut webhook_messages, event.id, message, example);
        if event.is_streamed {
            let id = format!("{}_streamed", event.id);
            let message = describe(&event, &schema, &headers::of_block(event.name));
            let example = json!({
                "headers": { "id": headers::CURSOR_EXAMPLE, "event": event.name },
                "payload": openapi::of_event(event.name)
            });
            add_message(&mut messages, &mut stream_messages, &id, message, example);
        }
    }
    schemas.insert(headers::WEBHOOK.to_owned(), headers::of_webhook());
    payloads.add_referenced(&mut schemas);
    json!({
        "asyncapi": "3.0.0",
        "id": "urn:garson:events",
        "info": {
            "title": "Garson events",
            "version": env!("CARGO_PKG_VERSION"),
            "description": DESCRIPTION,
            "license": { "name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0" }
        },
        "defaultContentType": "application/json",
        "servers": { "garson": server(public_url), "receiver": receiver() },
        "channels": {
            "webhook": {
                // Every account has its own.
                "address": null,
                "title": "Webhook",
                "description": WEBHOOK,
                "servers": [{ "$ref": "#/servers/receiver" }],
                "messages": webhook_messages
            },
            "stream": {
                "address": format!("{API_PREFIX}/events"),
                "title": "Event stream",
                "description": STREAM,
                "servers": [{ "$ref": "#/servers/garson" }],
                "messages": stream_messages
            }
        },
        "operations": {
            "send_webhook": {
                "action": "send",
                "channel": { "$ref": "#/channels/webhook" },
                "summary": "Send an event to the account's receivers.",
                "bindings": { "http": { "method": "POST", "bindingVersion": "0.3.0" } }
            },
            "stream_events": {
                "action": "send",
                "channel": { "$ref": "#/channels/stream" },
                "summary": "Send events on an open stream.",
                "security": [{ "$ref": "#/components/securitySchemes/apiKey" }],
                "bindings": { "http": { "method": "GET", "query": payloads.cursor_query(), "bindingVersion": "0.3.0" } }
            }
        },
        "components": {
            "messages": messages,
            "schemas": schemas,
            "securitySchemes": {
                "apiKey": { "type": "http", "scheme": "bearer", "description": "An API key of the account" }
            }
        }
    })
}

fn reference(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}

fn describe(event: &Described, schema: &str, headers: &Value) -> Value {
    json!({
        "name": event.name,
        "title": event.name,
        "summary": event.about,
        "contentType": "application/json",
        "headers": headers,
        "payload": reference("schemas", schema)
    })
}

/// Adds a message to the components, and to the messages of its channel.
fn add_message(
    all: &mut Map<String, Value>,
    channel: &mut Map<String, Value>,
    id: &str,
    mut message: Value,
    example: Value,
) {
    message["examples"] = json!([example]);
    all.insert(id.to_owned(), message);
    channel.insert(id.to_owned(), reference("messages", id));
}

fn server(public_url: &str) -> Value {
    let known = Url::parse(public_url).ok();
    let host = known.as_ref().and_then(|url| {
        let host = url.host_str()?;
        Some(
            url.port()
                .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
        )
    });
    match (known, host) {
        (Some(url), Some(host)) => json!({
            "host": host,
            "pathname": url.path().trim_end_matches('/'),
            "protocol": url.scheme(),
            "description": "This service"
        }),
        _ => json!({
            "host": "{host}",
            "protocol": "https",
            "description": "The server that answers this document",
            "variables": { "host": { "default": "localhost:8080", "description": "Host and port of the service" } }
        }),
    }
}

fn receiver() -> Value {
    json!({
        "host": "{receiver}",
        "protocol": "https",
        "description": "A receiver of the account",
        "variables": { "receiver": { "default": "pos.example.com", "description": "Host of the registered URL" } }
    })
}

#[cfg(test)]
mod tests;
