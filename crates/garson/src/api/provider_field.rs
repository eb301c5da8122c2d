//! The keys of platforms in request bodies, which the OpenAPI document lists.

use garson_core::field_problem::FieldProblem;
use garson_core::platform::{Platform, Provider};
use serde::de::{Deserialize, Deserializer};
use std::borrow::Cow;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, Type};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

/// A platform, by its key. Another text is refused with the list of keys.
#[derive(Clone, Copy)]
pub struct PlatformKey(pub &'static dyn Platform);

impl PlatformKey {
    pub fn provider(self) -> Provider {
        self.0.provider()
    }
}

/// Platforms in one list.
const MAX_PLATFORMS: usize = 20;

/// The platforms that a request is limited to, at least one: an empty list could mean all or none.
#[derive(Clone, Debug)]
pub struct PlatformKeys(pub Vec<Provider>);

fn keys() -> impl Iterator<Item = String> {
    garson_platforms::all()
        .iter()
        .map(|platform| platform.provider().to_string())
}

impl<'de> Deserialize<'de> for PlatformKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = Cow::<'de, str>::deserialize(deserializer)?;
        garson_platforms::find(&key).map(Self).ok_or_else(|| {
            let choices = keys().collect::<Vec<_>>().join(", ");
            FieldProblem::NotOneOf { choices }.into_error()
        })
    }
}

impl PartialSchema for PlatformKey {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .enum_values(Some(keys()))
            .into()
    }
}

impl ToSchema for PlatformKey {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("PlatformKey")
    }
}

impl<'de> Deserialize<'de> for PlatformKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let keys = Vec::<PlatformKey>::deserialize(deserializer)?;
        match keys.len() {
            0 => Err(FieldProblem::Required.into_error()),
            1..=MAX_PLATFORMS => Ok(Self(keys.into_iter().map(PlatformKey::provider).collect())),
            _ => Err(FieldProblem::TooMany { max: MAX_PLATFORMS }.into_error()),
        }
    }
}

impl PartialSchema for PlatformKeys {
    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new()
            .items(Ref::from_schema_name(PlatformKey::name()))
            .min_items(Some(1))
            .max_items(Some(MAX_PLATFORMS))
            .into()
    }
}

impl ToSchema for PlatformKeys {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("PlatformKeys")
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((PlatformKey::name().into_owned(), PlatformKey::schema()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_keys_are_read_and_others_are_refused_with_the_list() {
        let read = |json| serde_json::from_str::<PlatformKey>(json).map(|key| key.provider().to_string());
        assert_eq!(read(r#""getir""#).ok().as_deref(), Some("getir"));
        let refused = read(r#""ubereats""#).map_err(|error| FieldProblem::of_parser(&error.to_string()));
        let choices = "direct, getir, migros, trendyol, yemeksepeti".to_owned();
        assert_eq!(refused, Err(FieldProblem::NotOneOf { choices }));
        assert!(read("7").is_err());
    }

    #[test]
    fn lists_have_at_least_one_platform_and_not_too_many() {
        let read = |json: &str| serde_json::from_str::<PlatformKeys>(json).map(|keys| keys.0.len());
        assert_eq!(read(r#"["getir","trendyol"]"#).ok(), Some(2));
        assert!(read("[]").is_err());
        assert!(read(r#"["getir","ubereats"]"#).is_err());
        let many = vec!["getir"; MAX_PLATFORMS + 1];
        assert!(serde_json::to_string(&many).is_ok_and(|json| read(&json).is_err()));
    }
}
