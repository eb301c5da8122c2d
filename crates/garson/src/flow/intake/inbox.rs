//! How a message is stored in the inbox, and how it is read back.

use garson_core::id::OrderId;
use garson_core::platform::{FETCHED, HookRequest, IntakeOutcome, Platform};
use garson_store::tables::inbox::{InboxState, StoredMessage};
use std::borrow::Cow;

/// What the inbox says about a message.
pub(crate) struct InboxEntry<'a> {
    pub state: InboxState,
    pub order: Option<OrderId>,
    pub branch: Option<&'a str>,
    pub identity: Option<&'a str>,
    pub reason: Option<Cow<'a, str>>,
}

impl<'a> InboxEntry<'a> {
    /// The entry for an outcome; `None` if the message is not stored.
    pub fn of(outcome: &'a IntakeOutcome) -> Option<Self> {
        let entry = Self {
            state: InboxState::Taken,
            order: None,
            branch: None,
            identity: None,
            reason: None,
        };
        Some(match outcome {
            IntakeOutcome::Taken { order_id } => Self {
                order: Some(*order_id),
                ..entry
            },
            IntakeOutcome::Noted => entry,
            IntakeOutcome::Conflict { order_id } => Self {
                state: InboxState::Conflicting,
                order: Some(*order_id),
                reason: Some("the order is known with other content".into()),
                ..entry
            },
            IntakeOutcome::UnknownBranch { branch } => Self {
                state: InboxState::Unmatched,
                branch: Some(branch),
                reason: Some("no integration has this branch".into()),
                ..entry
            },
            IntakeOutcome::UnknownOrder { identity } => Self {
                state: InboxState::Unmatched,
                identity: Some(identity),
                reason: Some("the order is not known".into()),
                ..entry
            },
            IntakeOutcome::Unreadable(fault) => Self {
                state: InboxState::Unreadable,
                reason: Some(format!("{} {}", fault.path, fault.message).into()),
                ..entry
            },
            IntakeOutcome::NotGenuine => return None,
        })
    }
}

/// A stored message as the request that it was; `None` if this version no longer has its route.
pub(crate) fn stored_request(platform: &dyn Platform, message: &StoredMessage) -> Option<HookRequest> {
    let mut kinds = platform.hooks().iter().map(|route| route.kind).chain([FETCHED]);
    Some(HookRequest {
        kind: kinds.find(|kind| *kind == message.kind)?,
        params: serde_json::from_str(&message.params).ok()?,
        headers: Vec::new(),
        body: message.body.clone(),
        received_at: message.received_at,
    })
}
