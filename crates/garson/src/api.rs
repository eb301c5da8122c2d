//! `/web-api/v1`: routes in one list, thin handlers, views, errors, keys, pages, and the document that describes it.

pub(crate) mod auth;
mod businesses;
mod envelope;
mod events;
mod fields;
mod idempotency;
mod integrations;
mod keys;
mod matching;
mod order_json;
mod order_view;
mod orders;
mod packages;
mod paging;
mod payments;
mod providers;
mod reports;
mod restaurants;
mod retries;
mod stream;
mod webhook;

pub mod openapi;

pub(crate) use crate::http::body::parse as parse_body;
pub use crate::http::body::{Body, declared_length, read as read_body};
pub use crate::http::body_budget::{Budgets, Sender};
pub use crate::http::error::{ApiError, Code, Detail, FieldDetail};
pub use crate::http::request_id::RequestId;
pub use auth::Keyring;
pub(crate) use businesses::BusinessRequest;
pub(crate) use integrations::{IntegrationRequest, change as integration_change};
pub(crate) use keys::KeyRequest;
pub(crate) use matching::{MatchesRequest, matches as payment_matches};
pub(crate) use packages::{PackagesRequest, packages};
pub(crate) use paging::Cursor;
pub(crate) use restaurants::{Change as RestaurantChange, RestaurantRequest};
pub use retries::retry_json;
pub(crate) use stream::{Speaker, answer_of as answer_stream};

use crate::app::App;
use axum::Router;
use axum::middleware::from_fn_with_state;
use std::sync::Arc;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The largest body that is taken.
pub const MAX_BODY: usize = 1024 * 1024;
/// What every path begins with.
pub const PREFIX: &str = "/web-api/v1";

/// What handlers share.
pub struct Api {
    pub app: Arc<App>,
    pub keyring: Keyring,
    /// The requests with an `Idempotency-Key` that run now.
    pub runs: Arc<idempotency::Runs>,
    /// Memory for bodies.
    pub budgets: Budgets,
}

/// Every route, in one list.
fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(orders::list_orders))
        .routes(routes!(orders::get_order))
        .routes(routes!(orders::verify_order))
        .routes(routes!(orders::change_order_status))
        .routes(routes!(orders::ready_order))
        .routes(routes!(orders::retry_order_sync))
        .routes(routes!(orders::cancel_order))
        .routes(routes!(orders::list_reasons))
        .routes(routes!(reports::mark_reported))
        .routes(routes!(reports::list_pending_reports))
        .routes(routes!(payments::group_payments))
        .routes(routes!(webhook::retry_webhook))
        .routes(routes!(businesses::list_businesses, businesses::create_business))
        .routes(routes!(
            businesses::get_business,
            businesses::update_business,
            businesses::delete_business
        ))
        .routes(routes!(
            businesses::list_business_restaurants,
            businesses::link_restaurant
        ))
        .routes(routes!(
            restaurants::list_restaurants,
            restaurants::create_restaurant
        ))
        .routes(routes!(
            restaurants::get_restaurant,
            restaurants::update_restaurant,
            restaurants::delete_restaurant
        ))
        .routes(routes!(
            integrations::get_integration,
            integrations::put_integration,
            integrations::delete_integration
        ))
        .routes(routes!(packages::list_packages, packages::put_packages))
        .routes(routes!(
            matching::get_payment_matching,
            matching::put_payment_matching
        ))
        .routes(routes!(providers::list_providers))
        .routes(routes!(providers::get_menu))
        .routes(routes!(
            webhook::get_webhook,
            webhook::put_webhook,
            webhook::delete_webhook
        ))
        .routes(routes!(webhook::test_webhook))
        .routes(routes!(webhook::list_deliveries))
        .routes(routes!(retries::retry_deliveries))
        .routes(routes!(retries::list_retries))
        .routes(routes!(retries::get_retry))
        .routes(routes!(events::list_events))
        .routes(routes!(keys::list_keys, keys::create_key))
        .routes(routes!(keys::delete_key))
        .routes(routes!(keys::make_key_primary))
}

/// The whole HTTP service.
pub fn service(app: Arc<App>) -> Router {
    service_with(app, Router::new())
}

/// The same with more routes beside those of the API, which need a key like them.
pub fn service_with(app: Arc<App>, more: Router<Arc<Api>>) -> Router {
    let settings = &app.settings;
    let of_key = settings.rate_limit().unwrap_or_default();
    let of_account = settings.account_rate_limit().unwrap_or_default();
    let api = Arc::new(Api {
        app,
        runs: Arc::default(),
        keyring: Keyring::new(of_key, of_account),
        budgets: Budgets::default(),
    });
    let (list, _) = OpenApiRouter::new().nest(PREFIX, routes()).split_for_parts();
    let guarded = list
        .merge(more)
        .route_layer(from_fn_with_state(Arc::clone(&api), auth::authenticate));
    guarded
        .merge(crate::hooks::router())
        .merge(crate::server::plain_routes())
        .merge(crate::panel::router())
        .merge(openapi::router())
        .fallback(crate::panel::not_found)
        .layer(CatchPanicLayer::custom(crate::http::request_id::on_panic))
        .layer(from_fn_with_state(
            Arc::clone(&api),
            crate::http::request_id::finish,
        ))
        .with_state(api)
}

/// A path that is not UTF-8, or holds a NUL, names nothing.
pub(crate) fn is_broken(path: &str) -> bool {
    // Without an escape it is text, and has no NUL.
    path.contains('%')
        && percent_decoded(path)
            .is_none_or(|bytes| std::str::from_utf8(&bytes).is_err() || bytes.contains(&0))
}

/// The bytes that a path stands for; `None` when an escape is broken off.
fn percent_decoded(path: &str) -> Option<Vec<u8>> {
    let mut bytes = path.bytes();
    let mut decoded = Vec::with_capacity(path.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let digit = |b: Option<u8>| {
            b.and_then(|b| char::from(b).to_digit(16))
                .and_then(|d| u8::try_from(d).ok())
        };
        decoded.push(digit(bytes.next())? * 16 + digit(bytes.next())?);
    }
    Some(decoded)
}
