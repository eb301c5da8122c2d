//! Pages of lists that join several tables, read by cursor and never by offset.

pub mod board;
pub mod candidates;
pub mod events;
pub mod feed;
pub mod order_changes;
pub mod orders;
pub mod search;
