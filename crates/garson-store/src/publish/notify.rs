//! LISTEN/NOTIFY between nodes: after a commit, the other nodes learn which accounts have changed.
//!
//! A notification is a hint: its receiver reads the database, and what is lost is found by polling a second later. So it is sent
//! outside of every transaction, on a connection of its own, and what is queued while one is being sent becomes the next.

mod listener;
mod message;
mod notifier;
mod worker;

pub use listener::Listener;
pub use message::NodeMessage;
pub use notifier::{Notifier, Outbox, channel};
pub use worker::NotifyWorker;
