//! Messages to an account's people, by e-mail and by gateways for text messages and voice calls.
//!
//! A message is a row that is written with the decision to send it. The worker marks it as being sent, sends it, and records the
//! outcome. An attempt that certainly failed is repeated a few times; one that may have succeeded is not.

mod attempt;
mod gateway;
mod send;
mod sending;
mod slots;
mod test_message;
mod worker;

pub use sending::Sending;
pub use test_message::send_test;
pub use worker::{run, step};
