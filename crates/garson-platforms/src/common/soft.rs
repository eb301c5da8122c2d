//! Lenient parts of a response: a value of the wrong type is ignored, and the rest counts.

use serde::de::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A value that may be missing or of another kind.
pub fn soft<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    let raw = <&'de RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(raw.get()).ok())
}

/// The elements of a list that can be read. Only objects can: a derived reader takes a list for a struct.
pub fn objects<'a, T: Deserialize<'a>>(list: &[&'a RawValue]) -> Vec<T> {
    list.iter()
        .filter(|raw| raw.get().starts_with('{'))
        .filter_map(|raw| serde_json::from_str(raw.get()).ok())
        .collect()
}
