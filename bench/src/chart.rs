//! A chart of one row over many runs, as SVG: the median of each run with its spread, and the goal.

use std::fmt::Write;

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 80.0;
/// Lines of the grid above zero.
const STEPS: u8 = 4;

/// Readable on white and on black.
const STYLE: &str = "text{font:12px sans-serif;fill:#333}.title{font-size:14px;font-weight:bold}.grid{stroke:#8884}\
    .goal{stroke:#c60;stroke-dasharray:6 4}.spread{stroke:#888}.met{fill:#187}.missed{fill:#c22}\
    @media(prefers-color-scheme:dark){text{fill:#ddd}}";

/// What a run found.
pub struct Point {
    least: f64,
    median: f64,
    greatest: f64,
    label: String,
    met: bool,
}

impl Point {
    /// None if there is no figure.
    pub fn of(values: &[f64], label: String, met: bool) -> Option<Self> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (least, greatest) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let upper = *sorted.get(middle)?;
        let median = match sorted.len() % 2 {
            0 => f64::midpoint(*sorted.get(middle.checked_sub(1)?)?, upper),
            _ => upper,
        };
        Some(Self {
            least,
            median,
            greatest,
            label,
            met,
        })
    }
}

/// Draws it. The scale begins at zero, or at the least figure if that is below.
pub fn chart(title: &str, unit: &str, points: &[&Point], limit: f64, goal: &str) -> String {
    let figures = points.iter().flat_map(|point| [point.least, point.greatest]);
    let (low, high) = figures
        .chain(limit.is_finite().then_some(limit))
        .fold((0.0_f64, f64::MIN_POSITIVE), |(low, high), value| {
            (low.min(value), high.max(value))
        });
    let high = high + (high - low) * 0.08;
    let y = |value: f64| TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low);
    let step = (WIDTH - LEFT - RIGHT) / points.len().max(1) as f64;
    let x = |index: usize| LEFT + step * (index as f64 + 0.5);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\"><style>{STYLE}</style>\n\
         <title>{title}</title>\n<text class=\"title\" x=\"10\" y=\"22\">{title}</text>\n",
        title = escaped(title)
    );
    let right = WIDTH - RIGHT;
    let mut line = |text: String| {
        svg.push_str(&text);
        svg.push('\n');
    };
    for number in 0..=STEPS {
        let value = low + (high - low) * f64::from(number) / f64::from(STEPS);
        let at = y(value);
        line(format!(
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>"
        ));
        let text = format!("{} {unit}", figure(value));
        let text = escaped(text.trim_end());
        line(format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
            LEFT - 6.0,
            at + 4.0
        ));
    }
    if limit.is_finite() {
        let at = y(limit);
        line(format!(
            "<line class=\"goal\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>"
        ));
        line(format!(
            "<text x=\"{right}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            TOP - 12.0,
            escaped(goal)
        ));
    }
    for (index, point) in points.iter().enumerate() {
        let at = x(index);
        let class = if point.met { "met" } else { "missed" };
        let (least, median, greatest) = (y(point.least), y(point.median), y(point.greatest));
        let about = format!(
            "{}: {} ({}–{}) {unit}",
            point.label,
            figure(point.median),
            figure(point.least),
            figure(point.greatest)
        );
        line(format!(
            "<line class=\"spread\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{least:.1}\" y2=\"{greatest:.1}\"/>"
        ));
        line(format!(
            "<circle class=\"{class}\" cx=\"{at:.1}\" cy=\"{median:.1}\" r=\"4\"><title>{}</title></circle>",
            escaped(about.trim_end())
        ));
    }
    // Labels of the first and the last run: those between would overlap.
    let ends = [
        points.first().map(|it| (0, it)),
        points.last().map(|it| (points.len() - 1, it)),
    ];
    for (index, point) in ends.into_iter().flatten().take(points.len()) {
        let anchor = if index == 0 { "start" } else { "end" };
        let at = if index == 0 { LEFT } else { right };
        line(format!(
            "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            HEIGHT - BOTTOM + 24.0,
            escaped(&point.label)
        ));
    }
    svg.push_str("</svg>\n");
    svg
}

fn figure(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 1.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // Control characters are not allowed in XML.
            c if c.is_control() => safe.push(' '),
            c => {
                // Writing to a string cannot fail.
                let _ = safe.write_char(c);
            }
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All coordinates of elements with this name.
    fn coordinates(svg: &str, name: &str) -> Vec<f64> {
        let attribute = format!(" {name}=\"");
        let parts = svg.split(&attribute).skip(1);
        parts
            .map(|rest| rest.split('"').next().unwrap().parse().unwrap())
            .collect()
    }

    #[test]
    fn everything_is_within_the_picture() {
        for values in [
            vec![0.0],
            vec![1e9, 2e9],
            vec![-3.0, 4.0],
            vec![1e-9, f64::NAN],
            vec![5.0; 7],
        ] {
            let points: Vec<Point> = (0..40)
                .map(|n| Point::of(&values, format!("run {n}"), n % 2 == 0).unwrap())
                .collect();
            let points: Vec<&Point> = points.iter().collect();
            for limit in [0.0, 3.0, f64::INFINITY] {
                let svg = chart("row", "ms", &points, limit, "goal");
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
                let across = ["x", "x1", "x2", "cx"]
                    .map(|name| coordinates(&svg, name))
                    .concat();
                let down = ["y", "y1", "y2", "cy"]
                    .map(|name| coordinates(&svg, name))
                    .concat();
                assert!(across.iter().all(|x| (0.0..=WIDTH).contains(x)), "{svg}");
                assert!(down.iter().all(|y| (0.0..=HEIGHT).contains(y)), "{svg}");
            }
        }
        assert!(Point::of(&[f64::NAN], String::new(), true).is_none());
    }
}
