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

/// A histogram for each label set, in groups. A group is exported as a whole once one of its histograms is not empty, so that the first
/// value of another one shows as a step from zero.
#[derive(Clone, Debug)]
pub struct Timings(Arc<Groups>);

#[derive(Debug)]
struct Groups {
    /// How many consecutive histograms are a group.
    size: usize,
    rows: Vec<(Labels, Durations)>,
}

impl Timings {
    pub fn new(rows: Vec<Labels>, buckets: &'static [u64]) -> Self {
        Self::in_groups(1, rows, buckets)
    }

    /// Groups of `size` rows.
    pub fn in_groups(size: usize, rows: Vec<Labels>, buckets: &'static [u64]) -> Self {
        let timed = |labels| (labels, Durations::new(buckets));
        Self(Arc::new(Groups {
            size: size.max(1),
            rows: rows.into_iter().map(timed).collect(),
        }))
    }

    /// A single histogram without labels.
    pub fn unlabelled(buckets: &'static [u64]) -> Self {
        Self::new(vec![Labels::new()], buckets)
    }

    pub fn observe(&self, row: usize, took: Duration) {
        if let Some((_, durations)) = self.0.rows.get(row) {
            durations.observe(took);
        }
    }
}

impl Groups {
    fn exported(&self) -> impl Iterator<Item = &(Labels, Durations)> {
        // A histogram without labels is exported from the start.
        let is_shown = |(labels, durations): &(Labels, Durations)| {
            labels.is_empty() || Snapshot::of(durations).count() > 0
        };
        let groups = self.rows.chunks(self.size);
        groups.filter(move |group| group.iter().any(is_shown)).flatten()
    }
}

impl EncodeMetric for Timings {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        for (labels, durations) in self.0.exported() {
            let snapshot = Snapshot::of(durations);
            if labels.is_empty() {
                snapshot.encode_into(&mut encoder)?;
            } else {
                snapshot.encode_into(&mut encoder.encode_family(labels)?)?;
            }
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }

    fn is_empty(&self) -> bool {
        self.0.exported().next().is_none()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::metrics::labels::label;
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;

    #[test]
    fn group_is_exported_as_a_whole_once_it_has_a_value() {
        let timings = Timings::in_groups(2, label("result", ["a1", "a2", "b1", "b2"]), &[50_000]);
        let mut registry = Registry::default();
        registry.register("took", "Took", timings.clone());
        let exported = || {
            let mut text = String::new();
            encode(&mut text, &registry).unwrap();
            text
        };
        assert_eq!(exported(), "# EOF\n");
        timings.observe(3, Duration::from_millis(60));
        timings.observe(9, Duration::from_millis(60));
        let text = exported();
        for line in [
            "took_count{result=\"b1\"} 0\n",
            "took_count{result=\"b2\"} 1\n",
            "took_bucket{le=\"0.05\",result=\"b2\"} 0\n",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
        assert!(!text.contains("a1") && !text.contains("a2"), "{text}");
    }
}
