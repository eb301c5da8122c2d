//! The report: lines while scenarios run, and files in Markdown and JSON. It contains generated sample data only.

use super::super::command::CommandError;
use super::args::{BodyForm, Profile};
use super::cases::Case;
use super::evidence::Delivery;
use crate::net::guard::Target;
use garson_core::time::Timestamp;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Requests that the JSON report shows of each scenario, and the Markdown report of those that failed.
const MOST_IN_JSON: usize = 50;
const MOST_IN_MARKDOWN: usize = 12;
/// A part of a path that is longer may be a secret.
const LONGEST_PART: usize = 15;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    Failed,
    NotApplicable,
    NotRun,
}

impl Verdict {
    const ALL: [Self; 4] = [Self::Passed, Self::Failed, Self::NotApplicable, Self::NotRun];

    fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotApplicable => "not applicable",
            Self::NotRun => "not run",
        }
    }
}

/// The result of one scenario.
pub struct Finding {
    case: &'static Case,
    verdict: Verdict,
    seen: String,
    evidence: Vec<Delivery>,
    took: Duration,
}

impl Finding {
    pub fn new(
        case: &'static Case,
        result: Result<(), String>,
        evidence: Vec<Delivery>,
        took: Duration,
    ) -> Self {
        let (verdict, seen) = match result {
            Ok(()) => (Verdict::Passed, slowest(&evidence)),
            Err(seen) => (Verdict::Failed, seen),
        };
        Self {
            case,
            verdict,
            seen,
            evidence,
            took,
        }
    }

    pub fn not_applicable(case: &'static Case, why: &str) -> Self {
        Self {
            verdict: Verdict::NotApplicable,
            seen: why.to_owned(),
            ..Self::new(case, Ok(()), Vec::new(), Duration::ZERO)
        }
    }

    pub fn not_run(case: &'static Case) -> Self {
        Self {
            verdict: Verdict::NotRun,
            ..Self::not_applicable(case, "the POS did not accept the events of the first scenario")
        }
    }

    /// The line that is printed.
    pub fn line(&self) -> String {
        format!(
            "  {:<14}  {:<20}  {}",
            self.verdict.as_str(),
            self.case.id,
            self.seen
        )
    }

    /// The requests to show: failures first.
    fn shown(&self, most: usize) -> impl Iterator<Item = &Delivery> {
        let failures = self.evidence.iter().filter(|entry| entry.is_failure());
        let others = self.evidence.iter().filter(|entry| !entry.is_failure());
        failures.chain(others).take(most)
    }

    fn json(&self, profile: Profile) -> Value {
        json!({
            "id": self.case.id,
            "title": self.case.title,
            "sent": self.case.sent,
            "expected": expected(self.case, profile),
            "result": self.verdict.as_str(),
            "seen": self.seen,
            "milliseconds": u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX),
            "requests": self.evidence.iter().filter(|entry| entry.reply.is_some()).count(),
            "evidence": self.shown(MOST_IN_JSON).map(Delivery::json).collect::<Vec<_>>(),
        })
    }
}

/// What is expected of a POS of this profile.
fn expected(case: &Case, profile: Profile) -> String {
    match profile {
        Profile::Act if case.accepts => format!("{} The POS accepts the orders.", case.expected),
        _ => case.expected.to_owned(),
    }
}

fn slowest(evidence: &[Delivery]) -> String {
    let replies = evidence.iter().filter_map(|entry| entry.reply.as_ref());
    let slowest = replies.clone().map(|reply| reply.took.as_millis()).max();
    match (replies.count(), slowest) {
        (count, Some(slowest)) => format!("{count} requests, the slowest {slowest} ms"),
        (_, None) => "no requests".to_owned(),
    }
}

pub struct Report {
    started: Timestamp,
    ended: Timestamp,
    url: String,
    profile: Profile,
    body: BodyForm,
    findings: Vec<Finding>,
    is_unusable: bool,
}

impl Report {
    pub fn new(started: Timestamp, url: String, profile: Profile, body: BodyForm) -> Self {
        Self {
            started,
            ended: started,
            url,
            profile,
            body,
            findings: Vec::new(),
            is_unusable: false,
        }
    }

    pub fn add(&mut self, finding: Finding) {
        let is_first = self
            .findings
            .iter()
            .all(|it| it.verdict == Verdict::NotApplicable);
        let is_refused = finding.verdict == Verdict::Failed
            && !finding.evidence.is_empty()
            && !finding.evidence.iter().any(Delivery::is_success);
        self.is_unusable |= is_first && is_refused;
        self.findings.push(finding);
    }

    pub fn end(&mut self, at: Timestamp) {
        self.ended = at;
    }

    /// Has the POS accepted nothing in the first scenario? Then one cause would be reported thirty times.
    pub fn is_unusable(&self) -> bool {
        self.is_unusable
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.verdict == verdict)
            .count()
    }

    fn is_passed(&self) -> bool {
        self.count(Verdict::Failed) == 0
    }

    pub fn summary(&self) -> String {
        let counts = Verdict::ALL
            .into_iter()
            .map(|verdict| (self.count(verdict), verdict.as_str()))
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"));
        format!(
            "\n{} scenarios: {}",
            self.findings.len(),
            counts.collect::<Vec<_>>().join(", ")
        )
    }

    /// Why the command fails, if it does.
    pub fn problem(&self) -> Option<String> {
        let first = self.findings.iter().find(|it| it.verdict == Verdict::Failed)?;
        Some(if self.is_unusable {
            format!("the POS did not accept the first event: {}", first.seen)
        } else {
            format!("{} scenario(s) failed", self.count(Verdict::Failed))
        })
    }

    pub fn json(&self) -> Value {
        let scenarios = self.findings.iter().map(|finding| finding.json(self.profile));
        json!({
            "program": format!("garson {}", env!("CARGO_PKG_VERSION")),
            "startedAt": self.started,
            "endedAt": self.ended,
            "url": self.url,
            "profile": self.profile.as_str(),
            "body": self.body.as_str(),
            "passed": self.is_passed(),
            "counts": {
                "passed": self.count(Verdict::Passed),
                "failed": self.count(Verdict::Failed),
                "notApplicable": self.count(Verdict::NotApplicable),
                "notRun": self.count(Verdict::NotRun),
            },
            "scenarios": scenarios.collect::<Vec<_>>(),
        })
    }

    pub fn markdown(&self) -> String {
        let mut text = format!(
            "# Certification report\n\n\
             - Result: **{}**\n- Date: {}\n- Program: garson {}\n- POS: {}\n- Profile: {}, events {}\n\n\
             | scenario | what is sent | expected | result | seen |\n|---|---|---|---|---|\n",
            if self.is_passed() { "passed" } else { "failed" },
            self.started,
            env!("CARGO_PKG_VERSION"),
            cell(&self.url),
            self.profile.as_str(),
            self.body.as_str(),
        );
        for finding in &self.findings {
            let case = finding.case;
            // Writing into a string cannot fail.
            let _ = writeln!(
                text,
                "| `{}` {} | {} | {} | {} | {} |",
                case.id,
                case.title,
                case.sent,
                expected(case, self.profile),
                finding.verdict.as_str(),
                cell(&finding.seen),
            );
        }
        for finding in self.findings.iter().filter(|it| it.verdict == Verdict::Failed) {
            let _ = writeln!(text, "\n## {}: {}\n", finding.case.id, finding.case.title);
            for entry in finding.shown(MOST_IN_MARKDOWN) {
                let _ = writeln!(
                    text,
                    "- {} {} `{}`",
                    entry.at,
                    cell(&entry.describe()),
                    entry.head.id
                );
            }
        }
        text.push_str("\nAll orders in this report are generated sample data.\n");
        text
    }

    /// Writes both forms; returns their paths.
    pub fn write(&self, file: &Path) -> Result<[PathBuf; 2], CommandError> {
        let [markdown, json] = paths(file);
        for (path, text) in [
            (&markdown, self.markdown()),
            (&json, format!("{:#}\n", self.json())),
        ] {
            std::fs::write(path, text)
                .map_err(|error| CommandError(format!("{} cannot be written: {error}", path.display())))?;
        }
        Ok([markdown, json])
    }
}

fn paths(file: &Path) -> [PathBuf; 2] {
    let with = |ending: &str| {
        let mut name = file.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    [with(".md"), with(".json")]
}

/// Fails before the scenarios run if the report could not be written after them.
pub fn check_writable(file: &Path) -> Result<(), CommandError> {
    for path in paths(file) {
        let opened = std::fs::OpenOptions::new().create(true).append(true).open(&path);
        opened.map_err(|error| CommandError(format!("{} cannot be written: {error}", path.display())))?;
    }
    Ok(())
}

/// Text in a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.chars()
        .flat_map(|c| match c {
            '|' => vec!['\\', '|'],
            c if c.is_control() => vec![' '],
            c => vec![c],
        })
        .collect()
}

/// The address without what may be a secret: the query, and long parts of the path.
pub fn shown_url(target: &Target) -> String {
    let path = target.path_and_query().path();
    let parts = path.split('/').map(|part| {
        if part.chars().count() > LONGEST_PART {
            "…"
        } else {
            part
        }
    });
    format!("{}{}", target.origin(), parts.collect::<Vec<_>>().join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::cases::CASES;
    use super::*;

    fn report() -> Report {
        let [first, second, third, ..] = &CASES;
        let mut report = Report::new(
            Timestamp::from_millis(0),
            "http://127.0.0.1:3000/garson".to_owned(),
            Profile::Act,
            BodyForm::WithOrder,
        );
        report.add(Finding::new(first, Ok(()), Vec::new(), Duration::ZERO));
        report.add(Finding::new(
            second,
            Err("500 in 3 ms | twice".to_owned()),
            Vec::new(),
            Duration::ZERO,
        ));
        report.add(Finding::not_applicable(third, "no"));
        report
    }

    #[test]
    fn report_counts_and_tells_what_failed() {
        let report = report();
        assert_eq!(
            report.summary(),
            "\n3 scenarios: 1 passed, 1 failed, 1 not applicable"
        );
        assert_eq!(report.problem().unwrap(), "1 scenario(s) failed");
        let json = report.json();
        assert_eq!(json["passed"], false);
        assert_eq!(json["startedAt"], "1970-01-01T00:00:00.000Z");
        assert_eq!(json["scenarios"][1]["result"], "failed");
        let expected = json["scenarios"][0]["expected"].as_str().unwrap();
        assert!(expected.ends_with("The POS accepts the orders."), "{expected}");
    }

    #[test]
    fn markdown_table_keeps_its_columns() {
        let text = report().markdown();
        assert!(text.contains("- Date: 1970-01-01T00:00:00.000Z\n"), "{text}");
        assert!(text.contains("500 in 3 ms \\| twice |\n"), "{text}");
        assert!(text.contains("\n## duplicate-event: "), "{text}");
    }

    #[test]
    fn address_is_shown_without_secrets() {
        let shown = |url: &str| shown_url(&Target::parse(url).unwrap());
        assert_eq!(
            shown("https://shop.example.com/hooks/0123456789abcdef/x?token=s"),
            "https://shop.example.com/hooks/…/x"
        );
        assert_eq!(
            shown("http://127.0.0.1:3000/garson"),
            "http://127.0.0.1:3000/garson"
        );
    }
}
