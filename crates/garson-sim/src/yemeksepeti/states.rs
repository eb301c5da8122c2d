//! The states of an order, in the platform's words.

use crate::order::States;

/// The push has not been acknowledged.
pub(super) const DISPATCHING: &str = "ASSIGNED_TO_TRANSPORT";
/// It has been, but the platform is not ready for more.
pub(super) const WAITING: &str = "WAITING_FOR_ACKNOWLEDGEMENT";
pub(super) const RECEIVED: &str = "RECEIVED";
pub(super) const ACCEPTED: &str = "ACCEPTED";
pub(super) const REJECTED: &str = "REJECTED";
pub(super) const PREPARED: &str = "PREPARED";
pub(super) const PICKED_UP: &str = "PICKED_UP";
pub(super) const DELIVERED: &str = "DELIVERED";
pub(super) const CANCELLED: &str = "CANCELLED";

pub(super) static STATES: States = States {
    last: &[REJECTED, CANCELLED, DELIVERED],
    // The platform does not learn what becomes of an order that its rider does not carry.
    last_without_courier: &[PICKED_UP],
    ready: PREPARED,
    are_numbers: false,
};
