//! Whole numbers, within limits.

use crate::field_problem::FieldProblem;
use serde::de::{self, Deserializer, Visitor};
use std::fmt;

/// A whole number, also if it is written as `100.0`, as languages without integers do.
pub fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    deserializer.deserialize_i64(WholeNumber {
        min: i64::MIN,
        max: i64::MAX,
    })
}

/// The same within limits; the error names them.
pub fn whole_between<'de, D: Deserializer<'de>>(
    deserializer: D,
    min: u32,
    max: u32,
) -> Result<u32, D::Error> {
    let (min, max) = (i64::from(min), i64::from(max));
    let number = deserializer.deserialize_i64(WholeNumber { min, max })?;
    u32::try_from(number).map_err(|_| FieldProblem::NotWholeNumber { min, max }.into_error())
}

/// The same where it may be left out or null.
pub fn whole_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    struct Whole(i64);
    impl<'de> de::Deserialize<'de> for Whole {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            whole(deserializer).map(Self)
        }
    }
    let given: Option<Whole> = de::Deserialize::deserialize(deserializer)?;
    Ok(given.map(|number| number.0))
}

struct WholeNumber {
    min: i64,
    max: i64,
}

impl WholeNumber {
    fn within<E: de::Error>(&self, value: Option<i64>) -> Result<i64, E> {
        let (min, max) = (self.min, self.max);
        let value = value.filter(|value| (min..=max).contains(value));
        value.ok_or_else(|| FieldProblem::NotWholeNumber { min, max }.into_error())
    }
}

impl Visitor<'_> for WholeNumber {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<i64, E> {
        self.within(Some(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<i64, E> {
        self.within(i64::try_from(value).ok())
    }

    #[allow(clippy::cast_possible_truncation)]
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<i64, E> {
        // Larger floats do not represent whole numbers exactly.
        const EXACT: f64 = 9_007_199_254_740_991.0;
        let is_exact = value.fract() == 0.0 && value.abs() <= EXACT;
        self.within(is_exact.then_some(value as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::explain::explain;

    #[test]
    fn number_outside_of_its_limits_is_refused_with_them() {
        #[derive(Debug, serde::Deserialize)]
        struct Seconds(#[serde(deserialize_with = "day")] u32);
        fn day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
            whole_between(deserializer, 1, 86_400)
        }
        for (good, seconds) in [("1", 1), ("86400", 86_400), ("60.0", 60)] {
            assert_eq!(serde_json::from_str::<Seconds>(good).unwrap().0, seconds);
        }
        for wrong in [
            "0",
            "86401",
            "-1",
            "1.5",
            "5000000000",
            "18446744073709551615",
            "1e30",
        ] {
            let error = serde_json::from_str::<Seconds>(wrong).unwrap_err();
            let (_, text) = explain("seconds", &error.to_string());
            assert_eq!(text, "must be a whole number from 1 to 86400", "{wrong}");
        }
        let error = serde_json::from_str::<Seconds>("\"x\"").unwrap_err().to_string();
        assert_eq!(
            explain("seconds", &error).1,
            "must be a whole number, not a string"
        );
    }
}
