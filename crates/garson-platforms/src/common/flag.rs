//! Yes or no as platforms write it: a boolean, its text, or 0 and 1.

use serde::de::{self, Deserialize, Deserializer, Visitor};
use std::fmt;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flag(pub bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OfFlag)
    }
}

struct OfFlag;

impl Visitor<'_> for OfFlag {
    type Value = Flag;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true or false")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Flag, E> {
        Ok(Flag(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Flag, E> {
        match value {
            0 => Ok(Flag(false)),
            1 => Ok(Flag(true)),
            _ => Err(E::invalid_value(de::Unexpected::Unsigned(value), &self)),
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Flag, E> {
        let is = |words: &[&str]| words.iter().any(|word| text.trim().eq_ignore_ascii_case(word));
        match () {
            () if is(&["true", "1", "yes"]) => Ok(Flag(true)),
            () if is(&["false", "0", "no"]) => Ok(Flag(false)),
            () => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
        }
    }
}

/// Yes, where it is there and says so.
pub fn is_set(flag: Option<Flag>) -> bool {
    flag.is_some_and(|flag| flag.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yes_and_no_are_read_in_every_spelling() {
        let read = |json: &str| serde_json::from_str::<Flag>(json).ok().map(|flag| flag.0);
        for yes in ["true", "\"true\"", "\"True\"", "1", "\"1\""] {
            assert_eq!(read(yes), Some(true), "{yes}");
        }
        for no in ["false", "\"false\"", "0", "\"no\""] {
            assert_eq!(read(no), Some(false), "{no}");
        }
        for other in ["2", "-1", "\"\"", "\"maybe\"", "[]", "{}", "1.0"] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
