//! What is published after a commit: to watchers of the account, to the delivery of events, and to other nodes.

mod account_watch;
mod changed_accounts;
mod handoff;
mod node_identity;
mod notify;
mod publisher;

pub use account_watch::{AccountWatch, Watcher, WatcherKind};
pub use changed_accounts::ChangedAccounts;
pub use handoff::{Delivery, Handoff, HandoffMessage};
pub use node_identity::NodeIdentity;
pub use notify::NodeMessage;
pub use publisher::{CommitMessages, Publisher};
