//! What clients and the panel read: board, search, lists, reports, the event feed.

pub mod attention;
pub mod board;
pub mod day_summary;
pub mod event_feed;
pub mod live_board;
pub mod operator;
pub mod order_detail;
pub mod order_lists;
pub mod order_notices;
pub mod order_record;
pub mod order_scope;
pub mod period;
pub mod period_summary;
pub mod report_marks;
pub mod reports;
pub mod search;
pub mod status;
pub mod ticket;

pub use garson_store::lists::events::FeedEvent;
pub use garson_store::lists::feed::{Direction, Page, PageRequest};
pub use garson_store::lists::orders::OrderSummary;
pub use garson_store::tables::attempts::{Attempt, AttemptTiming};
pub use garson_store::tables::orders::Charge;
pub use garson_store::tables::resends::Resend;
