//! Personal data of customers: found, exported, erased on request, and erased by itself after some time.
//!
//! An erasure is a row with the sealed query and its progress. A worker examines the account's orders in small chunks, each in one
//! transaction with the progress, so that an interrupted erasure continues where it was. Orders that are still open are erased when
//! they have ended: until then whoever prepares and delivers them needs the data.

mod anonymise;
mod erase;
mod export;
mod query;
mod search;
mod settings;
mod worker;

pub use erase::{find, list, start};
pub use export::CustomerExport;
pub use query::read_query;
pub use search::{CustomerOrder, CustomerOrders, search};
pub use settings::{MAX_DAYS, Settings, get_settings, set_settings};
pub use worker::{run, step};
