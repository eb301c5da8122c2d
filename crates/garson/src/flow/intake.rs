//! Orders come in: identify the integration, understand the message, record it; polls and fetches enter here too.

pub mod early_messages;
pub mod fetch;
pub mod inbox_retry;
pub mod integration_cache;
pub mod missing_orders;
pub mod order_checks;
pub mod poll;
pub mod receive;
pub mod revise;
pub mod take;
pub mod test_orders;
