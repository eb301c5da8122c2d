//! Accounts and their API keys.

use crate::id::{AccountId, KeyId};
use crate::key_access::KeyAccess;
use crate::secret::Secret;
use crate::time::Timestamp;

/// The tenant, which owns keys, restaurants and orders.
#[derive(Clone, Debug)]
pub struct Account {
    pub id: AccountId,
    pub name: String,
    pub email: String,
    pub created_at: Timestamp,
}

/// An API key as it is listed; the key itself is shown once, when it is issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    pub id: KeyId,
    pub label: Option<String>,
    /// The last characters of the key, so that people can tell their keys apart.
    pub hint: String,
    pub is_primary: bool,
    pub access: KeyAccess,
    /// From then on it is refused.
    pub expires_at: Option<Timestamp>,
    /// The key that takes its place: it becomes primary when this one expires, if this one is.
    pub replaced_by: Option<KeyId>,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
    /// The address that it was used from then.
    pub last_used_from: Option<String>,
}

impl ApiKey {
    /// What people call it: its label, or its last characters.
    #[must_use]
    pub fn name(&self) -> String {
        self.label.clone().unwrap_or_else(|| format!("…{}", self.hint))
    }

    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

/// A newly issued key, with its secret.
#[derive(Clone, Debug)]
pub struct IssuedKey {
    pub record: ApiKey,
    pub secret: Secret<String>,
}

/// The form in which webhooks carry the account's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AuthorizationForm {
    /// `Authorization: Bearer <key>`
    #[default]
    Bearer,
    /// `Authorization: <key>`
    Bare,
}

impl AuthorizationForm {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bearer => "bearer",
            Self::Bare => "bare",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Bearer, Self::Bare]
            .into_iter()
            .find(|form| form.as_str() == name)
    }

    /// The header's value for a key.
    #[must_use]
    pub fn header(self, key: &Secret<String>) -> Secret<String> {
        Secret::new(match self {
            Self::Bearer => format!("Bearer {}", key.expose()),
            Self::Bare => key.expose().clone(),
        })
    }
}

/// Where an account's events go.
#[derive(Clone, Debug)]
pub struct Webhook {
    pub url: String,
    pub authorization: AuthorizationForm,
    pub updated_at: Timestamp,
}
