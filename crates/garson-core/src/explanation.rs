//! What became of a request, a platform call or a delivery attempt: a code with arguments, rendered in a language where it is shown.
//!
//! `Display` is the English text that the API and the log show. What a platform or receiver said in its own words is an argument.

mod message;
mod network;
mod platform;
mod target;
mod tls;

pub use message::MessageFailure;
pub use network::{ConnectionError, NetworkFailure};
pub use platform::{MissingData, PlatformFailure, PlatformTask};
pub use target::{AddressKind, TargetRefusal};
pub use tls::TlsFailure;

use crate::stored_code;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An explanation as it is stored and shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Explanation {
    /// An HTTP answer, and what it says in its body.
    Answered {
        status: u16,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<String>,
    },
    AnsweredRedirect {
        status: u16,
    },
    AnsweredNoSuccess {
        status: u16,
    },
    AnsweredUnreadable {
        status: u16,
        error: String,
    },
    Network(NetworkFailure),
    Tls(TlsFailure),
    /// The guard refused the target of a delivery.
    Target(TargetRefusal),
    Platform(PlatformFailure),
    /// A message to people could not be sent.
    Message(MessageFailure),
    /// The guard refused the target of a platform call.
    TargetNotAllowed {
        refusal: TargetRefusal,
    },
    LoginRefused {
        cause: Box<Explanation>,
    },
    LoginFailed {
        cause: Box<Explanation>,
    },
    NotEnlisted {
        status: u16,
    },
    Simulator {
        cause: Box<Explanation>,
    },
    /// An event that was sent by hand.
    SentByHand {
        result: Box<Explanation>,
    },
    /// A kept connection broke, and the request was sent again over a new one.
    SentAgain {
        result: Box<Explanation>,
    },
    /// Free text: a row of an older version, or an error without a code.
    Text {
        text: String,
    },
}

impl Explanation {
    #[must_use]
    pub fn answered(status: u16, said: Option<&str>) -> Self {
        Self::Answered {
            status,
            said: said.map(str::to_owned),
        }
    }

    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// The HTTP status of the answer that it is about, if there was one.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Answered { status, .. }
            | Self::AnsweredRedirect { status }
            | Self::AnsweredNoSuccess { status }
            | Self::AnsweredUnreadable { status, .. }
            | Self::NotEnlisted { status } => Some(*status),
            Self::LoginRefused { cause } | Self::LoginFailed { cause } | Self::Simulator { cause } => {
                cause.status()
            }
            Self::SentByHand { result } | Self::SentAgain { result } => result.status(),
            Self::Network(_)
            | Self::Tls(_)
            | Self::Target(_)
            | Self::Platform(_)
            | Self::Message(_)
            | Self::TargetNotAllowed { .. }
            | Self::Text { .. } => None,
        }
    }

    /// Reports whether a platform refuses the integration's credentials.
    #[must_use]
    pub fn is_access_refused(&self) -> bool {
        match self {
            Self::LoginRefused { .. } => true,
            Self::Platform(failure) => matches!(
                failure,
                PlatformFailure::SessionNotAccepted
                    | PlatformFailure::MissingCredential { .. }
                    | PlatformFailure::CredentialsUnreadable
            ),
            Self::Simulator { cause } => cause.is_access_refused(),
            Self::Answered { status, .. } | Self::NotEnlisted { status } => matches!(status, 401 | 403),
            _ => false,
        }
    }

    /// The form in which it is stored.
    #[must_use]
    pub fn stored(&self) -> String {
        match self {
            Self::Text { text } if !stored_code::is_code(text) => text.clone(),
            coded => stored_code::write(coded),
        }
    }

    /// Reads the stored form. Text that is no code is shown as it is.
    #[must_use]
    pub fn read(stored: &str) -> Self {
        stored_code::read(stored).unwrap_or_else(|| Self::text(stored))
    }
}

impl Default for Explanation {
    fn default() -> Self {
        Self::text("")
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered { status, said: None } => write!(f, "answered {status}"),
            Self::Answered {
                status,
                said: Some(said),
            } => write!(f, "answered {status}: {said}"),
            Self::AnsweredRedirect { status } => write!(f, "answered {status}, redirects are not followed"),
            Self::AnsweredNoSuccess { status } => write!(f, "answered {status}, only 2xx is success"),
            Self::AnsweredUnreadable { status, error } => {
                write!(f, "answered {status} with something that cannot be read: {error}")
            }
            Self::Network(failure) => failure.fmt(f),
            Self::Tls(failure) => failure.fmt(f),
            Self::Target(refusal) => refusal.fmt(f),
            Self::Platform(failure) => failure.fmt(f),
            Self::Message(failure) => failure.fmt(f),
            Self::TargetNotAllowed { refusal } => write!(f, "the target is not allowed: {refusal}"),
            Self::LoginRefused { cause } => write!(f, "the log-in was refused: {cause}"),
            Self::LoginFailed { cause } => write!(f, "the log-in failed: {cause}"),
            Self::NotEnlisted { status } => {
                write!(f, "the platform did not take us on: answered {status}")
            }
            Self::Simulator { cause } => write!(f, "the simulator: {cause}"),
            Self::SentByHand { result } => write!(f, "sent by hand: {result}"),
            Self::SentAgain { result } => write!(
                f,
                "{result} (a kept connection had been closed, and it was sent again over a new one)"
            ),
            Self::Text { text } => f.write_str(text),
        }
    }
}

macro_rules! from_kinds {
    ($($variant:ident $kind:ident,)*) => {$(
        impl From<$kind> for Explanation {
            fn from(kind: $kind) -> Self {
                Self::$variant(kind)
            }
        }
    )*};
}

from_kinds! {
    Network NetworkFailure,
    Tls TlsFailure,
    Target TargetRefusal,
    Platform PlatformFailure,
    Message MessageFailure,
}

#[cfg(test)]
mod tests;
