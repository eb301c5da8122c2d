//! Requests to platforms: logged in, within the platform's rate limits, and counted.

mod contact;
mod converse;
mod limits;
mod order_status;
mod send;
mod session;
mod steps;

pub use contact::{Contact, Share};
pub use converse::{converse, converse_if, enlist, read_order};
pub use order_status::status_on_platform;
pub use send::outgoing;
pub use session::{has_session, log_in, session_branch};
pub use steps::{converse_steps, read_menu};
