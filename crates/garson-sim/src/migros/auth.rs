//! Migros's keys: one per branch in a header, one secret for the cipher, and Basic credentials the other way.

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::{
    credentials::{KeyDerivation, MigrosCredentials},
    envelope::{Answer, Refusal},
};
use crate::{call::Call, platform::Platform, store::Store, world::World};

/// The cipher's key: the secret itself, or its hash.
pub(super) fn key(credentials: &MigrosCredentials) -> Option<Vec<u8>> {
    match credentials.key_derivation {
        KeyDerivation::Raw => Some(credentials.secret_key.as_bytes().to_vec()).filter(|key| key.len() == 32),
        KeyDerivation::Sha256 => Some(Sha256::digest(credentials.secret_key.as_bytes()).to_vec()),
    }
}

pub(super) fn basic(credentials: &MigrosCredentials) -> String {
    let pair = format!("{}:{}", credentials.inbound_user, credentials.inbound_password);
    format!("Basic {}", BASE64_STANDARD.encode(pair))
}

fn of(store: &Store) -> Option<&MigrosCredentials> {
    store.credentials.get()
}

/// The branch whose key the call carries, and the cipher's key.
pub(super) fn check(world: &World, call: &Call) -> Result<(Arc<Store>, Vec<u8>), Refusal> {
    let given = call
        .header_as_spelled("XApiKey")
        .ok_or_else(Refusal::unauthorized)?;
    let fits = |store: &&Arc<Store>| of(store).is_some_and(|credentials| credentials.api_key == given);
    let store = world
        .stores_of(Platform::Migros)
        .find(fits)
        .ok_or_else(Refusal::unauthorized)?;
    let key = of(store).and_then(key).ok_or_else(Refusal::unauthorized)?;
    Ok((Arc::clone(store), key))
}

/// All branches of an integrator; the one body that goes in plain.
pub(super) fn list_keys(world: &World, call: &Call) -> Answer {
    let body = call.json().map_err(Refusal::invalid)?;
    let secret = body["secretKey"]
        .as_str()
        .ok_or_else(|| Refusal::invalid("secretKey is required"))?;
    let stores = world
        .stores_of(Platform::Migros)
        .filter_map(|store| Some((store, of(store)?)));
    let ours = stores.filter(|(_, credentials)| credentials.secret_key == secret);
    let key = |(store, credentials): (&Arc<Store>, &MigrosCredentials)| json!({"storeId": Store::numeric(&store.remote_id), "storeName": store.name, "apiKey": credentials.api_key});
    Ok(ours.map(key).collect())
}
