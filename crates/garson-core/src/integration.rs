//! A restaurant's connection to one platform.

use crate::explanation::Explanation;
use crate::id::{AccountId, IntegrationId, RestaurantId};
use crate::platform::Provider;
use crate::secret::Secret;
use crate::time::Timestamp;
use std::collections::BTreeMap;

/// What a platform wants to know of us, by name; each value is secret.
pub type Credentials = BTreeMap<String, Secret<String>>;

/// An integration as it is shown; credentials are written, never read back.
#[derive(Clone, Debug)]
pub struct Integration {
    pub id: IntegrationId,
    pub account_id: AccountId,
    pub restaurant_id: RestaurantId,
    pub provider: Provider,
    pub is_active: bool,
    pub remote_id: Option<String>,
    /// Whether the branch that it names is known to be its own.
    pub branch: BranchClaim,
    pub has_credentials: bool,
    pub default_cancel_reason: Option<String>,
    pub health: Health,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// How an integration is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    pub last_order_at: Option<Timestamp>,
    pub last_error_at: Option<Timestamp>,
    pub last_error: Option<Explanation>,
    /// When its platform was last away, or did not let us in; none when a poll has succeeded since.
    pub trouble_at: Option<Timestamp>,
}

impl Health {
    /// Is its last error that the platform refuses the credentials?
    #[must_use]
    pub fn is_access_refused(&self) -> bool {
        self.last_error
            .as_ref()
            .is_some_and(Explanation::is_access_refused)
    }
}

/// What is known about an integration's right to the branch that it names. Anybody can write down any branch, so a claim
/// alone neither receives what a platform sends with the operator's credentials nor keeps others from the branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BranchClaim {
    /// Nothing has shown yet that the branch belongs to the account.
    #[default]
    Unproven,
    /// It owns the branch: its own credentials worked on the platform, or the operator has decided so.
    Proven,
    /// Its own credentials worked, but another integration owned the branch already.
    Taken,
}

impl BranchClaim {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unproven => "unproven",
            Self::Proven => "proven",
            Self::Taken => "taken",
        }
    }
}
