//! The result of a request: the answer, or why there is none, and how long each stage took.

use garson_core::explanation::{Explanation, NetworkFailure, TargetRefusal};
use http::HeaderMap;
use std::fmt;
use std::time::Duration;

/// The result of a request.
#[derive(Clone, Debug)]
pub struct Sent {
    pub timing: Timing,
    /// A pooled connection broke, so the request was sent once more over a new one.
    pub repeated: bool,
    pub outcome: Result<Answer, SendError>,
}

/// An HTTP response.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    pub took: Duration,
}

/// How long each stage took. `None`: it did not happen (a literal address, a pooled connection, plain http), or failed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    pub name: Option<Duration>,
    pub connect: Option<Duration>,
    pub tls: Option<Duration>,
    /// From handing the request to the connection until the response's head is read.
    pub first_byte: Option<Duration>,
    pub total: Duration,
}

/// A stage of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    #[default]
    Name,
    Connect,
    Tls,
    Exchange,
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub enum SendError {
    /// The target must not be called.
    NotAllowed(TargetRefusal),
    /// The target could not be reached: the request was not sent.
    Unreachable {
        stage: Stage,
        why: Explanation,
    },
    /// The connection broke after the request was sent: it may have arrived.
    Broken(Explanation),
    TimedOut(Duration),
}

impl SendError {
    pub(crate) fn unreachable(stage: Stage, why: impl Into<Explanation>) -> Self {
        let why = why.into();
        Self::Unreachable { stage, why }
    }

    #[must_use]
    pub fn explanation(&self) -> Explanation {
        match self {
            Self::NotAllowed(refusal) => refusal.clone().into(),
            Self::Unreachable { why, .. } | Self::Broken(why) => why.clone(),
            Self::TimedOut(within) => NetworkFailure::NoAnswerInTime { within: *within }.into(),
        }
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.explanation().fmt(f)
    }
}

impl std::error::Error for SendError {}
