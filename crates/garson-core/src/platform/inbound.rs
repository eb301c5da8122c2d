//! Messages of platforms: as received, verified, read, and answered.

use crate::id::OrderId;
use crate::order::{Change, NewOrder};
use crate::secret::{Secret, same_bytes};
use crate::time::Timestamp;

/// A route for a platform's messages, below `/hooks/<provider>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookRoute {
    pub method: &'static str,
    /// Segments in braces are handed on as parameters.
    pub path: &'static str,
    pub kind: &'static str,
}

/// The kind of a message that we fetched ourselves: one order, as the platform shows it.
pub const FETCHED: &str = "fetched";

/// A message as it came.
#[derive(Clone, Debug, Default)]
pub struct HookRequest {
    /// The route it came in by, or [`FETCHED`].
    pub kind: &'static str,
    /// Values of the path's braces.
    pub params: Vec<(String, String)>,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub received_at: Timestamp,
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
    /// It presents a secret that an integration shares with the platform: one of these.
    Secrets(Vec<Secret<Vec<u8>>>),
    /// It names a branch, whose credentials check it.
    Branch(String),
    /// It presents nothing.
    Nothing,
}

impl Claim {
    /// The claim of a message that presents this secret.
    #[must_use]
    pub fn secret(secret: &[u8]) -> Self {
        if secret.is_empty() {
            Self::Nothing
        } else {
            Self::Secrets(vec![Secret::new(secret.to_vec())])
        }
    }
}

/// A message that has been checked. [`Platform::verify`](super::Platform::verify) is where one comes from.
#[derive(Clone, Debug)]
pub struct Verified<'a>(&'a HookRequest);

impl<'a> Verified<'a> {
    /// Lets a message pass that presents the expected secret; compared in constant time, and never empty.
    #[must_use]
    pub fn by_secret(request: &'a HookRequest, presented: &[u8], expected: &[u8]) -> Option<Self> {
        (!expected.is_empty() && same_bytes(presented, expected)).then_some(Self(request))
    }

    /// A message that was checked when it came and has been kept since, or that we fetched from the platform itself.
    #[must_use]
    pub fn ours(request: &'a HookRequest) -> Self {
        Self(request)
    }

    #[must_use]
    pub fn request(&self) -> &'a HookRequest {
        self.0
    }
}

/// What a message says.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The branch it is for, as the platform calls it; short messages name only the order.
    pub branch: Option<String>,
    pub news: News,
}

#[derive(Clone, Debug, PartialEq)]
pub enum News {
    /// An order with its status.
    Order(Box<Sighting>),
    /// Something happened to an order.
    Changed { order: Which, change: Change },
    /// Something happened to an order, and the message does not say what: the platform must be asked.
    Look { order: Which },
    /// Nothing that concerns us.
    Nothing,
}

/// An order as the platform shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sighting {
    /// The order as it was when it arrived: new, or scheduled.
    pub order: NewOrder,
    /// What has happened to it since.
    pub change: Option<Change>,
    /// The platform knows that the food is ready.
    pub is_ready: bool,
}

/// How a message names an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// By what makes it the same order when the platform sends it again.
    Identity(String),
    /// By the id that we gave it.
    Ours(OrderId),
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
pub enum IntakeOutcome {
    /// It is durable. The same message again says the same.
    Taken {
        order_id: OrderId,
    },
    /// It is durable, and about no order in particular.
    Noted,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_secret_lets_nobody_in() {
        let request = HookRequest::default();
        assert!(Verified::by_secret(&request, b"", b"").is_none());
        assert!(Verified::by_secret(&request, b"a", b"b").is_none());
        assert!(Verified::by_secret(&request, b"a", b"a").is_some());
    }
}
