//! The control panel in a real browser, with and without script. One database is enough: `panel/` tests both.

mod board;
mod connect_platform;
mod docs;
mod every_page;
mod keyboard;
mod keys;
mod menus;
mod no_script;
mod orders;
mod page_weight;
mod reports;
mod setup;
mod sign_in;
mod tcp_proxy;
mod webhook;
