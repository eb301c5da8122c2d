//! What came of a request: an answer, or why there is none, and where the time went.

use super::guard::Refusal;
use std::fmt;
use std::time::Duration;

/// What came of a request.
#[derive(Clone, Debug)]
pub struct Sent {
    pub timing: Timing,
    /// A kept connection broke under it, so it was sent once more over a new one.
    pub repeated: bool,
    pub outcome: Result<Answer, SendError>,
}

/// What came back.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Vec<u8>,
    pub took: Duration,
}

/// How long each stage took. Nothing: it did not happen (a literal address, a kept connection, plain http), or did not
/// come to a good end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    pub name: Option<Duration>,
    pub connect: Option<Duration>,
    pub tls: Option<Duration>,
    /// From the request being handed to the connection until the answer's head.
    pub first_byte: Option<Duration>,
    pub total: Duration,
}

/// A part of the way to an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    #[default]
    Name,
    Connect,
    Tls,
    Exchange,
}

/// Why nothing came back.
#[derive(Clone, Debug)]
pub enum SendError {
    /// The target must not be called.
    NotAllowed(Refusal),
    /// It could not be reached: the request was not sent.
    Unreachable { stage: Stage, why: String },
    /// The connection broke after the request was sent: it may have arrived.
    Broken(String),
    /// It did not answer in time.
    TimedOut(Duration),
}

impl SendError {
    pub(crate) fn unreachable(stage: Stage, why: impl Into<String>) -> Self {
        let why = why.into();
        Self::Unreachable { stage, why }
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAllowed(refusal) => refusal.fmt(f),
            Self::Unreachable { why, .. } | Self::Broken(why) => f.write_str(why),
            Self::TimedOut(limit) => write!(f, "no answer within {} s", limit.as_secs_f32()),
        }
    }
}

impl std::error::Error for SendError {}
