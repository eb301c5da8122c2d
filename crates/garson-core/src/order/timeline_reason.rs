//! Why an order has a line in its timeline: a code, rendered in a language where it is shown.

use crate::stored_code;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why an order has a line in its timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum TimelineReason {
    Arrived,
    Verified,
    VerifiedAutomatically,
    PreApprovedAndDue,
    Advanced,
    Reported,
    Revised,
    UnknownToPlatform,
    KnownToPlatformAgain,
    Cancelled,
    /// Nobody had accepted the order in time: the boards were made to ring urgently.
    EscalationRang,
    /// Nobody had accepted the order in time: a message was handed to a channel.
    EscalationMessage {
        channel: String,
    },
    EscalationMessageSent {
        channel: String,
    },
    EscalationMessageFailed {
        channel: String,
    },
    /// The process ended while the message was being sent, so it may have been sent or not.
    EscalationMessageUnclear {
        channel: String,
    },
    /// Nobody had accepted the order in time: the service accepted it.
    EscalationVerified,
    /// Nobody had accepted the order in time: the service cancelled it.
    EscalationCancelled,
    EscalationCancelFailed,
    /// The name of a cancel reason, or the text of a row that an older version wrote.
    Text {
        text: String,
    },
}

impl TimelineReason {
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
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

/// The English text, which the API shows.
impl fmt::Display for TimelineReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::EscalationMessage { channel } => {
                return write!(f, "not accepted yet: a message is being sent by {channel}");
            }
            Self::EscalationMessageSent { channel } => return write!(f, "message sent by {channel}"),
            Self::EscalationMessageFailed { channel } => {
                return write!(f, "the message by {channel} could not be sent");
            }
            Self::EscalationMessageUnclear { channel } => {
                return write!(f, "it is not known whether the message by {channel} was sent");
            }
            Self::EscalationRang => "not accepted yet: the boards ring urgently",
            Self::EscalationVerified => "not accepted in time: verified automatically",
            Self::EscalationCancelled => "not accepted in time: cancelled automatically",
            Self::EscalationCancelFailed => "not accepted in time, and could not be cancelled automatically",
            Self::Arrived => "arrived",
            Self::Verified => "verified",
            Self::VerifiedAutomatically => "verified automatically",
            Self::PreApprovedAndDue => "pre-approved, and due now",
            Self::Advanced => "advanced",
            Self::Reported => "reported by the platform",
            Self::Revised => "the platform changed the order",
            Self::UnknownToPlatform => "the platform has no such order",
            Self::KnownToPlatformAgain => "the platform knows the order again",
            Self::Cancelled => "cancelled",
            Self::Text { text } => text,
        };
        f.write_str(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_reasons_are_read_back() {
        for reason in [
            TimelineReason::Arrived,
            TimelineReason::KnownToPlatformAgain,
            TimelineReason::EscalationMessage {
                channel: "Müdür".to_owned(),
            },
            TimelineReason::text("The restaurant is closed"),
            TimelineReason::text(r#"{"code":"arrived"}"#),
        ] {
            assert_eq!(TimelineReason::read(&reason.stored()), reason);
        }
        assert_eq!(TimelineReason::Verified.stored(), r#"{"code":"verified"}"#);
        assert_eq!(TimelineReason::read("verified"), TimelineReason::text("verified"));
    }
}
