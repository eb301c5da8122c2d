//! Why the payment types of a restaurant's POS are not known.

use garson_core::explanation::{Explanation, TargetRefusal};
use garson_core::field_problem::HeaderProblem;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatchingProblem {
    NoUrl,
    HeadersDamaged,
    Header { name: String, problem: HeaderProblem },
    NotAllowed(TargetRefusal),
    Unreachable(Explanation),
    Answered { status: u16 },
    NotAList,
}

/// The English text, which the API shows.
impl fmt::Display for MatchingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoUrl => f.write_str("The restaurant has no paymentMatchingUrl."),
            Self::HeadersDamaged => f.write_str("The paymentMatchingHeaders are damaged."),
            Self::Header { name, problem } => write!(f, "The header {name} cannot be sent: {problem}."),
            Self::NotAllowed(refusal) => write!(f, "The paymentMatchingUrl is not allowed: {refusal}."),
            Self::Unreachable(explanation) => {
                write!(f, "The paymentMatchingUrl cannot be reached: {explanation}.")
            }
            Self::Answered { status } => write!(f, "The paymentMatchingUrl answered {status}."),
            Self::NotAList => {
                f.write_str("The paymentMatchingUrl did not answer a list of {\"id\", \"name\"}.")
            }
        }
    }
}
