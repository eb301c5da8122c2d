//! Every route of the API, in one list.

use super::{
    businesses, catalogs, channels, escalation, events, history, hours, integrations, keys, menus, notices,
    orders, packages, payment_matching, payments, presence, prices, printers, products, providers,
    report_summary, reports, restaurants, retries, stores, throttle, tickets, webhook,
};
use crate::http::path::API_PREFIX;
use crate::http::state::HttpState;
use axum::Router;
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The API under its prefix, without authentication.
pub fn router() -> Router<Arc<HttpState>> {
    OpenApiRouter::new()
        .nest(API_PREFIX, routes())
        .split_for_parts()
        .0
}

pub fn routes() -> OpenApiRouter<Arc<HttpState>> {
    OpenApiRouter::new()
        .routes(routes!(orders::list_orders))
        .routes(routes!(orders::get_order))
        .routes(routes!(orders::verify_order))
        .routes(routes!(orders::change_order_status))
        .routes(routes!(orders::ready_order))
        .routes(routes!(orders::retry_order_sync))
        .routes(routes!(orders::cancel_order))
        .routes(routes!(orders::list_reasons))
        .routes(routes!(tickets::get_ticket))
        .routes(routes!(printers::print_order))
        .routes(routes!(printers::list_printers, printers::register_printer))
        .routes(routes!(printers::remove_printer))
        .routes(routes!(printers::report_printer))
        .routes(routes!(reports::mark_reported))
        .routes(routes!(reports::unmark_reported))
        .routes(routes!(reports::list_pending_reports))
        .routes(routes!(payments::group_payments))
        .routes(routes!(report_summary::get_report_summary))
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
        .routes(routes!(stores::get_store, stores::put_store))
        .routes(routes!(throttle::get_throttle, throttle::put_throttle))
        .routes(routes!(hours::get_hours, hours::put_hours))
        .routes(routes!(history::list_history))
        .routes(routes!(packages::list_packages, packages::put_packages))
        .routes(routes!(
            payment_matching::get_payment_matching,
            payment_matching::put_payment_matching
        ))
        .routes(routes!(providers::list_providers))
        .routes(routes!(prices::preview_prices))
        .routes(routes!(prices::push_prices))
        .routes(routes!(prices::get_price_change))
        .routes(routes!(catalogs::list_catalog_pushes, catalogs::push_catalog))
        .routes(routes!(catalogs::get_catalog_push))
        .routes(routes!(catalogs::list_catalog_imports))
        .routes(routes!(menus::list_menus))
        .routes(routes!(menus::read_menus))
        .routes(routes!(menus::list_menu_versions))
        .routes(routes!(menus::list_menu_differences))
        .routes(routes!(products::list_products, products::create_product))
        .routes(routes!(products::get_product))
        .routes(routes!(products::put_product_link, products::delete_product_link))
        .routes(routes!(products::put_product_availability))
        .routes(routes!(products::put_products_availability))
        .routes(routes!(products::put_named_availability))
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
        .routes(routes!(escalation::get_escalation, escalation::put_escalation))
        .routes(routes!(presence::get_presence))
        .routes(routes!(channels::list_channels, channels::create_channel))
        .routes(routes!(
            channels::get_channel,
            channels::update_channel,
            channels::delete_channel
        ))
        .routes(routes!(channels::test_channel))
        .routes(routes!(notices::get_notices, notices::put_notices))
        .routes(routes!(notices::list_messages))
        .routes(routes!(keys::list_keys, keys::create_key))
        .routes(routes!(keys::delete_key))
        .routes(routes!(keys::make_key_primary))
}
