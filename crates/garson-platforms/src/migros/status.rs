//! The platform's words for the status of an order.
//!
//! Its full list is not public, so a word that is not known moves nothing; it is kept and shown as it came.

use garson_core::order::{Actor, Change, Courier, Status};

/// What a word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Waiting,
    Accepted,
    Ready,
    OnTheWay,
    Delivered,
    Cancelled(Actor),
    Unknown,
}

impl Word {
    /// Reads a word regardless of case and separators: `IN_DELIVERY` equals `InDelivery`.
    pub fn of(word: &str) -> Self {
        let plain: String = word
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|c| c.to_ascii_uppercase())
            .collect();
        match plain.as_str() {
            "NEWPENDING" | "NEW" | "PENDING" => Self::Waiting,
            "APPROVED" | "PREPARING" => Self::Accepted,
            "PREPARED" | "READY" => Self::Ready,
            "DELIVERY" | "INDELIVERY" | "ONTHEWAY" => Self::OnTheWay,
            "COMPLETED" | "DELIVERED" => Self::Delivered,
            // Only the restaurant rejects.
            "REJECTED" => Self::Cancelled(Actor::Account),
            cancelled if cancelled.starts_with("CANCEL") => Self::Cancelled(canceller(cancelled)),
            _ => Self::Unknown,
        }
    }

    pub fn is_ready(self) -> bool {
        matches!(self, Self::Ready | Self::OnTheWay | Self::Delivered)
    }

    /// What has happened to an order since it arrived; `spelling` is the word itself.
    pub fn change(self, courier: Courier, spelling: Option<String>) -> Option<Change> {
        // The restaurant accepts and prepares; the courier delivers.
        let carrier = match courier {
            Courier::Restaurant => Actor::Account,
            Courier::Platform | Courier::None => Actor::Platform,
        };
        let (to, by) = match self {
            Self::Waiting | Self::Unknown => return None,
            Self::Accepted | Self::Ready => (Status::Preparing, Actor::Account),
            Self::OnTheWay => (Status::OnTheWay, carrier),
            Self::Delivered => (Status::Delivered, carrier),
            Self::Cancelled(by) => {
                return Some(Change::Cancelled {
                    by,
                    reason: None,
                    note: None,
                    provider_status: spelling,
                });
            }
        };
        Some(Change::Moved {
            to,
            by,
            provider_status: spelling,
        })
    }
}

/// Who cancelled, where the word says it; the platform otherwise.
fn canceller(word: &str) -> Actor {
    let names = |who: &[&str]| who.iter().any(|who| word.contains(who));
    if names(&["CUSTOMER", "USER"]) {
        Actor::Customer
    } else if names(&["RESTAURANT", "STORE"]) {
        Actor::Account
    } else {
        Actor::Platform
    }
}
