//! The credentials of a store, by the names that the service uses.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TrendyolCredentials {
    #[serde(deserialize_with = "text_or_number")]
    pub supplier_id: String,
    pub api_key: String,
    pub api_secret: String,
    pub integrator_name: String,
    #[serde(default)]
    pub executor_user: Option<String>,
    #[serde(default)]
    pub inbound_headers: BTreeMap<String, String>,
}

fn text_or_number<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(serde::de::Error::custom("must be a string or a number")),
    }
}
