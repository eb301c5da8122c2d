//! A row, and the values of its columns.

use crate::engine::Param;
use crate::tables::row::columns;
use crate::{Result, StoreError, params};
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, IntegrationId, RestaurantId};
use garson_core::item::{Availability, UnavailableEnd};
use garson_core::product::ItemKey;
use garson_core::time::Timestamp;

/// How far a desired availability has been applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DesiredItemState {
    Pending,
    Done,
    Refused,
    Unsupported,
}

impl DesiredItemState {
    const ALL: [Self; 4] = [Self::Pending, Self::Done, Self::Refused, Self::Unsupported];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Unsupported => "unsupported",
        }
    }

    fn named(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|state| state.as_str() == name);
        found.ok_or_else(|| StoreError::corrupt("a desired item has an unknown state"))
    }
}

/// What makes an item available again at the end of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    Platform,
    Garson,
}

impl Timer {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Garson => "garson",
        }
    }

    fn named(name: &str) -> Result<Self> {
        let found = [Self::Platform, Self::Garson]
            .into_iter()
            .find(|timer| timer.as_str() == name);
        found.ok_or_else(|| StoreError::corrupt("a desired item has an unknown timer"))
    }
}

/// What requested the availability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DesiredOrigin {
    Account,
    /// The end of the time for which the item was unavailable.
    Schedule,
}

impl DesiredOrigin {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::Schedule => "schedule",
        }
    }

    fn named(name: &str) -> Result<Self> {
        let found = [Self::Account, Self::Schedule]
            .into_iter()
            .find(|origin| origin.as_str() == name);
        found.ok_or_else(|| StoreError::corrupt("a desired item has an unknown origin"))
    }
}

/// The last desired availability of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesiredItem {
    pub restaurant_id: RestaurantId,
    pub key: ItemKey,
    pub account_id: AccountId,
    pub integration_id: IntegrationId,
    pub version: i64,
    pub availability: Availability,
    pub by: DesiredOrigin,
    pub requested_at: Timestamp,
    pub state: DesiredItemState,
    pub message: Option<Explanation>,
    /// The last version that the platform has accepted.
    pub accepted_version: i64,
    pub accepted_at: Option<Timestamp>,
    /// When a read of the platform confirmed it.
    pub confirmed_at: Option<Timestamp>,
    pub timer: Option<Timer>,
    pub attempts: i64,
    /// The version that was being sent when the row was last claimed.
    pub sending: Option<i64>,
    pub due_at: Option<Timestamp>,
}

impl DesiredItem {
    /// The parameters of a statement about this row: the primary key as `?1` to `?4`, then others.
    pub(super) fn params<'a>(&'a self, others: &[Param<'a>]) -> Vec<Param<'a>> {
        let key: &[Param<'a>] = params![
            &self.restaurant_id,
            &self.key.provider,
            self.key.is_option,
            &self.key.id
        ];
        [key, others].concat()
    }

    /// When the item should become available again.
    #[must_use]
    pub fn ends_at(&self) -> Option<Timestamp> {
        match self.availability {
            Availability::Available => None,
            Availability::Unavailable { end } => match end {
                UnavailableEnd::Never => None,
                UnavailableEnd::At(at) | UnavailableEnd::EndOfDay(at) => Some(at),
            },
        }
    }
}

pub(super) fn end_kind(availability: Availability) -> &'static str {
    match availability {
        Availability::Available
        | Availability::Unavailable {
            end: UnavailableEnd::Never,
        } => "none",
        Availability::Unavailable {
            end: UnavailableEnd::At(_),
        } => "at",
        Availability::Unavailable {
            end: UnavailableEnd::EndOfDay(_),
        } => "day",
    }
}

fn availability(is_available: bool, kind: &str, ends_at: Option<Timestamp>) -> Result<Availability> {
    let end = match (kind, ends_at) {
        _ if is_available => return Ok(Availability::Available),
        ("none", _) => UnavailableEnd::Never,
        ("at", Some(at)) => UnavailableEnd::At(at),
        ("day", Some(at)) => UnavailableEnd::EndOfDay(at),
        _ => return Err(StoreError::corrupt("a desired item has an unknown end")),
    };
    Ok(Availability::Unavailable { end })
}

columns! {
    pub(super) const COLUMNS = "d." of desired_items {
        restaurant_id, provider, is_option, remote_id, account_id, integration_id, version, is_available: bool,
        end_kind: String, ends_at: Option<Timestamp>, made_by: String, requested_at, state: String, message, accepted_version, accepted_at,
        confirmed_at, timer: Option<String>, attempts, sending, due_at
    }
    fn desired_item() -> DesiredItem {
        Ok(DesiredItem {
            restaurant_id,
            key: ItemKey { provider, is_option, id: remote_id },
            account_id,
            integration_id,
            version,
            availability: availability(is_available, &end_kind, ends_at)?,
            by: DesiredOrigin::named(&made_by)?,
            requested_at,
            state: DesiredItemState::named(&state)?,
            message,
            accepted_version,
            accepted_at,
            confirmed_at,
            timer: timer.as_deref().map(Timer::named).transpose()?,
            attempts,
            sending,
            due_at,
        })
    }
}
