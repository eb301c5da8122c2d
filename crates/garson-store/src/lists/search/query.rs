//! What a search asks for.

use crate::lists::candidates::Candidate;
use garson_core::id::RestaurantId;
use garson_core::order::Status;
use garson_core::platform::Provider;
use garson_core::search::Asked;

/// The most orders that are examined for a page.
pub const MAX_EXAMINED: usize = 1_000;

/// The orders to find; an empty filter matches every order.
#[derive(Clone, Debug)]
pub struct SearchQuery {
    pub words: Vec<Asked>,
    pub statuses: Vec<Status>,
    pub provider: Option<Provider>,
    pub restaurant: Option<RestaurantId>,
    /// Positions between which orders are searched, both excluded.
    pub between: (i64, i64),
}

impl SearchQuery {
    /// Reports whether an order matches, words aside.
    pub(super) fn matches(&self, it: &Candidate) -> bool {
        (self.statuses.is_empty() || self.statuses.contains(&it.status))
            && self.provider.is_none_or(|provider| provider == it.provider)
            && self.restaurant.is_none_or(|id| id == it.restaurant_id)
    }
}
