//! Every operation of the API, in one list. The router and the OpenAPI document are made of it, each on its own: a server that is
//! never asked for the document does not build its schemas.

use super::endpoints::{deliveries, statistics};
use super::{
    audit, businesses, catalogs, channels, endpoints, escalation, events, history, hours, integrations, keys,
    menus, notices, orders, packages, payment_matching, payments, presence, prices, printers, privacy,
    products, providers, report_summary, reports, requests, restaurants, retries, stores, throttle, tickets,
    users, webhook,
};
use crate::http::path::API_PREFIX;
use crate::http::state::HttpState;
use axum::Router;
use axum::routing::{MethodFilter, on};
use std::sync::Arc;
use utoipa::openapi::HttpMethod;
use utoipa::{OpenApi, Path};

/// The API under its prefix, without authentication.
pub fn router() -> Router<Arc<HttpState>> {
    Router::new().nest(API_PREFIX, routes())
}

fn filter(method: &HttpMethod) -> MethodFilter {
    match method {
        HttpMethod::Get => MethodFilter::GET,
        HttpMethod::Post => MethodFilter::POST,
        HttpMethod::Put => MethodFilter::PUT,
        HttpMethod::Delete => MethodFilter::DELETE,
        HttpMethod::Options => MethodFilter::OPTIONS,
        HttpMethod::Head => MethodFilter::HEAD,
        HttpMethod::Patch => MethodFilter::PATCH,
        HttpMethod::Trace => MethodFilter::TRACE,
    }
}

macro_rules! operations {
    ($($module:ident::$operation:ident,)+) => {
        fn routes() -> Router<Arc<HttpState>> {
            let mut router = Router::new();
            pastey::paste! {
                $(
                    type [<$operation:camel>] = $module::[<__path_ $operation>];
                    for method in [<$operation:camel>]::methods() {
                        let handler = on(filter(&method), $module::$operation);
                        router = router.route(&[<$operation:camel>]::path(), handler);
                    }
                )+
            }
            router
        }

        /// The same operations as an OpenAPI document.
        #[derive(OpenApi)]
        #[openapi(paths($($module::$operation),+))]
        pub struct Operations;
    };
}

operations! {
    orders::list_orders,
    orders::get_order,
    orders::verify_order,
    orders::change_order_status,
    orders::ready_order,
    orders::retry_order_sync,
    orders::cancel_order,
    orders::list_reasons,
    tickets::get_ticket,
    printers::print_order,
    printers::list_printers,
    printers::register_printer,
    printers::remove_printer,
    printers::report_printer,
    reports::mark_reported,
    reports::unmark_reported,
    reports::list_pending_reports,
    payments::group_payments,
    report_summary::get_report_summary,
    webhook::retry_webhook,
    businesses::list_businesses,
    businesses::create_business,
    businesses::get_business,
    businesses::update_business,
    businesses::delete_business,
    businesses::list_business_restaurants,
    businesses::link_restaurant,
    restaurants::list_restaurants,
    restaurants::create_restaurant,
    restaurants::get_restaurant,
    restaurants::update_restaurant,
    restaurants::delete_restaurant,
    integrations::get_integration,
    integrations::put_integration,
    integrations::delete_integration,
    stores::get_store,
    stores::put_store,
    throttle::get_throttle,
    throttle::put_throttle,
    hours::get_hours,
    hours::put_hours,
    history::list_history,
    packages::list_packages,
    packages::put_packages,
    payment_matching::get_payment_matching,
    payment_matching::put_payment_matching,
    providers::list_providers,
    prices::preview_prices,
    prices::push_prices,
    prices::get_price_change,
    catalogs::list_catalog_pushes,
    catalogs::push_catalog,
    catalogs::get_catalog_push,
    catalogs::list_catalog_imports,
    menus::list_menus,
    menus::read_menus,
    menus::list_menu_versions,
    menus::list_menu_differences,
    products::list_products,
    products::create_product,
    products::get_product,
    products::put_product_link,
    products::delete_product_link,
    products::put_product_availability,
    products::put_products_availability,
    products::put_named_availability,
    providers::get_menu,
    webhook::get_webhook,
    webhook::put_webhook,
    webhook::delete_webhook,
    webhook::test_webhook,
    webhook::list_deliveries,
    retries::retry_deliveries,
    retries::list_retries,
    retries::get_retry,
    endpoints::list_endpoints,
    endpoints::create_endpoint,
    endpoints::get_endpoint,
    endpoints::update_endpoint,
    endpoints::delete_endpoint,
    endpoints::rotate_endpoint_secret,
    endpoints::test_endpoint,
    statistics::get_endpoint_statistics,
    deliveries::list_endpoint_deliveries,
    deliveries::resend_endpoint_delivery,
    deliveries::retry_endpoint_deliveries,
    events::list_events,
    escalation::get_escalation,
    escalation::put_escalation,
    presence::get_presence,
    channels::list_channels,
    channels::create_channel,
    channels::get_channel,
    channels::update_channel,
    channels::delete_channel,
    channels::test_channel,
    notices::get_notices,
    notices::put_notices,
    notices::list_messages,
    requests::list_requests,
    audit::list_audit,
    privacy::search_customer,
    privacy::export_customer,
    privacy::list_erasures,
    privacy::erase_customer,
    privacy::get_erasure,
    privacy::get_privacy_settings,
    privacy::put_privacy_settings,
    keys::list_keys,
    keys::create_key,
    keys::delete_key,
    keys::make_key_primary,
    keys::rotate_key,
    users::list_users,
    users::invite_user,
    users::change_user,
    users::remove_user,
}
