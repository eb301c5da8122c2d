//! The life of an event's delivery to the account's webhook.

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryState {
    /// Not delivered yet; attempts go on.
    Pending,
    /// A receiver answered 2xx.
    Delivered,
    /// All attempts were made in vain.
    Failed,
    /// There was nowhere to send it when it happened.
    Skipped,
}

impl DeliveryState {
    pub const ALL: [Self; 4] = [Self::Pending, Self::Delivered, Self::Failed, Self::Skipped];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// The one reason why an event is not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndeliveredReason {
    /// No webhook URL was registered when the event happened.
    NoUrl,
    /// It waits for its first attempt.
    Waiting,
}

impl UndeliveredReason {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoUrl => "no_url",
            Self::Waiting => "waiting",
        }
    }
}
