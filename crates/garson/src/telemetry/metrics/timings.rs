//! How long things took, as histograms.

use super::tally::Labels;
use garson_store::engine::Durations;
use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// From a millisecond to the deadline of a call, in microseconds.
pub const OF_CALLS: &[u64] = &[
    1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000, 5_000_000,
    10_000_000, 30_000_000,
];
/// From a millisecond to an hour: an event may wait for its receiver.
pub const OF_DELIVERIES: &[u64] = &[
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

/// A histogram for each set of labels; one that has counted nothing is not shown.
#[derive(Clone, Debug)]
pub struct Timings(Arc<Vec<(Labels, Durations)>>);

impl Timings {
    pub fn new(rows: Vec<Labels>, steps: &'static [u64]) -> Self {
        let timed = |labels| (labels, Durations::new(steps));
        Self(Arc::new(rows.into_iter().map(timed).collect()))
    }

    /// One histogram without labels.
    pub fn one(steps: &'static [u64]) -> Self {
        Self::new(vec![Labels::new()], steps)
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
            let seen = Seen::of(durations);
            match labels.as_slice() {
                [] => seen.encode_into(&mut encoder)?,
                _ if seen.count() == 0 => {}
                _ => seen.encode_into(&mut encoder.encode_family(labels)?)?,
            }
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }

    fn is_empty(&self) -> bool {
        let is_hidden = |(labels, durations): &(Labels, Durations)| {
            !labels.is_empty() && Seen::of(durations).count() == 0
        };
        self.0.iter().all(is_hidden)
    }
}

/// A histogram as it stood at one moment.
#[derive(Debug)]
pub struct Seen {
    steps: Vec<(f64, u64)>,
    total: f64,
}

impl Seen {
    pub fn of(durations: &Durations) -> Self {
        Self {
            steps: durations.steps(),
            total: durations.total(),
        }
    }

    fn count(&self) -> u64 {
        self.steps.iter().map(|(_, count)| count).sum()
    }

    fn encode_into(&self, encoder: &mut MetricEncoder<'_>) -> Result<(), fmt::Error> {
        encoder.encode_histogram::<NoLabelSet>(self.total, self.count(), &self.steps, None)
    }
}

impl EncodeMetric for Seen {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        self.encode_into(&mut encoder)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}
