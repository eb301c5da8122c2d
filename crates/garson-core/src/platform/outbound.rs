//! Requests to a platform and interpretations of its responses, as values.

use crate::explanation::{Explanation, MissingData, PlatformFailure, PlatformTask};
use crate::integration::Credentials;
use crate::menu::Menu;
use crate::order::{CallKind, Order, Reason};
use crate::secret::Secret;
use crate::time::Timestamp;
use std::fmt;
use std::time::Duration;

/// How a platform is reached on behalf of one integration.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    /// Where the platform lives, without a slash at the end.
    pub base: &'a str,
    /// The branch, as the platform calls it.
    pub branch: &'a str,
    /// The integration's own, and the operator's where it has none.
    pub credentials: &'a Credentials,
    /// The session's token, where the platform has sessions.
    pub token: Option<&'a Secret<String>>,
    /// Hosts besides the base's that the operator lets be called where a message gives an address there.
    pub callback_hosts: &'a [String],
}

impl<'a> Link<'a> {
    /// A credential that the platform cannot be called without.
    pub fn credential(&self, name: &'static str) -> Result<&'a str, PlatformError> {
        self.credentials
            .get(name)
            .map(|secret| secret.expose().as_str())
            .filter(|value| !value.is_empty())
            .ok_or(PlatformError::MissingCredential { name })
    }

    /// The session's token; the caller logs in first.
    pub fn token(&self) -> Result<&'a str, PlatformError> {
        self.token
            .map(|token| token.expose().as_str())
            .ok_or(PlatformError::MissingCredential { name: "token" })
    }
}

/// A call that is to be made, with everything that it may need.
#[derive(Clone, Copy, Debug)]
pub struct CallRequest<'a> {
    pub call: CallKind,
    pub order: &'a Order,
    /// Why it is cancelled.
    pub reason: Option<&'a Reason>,
    pub note: Option<&'a str>,
    /// How long the kitchen usually takes.
    pub preparation_minutes: Option<u32>,
    pub now: Timestamp,
}

/// Whose address a request goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// The limit of the platform's capability that it counts against.
    pub limit: Option<&'static str>,
}

impl HttpRequest {
    /// Whether its path contains a dot segment, plain or encoded, which would lead to another path.
    #[must_use]
    pub fn climbs(&self) -> bool {
        let path = self.url.split(['?', '#']).next().unwrap_or_default();
        path.split(['/', '\\']).any(is_dots)
    }
}

/// Whether a path segment is `.` or `..`, plain or encoded.
#[must_use]
pub fn is_dots(segment: &str) -> bool {
    let plain = segment.to_ascii_lowercase().replace("%2e", ".");
    matches!(plain.as_str(), "." | "..")
}

/// An answer that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResponse {
    pub status: u16,
    pub body: Vec<u8>,
}

/// A session with a platform.
#[derive(Clone, Debug)]
pub struct Session {
    pub token: Secret<String>,
    pub lasts: Duration,
    /// The branch that the session is for, where the platform says so.
    pub branch: Option<String>,
}

/// The platform has done what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Success {
    Done,
    /// It was so already; who did it must be looked at.
    Already,
}

/// What a refusal that may not last is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalCause {
    /// It does not let us in.
    Access,
    /// The order's state does not allow it, or another change of the order is in progress.
    Conflict,
    Other,
}

/// The platform has not done what was requested, or the result is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallError {
    /// It says no, in its own words.
    Refused { message: Explanation },
    /// It says no in a way in which gateways say no temporarily, too: not authorised, not found, not now. Final only when it
    /// goes on for minutes.
    RetryableRefusal {
        message: Explanation,
        cause: RefusalCause,
    },
    /// It says that its moment has not come; worth another try after `pause`, for as long as `patience`.
    NotYet {
        message: Explanation,
        pause: Duration,
        patience: Duration,
    },
    /// It has not done it and may do it another time: it is away, or has had enough of us for now.
    Later {
        message: Explanation,
        pause: Option<Duration>,
    },
    /// It was not sent: the platform takes so many such requests in a time and no more. There is room after this.
    HeldBack { message: Explanation, room_in: Duration },
    /// It may have done it or not: the order must be read before anything is repeated.
    Unclear { message: Explanation },
    /// The session is over: log in and try again.
    SessionOver,
}

impl CallError {
    /// Is it the platform's, and not that of one order? It is away, or does not let us in.
    #[must_use]
    pub fn is_away(&self) -> bool {
        match self {
            Self::Later { .. } | Self::Unclear { .. } | Self::SessionOver => true,
            Self::RetryableRefusal { cause, .. } => *cause == RefusalCause::Access,
            Self::Refused { .. } | Self::NotYet { .. } | Self::HeldBack { .. } => false,
        }
    }

    #[must_use]
    pub fn refused(message: impl Into<Explanation>) -> Self {
        Self::Refused {
            message: message.into(),
        }
    }

    /// A refusal of one order's step that may not last.
    #[must_use]
    pub fn retryable(message: impl Into<Explanation>, cause: RefusalCause) -> Self {
        Self::RetryableRefusal {
            message: message.into(),
            cause,
        }
    }

    /// Is it a refusal that is about the order, final or not?
    #[must_use]
    pub fn is_refusal_of_order(&self) -> bool {
        match self {
            Self::Refused { .. } => true,
            Self::RetryableRefusal { cause, .. } => *cause != RefusalCause::Access,
            _ => false,
        }
    }

    #[must_use]
    pub fn later(message: impl Into<Explanation>) -> Self {
        Self::Later {
            message: message.into(),
            pause: None,
        }
    }

    /// Why the platform has not done it.
    #[must_use]
    pub fn explanation(&self) -> Explanation {
        match self {
            Self::Refused { message }
            | Self::RetryableRefusal { message, .. }
            | Self::NotYet { message, .. }
            | Self::Later { message, .. }
            | Self::HeldBack { message, .. }
            | Self::Unclear { message } => message.clone(),
            Self::SessionOver => PlatformFailure::SessionNotAccepted.into(),
        }
    }

    #[must_use]
    pub fn unclear(message: impl Into<Explanation>) -> Self {
        Self::Unclear {
            message: message.into(),
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.explanation().fmt(f)
    }
}

/// What the answer to a call means.
pub type Outcome = Result<Success, CallError>;

/// Orders that a platform shows when it is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Each order as one JSON document.
    pub orders: Vec<Vec<u8>>,
    /// There is another page.
    pub more: bool,
}

/// A stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub from: Timestamp,
    pub to: Timestamp,
}

/// The way to a menu: another question, or the menu itself.
#[derive(Clone, Debug)]
pub enum MenuStep {
    Ask(HttpRequest),
    Menu(Menu),
}

/// The way to a result that may need several questions: the next one, or the result.
#[derive(Clone, Debug)]
pub enum Step<T> {
    Ask(HttpRequest),
    Done(T),
}

/// Why a platform cannot do what is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlatformError {
    /// It has no such thing. Never a silent success.
    Unsupported { what: PlatformTask },
    /// The integration lacks something.
    MissingCredential { name: &'static str },
    /// What we know of the order is not enough.
    MissingData { what: MissingData },
    /// It answered, but not with what was asked for.
    Answered(CallError),
}

impl PlatformError {
    #[must_use]
    pub fn explanation(&self) -> Explanation {
        match self {
            Self::Unsupported { what } => PlatformFailure::Unsupported { task: *what }.into(),
            Self::MissingCredential { name } => PlatformFailure::MissingCredential {
                name: (*name).to_owned(),
            }
            .into(),
            Self::MissingData { what } => PlatformFailure::MissingData { data: *what }.into(),
            Self::Answered(trouble) => trouble.explanation(),
        }
    }
}

impl fmt::Display for PlatformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.explanation().fmt(f)
    }
}

impl std::error::Error for PlatformError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_of_dots_are_found_however_they_are_written() {
        let to = |url: &str| HttpRequest {
            method: "GET",
            url: url.to_owned(),
            headers: Vec::new(),
            body: None,
            trust: Trust::Operator,
            limit: None,
        };
        for url in [
            "https://x/orders/../cancel",
            "https://x/orders/%2E%2e/cancel",
            "https://x/orders/.%2e",
            "https://x/orders/./a?b",
            "https://x/a\\..\\b",
        ] {
            assert!(to(url).climbs(), "{url}");
        }
        for url in [
            "https://x/orders/..a/cancel",
            "https://x/v1.2/...",
            "https://x/a?b=../c",
        ] {
            assert!(!to(url).climbs(), "{url}");
        }
    }
}
