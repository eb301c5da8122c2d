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
        f.write_str(match self {
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
        })
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
            TimelineReason::text("The restaurant is closed"),
            TimelineReason::text(r#"{"code":"arrived"}"#),
        ] {
            assert_eq!(TimelineReason::read(&reason.stored()), reason);
        }
        assert_eq!(TimelineReason::Verified.stored(), r#"{"code":"verified"}"#);
        assert_eq!(TimelineReason::read("verified"), TimelineReason::text("verified"));
    }
}
