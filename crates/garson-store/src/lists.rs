//! Pages of lists that join several tables, read by cursor and never by offset.
//!
//! Everything that an account's lists show has a position: a counter in the account's row, raised under its lock, so that positions
//! follow the order of commits on any number of nodes. A page is a range of an index; a filter with several values is several ranges,
//! merged. `created_at` never decreases within an account, so a period is a range of positions too. `orders.changed` is the position of
//! an order's last change, for lists by `updatedSince`.
//!
//! PostgreSQL plans a statement once, whatever the values. Where a value precedes the position in an index, both are compared and
//! ordered together, `(state, position) > (?2, ?3)`, so that there is only one sensible plan. The test suite counts the rows looked at.

pub mod audit;
pub mod board;
pub mod candidates;
pub mod customers;
pub mod endpoint_deliveries;
pub mod events;
pub mod feed;
pub mod history;
pub mod order_changes;
pub mod orders;
pub mod request_log;
pub mod search;
