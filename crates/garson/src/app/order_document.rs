//! How the delivery of events gets an order as the API answers it, though the API is a layer above.

use futures_util::future::BoxFuture;
use garson_core::id::{AccountId, OrderId};
use garson_store::Engine;

/// Reads an order as JSON; none when it no longer exists, and an error when it cannot be read now.
pub type OrderDocument = fn(Engine, AccountId, OrderId) -> BoxFuture<'static, Result<Option<String>, ()>>;
