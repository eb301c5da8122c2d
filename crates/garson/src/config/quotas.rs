//! Settings of quotas.

use garson_core::account_state::QuotaKind;
use serde::Deserialize;

/// What an account may have unless the operator has set something else for it; 0 is no limit.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct QuotaSettings {
    pub restaurants: u32,
    pub keys: u32,
    pub endpoints: u32,
    pub orders_per_day: u32,
}

impl QuotaSettings {
    #[must_use]
    pub fn get(&self, kind: QuotaKind) -> u32 {
        match kind {
            QuotaKind::Restaurants => self.restaurants,
            QuotaKind::Keys => self.keys,
            QuotaKind::Endpoints => self.endpoints,
            QuotaKind::OrdersPerDay => self.orders_per_day,
        }
    }
}
