//! The reasons with which a package ends, and those that a restaurant may give.

use super::call_data::courier;
use garson_core::order::{Courier, Order, Reason};

/// Why a package ended: code, English name, and when the restaurant may give it as a reason.
const REASONS: [(&str, &str, Given); 14] = [
    ("621", "A product cannot be supplied", Given::Always),
    ("622", "The store is closed", Given::Always),
    ("623", "The store cannot prepare the order", Given::Always),
    ("624", "High demand, or no courier", Given::ByOwnCourier),
    ("626", "Outside the delivery area", Given::ByOwnCourier),
    ("627", "Orders were mixed up", Given::Always),
    ("625", "The restaurant did not accept the order", Given::Never),
    ("69", "Fraud, found by the system", Given::Never),
    ("601", "Wrong address", Given::Never),
    ("602", "Nobody at the address", Given::Never),
    ("603", "Fraud", Given::Never),
    ("604", "Cancelled by the customer", Given::Never),
    ("605", "Too late", Given::Never),
    ("607", "The address does not match", Given::Never),
];

/// When the restaurant may give a reason.
#[derive(Clone, Copy, PartialEq)]
enum Given {
    Always,
    ByOwnCourier,
    /// Only the platform gives it.
    Never,
}

pub fn reason_name(id: &str) -> Option<&'static str> {
    REASONS
        .iter()
        .find(|(known, _, _)| *known == id)
        .map(|(_, name, _)| *name)
}

pub fn fixed_reasons(order: Option<&Order>) -> Vec<Reason> {
    let courier = order.and_then(courier);
    let fits = |given: Given| match given {
        Given::Always => true,
        Given::ByOwnCourier => courier.is_none_or(|courier| courier == Courier::Restaurant),
        Given::Never => false,
    };
    REASONS
        .iter()
        .filter(|(_, _, given)| fits(*given))
        .map(|(id, name, _)| Reason {
            id: (*id).to_owned(),
            name: (*name).to_owned(),
        })
        .collect()
}
