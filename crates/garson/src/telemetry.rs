//! What operators see of the running service: log lines and metrics.

mod log;
mod metrics;

pub use log::start_log;
pub use metrics::{
    CallOutcome, DispatcherGauges, Gauges, IntakeSource, MessageOutcome, Metrics, Refusal, Refusals,
    RequestKind, RequestOutcome, RequestTimer, StorageCounts, Topic,
};
