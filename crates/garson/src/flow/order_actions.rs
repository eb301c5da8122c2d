//! Actions on orders: a client or the panel acts, the platform is asked or called, and the outcome is recorded.
//!
//! `act` is the entry. It builds a `request`, which moves the order or writes a question for its platform in one transaction;
//! `ask` puts the question while the client waits, `wait` waits for a call that is already being made. `calls` makes all other
//! calls in the background.

pub mod acknowledge;
pub mod act;
mod ask;
pub mod calls;
pub mod reasons;
mod request;
mod transition;
mod wait;

pub use transition::Transition;
