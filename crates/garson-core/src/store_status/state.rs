//! The states of a store, and who is responsible for them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Whether a store takes orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreState {
    Open,
    /// It takes orders, and customers are shown a longer delivery time.
    Busy,
    Closed,
    /// The platform was not read yet, or answered with an unknown value.
    #[default]
    Unknown,
    /// The platform cannot read or change it.
    Unsupported,
}

impl StoreState {
    pub const ALL: [Self; 5] = [
        Self::Open,
        Self::Busy,
        Self::Closed,
        Self::Unknown,
        Self::Unsupported,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Busy => "busy",
            Self::Closed => "closed",
            Self::Unknown => "unknown",
            Self::Unsupported => "unsupported",
        }
    }

    /// Does the store take orders?
    #[must_use]
    pub const fn takes_orders(self) -> bool {
        matches!(self, Self::Open | Self::Busy)
    }
}

/// Who is responsible for the state of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreActor {
    /// Staff, or a program with the account's key; on a platform, also its own panel or tablet.
    Account,
    /// The platform by itself.
    Platform,
    /// The opening hours.
    Schedule,
    /// Too many open orders.
    Throttle,
}

impl StoreActor {
    pub const ALL: [Self; 4] = [Self::Account, Self::Platform, Self::Schedule, Self::Throttle];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::Platform => "platform",
            Self::Schedule => "schedule",
            Self::Throttle => "throttle",
        }
    }
}

/// The value is not one of the expected ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord;

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("is not a known word")
    }
}

impl std::error::Error for UnknownWord {}

impl FromStr for StoreState {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.into_iter();
        all.find(|state| state.as_str() == text).ok_or(UnknownWord)
    }
}

impl FromStr for StoreActor {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.into_iter();
        all.find(|actor| actor.as_str() == text).ok_or(UnknownWord)
    }
}

impl fmt::Display for StoreState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for StoreActor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are_written() {
        for state in StoreState::ALL {
            assert_eq!(state.as_str().parse(), Ok(state));
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        }
        for actor in StoreActor::ALL {
            assert_eq!(actor.as_str().parse(), Ok(actor));
            assert_eq!(serde_json::to_value(actor).unwrap(), actor.as_str());
        }
        assert_eq!("OPEN".parse::<StoreState>(), Err(UnknownWord));
        assert_eq!("".parse::<StoreActor>(), Err(UnknownWord));
    }
}
