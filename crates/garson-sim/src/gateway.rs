//! The gateway in front of every platform, which checks requests first.

use http::{Method, StatusCode, header};
use serde_json::json;

use crate::call::{Call, Reply};

/// The refusal of a request that a strict gateway does not let through.
pub(crate) fn refuse(call: &Call) -> Option<Reply> {
    let may_have_body = [Method::POST, Method::PUT, Method::PATCH].contains(&call.method);
    let lengths = [header::CONTENT_LENGTH, header::TRANSFER_ENCODING];
    let says_length = lengths.iter().any(|name| call.headers.contains_key(name));
    if may_have_body && !says_length {
        let message = "Content-Length is missing";
        let body = json!({ "message": message });
        return Some(Reply::json(StatusCode::LENGTH_REQUIRED, &body).with_note(message));
    }
    None
}
