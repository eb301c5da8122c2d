//! The credentials of a store, by the names that the service uses.

use serde::Deserialize;

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct YemeksepetiCredentials {
    pub username: String,
    pub password: String,
    pub chain_code: String,
    pub plugin_secret: String,
}
