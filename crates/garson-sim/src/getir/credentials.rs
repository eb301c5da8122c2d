//! The credentials of a store, by the names that the service uses.

use serde::Deserialize;

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GetirCredentials {
    pub app_secret_key: String,
    pub restaurant_secret_key: String,
    pub inbound_key: String,
}
