//! A branch that is connected: where its pushes go, and with which secrets.

use serde::Deserialize;
use serde_json::Value;

use crate::{
    generate::menu::Menu,
    platform::Platform,
    views::{Quirks, StoreRequest, StoreView},
};

pub(crate) type StoreKey = (Platform, String);

#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub platform: Platform,
    pub remote_id: String,
    pub name: String,
    pub hook_url: Option<String>,
    pub credentials: Credentials,
    pub quirks: Quirks,
    pub menu: Menu,
}

/// A store's secrets under the names that the service gives them. Never shown.
#[derive(Clone)]
pub(crate) enum Credentials {
    Getir(GetirCredentials),
    Yemeksepeti(YemeksepetiCredentials),
    Trendyol(TrendyolCredentials),
    Migros(MigrosCredentials),
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Credentials(…)")
    }
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GetirCredentials {
    pub app_secret_key: String,
    pub restaurant_secret_key: String,
    pub inbound_key: String,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct YemeksepetiCredentials {
    pub username: String,
    pub password: String,
    pub chain_code: String,
    pub plugin_secret: String,
}

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
    pub inbound_headers: std::collections::BTreeMap<String, String>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MigrosCredentials {
    pub api_key: String,
    pub secret_key: String,
    #[serde(default)]
    pub key_derivation: KeyDerivation,
    pub inbound_user: String,
    pub inbound_password: String,
}

#[derive(Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KeyDerivation {
    #[default]
    Raw,
    Sha256,
}

fn text_or_number<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(serde::de::Error::custom("a text or a number is wanted")),
    }
}

impl Store {
    pub(crate) fn new(request: StoreRequest) -> Result<Self, String> {
        let StoreRequest {
            platform,
            remote_id,
            name,
            hook_url,
            credentials,
            quirks,
        } = request;
        // Trendyol's branches are named by supplier and store; the store's own id is what comes last.
        let remote_id = match remote_id.rsplit_once(':') {
            Some((_, store)) if platform == Platform::Trendyol => store.to_owned(),
            _ => remote_id,
        };
        if remote_id.is_empty() || remote_id.len() > 200 {
            return Err("remoteId must have 1 to 200 characters".to_owned());
        }
        if hook_url.as_deref().is_some_and(|url| !url.starts_with("http://")) {
            return Err("hookUrl must begin with http://".to_owned());
        }
        if ![100, 200].contains(&quirks.pos_status) {
            return Err("posStatus is 100 or 200".to_owned());
        }
        let menu = Menu::of(platform, &remote_id);
        Ok(Self {
            platform,
            name: name.unwrap_or_else(|| menu.restaurant.to_owned()),
            hook_url: hook_url.map(|url| url.trim_end_matches('/').to_owned()),
            credentials: platform.side().credentials(credentials)?,
            quirks,
            menu,
            remote_id,
        })
    }

    pub(crate) fn key(&self) -> StoreKey {
        (self.platform, self.remote_id.clone())
    }

    /// An id as a number where it is one, as most platforms write it.
    pub(crate) fn numeric(id: &str) -> Value {
        id.parse::<u64>().map_or_else(|_| Value::from(id), Value::from)
    }

    pub(crate) fn view(&self) -> StoreView {
        StoreView {
            platform: self.platform,
            remote_id: self.remote_id.clone(),
            name: self.name.clone(),
            hook_url: self.hook_url.clone(),
            quirks: self.quirks,
        }
    }
}
