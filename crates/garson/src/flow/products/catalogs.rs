//! Sends whole menus to platforms, if the operator has switched it on.
//!
//! A push is a row that is written before anything is sent. The platform answers with the id of its import and reports the result later
//! to a callback URL with a secret token. A request whose answer was lost is not repeated: a report shows the result. After the import,
//! the platform's items are linked to the products that they were made from.

mod create;
mod imports;
mod link;
mod read;
mod record;
mod report;
mod send;
mod target;
mod translate;
mod worker;

pub use create::create;
pub use imports::imports;
pub use read::{CatalogPage, get, list};
pub use record::shown_message;
pub use report::{Reception, ReportAddress, report, report_address};
pub use target::targets;
pub use worker::run;
