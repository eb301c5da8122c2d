//! Cursors: positions in a list, as clients see them.

use serde::{Serialize, Serializer};
use std::fmt;

/// A position in a list: exactly sixteen hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor(pub i64);

impl Cursor {
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        (text.len() == 16 && is_hex)
            .then(|| i64::from_str_radix(text, 16).ok().map(Self))
            .flatten()
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Serialize for Cursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_round_trip_and_malformed_ones_are_rejected() {
        for position in [0, 1, 77, i64::MAX] {
            let text = serde_json::to_value(Cursor(position)).unwrap();
            assert_eq!(Cursor::parse(text.as_str().unwrap()), Some(Cursor(position)));
        }
        for malformed in [
            "",
            "1",
            "ffffffffffffffff",
            "000000000000000G",
            "0000000000000001x",
            "+000000000000001",
        ] {
            assert_eq!(Cursor::parse(malformed), None, "{malformed}");
        }
    }
}
