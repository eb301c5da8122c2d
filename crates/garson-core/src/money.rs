//! Money: whole minor units (kuruş) of a currency, never a float.

use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;
use std::str::FromStr;

/// The most that one amount may be, either way: a billion in major units. Ninety million orders of that size can be
/// summed without overflow.
pub const MAX_MINOR: i64 = 100_000_000_000;

/// An ISO 4217 currency code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(into = "String")]
pub struct Currency([u8; 3]);

impl Currency {
    pub const TRY: Self = Self(*b"TRY");

    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("XXX")
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.as_str().to_owned()
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text does not say an amount or a currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoneyError {
    NotACurrency,
    NotAnAmount,
    TooPrecise,
    TooLarge,
}

impl fmt::Display for MoneyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotACurrency => "must be a currency code of three capital letters, such as TRY",
            Self::NotAnAmount => "must be an amount, such as 12.50",
            Self::TooPrecise => "has more than two decimals",
            Self::TooLarge => "is larger than an amount may be",
        })
    }
}

impl std::error::Error for MoneyError {}

impl FromStr for Currency {
    type Err = MoneyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match <[u8; 3]>::try_from(text.as_bytes()) {
            Ok(code) if code.iter().all(u8::is_ascii_uppercase) => Ok(Self(code)),
            _ => Err(MoneyError::NotACurrency),
        }
    }
}

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// An amount in minor units (kuruş, cents), without its currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Minor(pub i64);

impl Minor {
    pub const ZERO: Self = Self(0);

    /// Takes an amount in minor units if it is within reason.
    pub fn checked(minor: i64) -> Result<Self, MoneyError> {
        if minor.unsigned_abs() <= MAX_MINOR.unsigned_abs() {
            Ok(Self(minor))
        } else {
            Err(MoneyError::TooLarge)
        }
    }

    /// Reads a decimal amount in major units (`12`, `12.5`, `-0.05`) exactly, without a float in between.
    pub fn from_decimal(text: &str) -> Result<Self, MoneyError> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) || digits.ends_with('.') {
            return Err(MoneyError::NotAnAmount);
        }
        let fraction = fraction.trim_end_matches('0');
        if fraction.len() > 2 {
            return Err(MoneyError::TooPrecise);
        }
        let major: i64 = whole.parse().map_err(|_| MoneyError::TooLarge)?;
        let cents: i64 = format!("{fraction:0<2}")
            .parse()
            .map_err(|_| MoneyError::NotAnAmount)?;
        let minor = major
            .checked_mul(100)
            .and_then(|m| m.checked_add(cents))
            .ok_or(MoneyError::TooLarge)?;
        Self::checked(if negative { -minor } else { minor })
    }
}

impl std::ops::Neg for Minor {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_are_read_exactly() {
        let read = |text| Minor::from_decimal(text).map(|m| m.0);
        assert_eq!(read("12"), Ok(1200));
        assert_eq!(read("12.5"), Ok(1250));
        assert_eq!(read("0.05"), Ok(5));
        assert_eq!(read("-1.99"), Ok(-199));
        assert_eq!(read("19.990000"), Ok(1999));
        assert_eq!(read("19.999"), Err(MoneyError::TooPrecise));
        for wrong in [
            "", ".", "1.", ".5", "1,5", "1e3", "NaN", "+1", "--1", "1.2.3", "١٢",
        ] {
            assert_eq!(read(wrong), Err(MoneyError::NotAnAmount), "{wrong}");
        }
        assert_eq!(read("99999999999999999999"), Err(MoneyError::TooLarge));
    }

    #[test]
    fn currencies_are_three_capitals() {
        assert_eq!("TRY".parse(), Ok(Currency::TRY));
        for wrong in ["try", "TR", "TRYY", "", "₺"] {
            assert_eq!(
                wrong.parse::<Currency>(),
                Err(MoneyError::NotACurrency),
                "{wrong}"
            );
        }
    }

    proptest! {
        #[test]
        fn writing_and_reading_agree(minor in -MAX_MINOR..=MAX_MINOR) {
            let text = format!("{}{}.{:02}", if minor < 0 { "-" } else { "" }, minor.abs() / 100, minor.abs() % 100);
            prop_assert_eq!(Minor::from_decimal(&text), Ok(Minor(minor)));
        }

        #[test]
        fn no_text_panics(text in ".*") {
            let _ = Minor::from_decimal(&text);
        }
    }
}
