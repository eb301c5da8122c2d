//! How a closed set of codes with arguments is stored in a text column: as JSON that begins with its code. Anything else in such a
//! column is free text: rows that older versions wrote as English sentences.

use serde::{Serialize, de::DeserializeOwned};

const START: &str = "{\"code\":";

/// The stored form of a code with arguments.
pub(crate) fn write<T: Serialize>(value: &T) -> String {
    // A value of our own enums always serialises.
    serde_json::to_string(value).unwrap_or_default()
}

/// Reads a stored form; nothing when the column holds free text.
pub(crate) fn read<T: DeserializeOwned>(stored: &str) -> Option<T> {
    if !is_code(stored) {
        return None;
    }
    serde_json::from_str(stored).ok()
}

/// Would this text be read as a code?
pub(crate) fn is_code(text: &str) -> bool {
    text.starts_with(START)
}
