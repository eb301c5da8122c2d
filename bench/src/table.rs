//! Figures with their spread, and the table that they are printed in.

/// What one row found.
pub struct Finding {
    pub row: &'static str,
    pub measured: Series,
    pub baseline: Option<Series>,
    /// Of each pair, or the measured figure itself where there is no baseline.
    pub ratio: Series,
    pub goal: Goal,
    /// What else there is to say, such as who used the processors.
    pub notes: Vec<String>,
}

impl Finding {
    /// What is judged by itself, beside no baseline.
    pub fn alone(row: &'static str, values: Vec<f64>, unit: &'static str, goal: Goal) -> Self {
        let measured = Series::new(values, unit);
        Self {
            row,
            ratio: measured.clone(),
            measured,
            baseline: None,
            goal,
            notes: Vec::new(),
        }
    }
}

#[derive(Clone, Copy)]
pub enum Goal {
    AtMost(f64),
    AtLeast(f64),
    Below(f64, &'static str),
    /// At most so many times the baseline and so much more; the ratio is what is left of the measured one after the first.
    Within {
        times: f64,
        plus: f64,
        unit: &'static str,
    },
}

impl Goal {
    pub fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
            Self::Below(end, _) => value < end,
            Self::Within { plus, .. } => value <= plus,
        }
    }

    pub fn text(self) -> String {
        match self {
            Self::AtMost(most) => format!("≤ {most}"),
            Self::AtLeast(least) => format!("≥ {least}"),
            Self::Below(end, unit) => format!("< {end} {unit}"),
            Self::Within {
                times: 1.0,
                plus,
                unit,
            } => format!("≤ baseline + {plus} {unit}"),
            Self::Within { times, plus, unit } => format!("≤ {times} × baseline + {plus} {unit}"),
        }
    }
}

/// The figures of a row's runs.
#[derive(Clone)]
pub struct Series {
    values: Vec<f64>,
    unit: &'static str,
}

impl Series {
    pub fn new(values: Vec<f64>, unit: &'static str) -> Self {
        Self { values, unit }
    }

    pub fn ratio(measured: &[f64], baseline: &[f64]) -> Self {
        let each = measured.iter().zip(baseline).map(|(m, b)| m / b);
        Self::new(each.collect(), "")
    }

    /// What is left of each when so many times its baseline is taken away.
    pub fn beyond(measured: &[f64], baseline: &[f64], times: f64, unit: &'static str) -> Self {
        let each = measured.iter().zip(baseline).map(|(m, b)| m - times * b);
        Self::new(each.collect(), unit)
    }

    pub fn values(&self) -> &[f64] {
        &self.values
    }

    pub fn unit(&self) -> &'static str {
        self.unit
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }

    pub fn median(&self) -> f64 {
        let sorted = self.sorted();
        let middle = sorted.len() / 2;
        let at = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
        match sorted.len() % 2 {
            0 => f64::midpoint(at(middle.wrapping_sub(1)), at(middle)),
            _ => at(middle),
        }
    }

    pub fn text(&self) -> String {
        let sorted = self.sorted();
        let (first, last) = (sorted.first(), sorted.last());
        let number = |value: f64| match value.abs() {
            v if v >= 1000.0 => format!("{value:.0}"),
            v if v >= 10.0 => format!("{value:.1}"),
            v if v >= 0.1 => format!("{value:.2}"),
            _ => format!("{value:.4}"),
        };
        let (first, last) = (
            first.copied().unwrap_or(f64::NAN),
            last.copied().unwrap_or(f64::NAN),
        );
        format!(
            "{} ({}–{}) {}",
            number(self.median()),
            number(first),
            number(last),
            self.unit
        )
        .trim_end()
        .to_owned()
    }
}

/// Prints the table; says whether every goal is met.
pub fn print(findings: &[Finding], judge: bool) -> bool {
    let mut lines = vec![["row", "measured", "baseline", "ratio", "goal", ""].map(str::to_owned)];
    let mut all_met = true;
    for finding in findings {
        let met = finding.goal.is_met(finding.ratio.median());
        all_met &= met;
        let verdict = match (judge, met) {
            (false, _) => "-",
            (true, true) => "pass",
            (true, false) => "FAIL",
        };
        let has_baseline = finding.baseline.is_some();
        lines.push([
            finding.row.to_owned(),
            finding.measured.text(),
            finding.baseline.as_ref().map_or_else(String::new, Series::text),
            if has_baseline {
                finding.ratio.text()
            } else {
                String::new()
            },
            finding.goal.text(),
            verdict.to_owned(),
        ]);
    }
    let widths: Vec<usize> = (0..6)
        .map(|column| {
            lines
                .iter()
                .filter_map(|line| line.get(column))
                .map(|cell| cell.chars().count())
                .max()
        })
        .map(Option::unwrap_or_default)
        .collect();
    println!();
    for (number, line) in lines.iter().enumerate() {
        let cells = line.iter().zip(&widths);
        let cells: Vec<String> = cells.map(|(cell, width)| format!("{cell:<width$}")).collect();
        println!("| {} |", cells.join(" | "));
        if number == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            println!("| {} |", rule.join(" | "));
        }
    }
    println!("\nMedians, with the least and the greatest in parentheses.");
    for finding in findings {
        for note in &finding.notes {
            println!("{}: {note}", finding.row);
        }
    }
    all_met || !judge
}
