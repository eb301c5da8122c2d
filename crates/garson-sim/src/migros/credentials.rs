//! The credentials of a store, by the names that the service uses.

use serde::Deserialize;

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
