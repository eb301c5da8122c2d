//! An order: what was ordered, where it stands, and the rules by which it moves.
//!
//! The cast: an [`Order`] is the part that moves, its [`content`](OrderContent) the part that only a
//! later version replaces ([`revise()`]).
//! A platform reports a [`Change`], the account wants an [`Action`]; [`apply()`] decides what follows from
//! either: the order as it is then, lines of its timeline, events, and calls to the platform.

mod action;
mod apply;
mod change;
mod content;
mod line;
mod revision;
mod status;
mod timeline_reason;

pub use action::{Action, CallArgument, CallKind};
pub use apply::{Decision, Home, Input, Refusal, apply, place};
pub use change::{Actor, Cancellation, Change, NewOrder, Reason};
pub use content::{Address, Amount, Courier, Customer, Discount, Fulfilment, FulfilmentFlags, FundedBy};
pub use content::{FulfilmentType, OrderContent, Payment, ReadingNote};
pub use line::{Item, ItemOption};
pub use revision::{
    ChangedField, ChangedValue, ContentChange, ContentVersion, Revised, RevisionLine, compared, revise,
};
pub use status::Status;
pub use timeline_reason::TimelineReason;

use crate::explanation::Explanation;
use crate::id::{AccountId, IntegrationId, OrderId, RestaurantId};
use crate::money::{Currency, Minor};
use crate::payment::PaymentType;
use crate::platform::Provider;
use crate::time::Timestamp;

/// The part of an order that moves, with what lists show of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    pub id: OrderId,
    pub account_id: AccountId,
    pub restaurant_id: RestaurantId,
    pub integration_id: IntegrationId,
    pub provider: Provider,
    /// The platform's id, as people and POS programs use it.
    pub provider_order_id: String,
    /// What makes it the same order when the platform sends it again.
    pub identity: String,
    pub short_code: Option<String>,
    pub status: Status,
    pub provider_status: Option<String>,
    /// What the platform's dialect keeps for its later calls.
    pub provider_data: Option<String>,
    /// The number of its newest event; events count 1, 2, 3 … without gaps.
    pub sequence: i64,
    pub total: Minor,
    pub currency: Currency,
    pub payment_type: PaymentType,
    pub payment_code: Option<String>,
    pub placed_at: Timestamp,
    pub accept_by: Option<Timestamp>,
    pub scheduled_for: Option<Timestamp>,
    pub ready_at: Option<Timestamp>,
    pub reported_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// The version of its content; it arrived with 1.
    pub revision: i64,
    /// The platform's own number of that version, where it gives one.
    pub content_version: Option<i64>,
    pub cancellation: Option<Cancellation>,
    pub sync: ProviderSync,
    /// Why it should be looked at although it was taken.
    pub flag: Option<Flag>,
}

/// What is known of the platform's knowledge of the newest step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderSync {
    Done,
    Pending { due_at: Timestamp },
    NotNeeded,
    Failed { message: Explanation },
}

impl ProviderSync {
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Pending { .. } => "pending",
            Self::NotNeeded => "not_needed",
            Self::Failed { .. } => "failed",
        }
    }
}

/// Why an order that was taken should be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    IntegrationOff,
    PackageExpired,
    /// Its platform has said for some time that it has no such order.
    UnknownToPlatform,
}

impl Flag {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::IntegrationOff => "integration_off",
            Self::PackageExpired => "package_expired",
            Self::UnknownToPlatform => "unknown_to_platform",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [
            Self::IntegrationOff,
            Self::PackageExpired,
            Self::UnknownToPlatform,
        ]
        .into_iter()
        .find(|flag| flag.as_str() == name)
    }
}

/// A line of an order's timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineLine {
    pub at: Timestamp,
    pub from: Option<Status>,
    pub to: Status,
    pub by: Actor,
    pub why: Option<TimelineReason>,
    /// What a later version of the order's content has changed.
    pub revision: Option<RevisionLine>,
}
