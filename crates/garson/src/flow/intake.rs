//! Orders come in. A platform's message takes three steps: identify its sender, understand it, record it in one transaction.
//!
//! Messages that platforms push start at `receive`. Orders from polls (`poll`) and single orders that are fetched (`order_checks`)
//! start at `fetch`, because their integration is known. Retried messages (`inbox_retry`, `early_messages`) have been verified
//! before, and start at `understand`.

mod message;
mod order_lookup;

pub mod receive;

pub mod identify;
mod integration_cache;

mod understand;

mod inbox;
mod record;
mod revise;

pub mod early_messages;
pub mod inbox_retry;

mod fetch;
mod order_checks;
pub mod poll;

pub mod test_orders;
