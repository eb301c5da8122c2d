//! Counters for every combination of closed sets of labels: counting is one addition, without a lock or a search.

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub type Labels = Vec<(&'static str, String)>;

/// Counters in rows. A row is shown as soon as one of its counters has moved, and then all of it, so that what happens for
/// the first time shows as a step from zero.
#[derive(Clone, Debug)]
pub struct Tally(Arc<Table>);

#[derive(Debug)]
struct Table {
    /// A row that has not moved is left out.
    hides: bool,
    width: usize,
    cells: Vec<(Labels, AtomicU64)>,
}

impl Tally {
    /// Every row with every column: the labels of each are put together.
    pub fn new(rows: &[Labels], columns: &[Labels]) -> Self {
        let cells = rows.iter().flat_map(|row| {
            columns
                .iter()
                .map(|column| ([row.as_slice(), column.as_slice()].concat(), AtomicU64::default()))
        });
        Self(Arc::new(Table {
            hides: true,
            width: columns.len().max(1),
            cells: cells.collect(),
        }))
    }

    /// A single row, shown from the beginning.
    pub fn row(columns: Vec<Labels>) -> Self {
        Self(Arc::new(Table {
            hides: false,
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

    fn shown(&self) -> impl Iterator<Item = &(Labels, AtomicU64)> {
        let has_moved = |(_, count): &(Labels, AtomicU64)| count.load(Ordering::Relaxed) > 0;
        let rows = self.0.cells.chunks(self.0.width);
        rows.filter(move |row| !self.0.hides || row.iter().any(has_moved))
            .flatten()
    }
}

impl EncodeMetric for Tally {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        for (labels, count) in self.shown() {
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
        self.shown().next().is_none()
    }
}

/// One label with each of these values.
pub fn label<S: Into<String>>(name: &'static str, values: impl IntoIterator<Item = S>) -> Vec<Labels> {
    values
        .into_iter()
        .map(|value| vec![(name, value.into())])
        .collect()
}

/// Every platform as a label.
pub fn providers() -> Vec<Labels> {
    let all = garson_platforms::all().iter();
    label("provider", all.map(|platform| platform.provider().to_string()))
}

/// Each of the first with each of the second.
pub fn each_with_each(first: &[Labels], second: &[Labels]) -> Vec<Labels> {
    let with_each = |one: &Labels| {
        let one = one.clone();
        second.iter().map(move |other| [one.as_slice(), other].concat())
    };
    first.iter().flat_map(with_each).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;

    #[test]
    fn a_row_is_shown_whole_once_it_has_moved() {
        let tally = Tally::new(&label("door", ["front", "back"]), &label("way", ["in", "out"]));
        let mut registry = Registry::default();
        registry.register("guests", "Guests", tally.clone());
        let shown = || {
            let mut text = String::new();
            encode(&mut text, &registry).unwrap();
            text
        };
        assert_eq!(shown(), "# EOF\n");
        tally.count(1, 0);
        tally.count(1, 0);
        tally.count(9, 9);
        let expected = "# HELP guests Guests.\n# TYPE guests counter\n\
                        guests_total{door=\"back\",way=\"in\"} 2\nguests_total{door=\"back\",way=\"out\"} 0\n# EOF\n";
        assert_eq!(shown(), expected);
    }

    #[test]
    fn rows_are_numbered_as_they_are_built() {
        let rows = each_with_each(&label("a", ["1", "2"]), &label("b", ["x", "y"]));
        let third = vec![("a", "2".to_owned()), ("b", "x".to_owned())];
        assert_eq!(rows.get(2), Some(&third));
        assert_eq!(rows.len(), 4);
    }
}
