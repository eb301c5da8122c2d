//! What a round for a store means for its next one.

use garson_core::platform::CallError;
use garson_core::time::Timestamp;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RoundResult {
    /// No request was sent.
    Idle,
    /// The platform has answered. `unsaved`: the time of a read that is not stored yet.
    Answered { unsaved: Option<Timestamp> },
    /// The request failed.
    Failed,
    /// The rate limit allows no request for this long.
    HeldBack(Duration),
}

/// What an answer means for the next round.
pub(super) fn result_of<T>(answer: &Result<T, CallError>) -> RoundResult {
    match answer {
        Ok(_) | Err(CallError::Refused { .. }) => RoundResult::Answered { unsaved: None },
        Err(CallError::HeldBack { room_in, .. }) => RoundResult::HeldBack(*room_in),
        Err(_) => RoundResult::Failed,
    }
}
