//! Tickets of an order for kitchen, courier and customer.
//!
//! [`build()`] makes one model of a ticket from an order; [`render`] writes it as HTML, plain text or ESC/POS. Nothing here does
//! I/O, and no text of an order reaches a renderer before `clean` has removed its control characters.

pub mod amount;
pub mod build;
mod clean;
pub mod code_page;
pub mod model;
pub mod options;
pub mod render;
mod words;

pub use build::{Source, build};
pub use model::Ticket;
pub use options::{Copy, Kind, Lang, Options, Width};
