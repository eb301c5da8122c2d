//! Counters for every combination of closed label sets: counting is one addition, without a lock or a lookup.

use super::labels::Labels;
use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters in rows. A row is exported as a whole once one of its counters is above zero, so that the first event of another
/// counter shows as a step from zero.
#[derive(Clone, Debug)]
pub struct Tally(Arc<Table>);

#[derive(Debug)]
struct Table {
    /// Rows of zeros are left out.
    hides_zero_rows: bool,
    width: usize,
    cells: Vec<(Labels, AtomicU64)>,
}

impl Tally {
    /// A counter for each row and column, with the labels of both.
    pub fn new(rows: &[Labels], columns: &[Labels]) -> Self {
        let cells = rows.iter().flat_map(|row| {
            columns
                .iter()
                .map(|column| ([row.as_slice(), column.as_slice()].concat(), AtomicU64::default()))
        });
        Self(Arc::new(Table {
            hides_zero_rows: true,
            width: columns.len().max(1),
            cells: cells.collect(),
        }))
    }

    /// A single row, exported from the start.
    pub fn row(columns: Vec<Labels>) -> Self {
        Self(Arc::new(Table {
            hides_zero_rows: false,
            width: columns.len().max(1),
            cells: columns
                .into_iter()
                .map(|column| (column, AtomicU64::default()))
                .collect(),
        }))
    }

    pub fn count(&self, row: usize, column: usize) {
        if let Some((_, count)) = self.0.cells.get(row * self.0.width + column) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn exported(&self) -> impl Iterator<Item = &(Labels, AtomicU64)> {
        let is_above_zero = |(_, count): &(Labels, AtomicU64)| count.load(Ordering::Relaxed) > 0;
        let rows = self.0.cells.chunks(self.0.width);
        rows.filter(move |row| !self.0.hides_zero_rows || row.iter().any(is_above_zero))
            .flatten()
    }
}

impl EncodeMetric for Tally {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        for (labels, count) in self.exported() {
            let count = count.load(Ordering::Relaxed);
            encoder
                .encode_family(labels)?
                .encode_counter::<NoLabelSet, u64, u64>(&count, None)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Counter
    }

    fn is_empty(&self) -> bool {
        self.exported().next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::metrics::labels::label;
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;

    #[test]
    fn row_is_exported_as_a_whole_once_it_is_above_zero() {
        let tally = Tally::new(
            &label("method", ["get", "put"]),
            &label("result", ["ok", "failed"]),
        );
        let mut registry = Registry::default();
        registry.register("calls", "Calls", tally.clone());
        let exported = || {
            let mut text = String::new();
            encode(&mut text, &registry).unwrap();
            text
        };
        assert_eq!(exported(), "# EOF\n");
        tally.count(1, 0);
        tally.count(1, 0);
        tally.count(9, 9);
        let expected = "# HELP calls Calls.\n# TYPE calls counter\n\
                        calls_total{method=\"put\",result=\"ok\"} 2\ncalls_total{method=\"put\",result=\"failed\"} 0\n# EOF\n";
        assert_eq!(exported(), expected);
    }
}
