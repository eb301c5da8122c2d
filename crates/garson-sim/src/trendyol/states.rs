//! The states of an order, in the platform's words.

use crate::order::States;

pub(super) const CREATED: &str = "Created";
pub(super) const PICKING: &str = "Picking";
pub(super) const INVOICED: &str = "Invoiced";
pub(super) const SHIPPED: &str = "Shipped";
pub(super) const DELIVERED: &str = "Delivered";
pub(super) const CANCELLED: &str = "Cancelled";
pub(super) const UNSUPPLIED: &str = "UnSupplied";

pub(super) static STATES: States = States {
    last: &[DELIVERED, CANCELLED, UNSUPPLIED],
    last_without_courier: &[],
    ready: INVOICED,
    are_numbers: false,
};
