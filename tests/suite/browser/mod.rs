//! The control panel in a real browser, with and without script. One database is enough: `panel/` tests both.

mod actions;
mod alarm;
mod board;
mod board_notices;
mod board_view;
mod connect_platform;
mod docs;
mod every_page;
mod installed_app;
mod keyboard;
mod keys;
mod kitchen;
mod looks;
mod menus;
mod no_script;
mod orders;
mod page_weight;
mod printing;
mod products;
mod reports;
mod setup;
mod sign_in;
mod stores;
mod tcp_proxy;
mod users;
mod webhook;
