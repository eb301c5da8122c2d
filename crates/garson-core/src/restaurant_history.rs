//! The history of a restaurant: who changed what on its platforms, and the results.

use crate::id::{KeyId, RestaurantId};
use crate::platform::Provider;
use crate::store_control::Requester;
use crate::store_status::StoreActor;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An entry of a restaurant's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    pub restaurant_id: RestaurantId,
    pub at: Timestamp,
    /// The platform that it is about; none: all of the restaurant's.
    pub provider: Option<Provider>,
    pub by: StoreActor,
    /// How the account made it: with this key, or in the panel without one. Only for `by` = account.
    pub key: Option<KeyId>,
    pub action: HistoryAction,
    /// What was asked for or found, as a JSON object.
    pub detail: Value,
}

impl HistoryEntry {
    #[must_use]
    pub fn new(
        restaurant_id: RestaurantId,
        at: Timestamp,
        (by, requester): (StoreActor, Requester),
        action: HistoryAction,
        detail: Value,
    ) -> Self {
        Self {
            restaurant_id,
            at,
            provider: None,
            by,
            key: match requester {
                Requester::Key(key) => Some(key),
                Requester::Panel | Requester::Service => None,
            },
            action,
            detail,
        }
    }

    #[must_use]
    pub fn on(mut self, provider: Provider) -> Self {
        self.provider = Some(provider);
        self
    }
}

macro_rules! actions {
    ($($(#[$meta:meta])* $variant:ident $name:literal,)*) => {
        /// What happened.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum HistoryAction {
            $($(#[$meta])* #[serde(rename = $name)] $variant,)*
        }

        impl HistoryAction {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|action| action.as_str() == name)
            }
        }
    };
}

actions! {
    /// A state was requested.
    StoreRequested "store_requested",
    /// The request is finished: accepted, refused or dropped.
    StoreResult "store_result",
    /// The store could not be opened at the end of a closing; it is retried.
    StoreRetried "store_retried",
    /// The platform shows another state.
    StoreSeen "store_seen",
    /// The platform shows a different state from the one that it accepted.
    StoreUndone "store_undone",
    ThrottleSet "throttle_set",
    /// The throttle has gone a step up or down.
    ThrottleStep "throttle_step",
    HoursSet "hours_set",
    HoursResult "hours_result",
    /// Switching products on or off was requested.
    ProductsRequested "products_requested",
    /// The platform has refused it, or does not offer it.
    ProductRefused "product_refused",
    /// The platform shows a different state from the one that it accepted.
    ProductUndone "product_undone",
    /// A product was switched on at the end of its time.
    ProductRestored "product_restored",
    /// A user has linked an item of a platform to a product, or separated it.
    ProductLinked "product_linked",
    ProductUnlinked "product_unlinked",
    /// A person has declined that two products are the same.
    MatchDeclined "match_declined",
    /// The menu of a platform has changed.
    MenuChanged "menu_changed",
    PricesRequested "prices_requested",
    /// The platform has answered to all prices.
    PricesResult "prices_result",
    /// Sending a whole menu to a platform was requested.
    CatalogRequested "catalog_requested",
    /// The platform has reported the result, or the menu could not be sent.
    CatalogResult "catalog_result",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_read_as_they_are_written() {
        for action in HistoryAction::ALL {
            assert_eq!(HistoryAction::named(action.as_str()), Some(*action));
        }
        assert_eq!(HistoryAction::named(""), None);
    }
}
