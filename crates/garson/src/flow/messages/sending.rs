//! What came of an attempt to send a message.

use garson_core::explanation::Explanation;

/// What came of an attempt to send a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sending {
    Sent,
    /// It was not sent; another attempt may succeed.
    NotYet(Explanation),
    /// It was not sent, and another attempt would not succeed either.
    Failed(Explanation),
    /// It may have been sent.
    Unclear(Explanation),
}
