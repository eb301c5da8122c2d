//! Why a message to people could not be sent.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a message to people could not be sent. The English text reads well after the name of its channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MessageFailure {
    /// The operator has configured no mail server.
    NoMailServer,
    /// The mail server could not be reached.
    MailServerUnreachable {
        error: String,
    },
    MailServerTls {
        error: String,
    },
    MailServerLogin,
    MailServerNoAnswer,
    /// The mail server ended the connection before it had the whole message.
    MailServerClosed,
    /// The mail server answered that it does not accept the message.
    MailServerAnswered {
        status: u16,
        said: String,
    },
    /// The connection broke while the message was being handed over: it may have been accepted.
    MailServerBroken,
    /// An address cannot be written in a message.
    BadAddress,
    /// The message could not be sent for so long that it is of no use any more.
    TooLate,
    QueueFull,
    ChannelRemoved,
    Unreadable,
}

impl fmt::Display for MessageFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoMailServer => "the operator has configured no mail server",
            Self::MailServerUnreachable { error } => {
                return write!(f, "the mail server cannot be reached: {error}");
            }
            Self::MailServerTls { error } => {
                return write!(f, "no secure connection to the mail server: {error}");
            }
            Self::MailServerLogin => "the mail server refused the log-in",
            Self::MailServerNoAnswer => "the mail server did not answer in time",
            Self::MailServerClosed => "the mail server closed the connection before the message was sent",
            Self::MailServerAnswered { status, said } => {
                return write!(f, "the mail server answered {status}: {said}");
            }
            Self::MailServerBroken => {
                "the connection to the mail server broke; the message may have been sent"
            }
            Self::BadAddress => "an e-mail address is not valid",
            Self::TooLate => "it could not be sent in time and is of no use any more",
            Self::QueueFull => "too many messages wait for this channel",
            Self::ChannelRemoved => "the channel was removed",
            Self::Unreadable => "the stored message cannot be read",
        })
    }
}
