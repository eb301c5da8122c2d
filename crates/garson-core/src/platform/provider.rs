//! The key of a platform.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;

/// The key of a platform: a short lower-case word such as `getir`. The registry of connectors lists the valid ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Provider {
    bytes: [u8; Self::MAX],
    len: u8,
}

impl Provider {
    const MAX: usize = 15;

    /// Keys longer than fifteen bytes are truncated.
    #[must_use]
    pub const fn new(key: &str) -> Self {
        let from = key.as_bytes();
        let mut bytes = [0; Self::MAX];
        let mut len = 0;
        while len < from.len() && len < Self::MAX {
            bytes[len] = from[len];
            len += 1;
        }
        #[allow(clippy::cast_possible_truncation)]
        Self {
            bytes,
            len: len as u8,
        }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        self.bytes
            .get(..usize::from(self.len))
            .and_then(|b| std::str::from_utf8(b).ok())
            .unwrap_or("")
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Provider {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = (1..=Self::MAX).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase());
        if fits {
            Ok(Self::new(text))
        } else {
            Err("must be a platform key, such as getir")
        }
    }
}

impl Serialize for Provider {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Provider {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_short_lower_case_words() {
        assert_eq!(
            "getir".parse::<Provider>().map(|p| p.to_string()),
            Ok("getir".to_owned())
        );
        for wrong in ["", "Getir", "getir yemek", "a-b", "ç", "abcdefghijklmnop"] {
            assert!(wrong.parse::<Provider>().is_err(), "{wrong}");
        }
    }
}
