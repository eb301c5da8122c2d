//! What a platform is to us: a dialect that turns messages into changes and wishes into requests.
//!
//! A platform performs no I/O. What comes in is a [`HookRequest`], what goes out an [`HttpRequest`]; both are
//! values, so that a platform's tests are files.

use crate::id::OrderId;
use crate::integration::Credentials;
use crate::order::{CallKind, Change, Courier, NewOrder, Order, Reason};
use crate::secret::{Secret, same_bytes};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;

/// The key of a platform: a short lower-case word such as `getir`. Which ones there are, the registry knows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Provider {
    bytes: [u8; Self::MAX],
    len: u8,
}

impl Provider {
    const MAX: usize = 15;

    /// A platform's key; what is beyond fifteen bytes is cut off.
    #[must_use]
    pub const fn new(key: &str) -> Self {
        let from = key.as_bytes();
        let mut bytes = [0; Self::MAX];
        let mut len = 0;
        while len < from.len() && len < Self::MAX {
            bytes[len] = from[len];
            len += 1;
        }
        #[allow(clippy::cast_possible_truncation)]
        Self {
            bytes,
            len: len as u8,
        }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        self.bytes
            .get(..usize::from(self.len))
            .and_then(|b| std::str::from_utf8(b).ok())
            .unwrap_or("")
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Provider {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = (1..=Self::MAX).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase());
        if fits {
            Ok(Self::new(text))
        } else {
            Err("must be a platform key, such as getir")
        }
    }
}

impl Serialize for Provider {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Provider {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

/// What a platform can do; read by the API, the panel and the conformance suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// The platform must agree before an order is verified or cancelled.
    pub asks: bool,
    pub cancel_after_accept: bool,
    /// Reasons are asked of the platform; otherwise they are a fixed list.
    pub live_reasons: bool,
    pub menu: bool,
    /// The store can be opened and closed on the platform.
    pub store_toggle: bool,
    pub couriers: &'static [Courier],
    /// Seconds that the platform wants between two moves of an order.
    pub seconds_between_moves: u32,
    /// Seconds within which an order must be accepted.
    pub accept_within_seconds: Option<u32>,
}

/// One of the things an integration must or may be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CredentialField {
    pub name: &'static str,
    /// Without it the integration cannot be switched on.
    pub required: bool,
    /// It is an address that the account gives, so the guard judges it.
    pub is_address: bool,
}

/// A way in for a platform's messages, below `/hooks/<provider>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookRoute {
    pub method: &'static str,
    /// Segments in braces are handed on as parameters.
    pub path: &'static str,
    pub kind: &'static str,
}

/// A message as it came.
#[derive(Clone, Debug, Default)]
pub struct HookRequest {
    /// The route it came in by.
    pub kind: &'static str,
    /// Values of the path's braces.
    pub params: Vec<(String, String)>,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl HookRequest {
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    #[must_use]
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }
}

/// On what a message's claim to be genuine rests; it says where the credentials to check it are found.
#[derive(Clone, Debug)]
pub enum Claim {
    /// It presents a secret that an integration shares with the platform.
    Secret(Secret<Vec<u8>>),
    /// It names a branch, whose credentials check it.
    Branch(String),
    /// It presents nothing.
    Nothing,
}

/// A message that has been checked. [`Platform::verify`] is where one comes from.
#[derive(Clone, Debug)]
pub struct Verified<'a>(&'a HookRequest);

impl<'a> Verified<'a> {
    /// Lets a message pass that presents the expected secret; compared in constant time, and never empty.
    #[must_use]
    pub fn by_secret(request: &'a HookRequest, presented: &[u8], expected: &[u8]) -> Option<Self> {
        (!expected.is_empty() && same_bytes(presented, expected)).then_some(Self(request))
    }

    #[must_use]
    pub fn request(&self) -> &'a HookRequest {
        self.0
    }
}

/// What a message says.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The branch it is for, as the platform calls it.
    pub branch: String,
    pub news: News,
}

#[derive(Clone, Debug, PartialEq)]
pub enum News {
    Arrived(Box<NewOrder>),
    Changed { identity: String, change: Change },
}

/// Why a message could not be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The exact place in the body, such as `items[2].unitPrice`.
    pub path: String,
    pub message: String,
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reception {
    /// It is durable. The same message again says the same.
    Taken {
        order_id: OrderId,
    },
    /// The id is known, with other content.
    Conflict {
        order_id: OrderId,
    },
    /// No integration has that branch.
    UnknownBranch {
        branch: String,
    },
    /// The message is about an order that we do not have.
    UnknownOrder {
        identity: String,
    },
    Unreadable(Unreadable),
    NotGenuine,
}

/// The platform's expected answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookReply {
    pub status: u16,
    pub body: serde_json::Value,
}

/// Whose address a request goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The operator wrote it.
    Operator,
    /// An account gave it: the guard judges it.
    Account,
}

/// A request to be sent.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    pub method: &'static str,
    pub url: String,
    pub headers: Vec<(String, Secret<String>)>,
    pub body: Option<Vec<u8>>,
    pub trust: Trust,
}

/// An answer that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResponse {
    pub status: u16,
    pub body: Vec<u8>,
}

/// What an answer means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// The platform says no, in its own words.
    Refused {
        message: String,
    },
    /// Not now; try again.
    Later {
        message: String,
    },
}

/// Why a platform cannot do what is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlatformError {
    /// It has no such thing. Never a silent success.
    Unsupported { what: &'static str },
    /// The integration lacks something.
    MissingCredential { name: &'static str },
}

impl fmt::Display for PlatformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported { what } => write!(f, "the platform has no way to {what}"),
            Self::MissingCredential { name } => write!(f, "the integration has no credential `{name}`"),
        }
    }
}

impl std::error::Error for PlatformError {}

/// A platform's dialect.
pub trait Platform: Send + Sync {
    fn provider(&self) -> Provider;

    /// What people call it.
    fn name(&self) -> &'static str;

    fn capability(&self) -> &'static Capability;

    fn credential_fields(&self) -> &'static [CredentialField];

    fn hooks(&self) -> &'static [HookRoute];

    /// On what the message's claim to be genuine rests.
    fn claim(&self, request: &HookRequest) -> Claim;

    /// The secret that messages for these credentials present, where the platform's claims are [`Claim::Secret`].
    fn inbound_secret(&self, credentials: &Credentials) -> Option<Secret<Vec<u8>>>;

    /// Checks a message. There is no default: every platform says what makes its messages genuine.
    fn verify<'a>(&self, request: &'a HookRequest, credentials: &Credentials) -> Option<Verified<'a>>;

    fn read(&self, message: &Verified<'_>) -> Result<Message, Unreadable>;

    fn reply(&self, reception: &Reception, request_id: &str) -> HookReply;

    /// The reasons with which this order can be cancelled, where they are a fixed list.
    fn fixed_reasons(&self) -> Vec<Reason>;

    /// Does the platform want this call for this order?
    fn wants(&self, call: CallKind, order: &Order, credentials: &Credentials) -> bool;

    /// The request that makes the call.
    fn write(
        &self,
        call: CallKind,
        order: &Order,
        credentials: &Credentials,
    ) -> Result<HttpRequest, PlatformError>;

    /// What the answer to a call means.
    fn outcome(&self, call: CallKind, response: &HttpResponse) -> Outcome;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_short_lower_case_words() {
        assert_eq!(
            "getir".parse::<Provider>().map(|p| p.to_string()),
            Ok("getir".to_owned())
        );
        for wrong in ["", "Getir", "getir yemek", "a-b", "ç", "abcdefghijklmnop"] {
            assert!(wrong.parse::<Provider>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_empty_secret_lets_nobody_in() {
        let request = HookRequest::default();
        assert!(Verified::by_secret(&request, b"", b"").is_none());
        assert!(Verified::by_secret(&request, b"a", b"b").is_none());
        assert!(Verified::by_secret(&request, b"a", b"a").is_some());
    }
}
