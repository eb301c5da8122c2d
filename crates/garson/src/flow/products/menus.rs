//! Reads menus from platforms daily and on request, stores them as versions, and matches their items to the restaurant's products.
//!
//! One node at a time works on a restaurant. If a platform's menu cannot be read, products are collected from its orders.

mod from_orders;
mod pack;
mod read;
mod read_back;
mod reconcile;
mod request;
mod schedule;
mod worker;

pub use pack::{PackError, pack, unpack, unpack_body};
pub use reconcile::new_product;
pub use request::{MenuState, VersionSummary, request_read, states, versions};
pub use worker::run;
