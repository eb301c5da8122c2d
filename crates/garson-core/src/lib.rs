//! The domain: orders, money, statuses, events, and what a platform is.
//!
//! Nothing here uses a network, a database or the system clock (except [`clock::SystemClock`]): everything is a value or a
//! function of values.

pub mod account;
pub mod account_state;
pub mod allergy_words;
pub mod audit;
pub mod business;
pub mod calendar;
pub mod catalog;
pub mod channel;
pub mod clock;
pub mod delivery;
pub mod escalation;
pub mod event;
pub mod explanation;
pub mod field_problem;
pub mod id;
pub mod integration;
pub mod item;
pub mod json;
pub mod key_access;
pub mod menu;
pub mod menu_difference;
pub mod message;
pub mod message_template;
pub mod money;
pub mod network;
pub mod notice;
pub mod opening_hours;
pub mod order;
pub mod payment;
pub mod permission;
pub mod platform;
pub mod presence;
pub mod price_change;
pub mod printer;
pub mod privacy;
pub mod product;
pub mod product_match;
pub mod restaurant;
pub mod restaurant_history;
pub mod retry;
pub mod role;
pub mod sample_order;
pub mod search;
pub mod secret;
pub mod store_control;
pub mod store_status;
mod stored_code;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod time;
pub mod user;
pub mod webhook_endpoint;
