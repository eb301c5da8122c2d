//! A receiver of events: an endpoint of an account.

use garson_core::id::{AccountId, EndpointId};
use std::ops::RangeInclusive;
use uuid::Uuid;

/// An endpoint of an account. The default one has the id of its account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Receiver {
    pub account: AccountId,
    pub endpoint: EndpointId,
}

impl Receiver {
    #[must_use]
    pub fn default_of(account: AccountId) -> Self {
        Self {
            account,
            endpoint: EndpointId::default_of(account),
        }
    }

    #[must_use]
    pub fn is_default(self) -> bool {
        self.endpoint.is_default_of(self.account)
    }

    /// All that an account can have.
    #[must_use]
    pub fn all_of(account: AccountId) -> RangeInclusive<Self> {
        let at = |id| Self {
            account,
            endpoint: EndpointId(id),
        };
        at(Uuid::nil())..=at(Uuid::max())
    }
}
