//! Histograms of durations.

use super::labels::Labels;
use garson_store::engine::Durations;
use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Buckets from a millisecond to the deadline of a call, in microseconds.
pub const CALL_BUCKETS: &[u64] = &[
    1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000, 5_000_000,
    10_000_000, 30_000_000,
];
/// Buckets from a millisecond to an hour: an event may wait for its receiver.
pub const DELIVERY_BUCKETS: &[u64] = &[
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    30_000_000,
    60_000_000,
    120_000_000,
    300_000_000,
    600_000_000,
    3_600_000_000,
];

/// A histogram for each label set; empty ones are not exported.
#[derive(Clone, Debug)]
pub struct Timings(Arc<Vec<(Labels, Durations)>>);

impl Timings {
    pub fn new(rows: Vec<Labels>, buckets: &'static [u64]) -> Self {
        let timed = |labels| (labels, Durations::new(buckets));
        Self(Arc::new(rows.into_iter().map(timed).collect()))
    }

    /// A single histogram without labels.
    pub fn unlabelled(buckets: &'static [u64]) -> Self {
        Self::new(vec![Labels::new()], buckets)
    }

    pub fn observe(&self, row: usize, took: Duration) {
        if let Some((_, durations)) = self.0.get(row) {
            durations.observe(took);
        }
    }
}

impl EncodeMetric for Timings {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        for (labels, durations) in self.0.iter() {
            let snapshot = Snapshot::of(durations);
            match labels.as_slice() {
                [] => snapshot.encode_into(&mut encoder)?,
                _ if snapshot.count() == 0 => {}
                _ => snapshot.encode_into(&mut encoder.encode_family(labels)?)?,
            }
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }

    fn is_empty(&self) -> bool {
        let is_hidden = |(labels, durations): &(Labels, Durations)| {
            !labels.is_empty() && Snapshot::of(durations).count() == 0
        };
        self.0.iter().all(is_hidden)
    }
}

/// The values of a histogram at scrape time.
#[derive(Debug)]
pub struct Snapshot {
    buckets: Vec<(f64, u64)>,
    total: f64,
}

impl Snapshot {
    pub fn of(durations: &Durations) -> Self {
        Self {
            buckets: durations.steps(),
            total: durations.total(),
        }
    }

    fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum()
    }

    fn encode_into(&self, encoder: &mut MetricEncoder<'_>) -> Result<(), fmt::Error> {
        encoder.encode_histogram::<NoLabelSet>(self.total, self.count(), &self.buckets, None)
    }
}

impl EncodeMetric for Snapshot {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        self.encode_into(&mut encoder)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}
