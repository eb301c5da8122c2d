//! Events go out: each account's webhook gets every event, in order within an order, at least once.
//!
//! The cast: a *delivery* is an event that is not delivered yet. The *dispatcher* is one task that knows every receiver
//! for which this node delivers, each an *endpoint* with its own lanes and width; it decides what is begun when. An
//! *attempt* is one request. *Settling* writes down what came of attempts, many at a time.
//!
//! The story: a commit hands its deliveries over in memory, and the first attempt is made at once. Its result is written
//! with others of the account in one job, which also lets go what waited for it in its order. One that failed is read again
//! when it is due. What finds no room in memory stays in the database until there is some. After a crash, or when a node is
//! gone, looking finds what is left: nothing in memory is the only copy of anything.

mod alarm;
pub(super) mod attempt;
mod dispatcher;
mod endpoint;
#[cfg(test)]
mod endpoint_tests;
mod figures;
mod flight;
mod flights;
mod jobs;
mod look;
pub mod resend;
pub mod resend_all;
mod slots;

pub use dispatcher::run;
pub use figures::{Figures, Memory};
