//! Data that is stored with an order (`provider_data`) for later calls, as JSON.

use super::soft::Text;
use super::wire;
use garson_core::order::{Courier, Order};
use garson_core::time::Timestamp;
use serde::{Deserialize, Serialize};

/// No address of the platform's is longer.
const MAX_URL: usize = 2_000;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    pub courier: Courier,
    /// Where the platform wants its calls. A move without an address does not apply; without the whole list all do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub urls: Option<Urls>,
    /// When the customer was promised the order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promised_at: Option<Timestamp>,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Urls {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picked_up: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prepared: Option<String>,
}

impl State {
    pub fn of(wire: &wire::Order<'_>, courier: Courier, promised_at: Option<Timestamp>) -> Self {
        let url = |value: &Option<Text<'_>>| {
            let url = value.as_ref().map(|url| url.as_str().trim());
            let url = url.filter(|url| !url.is_empty());
            // One that is too long still says that the move applies.
            url.map(|url| url.chars().filter(|c| !c.is_control()).take(MAX_URL).collect())
        };
        Self {
            courier,
            promised_at,
            urls: wire.callback_urls.as_ref().map(|urls| Urls {
                accepted: url(&urls.order_accepted_url),
                rejected: url(&urls.order_rejected_url),
                picked_up: url(&urls.order_picked_up_url),
                prepared: url(&urls.order_prepared_url),
            }),
        }
    }

    pub fn to_text(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }

    /// What was kept of an order; nothing when it was not this platform's.
    pub fn kept(order: &Order) -> Option<Self> {
        serde_json::from_str(order.provider_data.as_deref()?).ok()
    }

    /// The food is ready; sent only for orders that the platform's riders carry.
    pub fn can_be_prepared(&self) -> bool {
        self.courier == Courier::Platform && self.urls.as_ref().is_none_or(|urls| urls.prepared.is_some())
    }

    /// It has left: the platform's own riders say so themselves.
    pub fn can_be_picked_up(&self) -> bool {
        self.courier != Courier::Platform && self.urls.as_ref().is_none_or(|urls| urls.picked_up.is_some())
    }
}
