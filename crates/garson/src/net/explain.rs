//! Failures in plain words, fit for the developer whose address was called.

use std::error::Error;
use std::io;

/// Why a request that was handed to a connection has no answer.
pub fn exchange(error: &hyper::Error, is_heard: bool) -> String {
    if error.is_parse() {
        return "the answer is not HTTP".to_owned();
    }
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    let end = match cause.map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionReset) => "reset",
        _ => "closed",
    };
    let before = match is_heard {
        true => "the answer was whole",
        false => "an answer came",
    };
    format!("the connection was {end} before {before}")
}
