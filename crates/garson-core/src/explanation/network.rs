//! Why an HTTP request over the network has no answer.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NetworkFailure {
    NameNotResolved {
        name: String,
    },
    NameNotResolvedInTime {
        name: String,
        within: Duration,
    },
    NoAddress,
    CannotConnect {
        error: ConnectionError,
    },
    NoConnectionInTime {
        within: Duration,
    },
    NoTlsInTime {
        within: Duration,
    },
    NoAnswerInTime {
        within: Duration,
    },
    /// A delivery attempt was cancelled because other events waited for its slot.
    GivenUpForOthers {
        after: Duration,
    },
    HostNotWritable,
    ClosedBeforeRequest,
    ClosedBeforeAnswer,
    ResetBeforeAnswer,
    ClosedInHeaders,
    ResetInHeaders,
    HeadersTooLarge,
    TooMuchBeforeAnswer,
    NotHttp,
}

impl fmt::Display for NetworkFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameNotResolved { name } => write!(f, "the name {name} cannot be resolved"),
            Self::NameNotResolvedInTime { name, within } => {
                write!(
                    f,
                    "the name {name} was not resolved within {} s",
                    within.as_secs_f32()
                )
            }
            Self::NoAddress => f.write_str("the name has no address"),
            Self::CannotConnect { error } => write!(f, "cannot connect: {error}"),
            Self::NoConnectionInTime { within } => {
                write!(f, "no connection within {} s", within.as_secs_f32())
            }
            Self::NoTlsInTime { within } => write!(f, "no TLS connection within {} s", within.as_secs_f32()),
            Self::NoAnswerInTime { within } => write!(f, "no answer within {} s", within.as_secs_f32()),
            Self::GivenUpForOthers { after } => write!(
                f,
                "no answer within {:.1} s; given up then, because other events were waiting",
                after.as_secs_f64()
            ),
            Self::HostNotWritable => f.write_str("the host cannot be written"),
            Self::ClosedBeforeRequest => f.write_str("the connection was closed before the request was sent"),
            Self::ClosedBeforeAnswer => f.write_str("the connection was closed before an answer came"),
            Self::ResetBeforeAnswer => f.write_str("the connection was reset before an answer came"),
            Self::ClosedInHeaders => {
                f.write_str("the connection was closed before the answer's headers were whole")
            }
            Self::ResetInHeaders => {
                f.write_str("the connection was reset before the answer's headers were whole")
            }
            Self::HeadersTooLarge => f.write_str("the answer has too many headers, or too long ones"),
            Self::TooMuchBeforeAnswer => f.write_str("too much was sent before an answer began"),
            Self::NotHttp => f.write_str("the answer is not HTTP"),
        }
    }
}

/// What the operating system said of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionError {
    Refused,
    Reset,
    Aborted,
    TimedOut,
    HostUnreachable,
    NetworkUnreachable,
    NetworkDown,
    Other(String),
}

impl From<io::ErrorKind> for ConnectionError {
    fn from(kind: io::ErrorKind) -> Self {
        match kind {
            io::ErrorKind::ConnectionRefused => Self::Refused,
            io::ErrorKind::ConnectionReset => Self::Reset,
            io::ErrorKind::ConnectionAborted => Self::Aborted,
            io::ErrorKind::TimedOut => Self::TimedOut,
            io::ErrorKind::HostUnreachable => Self::HostUnreachable,
            io::ErrorKind::NetworkUnreachable => Self::NetworkUnreachable,
            io::ErrorKind::NetworkDown => Self::NetworkDown,
            other => Self::Other(other.to_string()),
        }
    }
}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused => "connection refused",
            Self::Reset => "connection reset",
            Self::Aborted => "connection aborted",
            Self::TimedOut => "timed out",
            Self::HostUnreachable => "host unreachable",
            Self::NetworkUnreachable => "network unreachable",
            Self::NetworkDown => "network down",
            Self::Other(text) => text,
        })
    }
}
