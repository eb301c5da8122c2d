//! Channels: the ways by which an account's people receive messages.

use crate::id::ChannelId;
use crate::secret::Secret;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A channel of an account.
#[derive(Clone, Debug)]
pub struct Channel {
    pub id: ChannelId,
    pub name: String,
    /// The language of its messages.
    pub language: Language,
    pub target: Target,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The language of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    #[default]
    Tr,
    En,
}

impl Language {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tr => "tr",
            Self::En => "en",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Tr, Self::En].into_iter().find(|it| it.as_str() == name)
    }
}

/// Where a channel's messages go.
#[derive(Clone, Debug)]
pub enum Target {
    Email { recipients: Vec<String> },
    Http(HttpTemplate),
}

impl Target {
    #[must_use]
    pub const fn kind(&self) -> ChannelKind {
        match self {
            Self::Email { .. } => ChannelKind::Email,
            Self::Http(_) => ChannelKind::Http,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelKind {
    Email,
    Http,
}

impl ChannelKind {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Http => "http",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Email, Self::Http]
            .into_iter()
            .find(|it| it.as_str() == name)
    }
}

/// A request to a gateway for text messages or voice calls. URL and body may have placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpTemplate {
    pub method: HttpMethod,
    pub url: String,
    /// Values are secret: they are never shown again.
    pub headers: BTreeMap<String, Secret<String>>,
    pub body: String,
    /// Values for the placeholders `{secret.name}`; never shown again.
    pub secrets: BTreeMap<String, Secret<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum HttpMethod {
    Get,
    Post,
    Put,
}

impl HttpMethod {
    pub const ALL: [Self; 3] = [Self::Get, Self::Post, Self::Put];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }
}
