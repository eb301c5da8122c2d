//! Numbers as platforms write them: as JSON numbers or as strings, money in liras or kuruş, never through a float.

use garson_core::money::Minor;
use serde::de::{self, Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// An amount in liras (`12`, `12.5`, `"12.50"`), exact to the kuruş. What a platform's own floats add beyond that
/// (`45.900000000000006`) is rounded away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lira(pub Minor);

/// An amount in kuruş, as a number or a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kurus(pub Minor);

/// How many: a whole number, as a number or a string (`2`, `"2"`, `2.0`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub i64);

/// A number or a string, kept as text; ids come as either.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loose(pub String);

/// The text of a number or string, without its quotes.
fn scalar<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'de, str>, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?.get();
    match raw.as_bytes().first() {
        Some(b'"') => match raw.get(1..raw.len() - 1) {
            Some(plain) if !plain.contains('\\') => Ok(Cow::Borrowed(plain)),
            _ => serde_json::from_str(raw)
                .map(Cow::Owned)
                .map_err(de::Error::custom),
        },
        Some(b'-' | b'0'..=b'9') => Ok(Cow::Borrowed(raw)),
        _ => Err(de::Error::custom("must be a number or a string")),
    }
}

/// A decimal number in hundredths, rounded half away from zero.
fn hundredths(text: &str) -> Option<i64> {
    let text = text.trim();
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, digits) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    // Digits before this place count; the one after it decides the rounding.
    let point = i32::try_from(whole.len())
        .ok()?
        .checked_add(exponent)?
        .checked_add(2)?;
    if point > 18 {
        return None;
    }
    let mut value = 0i64;
    let mut round_up = false;
    let mut place = 0;
    for digit in whole.bytes().chain(fraction.bytes()).map(|b| i64::from(b - b'0')) {
        if place < point {
            value = value.checked_mul(10)?.checked_add(digit)?;
        } else if place == point {
            round_up = digit >= 5;
        }
        place += 1;
    }
    while place < point {
        value = value.checked_mul(10)?;
        place += 1;
    }
    let value = value + i64::from(round_up);
    Some(if negative { -value } else { value })
}

impl<'de> Deserialize<'de> for Lira {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = scalar(deserializer)?;
        let minor = hundredths(&text).ok_or_else(|| de::Error::custom("must be an amount, such as 12.50"))?;
        Minor::checked(minor).map(Self).map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Kurus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let minor = whole(&scalar(deserializer)?)
            .ok_or_else(|| de::Error::custom("must be an amount in whole kuruş"))?;
        Minor::checked(minor).map(Self).map_err(de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        whole(&scalar(deserializer)?)
            .filter(|count| (0..=1_000_000).contains(count))
            .map(Self)
            .ok_or_else(|| de::Error::custom("must be a whole number, not negative"))
    }
}

/// A whole number; `2.0` is one.
pub fn whole(text: &str) -> Option<i64> {
    hundredths(text)
        .filter(|value| value % 100 == 0)
        .map(|value| value / 100)
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        scalar(deserializer).map(|text| Self(text.into_owned()))
    }
}

/// An amount as a JSON number in liras with two decimals, never through a float: `12.50`.
#[must_use]
pub fn lira_text(amount: Minor) -> Box<RawValue> {
    let sign = if amount.0 < 0 { "-" } else { "" };
    let kurus = amount.0.unsigned_abs();
    let text = format!("{sign}{}.{:02}", kurus / 100, kurus % 100);
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lira(json: &str) -> Option<i64> {
        serde_json::from_str::<Lira>(json).ok().map(|lira| lira.0.0)
    }

    #[test]
    fn liras_are_read_exactly() {
        for (json, minor) in [
            ("12", 1_200),
            ("12.5", 1_250),
            ("\"12.50\"", 1_250),
            ("0.05", 5),
            ("-1.99", -199),
            ("45.900000000000006", 4_590),
            ("0.30000000000000004", 30),
            ("19.995", 2_000),
            ("19.994", 1_999),
            ("0.005", 1),
            ("0.001", 0),
            ("1e2", 10_000),
            ("1.5E+1", 1_500),
            ("1e-1", 10),
            ("\"0\"", 0),
        ] {
            assert_eq!(lira(json), Some(minor), "{json}");
        }
        for wrong in [
            "null",
            "true",
            "[]",
            "{}",
            "\"\"",
            "\"x\"",
            "\"1,5\"",
            "1e30",
            "\"--1\"",
            "99999999999",
        ] {
            assert_eq!(lira(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn ids_and_counts_come_as_numbers_or_strings() {
        let loose = |json: &str| serde_json::from_str::<Loose>(json).ok().map(|text| text.0);
        assert_eq!(loose("12"), Some("12".to_owned()));
        assert_eq!(loose("\"a\\u0062\""), Some("ab".to_owned()));
        assert_eq!(loose("null"), None);
        let count = |json: &str| serde_json::from_str::<Count>(json).ok().map(|count| count.0);
        assert_eq!(count("\"2\""), Some(2));
        assert_eq!(count("2.0"), Some(2));
        assert_eq!(count("2.5"), None);
        assert_eq!(count("-1"), None);
    }

    proptest! {
        #[test]
        fn every_amount_reads_back(minor in -10_000_000_000i64..10_000_000_000) {
            let sign = if minor < 0 { "-" } else { "" };
            let text = format!("{sign}{}.{:02}", minor.abs() / 100, minor.abs() % 100);
            prop_assert_eq!(lira(&text), Some(minor));
        }

        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = hundredths(&text);
        }

        #[test]
        fn no_digits_panic(text in "-?[0-9]{0,30}\\.?[0-9]{0,30}([eE][+-]?[0-9]{1,12})?") {
            let _ = hundredths(&text);
        }
    }
}
