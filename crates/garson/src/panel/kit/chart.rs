//! A chart of stacked bars, drawn in whole units: its parts as the page writes them into an SVG.

/// The drawing: so wide and high, and where the bars stand in it.
pub const WIDTH: i64 = 960;
pub const HEIGHT: i64 = 300;
const LEFT: i64 = 96;
const RIGHT: i64 = 12;
const TOP: i64 = 14;
const BOTTOM: i64 = 34;
/// The most lines across, and names below.
const MOST_LINES: i64 = 5;
const MOST_NAMES: usize = 10;

/// What is drawn of one day, in the order of the stack.
pub struct Column {
    pub name: String,
    /// A class for the colour, how much it is, and what is said of it.
    pub parts: Vec<(&'static str, i64, String)>,
}

/// A part of a bar.
#[derive(Debug, PartialEq, Eq)]
pub struct Bar {
    pub class: &'static str,
    pub x: i64,
    pub y: i64,
    pub width: i64,
    pub height: i64,
    pub says: String,
}

/// A line across, with how much that is.
#[derive(Debug, PartialEq, Eq)]
pub struct Line {
    pub y: i64,
    pub label: String,
}

/// A name below.
#[derive(Debug, PartialEq, Eq)]
pub struct Name {
    pub x: i64,
    pub text: String,
}

pub struct Chart {
    pub bars: Vec<Bar>,
    pub lines: Vec<Line>,
    pub names: Vec<Name>,
}

impl Chart {
    /// Draws columns; amounts along the side are written by `label`.
    pub fn draw(columns: Vec<Column>, label: impl Fn(i64) -> String) -> Self {
        let sum = |column: &Column| {
            column
                .parts
                .iter()
                .map(|(_, amount, _)| amount.max(&0))
                .sum::<i64>()
        };
        let highest = columns.iter().map(sum).max().unwrap_or_default();
        let step = step(highest);
        let top = (1..=MOST_LINES)
            .map(|n| step.saturating_mul(n))
            .find(|top| highest <= *top)
            .unwrap_or(i64::MAX);
        let y = |amount: i64| {
            let height = i128::from(HEIGHT - TOP - BOTTOM) * i128::from(amount) / i128::from(top);
            HEIGHT - BOTTOM - i64::try_from(height).unwrap_or_default()
        };
        let count = i64::try_from(columns.len()).unwrap_or(i64::MAX).max(1);
        let slot = (WIDTH - LEFT - RIGHT) / count;
        let every = columns.len().div_ceil(MOST_NAMES).max(1);
        let mut chart = Self {
            bars: Vec::new(),
            lines: (0..=top / step)
                .map(|n| Line {
                    y: y(n * step),
                    label: label(n * step),
                })
                .collect(),
            names: Vec::new(),
        };
        let mut left = LEFT;
        for (n, column) in columns.into_iter().enumerate() {
            let width = (slot * 7 / 10).clamp(2, 72);
            let mut below = 0;
            for (class, amount, says) in column.parts {
                let above = below + amount.max(0);
                chart.bars.push(Bar {
                    class,
                    x: left + (slot - width) / 2,
                    y: y(above),
                    width,
                    height: y(below) - y(above),
                    says,
                });
                below = above;
            }
            if n % every == 0 {
                chart.names.push(Name {
                    x: left + slot / 2,
                    text: column.name,
                });
            }
            left += slot;
        }
        chart
    }
}

/// A round distance between lines, so that the highest bar needs at most five of them.
fn step(highest: i64) -> i64 {
    let needed = highest / MOST_LINES + i64::from(highest % MOST_LINES != 0);
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

    fn column(amounts: &[i64]) -> Column {
        Column {
            name: "d".to_owned(),
            parts: amounts
                .iter()
                .map(|amount| ("k", *amount, amount.to_string()))
                .collect(),
        }
    }

    #[test]
    fn heights_are_in_proportion_and_stack_without_gaps() {
        let columns = vec![column(&[100_000, 150_000]), column(&[]), column(&[500_000])];
        let chart = Chart::draw(columns, |a| a.to_string());
        let full = HEIGHT - TOP - BOTTOM;
        let [a, b, c] = &chart.bars[..] else {
            unreachable!()
        };
        assert_eq!(
            (a.height, a.height + b.height, c.height),
            (full / 5, full / 2, full)
        );
        assert_eq!(b.y + b.height, a.y, "they touch");
        assert_eq!((a.y + a.height, c.y), (HEIGHT - BOTTOM, TOP));
        let labels: Vec<&str> = chart.lines.iter().map(|line| line.label.as_str()).collect();
        assert_eq!(labels, ["0", "100000", "200000", "300000", "400000", "500000"]);
        assert_eq!(chart.names.len(), 3);
    }

    #[test]
    fn whatever_the_amounts_everything_stays_inside() {
        for amounts in [[0, 0], [1, 2], [i64::MAX / 4, 7], [-5, 3], [99_999_999, 1]] {
            let columns = (0..62).map(|_| column(&amounts)).collect();
            let chart = Chart::draw(columns, |a| a.to_string());
            for bar in &chart.bars {
                assert!(bar.x >= LEFT && bar.x + bar.width <= WIDTH, "{bar:?}");
                assert!(
                    bar.y >= TOP && bar.height >= 0 && bar.y + bar.height <= HEIGHT - BOTTOM,
                    "{bar:?}"
                );
            }
            assert!(chart.lines.len() <= 6 && chart.names.len() <= 10);
        }
        assert!(Chart::draw(Vec::new(), |a| a.to_string()).bars.is_empty());
    }
}
