//! Data that is stored with an order (`provider_data`) for later calls, which see the order but not its content.

use garson_core::order::{Courier, Order};
use serde::{Deserialize, Serialize};

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CallData {
    pub store_id: Option<String>,
    /// The customer, whom a late cancellation must name.
    pub user_id: Option<String>,
    pub courier: Option<Courier>,
}

impl CallData {
    pub fn of(order: &Order) -> Self {
        let text = order.provider_data.as_deref().unwrap_or_default();
        serde_json::from_str(text).unwrap_or_default()
    }

    pub fn text(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }
}
