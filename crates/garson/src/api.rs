//! `/web-api/v1`: thin handlers and views over the application layer, and the OpenAPI document that describes them.

mod auth;
mod businesses;
mod catalogs;
mod channels;
mod envelope;
mod escalation;
mod events;
mod fields;
mod history;
mod hours;
mod idempotency;
mod integrations;
mod json_body;
mod keys;
mod menus;
mod notices;
mod order_items;
mod order_json;
mod order_view;
mod orders;
mod packages;
mod paging;
mod payment_matching;
mod payments;
mod presence;
mod prices;
mod printers;
mod products;
mod provider_field;
mod providers;
mod report_summary;
mod reports;
mod restaurants;
mod retries;
mod routes;
mod stores;
mod stream;
mod throttle;
mod tickets;
mod webhook;

pub mod openapi;

pub use auth::authenticate;
pub use retries::retry_json;
pub use routes::router;
