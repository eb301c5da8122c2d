//! Field types that own both their limits and their description, so that the two cannot differ.

use garson_core::field_problem::FieldProblem;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Schema, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

/// Text of a bounded number of characters; with a lower bound of one it must also hold something visible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text<const MIN: usize, const MAX: usize>(pub String);

/// The same rule for readers of the document: one character that is neither white space nor a control.
const VISIBLE: &str = r"[^\s\u0000-\u001f\u007f-\u009f]";

/// A name or another short line.
pub type Name = Text<1, 200>;
/// A short line that may be empty.
pub type Line = Text<0, 200>;
/// Some sentences.
pub type Prose = Text<0, 2000>;
/// An id that comes from elsewhere.
pub type ForeignId = Text<1, 100>;

impl<'de, const MIN: usize, const MAX: usize> Deserialize<'de> for Text<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let length = text.chars().count();
        let visible = MIN == 0 || text.chars().any(|c| !c.is_whitespace() && !c.is_control());
        if (MIN..=MAX).contains(&length) && visible {
            return Ok(Self(text));
        }
        let problem = match MIN {
            0 => FieldProblem::TooLong { max: MAX },
            _ => FieldProblem::Length { min: MIN, max: MAX },
        };
        Err(problem.into_error())
    }
}

impl<const MIN: usize, const MAX: usize> PartialSchema for Text<MIN, MAX> {
    fn schema() -> RefOr<Schema> {
        let mut schema = ObjectBuilder::new()
            .schema_type(Type::String)
            .max_length(Some(MAX));
        if MIN > 0 {
            schema = schema.min_length(Some(MIN)).pattern(Some(VISIBLE));
        }
        schema.into()
    }
}

impl<const MIN: usize, const MAX: usize> ToSchema for Text<MIN, MAX> {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("Text{MIN}To{MAX}"))
    }
}

/// A field of an update: left out, set to null, or given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Patch<T> {
    #[default]
    Keep,
    Clear,
    Set(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::<T>::deserialize(deserializer)?.map_or(Self::Clear, Self::Set))
    }
}

impl<T> Patch<T> {
    /// Changes a field as this says.
    pub fn apply<U>(&self, field: &mut Option<U>, convert: impl FnOnce(&T) -> U) {
        match self {
            Self::Keep => {}
            Self::Clear => *field = None,
            Self::Set(value) => *field = Some(convert(value)),
        }
    }
}

impl<const MIN: usize, const MAX: usize> Patch<Text<MIN, MAX>> {
    /// Changes a text field as this says.
    pub fn apply_text(&self, field: &mut Option<String>) {
        self.apply(field, |text| text.0.clone());
    }
}

/// A JSON object, kept byte for byte.
#[derive(Clone, Debug)]
pub struct JsonObject(pub String);

const MAX_OBJECT: usize = 16 * 1024;

impl<'de> Deserialize<'de> for JsonObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let text = raw.get().trim();
        if !text.starts_with('{') {
            return Err(de::Error::custom("must be an object"));
        }
        if text.len() > MAX_OBJECT {
            return Err(de::Error::custom("must be at most 16 KiB"));
        }
        Ok(Self(text.to_owned()))
    }
}

/// Names to texts, in the order of their names; values are not shown when they are wrong.
#[derive(Clone, Default)]
pub struct TextMap(pub BTreeMap<String, String>);

impl fmt::Debug for TextMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl<'de> Deserialize<'de> for TextMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = TextMap;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of names to texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TextMap, A::Error> {
                let mut entries = BTreeMap::new();
                while let Some(name) = map.next_key::<String>()? {
                    let value = map.next_value::<serde_json::Value>()?;
                    let serde_json::Value::String(text) = value else {
                        return Err(de::Error::custom(format!("{name} must be a text")));
                    };
                    entries.insert(name, text);
                }
                Ok(TextMap(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

impl PartialSchema for TextMap {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
        ObjectBuilder::new()
            .schema_type(Type::Object)
            .additional_properties(Some(AdditionalProperties::RefOr(RefOr::T(text.into()))))
            .into()
    }
}

impl ToSchema for TextMap {}

/// A number of degrees within bounds.
pub fn degrees<'de, D: Deserializer<'de>, const MOST: i32>(deserializer: D) -> Result<Patch<f64>, D::Error> {
    match Option::<f64>::deserialize(deserializer)? {
        None => Ok(Patch::Clear),
        Some(value) if value.abs() <= f64::from(MOST) => Ok(Patch::Set(value)),
        Some(_) => {
            let (min, max) = (-i64::from(MOST), i64::from(MOST));
            Err(FieldProblem::NotBetween { min, max }.into_error())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Update {
        #[serde(default)]
        note: Patch<Line>,
    }

    #[test]
    fn left_out_null_and_given_are_three_things() {
        let read = |json| {
            serde_json::from_str::<Update>(json)
                .map(|update| update.note)
                .ok()
        };
        assert_eq!(read("{}"), Some(Patch::Keep));
        assert_eq!(read(r#"{"note":null}"#), Some(Patch::Clear));
        assert_eq!(read(r#"{"note":"x"}"#), Some(Patch::Set(Text("x".to_owned()))));
        assert_eq!(read(r#"{"note":7}"#), None);
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        let name = |text: &str| serde_json::from_value::<Name>(text.into()).is_ok();
        assert!(name(&"ş".repeat(200)) && !name(&"ş".repeat(201)));
        assert!(!name("") && !name("  \t") && name("🌯"));
    }

    #[test]
    fn objects_are_kept_byte_for_byte() {
        let json = "{ \"a\" : 1.0e2,\"b\":\"\\u0131\" }";
        assert_eq!(serde_json::from_str::<JsonObject>(json).unwrap().0, json);
        assert!(serde_json::from_str::<JsonObject>("[]").is_err());
    }
}
