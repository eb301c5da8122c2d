//! The tables: one file for each, with the statements that read and write it.

pub mod accounts;
pub mod attempts;
pub mod branches;
pub mod businesses;
pub mod calls;
pub mod deliveries;
pub mod events;
pub mod idempotency;
pub mod inbox;
pub mod integrations;
pub(crate) mod json;
pub mod keys;
pub mod nodes;
pub mod order_flags;
pub mod order_line;
pub mod order_notices;
pub mod orders;
pub mod packages;
pub mod printers;
pub mod resends;
pub mod restaurants;
pub mod revisions;
pub(crate) mod row;
pub mod schema;
pub mod sessions;
pub mod timeline;
