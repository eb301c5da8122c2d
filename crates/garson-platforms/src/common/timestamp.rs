//! Timestamps as platforms write them: text with or without a timezone, or milliseconds.

use super::number::{Loose, whole};
use garson_core::time::Timestamp;
use serde::de::{self, Deserialize, Deserializer};

/// RFC 3339, or the same without a timezone, which then is UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IsoTime(pub Timestamp);

/// Milliseconds since 1970, as a number or a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Millis(pub Timestamp);

impl IsoTime {
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        // Without a timezone the part after the time of day has neither Z nor an offset.
        let clock = text.get(10..).unwrap_or_default();
        let is_bare = !clock.contains(['Z', 'z', '+', '-']);
        let parsed = if is_bare {
            format!("{}Z", text.replacen(' ', "T", 1)).parse()
        } else {
            text.parse()
        };
        parsed.ok().map(Self)
    }
}

impl<'de> Deserialize<'de> for IsoTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse(&text)
            .ok_or_else(|| de::Error::custom("must be a timestamp, such as 2026-01-31T18:30:00Z"))
    }
}

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Loose::deserialize(deserializer)?;
        whole(&text.0)
            .map(|millis| Self(Timestamp::from_millis(millis)))
            .ok_or_else(|| de::Error::custom("must be milliseconds since 1970"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_read_in_every_spelling() {
        let iso = |text: &str| {
            serde_json::from_str::<IsoTime>(&format!("{text:?}"))
                .ok()
                .map(|t| t.0.to_string())
        };
        let expected = Some("2026-01-31T18:30:00.000Z".to_owned());
        for text in [
            "2026-01-31T18:30:00Z",
            "2026-01-31T18:30:00.000Z",
            "2026-01-31T21:30:00+03:00",
            "2026-01-31T18:30:00",
            "2026-01-31 18:30:00",
        ] {
            assert_eq!(iso(text), expected, "{text}");
        }
        for wrong in ["", "soon", "2026-13-01T00:00:00Z", "ü026"] {
            assert_eq!(iso(wrong), None, "{wrong}");
        }
        let millis = |json: &str| serde_json::from_str::<Millis>(json).ok().map(|t| t.0.as_millis());
        assert_eq!(millis("1769884200000"), Some(1_769_884_200_000));
        assert_eq!(millis("\"1769884200000\""), Some(1_769_884_200_000));
        assert_eq!(millis("true"), None);
    }
}
