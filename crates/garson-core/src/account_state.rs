//! What the operator decides about an account: whether it may be used, and how much it may have.

/// Whether an account may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccountState {
    #[default]
    Active,
    /// Nobody can use it, and its events wait. Orders of platforms are still recorded.
    Disabled,
    /// Its rows are being removed.
    Deleting,
    /// Its rows are being written; it does not exist yet.
    Importing,
}

impl AccountState {
    pub const ALL: [Self; 4] = [Self::Active, Self::Disabled, Self::Deleting, Self::Importing];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Disabled => "disabled",
            Self::Deleting => "deleting",
            Self::Importing => "importing",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// What is limited by a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaKind {
    Restaurants,
    Keys,
    Endpoints,
    OrdersPerDay,
}

impl QuotaKind {
    pub const ALL: [Self; 4] = [Self::Restaurants, Self::Keys, Self::Endpoints, Self::OrdersPerDay];

    /// Such as `of 3 restaurants`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Restaurants => "restaurants",
            Self::Keys => "API keys",
            Self::Endpoints => "webhook endpoints",
            Self::OrdersPerDay => "orders per day",
        }
    }
}

/// The value of a quota that means none.
pub const UNLIMITED: i64 = -1;

/// An account's own quotas: `None` is that of the settings, [`UNLIMITED`] none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quotas {
    pub restaurants: Option<i64>,
    pub keys: Option<i64>,
    pub endpoints: Option<i64>,
    pub orders_per_day: Option<i64>,
}

impl Quotas {
    #[must_use]
    pub fn get(&self, kind: QuotaKind) -> Option<i64> {
        match kind {
            QuotaKind::Restaurants => self.restaurants,
            QuotaKind::Keys => self.keys,
            QuotaKind::Endpoints => self.endpoints,
            QuotaKind::OrdersPerDay => self.orders_per_day,
        }
    }

    pub fn set(&mut self, kind: QuotaKind, value: Option<i64>) {
        let quota = match kind {
            QuotaKind::Restaurants => &mut self.restaurants,
            QuotaKind::Keys => &mut self.keys,
            QuotaKind::Endpoints => &mut self.endpoints,
            QuotaKind::OrdersPerDay => &mut self.orders_per_day,
        };
        *quota = value;
    }

    /// The limit that applies: the account's own, else the default, where zero means none.
    #[must_use]
    pub fn limit(&self, kind: QuotaKind, default: u32) -> Option<i64> {
        match self.get(kind) {
            Some(own) if own < 0 => None,
            Some(own) => Some(own),
            None if default == 0 => None,
            None => Some(i64::from(default)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_quota_replaces_the_default() {
        let mut quotas = Quotas::default();
        assert_eq!(quotas.limit(QuotaKind::Keys, 0), None);
        assert_eq!(quotas.limit(QuotaKind::Keys, 5), Some(5));
        quotas.set(QuotaKind::Keys, Some(0));
        assert_eq!(quotas.limit(QuotaKind::Keys, 5), Some(0));
        quotas.set(QuotaKind::Keys, Some(UNLIMITED));
        assert_eq!(quotas.limit(QuotaKind::Keys, 5), None);
        assert_eq!(quotas.limit(QuotaKind::Restaurants, 5), Some(5));
    }
}
