//! Events go out: each account's webhook gets every event, in order within an order, at least once.
//!
//! A *delivery* is an event that is not delivered yet. The *dispatcher* is one task that knows every receiver for which this
//! node delivers, each an *endpoint* with its own queues and width; it decides which attempt starts when. An *attempt* is one
//! request. *Settling* stores the results of attempts, many at a time.
//!
//! A commit hands its deliveries over in memory, and the first attempt is made at once. Its result is stored with others of the
//! account in one job, which also releases deliveries that waited for it in their order. A failed delivery is read again when
//! it is due. Deliveries that find no room in memory stay in the database until there is some. After a crash, or when a node is
//! dead, a scan finds the rest: nothing in memory is the only copy.

pub(super) mod attempt;
mod attempt_task;
mod dispatcher;
mod endpoint;
#[cfg(test)]
mod endpoint_tests;
mod in_flight;
mod jobs;
mod message;
pub mod resend;
pub mod resend_all;
mod slots;
mod wake_times;

pub use dispatcher::run;
