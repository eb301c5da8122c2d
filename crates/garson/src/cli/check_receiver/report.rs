//! The report, as a table or as JSON.

use serde_json::{Value, json};

/// From good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Not run, because an earlier check failed.
    Skip,
    Pass,
    Warn,
    Fail,
}

impl Verdict {
    const ALL: [Self; 4] = [Self::Pass, Self::Warn, Self::Fail, Self::Skip];

    fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Skip => "skip",
        }
    }
}

/// The result of one check.
#[derive(Clone, Debug)]
pub struct Finding {
    pub name: &'static str,
    pub verdict: Verdict,
    pub seen: String,
    /// What to do about it.
    pub advice: Option<&'static str>,
}

impl Finding {
    pub fn pass(name: &'static str, seen: impl Into<String>) -> Self {
        Self {
            name,
            verdict: Verdict::Pass,
            seen: seen.into(),
            advice: None,
        }
    }

    pub fn warn(name: &'static str, seen: impl Into<String>, advice: &'static str) -> Self {
        Self {
            verdict: Verdict::Warn,
            advice: Some(advice),
            ..Self::pass(name, seen)
        }
    }

    pub fn fail(name: &'static str, seen: impl Into<String>, advice: &'static str) -> Self {
        Self {
            verdict: Verdict::Fail,
            advice: Some(advice),
            ..Self::pass(name, seen)
        }
    }

    pub fn skip(name: &'static str) -> Self {
        Self {
            verdict: Verdict::Skip,
            ..Self::pass(name, "not tried: it needs an endpoint that takes a valid event")
        }
    }
}

pub struct Report {
    endpoint: String,
    findings: Vec<Finding>,
}

impl Report {
    pub fn new(endpoint: String, findings: Vec<Finding>) -> Self {
        Self { endpoint, findings }
    }

    pub fn failed(&self) -> usize {
        self.count(Verdict::Fail)
    }

    fn count(&self, verdict: Verdict) -> usize {
        let of_it = self.findings.iter().filter(|finding| finding.verdict == verdict);
        of_it.count()
    }

    pub fn table(&self) -> String {
        let mut lines = vec![format!("Checked {}", self.endpoint), String::new()];
        for finding in &self.findings {
            lines.push(format!(
                "  {}  {:<15}  {}",
                finding.verdict.as_str(),
                finding.name,
                finding.seen
            ));
            lines.extend(finding.advice.map(|advice| format!("{:25}→ {advice}", "")));
        }
        let counts = Verdict::ALL
            .into_iter()
            .map(|verdict| (self.count(verdict), verdict.as_str()))
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"));
        lines.push(String::new());
        lines.push(format!(
            "{} checks: {}",
            self.findings.len(),
            counts.collect::<Vec<_>>().join(", ")
        ));
        lines.join("\n")
    }

    pub fn json(&self) -> Value {
        let checks = self.findings.iter().map(|finding| {
            json!({
                "name": finding.name,
                "verdict": finding.verdict.as_str(),
                "seen": finding.seen,
                "advice": finding.advice,
            })
        });
        json!({
            "url": self.endpoint,
            "passed": self.failed() == 0,
            "checks": checks.collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_reads_well() {
        let findings = vec![
            Finding::pass("valid-event", "200 in 3 ms"),
            Finding::warn("other-form", "taken", "Take one form."),
            Finding::fail("wrong-key", "taken", "Compare the whole key."),
            Finding::skip("duplicate"),
        ];
        let report = Report::new("http://127.0.0.1:9000/".to_owned(), findings);
        assert_eq!(
            report.table(),
            "Checked http://127.0.0.1:9000/\n\n  \
             pass  valid-event      200 in 3 ms\n  \
             warn  other-form       taken\n                         → Take one form.\n  \
             fail  wrong-key        taken\n                         → Compare the whole key.\n  \
             skip  duplicate        not tried: it needs an endpoint that takes a valid event\n\n\
             4 checks: 1 pass, 1 warn, 1 fail, 1 skip"
        );
        assert_eq!(report.failed(), 1);
        assert_eq!(report.json()["checks"][2]["verdict"], "fail");
        assert_eq!(report.json()["passed"], false);
    }
}
