//! Trendyol's key and its three headers, and how often each endpoint may be called.

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use http::StatusCode;

use super::{credentials::TrendyolCredentials, errors::Refusal};
use crate::{call::Call, limits::Limit, order::Order, platform::Platform, store::Store, world::World};

const PER_ENDPOINT: Limit = Limit {
    calls: 50,
    seconds: 10,
    block_seconds: 0,
};

/// The supplier of the path, if the call comes from one of its integrators.
pub(super) fn check(world: &mut World, call: &Call, operation: &str) -> Result<String, Refusal> {
    let agent = call.header("user-agent").unwrap_or_default();
    if agent.is_empty() {
        return Err(Refusal::new(
            StatusCode::FORBIDDEN,
            "Forbidden",
            "User-Agent is missing",
        ));
    }
    let supplier = call.segments.get(4).cloned().unwrap_or_default();
    let key = basic(call).ok_or_else(Refusal::unauthorized)?;
    let credentials = credentials(world, &supplier, &key).ok_or_else(Refusal::unauthorized)?;
    if agent != format!("{supplier} - {}", credentials.integrator_name) {
        return Err(Refusal::new(
            StatusCode::FORBIDDEN,
            "Forbidden",
            "User-Agent is not \"supplierId - integrator\"",
        ));
    }
    if call.header("x-agentname").unwrap_or_default().is_empty() {
        return Err(Refusal::invalid("x-agentname is missing"));
    }
    let user = call.header("x-executor-user").filter(|user| user.contains('@'));
    let is_right = match &credentials.executor_user {
        Some(known) => user == Some(known),
        None => user.is_some(),
    };
    let moves = !["packages", "package", "products", "stores", "batch"].contains(&operation);
    if moves && !is_right {
        return Err(Refusal::invalid(
            "x-executor-user must be the e-mail address of who acts",
        ));
    }
    if world.allow(format!("trendyol/{operation}/{supplier}"), PER_ENDPOINT) {
        Ok(supplier)
    } else {
        Err(Refusal::too_many())
    }
}

/// Whose key it is for this supplier.
fn credentials(world: &World, supplier: &str, key: &str) -> Option<TrendyolCredentials> {
    let mut known = world.stores_of(Platform::Trendyol).filter_map(|store| of(store));
    let fits = |one: &&TrendyolCredentials| {
        one.supplier_id == supplier && key == format!("{}:{}", one.api_key, one.api_secret)
    };
    known.find(fits).cloned()
}

fn basic(call: &Call) -> Option<String> {
    let encoded = call.header("authorization")?.strip_prefix("Basic ")?;
    String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok()
}

fn of(store: &Store) -> Option<&TrendyolCredentials> {
    store.credentials.get()
}

pub(super) fn supplier_of(store: &Store) -> &str {
    of(store).map_or("", |credentials| &credentials.supplier_id)
}

/// A store of the supplier.
pub(super) fn store(world: &World, supplier: &str, store_id: &str) -> Option<Arc<Store>> {
    world
        .store(Platform::Trendyol, store_id)
        .filter(|store| supplier_of(store) == supplier)
}

/// A package of the supplier.
pub(super) fn package<'world>(
    world: &'world World,
    supplier: &str,
    id: &str,
) -> Result<(&'world Order, Arc<Store>), Refusal> {
    let order = world
        .orders
        .find(Platform::Trendyol, id)
        .ok_or_else(Refusal::not_found)?;
    let store = store(world, supplier, &order.remote_id).ok_or_else(Refusal::unauthorized)?;
    Ok((order, store))
}
