//! Metrics for Prometheus: counters that the service increments, and gauges that are collected at scrape time.
//!
//! Labels are closed sets without accounts, addresses or ids. Frequent events are counted without a lock.

mod calls;
mod delivery;
mod gauges;
mod intake;
mod labels;
mod refusals;
mod requests;
mod tally;
mod timings;

pub use calls::{CallOutcome, Calls, Topic};
pub use delivery::Deliveries;
pub use gauges::{DispatcherGauges, Gauges, StorageCounts};
pub use intake::{Intake, IntakeSource, MessageOutcome, RequestOutcome, RequestTimer};
pub use refusals::{Refusal, Refusals};
pub use requests::{RequestKind, Requests};

use super::traces::Traces;
use crate::supervisor::Workers;
use garson_store::Engine;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::registry::Registry;
use std::sync::Arc;

#[derive(Debug)]
pub struct Metrics {
    pub requests: Requests,
    pub intake: Intake,
    pub calls: Calls,
    pub delivery: Deliveries,
    pub refusals: Arc<Refusals>,
    registry: Registry,
}

impl Metrics {
    #[must_use]
    pub fn new(workers: &Workers, traces: &Traces) -> Self {
        let mut registry = empty_registry();
        workers.register(&mut registry);
        traces.register(&mut registry);
        Self {
            requests: Requests::new(&mut registry),
            intake: Intake::new(&mut registry),
            calls: Calls::new(&mut registry),
            delivery: Deliveries::new(&mut registry),
            refusals: Arc::new(Refusals::new(&mut registry)),
            registry,
        }
    }

    /// All metrics in the OpenMetrics text format.
    #[must_use]
    pub fn render(&self, store: &Engine, gauges: &Gauges) -> String {
        let mut now = empty_registry();
        gauges::register(&mut now, store, gauges);
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode_registry(&mut text, &self.registry)
            .and_then(|()| encode_registry(&mut text, &now))
            .and_then(|()| encode_eof(&mut text));
        text
    }
}

fn empty_registry() -> Registry {
    Registry::with_prefix("garson")
}
