//! Strict parsing of JSON input: no duplicate keys, no NUL characters, bounded depth.
//!
//! Parsers differ on duplicate keys, and PostgreSQL cannot store a NUL in text, so both are refused with their path.

mod check;
mod explain;
mod whole_number;

pub use check::{Fault, FaultKind, MAX_DEPTH, check};
pub use explain::{explain, problem};
pub use whole_number::{whole, whole_between, whole_or_none};

/// Makes a derived struct accept only an object: without this (flattened) field serde accepts a list too, value by value in the
/// order of the fields.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
pub struct ObjectOnly {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_not_an_object() {
        #[derive(serde::Deserialize)]
        struct Named {
            name: String,
            #[serde(flatten)]
            _object: ObjectOnly,
        }
        assert!(serde_json::from_str::<Named>(r#"["x"]"#).is_err());
        assert_eq!(
            serde_json::from_str::<Named>(r#"{"name":"x","other":1}"#)
                .unwrap()
                .name,
            "x"
        );
    }
}
