//! The roles of users of an account.

use serde::{Deserialize, Serialize};

/// What a user of an account is there for. `permission` says what each role may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    Owner,
    Manager,
    Shift,
    Accountant,
    Developer,
    ReadOnly,
}

impl Role {
    pub const ALL: [Self; 6] = [
        Self::Owner,
        Self::Manager,
        Self::Shift,
        Self::Accountant,
        Self::Developer,
        Self::ReadOnly,
    ];

    /// As it is stored and as the API names it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Manager => "manager",
            Self::Shift => "shift",
            Self::Accountant => "accountant",
            Self::Developer => "developer",
            Self::ReadOnly => "read-only",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }
}
