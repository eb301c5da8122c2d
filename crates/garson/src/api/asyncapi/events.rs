//! The events that the document describes.

use crate::api::openapi::EVENTS;
use garson_core::event;

const TEST_ABOUT: &str = "Sent by `POST /web-api/v1/webhook/test` and `POST /web-api/v1/webhook-endpoints/{endpointId}/test`, \
to see whether the receiver answers.";

/// An event that the document describes.
pub struct Described {
    /// The value of `olay`.
    pub name: &'static str,
    /// The name of its message, like `order_created`.
    pub id: &'static str,
    pub about: &'static str,
    /// Whether it is also part of the stream.
    pub is_streamed: bool,
}

pub fn events() -> impl Iterator<Item = Described> {
    let stored = EVENTS.into_iter().map(|(name, operation, about)| Described {
        name,
        id: operation.strip_prefix("on_").unwrap_or(operation),
        about,
        is_streamed: true,
    });
    stored.chain([Described {
        name: event::TEST,
        id: "test",
        about: TEST_ABOUT,
        is_streamed: false,
    }])
}
