//! Delivers events to accounts' webhooks.
//!
//! A delivery to an account's default endpoint is its event's row: `pending` until it is `delivered`, `failed` or `skipped`. Deliveries
//! to its other endpoints are rows of `endpoint_deliveries`, written with the event. A receiver is an endpoint of an account; everything
//! below holds for each receiver by itself, and slots are shared out by account first. One node delivers for an account; the
//! node that commits an account's first event becomes its owner. After the commit the engine hands the new events over in memory, and
//! the first attempt starts at once. The dispatcher is one task that never blocks: it holds an endpoint for each receiver, starts
//! attempts within the limits below, and has results written in batches, one job per account at a time. In the healthy case a delivery
//! costs no claim query and two statements.
//!
//! - **Order.** An event whose predecessor of the same order is pending and has failed less than twice is stored as `held` and not
//!   loaded. Settling the predecessor releases it in the same transaction. Both hold the account's row lock, so no release is missed.
//! - **Width.** First attempts and retries have separate queues; retries use at most half of an endpoint's width. A receiver gets 16
//!   attempts at a time; after three failures in a row one at a time with a pause, until an attempt succeeds. An attempt that hangs for
//!   half a second at a receiver that recently succeeded stops counting, up to 16 of them. Of all slots half are for first attempts, a quarter for
//!   retries, a quarter for failing receivers.
//! - **Preemption.** When all places of a receiver are taken and a first attempt waits, the oldest attempt is given up if it has run
//!   four times as long as usual and at least a fifth of the deadline. When slots run out, the account with the most slots gives up its
//!   oldest attempt to one with fewer. A preempted attempt counts as timed out.
//! - **Memory.** At most 256 deliveries of an endpoint are in memory, 16 when it fails; the rest stays in the database behind the
//!   endpoint's cursor. Nothing in memory is the only copy: a query each second finds what was not handed over.
//! - **Time.** Retry pauses are drawn once, with jitter that only adds, and stored. When the clock is set back, deliveries that lie
//!   further ahead than their pause are brought forward.
//! - **Address changes.** A changed URL or key raises `deliver_version` in the same transaction. Attempts at the old address are
//!   cancelled and do not count.
//! - **Results** are written only if the event still has the number of attempts that it had when the attempt began, so a batch that is
//!   written twice counts once.

pub(super) mod attempt;
mod attempt_task;
mod dispatcher;
mod endpoint;
pub mod endpoint_sends;
#[cfg(test)]
mod endpoint_tests;
mod held;
mod in_flight;
mod jobs;
mod message;
mod receiver;
pub mod resend;
pub mod resend_all;
mod response_text;
pub mod signature;
mod slots;
pub mod stats;
mod target;
mod trace;
mod wake_times;

pub use dispatcher::run;
