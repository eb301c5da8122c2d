//! What clients and the panel read: board, search, lists, reports, the event feed.

pub mod board;
pub mod event_feed;
pub mod order_detail;
pub mod order_lists;
pub mod order_record;
pub mod period;
pub mod reports;
pub mod search;
pub mod status;
