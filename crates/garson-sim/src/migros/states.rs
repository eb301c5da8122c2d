//! The states of an order, in the platform's words.

use crate::order::States;

pub(super) const NEW: &str = "NEW_PENDING";
pub(super) const APPROVED: &str = "APPROVED";
pub(super) const PREPARED: &str = "PREPARED";
pub(super) const DELIVERY: &str = "DELIVERY";
pub(super) const COMPLETED: &str = "COMPLETED";
pub(super) const REJECTED: &str = "REJECTED";
pub(super) const CANCELLED: &str = "CANCELLED";

pub(super) static STATES: States = States {
    last: &[COMPLETED, REJECTED, CANCELLED],
    last_without_courier: &[],
    ready: PREPARED,
    are_numbers: false,
};
