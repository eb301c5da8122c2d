//! The stored record of an order, and the entries of its timeline.

use super::{Actor, Cancellation, RevisionLine, Status, TimelineReason};
use crate::explanation::Explanation;
use crate::id::{AccountId, IntegrationId, OrderId, RestaurantId};
use crate::money::{Currency, Minor};
use crate::payment::PaymentType;
use crate::platform::Provider;
use crate::time::Timestamp;

/// The changing part of an order, with what lists show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    pub id: OrderId,
    pub account_id: AccountId,
    pub restaurant_id: RestaurantId,
    pub integration_id: IntegrationId,
    pub provider: Provider,
    /// The platform's id, as people and POS programs use it.
    pub provider_order_id: String,
    /// Identifies the order when the platform sends it again.
    pub identity: String,
    pub short_code: Option<String>,
    pub status: Status,
    pub provider_status: Option<String>,
    /// What the platform's connector stores for later calls.
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
    /// The time that the kitchen needs, as it was chosen when the order was accepted.
    pub preparation_minutes: Option<u32>,
    pub sync: ProviderSync,
    /// Why it needs attention although it was accepted.
    pub flag: Option<Flag>,
}

/// Whether the platform has received the newest step.
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

/// Why an accepted order needs attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    IntegrationOff,
    PackageExpired,
    /// Its platform has reported for some time that it has no such order.
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
