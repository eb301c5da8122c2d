//! What a platform supports, and which credentials it requires.

use crate::order::Courier;

/// What a platform can do; read by the API, the panel, the flows and the conformance suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// The platform must agree before an order is verified or cancelled.
    pub asks: bool,
    /// The sender numbers its orders itself, so the same id with other content is an error that it must get.
    pub own_ids: bool,
    pub cancel_after_accept: bool,
    /// Reasons are asked of the platform; otherwise they are a fixed list.
    pub live_reasons: bool,
    pub menu: bool,
    /// The platform has a way to open and close the store.
    pub store_toggle: bool,
    pub couriers: &'static [Courier],
    /// Seconds that the platform wants between two moves of an order.
    pub seconds_between_moves: u32,
    /// Seconds within which an order must be accepted.
    pub accept_within_seconds: Option<u32>,
    /// How orders can be asked for, where they can.
    pub polling: Option<Polling>,
    /// An order's state can be read from the platform.
    pub look: bool,
    /// How often the platform may be called, for each token; a request names the limit it counts against.
    pub limits: &'static [Limit],
}

/// How a platform is asked for orders, and how often by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polling {
    pub style: PollStyle,
    pub every_seconds: u32,
}

/// What a platform answers when it is asked for orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollStyle {
    /// All that changed within a window of time.
    Changes,
    /// All that are open now: an order that is missing has come to an end there.
    Open,
    /// Which orders were cancelled lately, and no more than that: each of [`Page::orders`](super::Page::orders) is then the
    /// identity of an order.
    Cancelled,
}

/// So many requests in so much time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub name: &'static str,
    pub requests: u32,
    pub per_seconds: u32,
}

/// A credential or setting that an integration requires or accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CredentialField {
    pub name: &'static str,
    /// Without it the integration cannot be switched on.
    pub required: bool,
    pub kind: CredentialKind,
    /// What the platform's own people call it, in Turkish and in English.
    pub label: (&'static str, &'static str),
    /// The platform issues this secret, so no minimum length is required of it.
    pub is_given: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialKind {
    /// A key or password: long enough, and fit to travel in a header.
    Secret,
    /// A name or number that is not secret.
    Plain,
    /// An address that the account gives, so the guard judges it.
    Address,
    /// HTTP headers by name, as a JSON object.
    Headers,
    /// One of these words.
    Choice(&'static [&'static str]),
}

impl CredentialField {
    #[must_use]
    pub const fn required(name: &'static str, kind: CredentialKind) -> Self {
        Self {
            name,
            required: true,
            kind,
            label: (name, name),
            is_given: false,
        }
    }

    #[must_use]
    pub const fn optional(name: &'static str, kind: CredentialKind) -> Self {
        Self {
            name,
            required: false,
            kind,
            label: (name, name),
            is_given: false,
        }
    }

    /// The same, given out by the platform.
    #[must_use]
    pub const fn given(mut self) -> Self {
        self.is_given = true;
        self
    }

    /// The same with labels, in Turkish and English.
    #[must_use]
    pub const fn called(mut self, turkish: &'static str, english: &'static str) -> Self {
        self.label = (turkish, english);
        self
    }
}
