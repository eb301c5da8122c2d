//! A read of a store.

use super::reason::{ReasonCode, StoreReason};
use super::state::{StoreActor, StoreState};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A read of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreReading {
    /// Never `Unsupported`. It is `Open` on platforms that do not show busy mode ([`StoreSupport::shows_busy`]).
    ///
    /// [`StoreSupport::shows_busy`]: crate::platform::StoreSupport::shows_busy
    pub state: StoreState,
    /// The platform's own word or number for the state.
    pub word: Option<String>,
    pub since: Option<Timestamp>,
    /// When the platform opens it again by itself: the end of a timed closing, or the next opening.
    pub until: Option<Timestamp>,
    /// Who closed it, if the platform reports it: the account (also in the platform's own panel), the platform, or the schedule.
    pub by: Option<StoreActor>,
    pub reason: Option<StoreReason>,
    /// Whether the platform currently accepts changes. If not, `reason` says why.
    pub can_change: bool,
    /// What may be set now, if the platform reports it.
    pub offer: Option<StoreOffer>,
}

impl StoreReading {
    /// A read with only the state, which may be changed.
    #[must_use]
    pub fn of(state: StoreState) -> Self {
        Self {
            state,
            can_change: true,
            ..Self::default()
        }
    }
}

/// What a platform currently allows to be set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreOffer {
    pub can_open: bool,
    pub can_close: bool,
    /// It can be closed until the next opening.
    pub can_close_for_today: bool,
    /// The lengths of a timed closing; empty: none.
    pub minutes: Vec<u32>,
    pub reasons: Vec<ReasonCode>,
}
