//! The states of an order, in the platform's words.

use crate::order::States;

pub(super) const NEW: &str = "400";
pub(super) const SCHEDULED: &str = "325";
pub(super) const SCHEDULED_ACCEPTED: &str = "350";
pub(super) const PREPARING: &str = "500";
pub(super) const PREPARED: &str = "550";
pub(super) const HANDED_OVER: &str = "600";
pub(super) const ON_THE_WAY: &str = "700";
pub(super) const REACHED: &str = "800";
pub(super) const DELIVERED: &str = "900";
pub(super) const CANCELLED_BY_GETIR: &str = "1500";
pub(super) const CANCELLED_BY_RESTAURANT: &str = "1600";

pub(super) static STATES: States = States {
    last: &[DELIVERED, CANCELLED_BY_GETIR, CANCELLED_BY_RESTAURANT],
    last_without_courier: &[],
    ready: HANDED_OVER,
    are_numbers: true,
};
