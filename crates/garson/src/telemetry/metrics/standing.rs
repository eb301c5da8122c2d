//! How the service stands at the moment that somebody looks: queues, ages, commits.

use super::timings::Seen;
use crate::flow::deliver::Memory;
use crate::flow::upkeep::health::Figures;
use garson_store::Engine;
use garson_store::tables::inbox::InboxState;
use prometheus_client::encoding::{EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What is not in storage's own counts.
#[derive(Clone, Debug)]
pub struct Standing {
    /// What storage said; nothing while it does not answer.
    pub figures: Option<Figures>,
    pub storage_is_up: bool,
    pub has_joined: bool,
    pub lease_is_valid: bool,
    pub delivering: Memory,
    /// Accounts with something that is not delivered, and how old the oldest of it is.
    pub waiting_accounts: usize,
    pub oldest_age: Duration,
    pub polled_integrations: usize,
}

pub(super) fn register(registry: &mut Registry, store: &Engine, standing: &Standing) {
    of_storage(registry, store, standing);
    of_node(registry, standing);
    of_delivering(registry, standing);
    if let Some(figures) = &standing.figures {
        of_rows(registry, figures);
    }
}

fn gauge(registry: &mut Registry, name: &str, help: &str, value: usize) {
    let value = i64::try_from(value).unwrap_or(i64::MAX);
    registry.register(name, help, ConstGauge::new(value));
}

fn age(registry: &mut Registry, name: &str, help: &str, age: Duration) {
    registry.register(name, help, ConstGauge::new(age.as_secs_f64()));
}

fn of_storage(registry: &mut Registry, store: &Engine, standing: &Standing) {
    let stats = store.stats();
    let mut counter = |name: &str, help: &str, count: &AtomicU64| {
        registry.register(name, help, ConstCounter::new(count.load(Ordering::Relaxed)));
    };
    counter("commits", "Database transactions committed", &stats.commits);
    counter("commit_jobs", "Jobs that shared transactions", &stats.jobs);
    counter("statements", "Statements that jobs have run", &stats.statements);
    counter("failed_jobs", "Jobs that were undone", &stats.failed_jobs);
    counter(
        "lost_transactions",
        "Database transactions that failed as a whole",
        &stats.lost_transactions,
    );
    registry.register(
        "commit_seconds",
        "Time that transactions took, from their first job to the commit",
        Seen::of(&stats.commit_times),
    );
    let up = usize::from(standing.storage_is_up);
    gauge(
        registry,
        "storage_up",
        "Does storage answer, and take what is written",
        up,
    );
    gauge(
        registry,
        "waiting_jobs",
        "Jobs that wait for a writer",
        store.waiting(),
    );
    gauge(
        registry,
        "waiting_reads",
        "Jobs that wait for a reader",
        store.waiting_reads(),
    );
    gauge(
        registry,
        "event_streams",
        "Streams of events, and requests that wait for some",
        store.account_watch().watcher_count(),
    );
}

fn of_node(registry: &mut Registry, standing: &Standing) {
    let (joined, valid) = (
        usize::from(standing.has_joined),
        usize::from(standing.lease_is_valid),
    );
    gauge(
        registry,
        "node_joined",
        "Is this node among those of its database",
        joined,
    );
    gauge(
        registry,
        "node_lease_valid",
        "May this node begin attempts: it has lately shown that it lives",
        valid,
    );
    gauge(
        registry,
        "polled_integrations",
        "Integrations whose platform this node asks for orders",
        standing.polled_integrations,
    );
}

fn of_delivering(registry: &mut Registry, standing: &Standing) {
    let memory = standing.delivering;
    gauge(
        registry,
        "delivery_queued",
        "Deliveries in memory that wait for their attempt",
        memory.queued,
    );
    gauge(
        registry,
        "delivery_in_flight",
        "Attempts under way",
        memory.flying,
    );
    gauge(
        registry,
        "delivery_receivers",
        "Receivers that are in memory",
        memory.endpoints,
    );
    gauge(
        registry,
        "delivery_receivers_troubled",
        "Receivers that keep failing",
        memory.troubled,
    );
    gauge(
        registry,
        "undelivered_accounts",
        "Accounts with events that are not delivered",
        standing.waiting_accounts,
    );
    age(
        registry,
        "undelivered_oldest_age_seconds",
        "Age of the oldest event that is not delivered and still tried; 0 when there is none",
        standing.oldest_age,
    );
}

fn of_rows(registry: &mut Registry, figures: &Figures) {
    let mut count =
        |name: &str, help: &str, value: i64| registry.register(name, help, ConstGauge::new(value));
    count(
        "undelivered",
        "Events that are not delivered and still tried, counted up to 10000",
        figures.undelivered,
    );
    count(
        "open_calls",
        "Calls to platforms that are not done, counted up to 10000",
        figures.open_calls,
    );
    count("nodes", "Nodes of this database", figures.nodes);
    age(
        registry,
        "open_calls_overdue_seconds",
        "For how long the first of them has been due; 0 when none is",
        figures.calls_overdue,
    );
    registry.register(
        "kept_messages",
        "Messages of platforms that were kept but not taken, counted up to 10000",
        Kept(figures.kept_messages),
    );
}

/// Messages by why they were not taken.
#[derive(Debug)]
struct Kept([i64; InboxState::OPEN.len()]);

impl EncodeMetric for Kept {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        for (state, count) in InboxState::OPEN.iter().zip(self.0) {
            encoder
                .encode_family(&[("state", state.as_str())])?
                .encode_gauge(&count)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Gauge
    }
}
