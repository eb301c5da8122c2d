//! What responses have in common: their status, and the platform's message.

use garson_core::explanation::Explanation;
use garson_core::platform::{CallError, HttpResponse, Outcome, RefusalCause, Success};

/// As much of an explanation as people read.
const MAX_WORDS: usize = 300;

/// The platform's words with its status; `said` is what could be found in the body.
#[must_use]
pub fn words(response: &HttpResponse, said: Option<&str>) -> Explanation {
    let said = match said.map(str::trim).filter(|text| !text.is_empty()) {
        Some(text) => text.to_owned(),
        None => String::from_utf8_lossy(&response.body).trim().to_owned(),
    };
    let said: String = said
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(MAX_WORDS)
        .collect();
    Explanation::Answered {
        status: response.status,
        said: Some(said).filter(|said| !said.is_empty()),
    }
}

/// What the status alone says. A server's error leaves open whether the work was done.
pub fn by_status(response: &HttpResponse, message: Explanation) -> Outcome {
    match response.status {
        200..=299 => Ok(Success::Done),
        408 | 425 => Err(CallError::Unclear { message }),
        429 => Err(CallError::later(message)),
        500..=599 => Err(CallError::Unclear { message }),
        status => Err(refusal(status, message)),
    }
}

/// The outcome of a call by its HTTP status. A conflict may be temporary: another change of the order may be in progress.
pub fn of_call(response: &HttpResponse, message: Explanation) -> Outcome {
    match response.status {
        409 => Err(CallError::retryable(message, RefusalCause::Conflict)),
        _ => by_status(response, message),
    }
}

/// A refusal by its status. Those that a gateway gives as well, in the middle of a deployment say, are not believed at once.
#[must_use]
pub fn refusal(status: u16, message: Explanation) -> CallError {
    match status {
        400 | 402 | 405 | 406 | 409 | 410 | 413..=415 | 422 => CallError::Refused { message },
        401 | 403 | 407 => CallError::retryable(message, RefusalCause::Access),
        _ => CallError::retryable(message, RefusalCause::Other),
    }
}

/// The trouble with an answer that should have carried something; nothing when its status is fine.
pub fn must_succeed(response: &HttpResponse, message: Explanation) -> Result<(), CallError> {
    match by_status(response, message) {
        Ok(_) => Ok(()),
        // Nothing was to be done: reading can simply be repeated.
        Err(CallError::Unclear { message }) => Err(CallError::later(message)),
        Err(trouble) => Err(trouble),
    }
}
