//! What a platform supports besides orders: store status, hours, items, prices and menus.

use super::PlatformError;
use crate::explanation::PlatformTask;
use crate::item::ItemChange;
use crate::opening_hours::HoursShape;
use crate::price_change::{PriceChange, PriceScope};
use crate::store_status::ReasonCode;

/// How a store is opened and closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreSupport {
    pub durations: ClosingDurations,
    /// It can be closed until its next opening, at which the platform opens it.
    pub until_next_opening: bool,
    /// The reasons that the platform accepts; empty: none.
    pub reasons: &'static [ReasonCode],
    /// The minutes by which busy mode can lengthen the delivery time; empty: there is no busy mode.
    pub busy_minutes: &'static [u32],
    /// Whether a read shows busy mode. Otherwise a busy store reads as open.
    pub shows_busy: bool,
    /// The platform is known to close stores by itself.
    pub closes_by_itself: bool,
}

/// How long a store can be closed with the platform's own timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosingDurations {
    /// There is no timer.
    None,
    /// These numbers of minutes.
    Minutes(&'static [u32]),
    /// A read of the state lists them; these are the usual ones.
    Asked(&'static [u32]),
}

impl ClosingDurations {
    /// The minutes that can be offered before the first read.
    #[must_use]
    pub const fn minutes(self) -> &'static [u32] {
        match self {
            Self::None => &[],
            Self::Minutes(minutes) | Self::Asked(minutes) => minutes,
        }
    }
}

/// How opening hours are read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoursSupport {
    /// What the platform's format supports. No platform supports special days.
    pub shape: HoursShape,
}

/// How products and options are switched on and off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemSupport {
    pub timer: ItemTimer,
    /// Options can be switched too. It may need a setting: see [`Platform::offers`](super::Platform::offers).
    pub options: bool,
    /// The largest number of items in one request.
    pub per_call: usize,
    /// Whether the state of one item can be read. Otherwise the menu shows it.
    pub reads: bool,
}

impl ItemSupport {
    /// Refuses a switch that the platform cannot make in one request.
    pub fn check(&self, change: &ItemChange) -> Result<(), PlatformError> {
        let unsupported = |what| Err(PlatformError::Unsupported { what });
        let has_options = change.items.iter().any(|item| item.is_option());
        let has_products = change.items.iter().any(|item| !item.is_option());
        if has_options && !self.options {
            return unsupported(PlatformTask::ChangeOptions);
        }
        if change.items.len() > self.per_call || (has_options && has_products) {
            return unsupported(PlatformTask::ManyItems);
        }
        Ok(())
    }
}

/// Until when an item can be switched off with the platform's own timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemTimer {
    None,
    /// For the rest of the day.
    Today,
    /// Until any time, or the next business day.
    Any,
}

/// How prices are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriceSupport {
    pub scope: PriceScope,
    pub per_call: usize,
    /// Prices of options can be changed too.
    pub options: bool,
    /// The platform answers before it has changed the prices; the result is read later.
    pub is_queued: bool,
}

impl PriceSupport {
    /// Refuses a change that the platform cannot make in one request, or that would affect other branches than requested.
    pub fn check(&self, change: &PriceChange) -> Result<(), PlatformError> {
        let unsupported = |what| Err(PlatformError::Unsupported { what });
        if change.scope != self.scope {
            return unsupported(match self.scope {
                PriceScope::Chain => PlatformTask::ChangeBranchPrices,
                PriceScope::Branch => PlatformTask::ChangePrices,
            });
        }
        if change.prices.iter().any(|price| price.is_option) && !self.options {
            return unsupported(PlatformTask::ChangeOptionPrices);
        }
        if change.prices.len() > self.per_call {
            return unsupported(PlatformTask::ManyPrices);
        }
        Ok(())
    }
}

/// How a whole menu is sent to the platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogSupport {
    /// The platform reports the result to an address.
    pub reports: bool,
    /// The platform's log of imports can be read.
    pub has_log: bool,
}
