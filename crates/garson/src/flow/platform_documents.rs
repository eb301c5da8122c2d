//! Reading what a platform says: its messages, and orders that we fetch from it.

use garson_core::explanation::PlatformFailure;
use garson_core::platform::{
    CallError, FETCHED, HookRequest, Message, News, Platform, Sighting, Unreadable, Verified, Which, is_dots,
};
use garson_core::time::Timestamp;

/// Reads a message. One whose ids cannot be part of a URL is unreadable, because we could never call the platform about it.
pub(crate) fn read_message(platform: &dyn Platform, verified: &Verified<'_>) -> Result<Message, Unreadable> {
    let message = platform.read(verified)?;
    let ids = match &message.news {
        News::Order(sighting) => vec![&sighting.order.identity, &sighting.order.provider_order_id],
        News::Changed { order, .. } | News::Look { order } => match order {
            Which::Identity(identity) => vec![identity],
            Which::Ours(_) => Vec::new(),
        },
        News::Nothing => Vec::new(),
    };
    match ids.into_iter().find(|id| is_dots(id)) {
        Some(id) => Err(Unreadable {
            path: "providerOrderId".to_owned(),
            message: format!("cannot be \"{id}\""),
        }),
        None => Ok(message),
    }
}

/// Reads a fetched order.
pub fn read_fetched(
    platform: &'static dyn Platform,
    body: Vec<u8>,
    now: Timestamp,
) -> Result<Box<Sighting>, CallError> {
    let request = fetched_message(body, now);
    match read_message(platform, &Verified::ours(&request)) {
        Ok(Message {
            news: News::Order(sighting),
            ..
        }) => Ok(sighting),
        Ok(_) => Err(CallError::later(PlatformFailure::NotAnOrder)),
        Err(fault) => Err(CallError::later(PlatformFailure::OrderUnreadable {
            path: fault.path,
            error: fault.message,
        })),
    }
}

/// A fetched order in the form of a message.
pub(crate) fn fetched_message(body: Vec<u8>, now: Timestamp) -> HookRequest {
    HookRequest {
        kind: FETCHED,
        body,
        received_at: now,
        ..HookRequest::default()
    }
}
