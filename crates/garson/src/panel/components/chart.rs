//! A chart of stacked bars: positions and sizes of its SVG elements.

/// The size of the drawing and its margins.
pub const WIDTH: i64 = 960;
pub const HEIGHT: i64 = 300;
const LEFT: i64 = 96;
const RIGHT: i64 = 12;
const TOP: i64 = 14;
const BOTTOM: i64 = 34;
const MAX_GRID_LINES: i64 = 5;
const MAX_LABELS: usize = 10;

/// The bar of one day.
pub struct Bar {
    pub name: String,
    /// From bottom to top: CSS class, amount, tooltip.
    pub parts: Vec<(&'static str, i64, String)>,
}

/// One part of a bar.
#[derive(Debug, PartialEq, Eq)]
pub struct BarPart {
    pub class: &'static str,
    pub x: i64,
    pub y: i64,
    pub width: i64,
    pub height: i64,
    pub tooltip: String,
}

#[derive(Debug, PartialEq, Eq)]
pub struct GridLine {
    pub y: i64,
    pub label: String,
}

#[derive(Debug, PartialEq, Eq)]
pub struct AxisLabel {
    pub x: i64,
    pub text: String,
}

pub struct Chart {
    pub bar_parts: Vec<BarPart>,
    pub grid_lines: Vec<GridLine>,
    pub labels: Vec<AxisLabel>,
}

impl Chart {
    /// `label` formats the amounts on the axis.
    pub fn draw(bars: Vec<Bar>, label: impl Fn(i64) -> String) -> Self {
        let sum = |bar: &Bar| bar.parts.iter().map(|(_, amount, _)| amount.max(&0)).sum::<i64>();
        let highest = bars.iter().map(sum).max().unwrap_or_default();
        let step = step(highest);
        let top = (1..=MAX_GRID_LINES)
            .map(|n| step.saturating_mul(n))
            .find(|top| highest <= *top)
            .unwrap_or(i64::MAX);
        let y = |amount: i64| {
            let height = i128::from(HEIGHT - TOP - BOTTOM) * i128::from(amount) / i128::from(top);
            HEIGHT - BOTTOM - i64::try_from(height).unwrap_or_default()
        };
        let count = i64::try_from(bars.len()).unwrap_or(i64::MAX).max(1);
        let slot = (WIDTH - LEFT - RIGHT) / count;
        let every = bars.len().div_ceil(MAX_LABELS).max(1);
        let mut chart = Self {
            bar_parts: Vec::new(),
            grid_lines: (0..=top / step)
                .map(|n| GridLine {
                    y: y(n * step),
                    label: label(n * step),
                })
                .collect(),
            labels: Vec::new(),
        };
        let mut left = LEFT;
        for (n, bar) in bars.into_iter().enumerate() {
            let width = (slot * 7 / 10).clamp(2, 72);
            let mut below = 0;
            for (class, amount, tooltip) in bar.parts {
                let above = below + amount.max(0);
                chart.bar_parts.push(BarPart {
                    class,
                    x: left + (slot - width) / 2,
                    y: y(above),
                    width,
                    height: y(below) - y(above),
                    tooltip,
                });
                below = above;
            }
            if n % every == 0 {
                chart.labels.push(AxisLabel {
                    x: left + slot / 2,
                    text: bar.name,
                });
            }
            left += slot;
        }
        chart
    }
}

/// A round distance between grid lines, so that the highest bar needs at most `MAX_GRID_LINES`.
fn step(highest: i64) -> i64 {
    let needed = highest / MAX_GRID_LINES + i64::from(highest % MAX_GRID_LINES != 0);
    let mut ten: i64 = 100;
    loop {
        for times in [1, 2, 5] {
            let step = ten.saturating_mul(times);
            if step >= needed {
                return step;
            }
        }
        ten = ten.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(amounts: &[i64]) -> Bar {
        Bar {
            name: "d".to_owned(),
            parts: amounts
                .iter()
                .map(|amount| ("k", *amount, amount.to_string()))
                .collect(),
        }
    }

    #[test]
    fn heights_are_in_proportion_and_stack_without_gaps() {
        let bars = vec![bar(&[100_000, 150_000]), bar(&[]), bar(&[500_000])];
        let chart = Chart::draw(bars, |a| a.to_string());
        let full = HEIGHT - TOP - BOTTOM;
        let [a, b, c] = &chart.bar_parts[..] else {
            unreachable!()
        };
        assert_eq!(
            (a.height, a.height + b.height, c.height),
            (full / 5, full / 2, full)
        );
        assert_eq!(b.y + b.height, a.y, "they touch");
        assert_eq!((a.y + a.height, c.y), (HEIGHT - BOTTOM, TOP));
        let labels: Vec<&str> = chart.grid_lines.iter().map(|line| line.label.as_str()).collect();
        assert_eq!(labels, ["0", "100000", "200000", "300000", "400000", "500000"]);
        assert_eq!(chart.labels.len(), 3);
    }

    #[test]
    fn everything_stays_inside_the_drawing() {
        for amounts in [[0, 0], [1, 2], [i64::MAX / 4, 7], [-5, 3], [99_999_999, 1]] {
            let bars = (0..62).map(|_| bar(&amounts)).collect();
            let chart = Chart::draw(bars, |a| a.to_string());
            for bar in &chart.bar_parts {
                assert!(bar.x >= LEFT && bar.x + bar.width <= WIDTH, "{bar:?}");
                assert!(
                    bar.y >= TOP && bar.height >= 0 && bar.y + bar.height <= HEIGHT - BOTTOM,
                    "{bar:?}"
                );
            }
            assert!(chart.grid_lines.len() <= 6 && chart.labels.len() <= 10);
        }
        assert!(Chart::draw(Vec::new(), |a| a.to_string()).bar_parts.is_empty());
    }
}
