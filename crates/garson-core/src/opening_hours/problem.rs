//! Why hours are invalid, or cannot be written to a platform.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Why hours are invalid, or cannot be written to a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoursProblem {
    UnknownTimezone,
    TooManySpans,
    /// Two spans of one day, or of consecutive days, overlap.
    Overlap,
    TooManySpecialDays,
    RepeatedDate,
    /// The platform supports one span per day.
    SeveralSpans,
}

impl fmt::Display for HoursProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownTimezone => "the time zone is not known",
            Self::TooManySpans => "a day has at most six spans",
            Self::Overlap => "two spans overlap",
            Self::TooManySpecialDays => "there are at most 731 special days",
            Self::RepeatedDate => "a date appears twice among the special days",
            Self::SeveralSpans => "the platform takes one span a day",
        })
    }
}

impl std::error::Error for HoursProblem {}
