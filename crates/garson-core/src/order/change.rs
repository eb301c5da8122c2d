//! What platforms report: new orders, and changes to those that are known.

use super::{ContentVersion, OrderContent, Status};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Who did something to an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// The restaurant's side, through us or on its tablet.
    Account,
    Platform,
    Customer,
    /// This service on the account's behalf.
    System,
}

impl Actor {
    pub const ALL: [Self; 4] = [Self::Account, Self::Platform, Self::Customer, Self::System];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::Platform => "platform",
            Self::Customer => "customer",
            Self::System => "system",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|actor| actor.as_str() == name)
    }

    /// The status of an order that this one has cancelled.
    #[must_use]
    pub fn cancelled_status(self) -> Status {
        match self {
            Self::Account | Self::System => Status::Cancelled,
            Self::Platform | Self::Customer => Status::CancelledByPlatform,
        }
    }
}

/// An order that arrives.
#[derive(Clone, Debug, PartialEq)]
pub struct NewOrder {
    pub provider_order_id: String,
    pub identity: String,
    pub short_code: Option<String>,
    pub status: Status,
    pub provider_status: Option<String>,
    pub provider_data: Option<String>,
    /// When the customer ordered; the time of arrival if the platform does not say.
    pub placed_at: Option<Timestamp>,
    pub accept_by: Option<Timestamp>,
    pub scheduled_for: Option<Timestamp>,
    pub content: OrderContent,
    pub version: ContentVersion,
}

/// What happened to a known order on its platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Moved {
        to: Status,
        by: Actor,
        provider_status: Option<String>,
    },
    Cancelled {
        by: Actor,
        reason: Option<Reason>,
        note: Option<String>,
        provider_status: Option<String>,
    },
}

/// Why an order is cancelled, in the platform's vocabulary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    pub id: String,
    pub name: String,
}

impl Reason {
    /// Is it free text? Reasons of a platform's list have a name that differs from their id.
    #[must_use]
    pub fn is_free_text(&self) -> bool {
        self.id == self.name
    }
}

/// How an order ended before its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cancellation {
    pub by: Actor,
    pub reason: Option<Reason>,
    pub note: Option<String>,
    pub at: Timestamp,
}
