//! Escalation: takes the steps that a restaurant has planned for orders that are not accepted in time.
//!
//! Steps are rows, written with the order. A step is removed in the transaction that takes it, under the lock of its order: no
//! restart and no other node can repeat it, and an order that was accepted just in time is left alone. Only a cancellation asks
//! its platform first, for the reasons that it accepts; until the answer is there, the step stays.

mod cancel;
mod take;
mod worker;

pub use worker::{run, step};
