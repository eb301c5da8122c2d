//! Which orders a board or a part of it shows.

use garson_core::id::RestaurantId;
use garson_core::order::Status;
use garson_core::platform::Provider;
use garson_core::time::Timestamp;
use garson_store::lists::board::{BoardOrder, Candidate};

/// Which orders of the account a board shows; everything by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub restaurant: Option<RestaurantId>,
    pub provider: Option<Provider>,
    pub part: Part,
}

/// The part of the board that a screen shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    #[default]
    All,
    /// What the kitchen prepares.
    Kitchen,
}

impl Filter {
    pub(super) fn has_candidate(self, it: &Candidate) -> bool {
        let is_of_part = match self.part {
            Part::All => true,
            Part::Kitchen => it.status == Status::Preparing,
        };
        is_of_part && self.provider.is_none_or(|provider| provider == it.provider)
    }

    /// Does a board with this filter follow the order, in whatever status it is?
    pub(in crate::flow::read) fn follows(self, it: &BoardOrder) -> bool {
        self.restaurant.is_none_or(|id| id == it.order.restaurant_id)
            && self.provider.is_none_or(|provider| provider == it.order.provider)
    }
}

/// The time by which an order has to be accepted, while it waits for that.
pub(super) fn deadline(it: &BoardOrder) -> Option<Timestamp> {
    let awaits_acceptance = matches!(it.order.status, Status::New | Status::Scheduled);
    it.order.accept_by.filter(|_| awaits_acceptance)
}

/// Does the kitchen still have to prepare it?
pub(super) fn is_for_kitchen(it: &BoardOrder) -> bool {
    it.order.status == Status::Preparing && it.order.ready_at.is_none()
}
