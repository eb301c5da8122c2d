//! Lenient values: numbers for texts, empty strings for missing values, null for empty lists.

use crate::common::text::keep_some;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A text, borrowed where it can be; numbers are taken too, since ids come as either.
#[derive(Clone, Debug, Default)]
pub struct Text<'a>(pub Cow<'a, str>);

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a number")
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(number.to_string())))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(number.to_string())))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(number.to_string())))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

impl Text<'_> {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A number or timestamp that may be missing; the platform writes an empty string for a missing one.
pub fn optional<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    match <&'de RawValue>::deserialize(deserializer)?.get() {
        "null" | "\"\"" => Ok(None),
        text => serde_json::from_str(text).map(Some).map_err(de::Error::custom),
    }
}

/// A list that may be missing or null.
pub fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// An object that may be missing; where only a text came, it is the object's first.
pub fn object_or_text<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + From<Text<'de>>,
{
    struct OfObject<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de> + From<Text<'de>>> Visitor<'de> for OfObject<T> {
        type Value = Option<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
            Ok(Some(Text(Cow::Borrowed(text)).into()))
        }

        fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
            Ok(Some(Text(Cow::Owned(text.to_owned())).into()))
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map)).map(Some)
        }
    }
    deserializer.deserialize_any(OfObject(PhantomData))
}

/// A coordinate, if it is a number; a bad one must not cost the order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Degrees(pub Option<f64>);

impl<'de> Deserialize<'de> for Degrees {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&'de RawValue>::deserialize(deserializer)?.get();
        Ok(Self(raw.trim_matches('"').parse().ok()))
    }
}

/// A text that may be missing.
pub fn text<'a>(value: Option<&'a Text<'_>>) -> Option<&'a str> {
    value.map(Text::as_str)
}

/// The same, fit to be kept.
pub fn keep_text(value: Option<&Text<'_>>, max: usize) -> Option<String> {
    keep_some(text(value), max)
}
