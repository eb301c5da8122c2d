//! Every platform end to end, through the simulator.

mod accept;
mod automation;
mod branch_ownership;
mod cancel;
mod concurrent_actions;
pub mod crash;
mod expected_calls;
mod failure_matrix;
mod getir_move_interval;
mod hook_authentication;
mod inbox;
mod intake;
mod lost_replies;
mod metrics;
mod missing_orders;
mod outages;
mod polling;
mod provider_status;
mod provider_sync;
mod quirks;
mod regressions;
mod revisions;
mod scheduled;
mod sessions;
mod shutdown;
mod unanswered_calls;
