//! Delivery Hero's login by form, and the bearer token that comes of it.

use std::sync::Arc;

use serde_json::json;

use super::{
    credentials::YemeksepetiCredentials,
    errors::{Answer, Refusal},
};
use crate::{call::Call, clock, platform::Platform, store::Store, world::World};

pub(super) fn login(world: &mut World, call: &Call) -> Answer {
    if !call.is_of_type("application/x-www-form-urlencoded") {
        return Err(Refusal::invalid(
            "Content-Type must be application/x-www-form-urlencoded",
        ));
    }
    let form = call.form();
    let field = |name: &str| {
        form.iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    };
    if field("grant_type") != Some("client_credentials") {
        return Err(Refusal::invalid("grant_type must be client_credentials"));
    }
    let (Some(username), Some(password)) = (field("username"), field("password")) else {
        return Err(Refusal::invalid("username and password are required"));
    };
    let known = world
        .stores_of(Platform::Yemeksepeti)
        .filter_map(|store| of(store));
    if !{ known }.any(|one| one.username == username && one.password == password) {
        return Err(Refusal::unauthorized("username or password is wrong"));
    }
    let seconds = world.settings.yemeksepeti_token_seconds;
    let now = world.now();
    let token = format!(
        "{}.{}.{}",
        world.ids.hex(36),
        world.ids.hex(64),
        world.ids.hex(43)
    );
    world.tokens.issue(
        Platform::Yemeksepeti,
        &token,
        username,
        clock::add_seconds(now, seconds),
        now,
    );
    Ok(json!({"access_token": token, "expires_in": seconds, "token_type": "bearer"}))
}

pub(super) fn bearer(call: &Call) -> Option<&str> {
    call.header("authorization")?.strip_prefix("Bearer ")
}

/// The user whose token it is.
pub(super) fn check(world: &World, call: &Call) -> Result<String, Refusal> {
    let token = bearer(call).ok_or_else(|| Refusal::unauthorized("Authorization: Bearer is missing"))?;
    let owner = world.tokens.owner(Platform::Yemeksepeti, token, world.now());
    owner.ok_or_else(|| Refusal::unauthorized("the access token is not valid"))
}

pub(super) fn of(store: &Store) -> Option<&YemeksepetiCredentials> {
    store.credentials.get()
}

/// The user's stores within a chain; a chain that is not the user's is forbidden.
pub(super) fn chain(world: &World, call: &Call, user: &str) -> Result<Vec<Arc<Store>>, Refusal> {
    let code = call.segments.get(2).map(String::as_str).unwrap_or_default();
    let is_in =
        |store: &&Arc<Store>| of(store).is_some_and(|one| one.username == user && one.chain_code == code);
    let stores: Vec<_> = world
        .stores_of(Platform::Yemeksepeti)
        .filter(is_in)
        .cloned()
        .collect();
    if stores.is_empty() {
        Err(Refusal::forbidden())
    } else {
        Ok(stores)
    }
}
