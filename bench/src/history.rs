//! What earlier runs found: a line of JSON for each run, and a chart of each row over all of them.

use crate::chart::{Point, chart};
use crate::error::Fallible;
use crate::table::{Finding, Goal, Series};
use garson_core::clock::{Clock, SystemClock};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const FILE: &str = "history.jsonl";
/// A chart shows so many of the last runs.
const SHOWN: usize = 40;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Run {
    at: String,
    commit: String,
    machine: String,
    quick: bool,
    findings: Vec<Stored>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Stored {
    row: String,
    measured: Vec<f64>,
    unit: String,
    baseline: Vec<f64>,
    /// What is judged: the ratio of each pair, or the measured figure where there is no baseline.
    judged: Vec<f64>,
    judged_unit: String,
    goal: String,
    /// The figure that the goal names.
    limit: f64,
    met: bool,
}

/// Adds a run to the history in a folder, and draws the charts again.
pub fn add(folder: &Path, findings: &[Finding], quick: bool) -> Fallible<()> {
    fs::create_dir_all(folder)?;
    let run = Run {
        at: SystemClock.now().to_string(),
        commit: commit(),
        machine: machine(),
        quick,
        findings: findings.iter().map(stored).collect(),
    };
    let mut line = serde_json::to_string(&run)?;
    line.push('\n');
    let mut file = File::options()
        .create(true)
        .append(true)
        .open(folder.join(FILE))?;
    file.write_all(line.as_bytes())?;
    let charts = draw(folder)?;
    println!("\nHistory and {charts} charts: {}", folder.display());
    Ok(())
}

fn stored(finding: &Finding) -> Stored {
    // JSON has no other numbers.
    let finite = |series: &Series| {
        series
            .values()
            .iter()
            .copied()
            .filter(|it| it.is_finite())
            .collect::<Vec<_>>()
    };
    Stored {
        row: finding.row.to_owned(),
        measured: finite(&finding.measured),
        unit: finding.measured.unit().to_owned(),
        baseline: finding.baseline.as_ref().map(finite).unwrap_or_default(),
        judged: finite(&finding.ratio),
        judged_unit: finding.ratio.unit().to_owned(),
        goal: finding.goal.text(),
        limit: limit(finding.goal),
        met: finding.goal.is_met(finding.ratio.median()),
    }
}

fn limit(goal: Goal) -> f64 {
    match goal {
        Goal::AtMost(limit) | Goal::AtLeast(limit) | Goal::Below(limit, _) => limit,
        Goal::Within { plus, .. } => plus,
    }
}

/// Draws a chart of each row; returns how many.
fn draw(folder: &Path) -> Fallible<usize> {
    let mut rows: BTreeMap<String, Vec<(Point, Stored)>> = BTreeMap::new();
    // Quick runs are too short to compare.
    for run in read(&folder.join(FILE))?.into_iter().filter(|run| !run.quick) {
        for finding in run.findings {
            let Some(point) = Point::of(
                &finding.judged,
                format!("{} {}", day(&run.at), run.commit),
                finding.met,
            ) else {
                continue;
            };
            rows.entry(finding.row.clone())
                .or_default()
                .push((point, finding));
        }
    }
    for (row, found) in &rows {
        let Some((_, newest)) = found.last() else { continue };
        let shown = &found[found.len().saturating_sub(SHOWN)..];
        let points: Vec<&Point> = shown.iter().map(|(point, _)| point).collect();
        let goal = format!("goal {}", newest.goal);
        let svg = chart(row, &newest.judged_unit, &points, newest.limit, &goal);
        fs::write(folder.join(file_name(row)), svg)?;
    }
    Ok(rows.len())
}

/// The runs of a history. A line that was not written to its end is left out.
fn read(file: &Path) -> Fallible<Vec<Run>> {
    let text = fs::read_to_string(file)?;
    let mut runs = Vec::new();
    for (number, line) in text.lines().enumerate() {
        match serde_json::from_str(line) {
            Ok(run) => runs.push(run),
            Err(error) => eprintln!("{}, line {}: {error}", file.display(), number + 1),
        }
    }
    Ok(runs)
}

fn day(at: &str) -> &str {
    at.split('T').next().unwrap_or(at)
}

fn file_name(row: &str) -> PathBuf {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    let mut name: String = row.chars().map(plain).collect();
    while name.contains("--") {
        name = name.replace("--", "-");
    }
    PathBuf::from(format!("{}.svg", name.trim_matches('-')))
}

fn commit() -> String {
    let asked = Command::new("git")
        .args(["describe", "--always", "--dirty"])
        .output();
    let text = asked
        .ok()
        .filter(|it| it.status.success())
        .map(|it| String::from_utf8_lossy(&it.stdout).trim().to_owned());
    text.unwrap_or_else(|| "unknown".to_owned())
}

/// The processor and the number of its cores.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let about = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = about
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    format!(
        "{cores} × {}",
        name.map_or("unknown processor", |(_, name)| name.trim())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(value: f64) -> Finding {
        Finding::alone(
            "list < 200, \"warm\"",
            vec![value, value + 1.0, value + 2.0],
            "ms",
            Goal::AtMost(5.0),
        )
    }

    #[test]
    fn runs_are_kept_and_drawn() {
        let folder = tempfile::tempdir().unwrap();
        for value in [1.0, 9.0] {
            add(folder.path(), &[finding(value)], false).unwrap();
        }
        add(folder.path(), &[finding(100.0)], true).unwrap();
        // The process was killed while it wrote.
        let mut file = File::options()
            .append(true)
            .open(folder.path().join(FILE))
            .unwrap();
        file.write_all(b"{\"at\":\"2026").unwrap();
        let runs = read(&folder.path().join(FILE)).unwrap();
        assert_eq!(runs.len(), 3);
        assert_eq!((runs[0].findings[0].met, runs[1].findings[0].met), (true, false));
        assert_eq!(runs[1].findings[0].judged, [9.0, 10.0, 11.0]);
        assert_eq!(draw(folder.path()).unwrap(), 1);
        let svg = fs::read_to_string(folder.path().join("list-200-warm.svg")).unwrap();
        assert!(svg.contains("list &lt; 200, &quot;warm&quot;"), "{svg}");
        // The quick run is not among them.
        assert_eq!(svg.matches("<circle").count(), 2);
    }
}
