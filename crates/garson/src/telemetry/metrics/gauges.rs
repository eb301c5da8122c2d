//! Metrics that are collected at scrape time: queues, ages, commits.

use super::timings::Snapshot;
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

/// Everything that is collected at scrape time, apart from the counters of the store itself.
#[derive(Clone, Debug)]
pub struct Gauges {
    /// Row counts; none while storage does not answer.
    pub storage_counts: Option<StorageCounts>,
    pub storage_is_up: bool,
    pub has_joined: bool,
    pub lease_is_valid: bool,
    pub dispatcher: DispatcherGauges,
    /// Accounts with undelivered events, and the age of the oldest such event.
    pub waiting_accounts: usize,
    pub oldest_age: Duration,
    pub polled_integrations: usize,
    /// How long a scheduled backup has been due; none if this node makes none.
    pub backup_overdue: Option<Duration>,
}

/// Counts of rows in storage.
#[derive(Clone, Debug, Default)]
pub struct StorageCounts {
    pub undelivered: i64,
    pub open_calls: i64,
    /// For how long the first open call has been due.
    pub calls_overdue: Duration,
    /// Messages that were kept, by [`InboxState::OPEN`].
    pub kept_messages: [i64; InboxState::OPEN.len()],
    pub nodes: i64,
}

/// What the delivery dispatcher holds in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DispatcherGauges {
    /// Deliveries that wait for their attempt.
    pub queued: usize,
    /// Attempts in flight.
    pub in_flight: usize,
    /// Receivers in memory, and how many of them keep failing.
    pub endpoints: usize,
    pub troubled: usize,
}

pub(super) fn register(registry: &mut Registry, store: &Engine, gauges: &Gauges) {
    register_storage(registry, store, gauges);
    register_node(registry, gauges);
    register_delivery(registry, gauges);
    if let Some(overdue) = gauges.backup_overdue {
        age(
            registry,
            "backup_overdue_seconds",
            "How long a scheduled backup has been due; 0 when none is",
            overdue,
        );
    }
    if let Some(counts) = &gauges.storage_counts {
        register_counts(registry, counts);
    }
}

fn gauge(registry: &mut Registry, name: &str, help: &str, value: usize) {
    let value = i64::try_from(value).unwrap_or(i64::MAX);
    registry.register(name, help, ConstGauge::new(value));
}

fn age(registry: &mut Registry, name: &str, help: &str, age: Duration) {
    registry.register(name, help, ConstGauge::new(age.as_secs_f64()));
}

fn register_storage(registry: &mut Registry, store: &Engine, gauges: &Gauges) {
    let stats = store.stats();
    let mut counter = |name: &str, help: &str, count: &AtomicU64| {
        registry.register(name, help, ConstCounter::new(count.load(Ordering::Relaxed)));
    };
    counter("commits", "Database transactions committed", &stats.commits);
    counter(
        "commit_jobs",
        "Jobs committed in shared transactions",
        &stats.jobs,
    );
    counter("statements", "Statements that jobs have run", &stats.statements);
    counter("failed_jobs", "Jobs that were rolled back", &stats.failed_jobs);
    counter(
        "lost_transactions",
        "Database transactions that failed as a whole",
        &stats.lost_transactions,
    );
    registry.register(
        "commit_seconds",
        "Time that transactions took, from their first job to the commit",
        Snapshot::of(&stats.commit_times),
    );
    let up = usize::from(gauges.storage_is_up);
    gauge(
        registry,
        "storage_up",
        "1 if storage answers and accepts writes",
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
        "Event streams and long polls",
        store.account_watch().watcher_count(),
    );
}

fn register_node(registry: &mut Registry, gauges: &Gauges) {
    let (joined, valid) = (usize::from(gauges.has_joined), usize::from(gauges.lease_is_valid));
    gauge(
        registry,
        "node_joined",
        "1 if this node has joined the nodes of its database",
        joined,
    );
    gauge(
        registry,
        "node_lease_valid",
        "1 if this node may start attempts, because its heartbeats succeed",
        valid,
    );
    gauge(
        registry,
        "polled_integrations",
        "Integrations that this node polls",
        gauges.polled_integrations,
    );
}

fn register_delivery(registry: &mut Registry, gauges: &Gauges) {
    let memory = gauges.dispatcher;
    gauge(
        registry,
        "delivery_queued",
        "Deliveries in memory that wait for their attempt",
        memory.queued,
    );
    gauge(
        registry,
        "delivery_in_flight",
        "Attempts in flight",
        memory.in_flight,
    );
    gauge(
        registry,
        "delivery_receivers",
        "Receivers in memory",
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
        "Accounts with undelivered events",
        gauges.waiting_accounts,
    );
    age(
        registry,
        "undelivered_oldest_age_seconds",
        "Age of the oldest undelivered event that is still retried; 0 when there is none",
        gauges.oldest_age,
    );
}

fn register_counts(registry: &mut Registry, counts: &StorageCounts) {
    let mut count =
        |name: &str, help: &str, value: i64| registry.register(name, help, ConstGauge::new(value));
    count(
        "undelivered",
        "Undelivered events that are still retried, counted up to 10000",
        counts.undelivered,
    );
    count(
        "open_calls",
        "Open calls to platforms, counted up to 10000",
        counts.open_calls,
    );
    count("nodes", "Nodes of this database", counts.nodes);
    age(
        registry,
        "open_calls_overdue_seconds",
        "How long the first open call has been due; 0 when none is",
        counts.calls_overdue,
    );
    registry.register(
        "kept_messages",
        "Platform messages that were kept but not processed, counted up to 10000",
        KeptMessages(counts.kept_messages),
    );
}

/// Messages that were kept, by state.
#[derive(Debug)]
struct KeptMessages([i64; InboxState::OPEN.len()]);

impl EncodeMetric for KeptMessages {
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
