//! JSON and OpenAPI for the field types of the application layer.

use crate::flow::admin::input::{Degrees, JsonObject, Patch, Text};
use garson_core::field_problem::FieldProblem;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Schema, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

/// The pattern of visible text in the document: one character that is neither white space nor a control.
const VISIBLE: &str = r"[^\s\u0000-\u001f\u007f-\u009f]";

impl<'de, const MIN: usize, const MAX: usize> Deserialize<'de> for Text<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(String::deserialize(deserializer)?).map_err(FieldProblem::into_error)
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

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::<T>::deserialize(deserializer)?.into())
    }
}

impl<'de> Deserialize<'de> for JsonObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(raw.get()).map_err(FieldProblem::into_error)
    }
}

impl<'de, const MAX: i32> Deserialize<'de> for Degrees<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(f64::deserialize(deserializer)?).map_err(FieldProblem::into_error)
    }
}

/// Texts by name. Values may be secrets, so that `Debug` shows the names only.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::admin::input::Line;

    #[derive(serde::Deserialize)]
    struct Update {
        #[serde(default)]
        note: Patch<Line>,
    }

    #[test]
    fn missing_null_and_given_fields_are_told_apart() {
        let read = |json| {
            serde_json::from_str::<Update>(json)
                .map(|update| update.note)
                .ok()
        };
        assert_eq!(read("{}"), Some(Patch::Keep));
        assert_eq!(read(r#"{"note":null}"#), Some(Patch::Clear));
        assert_eq!(
            read(r#"{"note":"x"}"#),
            Text::parse("x".to_owned()).ok().map(Patch::Set)
        );
        assert_eq!(read(r#"{"note":7}"#), None);
    }
}
