//! Data of a package that is stored with its order (`provider_data`) for later calls, which see the order but not its content.

use garson_core::order::{Courier, Order};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

#[derive(Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallData<'a> {
    /// `platform`, `restaurant` or `none`.
    #[serde(borrow)]
    pub courier: Cow<'a, str>,
    /// The package's own estimate, in minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preparation_time: Option<u32>,
    /// Its item ids: cancelling a package means cancelling all of them.
    #[serde(borrow)]
    pub items: Vec<Cow<'a, str>>,
}

impl<'a> CallData<'a> {
    /// `None` for orders of other platforms.
    pub fn of(order: &'a Order) -> Option<Self> {
        serde_json::from_str(order.provider_data.as_deref()?).ok()
    }
}

/// Who carries the order, if it says so.
pub fn courier(order: &Order) -> Option<Courier> {
    courier_of(&CallData::of(order)?.courier)
}

/// Couriers as they are stored.
const COURIERS: [(Courier, &str); 3] = [
    (Courier::Platform, "platform"),
    (Courier::Restaurant, "restaurant"),
    (Courier::None, "none"),
];

pub fn courier_word(courier: Courier) -> &'static str {
    COURIERS
        .iter()
        .find(|(known, _)| *known == courier)
        .map_or("", |(_, word)| *word)
}

fn courier_of(word: &str) -> Option<Courier> {
    COURIERS
        .iter()
        .find(|(_, known)| *known == word)
        .map(|(courier, _)| *courier)
}
