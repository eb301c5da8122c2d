//! The control panel without script, and the stream that its script follows.

mod attention;
mod board;
mod board_stream;
mod board_view;
mod businesses;
mod connect_platform;
mod csrf;
pub mod every_page;
mod integrations;
mod keys;
mod menu;
mod order_notices;
mod order_page;
mod order_search;
mod packages;
mod payment_matching;
mod payments;
mod platform_status;
mod reports;
mod restaurants;
mod sessions;
mod sign_in;
mod status;
mod today;
mod webhook;
