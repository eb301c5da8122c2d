//! HTTP plumbing below the API, the panel and the hooks: shared state, bodies and their limits, request ids, errors, streams,
//! probes, files for spreadsheets.

pub mod body;
pub mod body_budget;
pub mod connection_registry;
pub mod cursor;
pub mod customer_file;
pub mod error;
pub mod event_stream;
mod overload;
pub mod path;
pub mod probes;
pub mod request_id;
pub mod request_log;
pub mod state;
pub mod table_file;
pub mod ticket_page;
