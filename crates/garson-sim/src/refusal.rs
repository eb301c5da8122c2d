//! Why a request to the control API is refused.

#[derive(Debug)]
pub(crate) enum Refusal {
    /// The request makes no sense.
    Invalid(String),
    NotFound(String),
    /// Not in this state.
    Conflict(String),
}
