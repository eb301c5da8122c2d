//! What operators see of the running service: log lines, metrics and traces.

mod log;
mod metrics;
mod traces;

pub use log::{start_log, start_log_in};
pub use metrics::{
    CallOutcome, DispatcherGauges, Gauges, IntakeSource, MessageOutcome, Metrics, Refusal, Refusals,
    RequestKind, RequestOutcome, RequestTimer, StorageCounts, Topic,
};
pub use traces::{Link, Span, SpanId, SpanKind, Stopwatch, Trace, Traces, trace_header};
