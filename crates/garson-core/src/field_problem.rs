//! What is wrong with a field that a client or a form sent: a code with arguments, rendered in a language where it is shown.

use crate::explanation::TargetRefusal;
use crate::stored_code;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is wrong with a field. The English text reads well after the field's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum FieldProblem {
    Required,
    /// A field that the request does not have.
    Unknown,
    /// Too short, too long, or only white space.
    Length {
        min: usize,
        max: usize,
    },
    Characters {
        min: usize,
        max: usize,
    },
    TooLong {
        max: usize,
    },
    TooLarge,
    TooMany {
        max: usize,
    },
    NotBetween {
        min: i64,
        max: i64,
    },
    NotNumber,
    NotWholeNumber {
        min: i64,
        max: i64,
    },
    NotBoolean,
    NotObject,
    NotTimezone,
    NotDayEnd,
    NotDay,
    NotEmail,
    TooFewDigits {
        min: usize,
    },
    NoLetterOrDigit,
    NotChannel,
    UnknownPlaceholder {
        known: String,
    },
    /// Stored secrets would be sent to another address.
    SecretsNeededAgain,
    NotOneOf {
        choices: String,
    },
    CannotBe {
        value: String,
    },
    PasswordTooShort {
        min: usize,
    },
    CommonPassword,
    /// A code of an authenticator app.
    WrongCode,
    /// An owner cannot be limited to some restaurants.
    OwnerOfAll,
    SecretTooShort {
        min: usize,
    },
    NotVisibleAscii,
    NotVisibleAsciiWithin,
    SpaceAroundOrControls,
    NotHeaderObject {
        min_value: usize,
    },
    Header {
        problem: HeaderProblem,
    },
    UnknownCredential {
        known: String,
    },
    NeededForActive,
    NotSupplierAndStore,
    EndsBeforeStart,
    EndsBeforeFrom,
    PeriodTooLong {
        days: usize,
    },
    NoPaymentTypeOrCode,
    SamePaymentAs {
        row: usize,
    },
    /// Items of the platform come from its menu.
    HasMenu,
    NotInMenu,
    /// Two products of which one platform has both, or a product and an option.
    NotSameProduct,
    NotOtherProduct,
    /// The platform that a menu is sent to is the one that it comes from.
    NotOtherPlatform,
    NoMenu,
    EmptyMenu,
    /// A URL that cannot be called.
    NotCallable {
        refusal: TargetRefusal,
    },
    /// A URL that may not be called.
    TargetNotAllowed {
        refusal: TargetRefusal,
    },
    /// Free text, such as a parser's error.
    Text {
        text: String,
    },
}

impl FieldProblem {
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// The error with which a deserialiser reports this problem; [`FieldProblem::of_parser`] reads it back.
    pub fn into_error<E: serde::de::Error>(self) -> E {
        E::custom(stored_code::write(&self))
    }

    /// The problem in a parser's error, which is free text where it is the parser's own.
    #[must_use]
    pub fn of_parser(message: &str) -> Self {
        stored_code::read(message).unwrap_or_else(|| Self::text(message))
    }
}

/// The English text, which the API shows.
impl fmt::Display for FieldProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Required => f.write_str("is required"),
            Self::Unknown => f.write_str("is not a field of this request"),
            Self::Length { min, max } => {
                write!(f, "must be {min} to {max} characters, not only white space")
            }
            Self::Characters { min, max } => write!(f, "must be {min} to {max} characters"),
            Self::TooLong { max } => write!(f, "must be at most {max} characters"),
            Self::TooLarge => f.write_str("is too large"),
            Self::TooMany { max } => write!(f, "must be at most {max}"),
            Self::NotBetween { min, max } => write!(f, "must be from {min} to {max}"),
            Self::NotNumber => f.write_str("must be a number, such as 41.0082"),
            Self::NotWholeNumber { min, max } => write!(f, "must be a whole number from {min} to {max}"),
            Self::NotBoolean => f.write_str("must be true or false"),
            Self::NotObject => f.write_str("must be a JSON object"),
            Self::NotTimezone => f.write_str("must be an IANA timezone, such as Europe/Istanbul"),
            Self::NotDayEnd => f.write_str("must be a whole hour from 00:00 to 12:00, such as 03:00"),
            Self::NotDay => f.write_str("is not a day of the calendar"),
            Self::NotChannel => f.write_str("is not a channel of this account"),
            Self::UnknownPlaceholder { known } => {
                write!(f, "has an unknown placeholder; there are: {known}")
            }
            Self::SecretsNeededAgain => {
                f.write_str("must be given again, because the address is another one than before")
            }
            Self::NotEmail => f.write_str("must be an e-mail address"),
            Self::TooFewDigits { min } => write!(f, "must have at least {min} digits"),
            Self::NoLetterOrDigit => f.write_str("must have a letter or a digit"),
            Self::NotOneOf { choices } => write!(f, "must be one of: {choices}"),
            Self::CannotBe { value } => write!(f, "cannot be {value}"),
            Self::PasswordTooShort { min } => write!(f, "must have at least {min} characters"),
            Self::CommonPassword => {
                f.write_str("must not be easy to guess, such as common words, names or rows of keys")
            }
            Self::WrongCode => f.write_str("is not the code that the app shows now"),
            Self::OwnerOfAll => f.write_str("must be all restaurants for an owner"),
            Self::SecretTooShort { min } => {
                write!(
                    f,
                    "must be at least {min} visible ASCII characters, without spaces"
                )
            }
            Self::NotVisibleAscii => f.write_str("must be visible ASCII characters, without spaces"),
            Self::NotVisibleAsciiWithin => {
                f.write_str("must be visible ASCII characters, without spaces around them")
            }
            Self::SpaceAroundOrControls => {
                f.write_str("must not have white space around it, nor control characters")
            }
            Self::NotHeaderObject { min_value } => write!(
                f,
                "must be a JSON object of header names and values, such as {{\"x-api-key\": \"…\"}}, of which each value has \
                 at least {min_value} visible ASCII characters"
            ),
            Self::Header { problem } => problem.fmt(f),
            Self::UnknownCredential { known } => {
                write!(f, "is not a credential of this platform; it has: {known}")
            }
            Self::NeededForActive => f.write_str("is needed before the integration can be switched on"),
            Self::NotSupplierAndStore => f.write_str("must be supplierId:storeId, such as 2738:101"),
            Self::EndsBeforeStart => f.write_str("must be after startsAt"),
            Self::EndsBeforeFrom => f.write_str("is before from, or not a day of the calendar"),
            Self::PeriodTooLong { days } => write!(f, "is more than {days} days after from"),
            Self::NoPaymentTypeOrCode => f.write_str("must have a type or a providerCode"),
            Self::SamePaymentAs { row } => write!(f, "is about the same payment as matches[{row}]"),
            Self::HasMenu => f.write_str("has a menu that is read"),
            Self::NotInMenu => f.write_str("is not in the platform's menu"),
            Self::NotSameProduct => f.write_str("cannot be the same product"),
            Self::NotOtherProduct => f.write_str("must be another product"),
            Self::NotOtherPlatform => {
                f.write_str("must be another platform than the one that the menu is sent to")
            }
            Self::NoMenu => f.write_str("has no menu that was read"),
            Self::EmptyMenu => f.write_str("has an empty menu"),
            Self::NotCallable { refusal } => write!(f, "cannot be called: {refusal}"),
            Self::TargetNotAllowed { refusal } => refusal.fmt(f),
            Self::Text { text } => f.write_str(text),
        }
    }
}

/// Why a header cannot be sent along. The English text reads well after the header's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeaderProblem {
    InvalidName,
    SetByClient,
    GivenTwice,
    TooMany { max: usize },
    TotalTooLong { max_kib: usize },
    NameTooLong { max: usize },
    ValueTooLong { max: usize },
    ValueNotAscii,
    ValueSpaceAround,
    ValueNotSendable,
}

impl fmt::Display for HeaderProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidName => f.write_str("is not a valid header name"),
            Self::SetByClient => f.write_str("is set by the HTTP client and cannot be given"),
            Self::GivenTwice => f.write_str("is given twice"),
            Self::TooMany { max } => write!(f, "is one too many: at most {max} are allowed"),
            Self::TotalTooLong { max_kib } => {
                write!(f, "makes the headers longer than {max_kib} KiB together")
            }
            Self::NameTooLong { max } => write!(f, "has a name longer than {max} bytes"),
            Self::ValueTooLong { max } => write!(f, "has a value longer than {max} bytes"),
            Self::ValueNotAscii => {
                f.write_str("has a value with characters other than visible ASCII, space and tab")
            }
            Self::ValueSpaceAround => f.write_str("has a value that begins or ends with a space or tab"),
            Self::ValueNotSendable => f.write_str("has a value that cannot be sent"),
        }
    }
}

impl From<HeaderProblem> for FieldProblem {
    fn from(problem: HeaderProblem) -> Self {
        Self::Header { problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problem_survives_a_parser() {
        for problem in [
            FieldProblem::Required,
            FieldProblem::Length { min: 1, max: 200 },
            FieldProblem::Header {
                problem: HeaderProblem::TooMany { max: 50 },
            },
        ] {
            let error: serde_json::Error = problem.clone().into_error();
            assert_eq!(FieldProblem::of_parser(&error.to_string()), problem);
        }
        let own = "must be a string, not an object";
        assert_eq!(FieldProblem::of_parser(own), FieldProblem::text(own));
    }
}
