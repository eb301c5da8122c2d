//! What operators see of the running service: log lines and numbers.

mod log;
mod metrics;

pub use log::start_log;
pub use metrics::{
    CallOutcome, IntakeSource, MessageOutcome, Metrics, Refusal, Refusals, RequestKind, Standing, Topic,
};
