//! What the doctor has found.

use crate::cli::command::print_line;
use serde::Serialize;

/// The findings, shown as they come, or together as JSON.
pub struct Findings {
    all: Vec<Finding>,
    as_json: bool,
}

#[derive(Serialize)]
struct Finding {
    level: Level,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Ok,
    /// Something to know.
    Note,
    /// Something that needs attention.
    Wrong,
}

impl Findings {
    pub fn new(as_json: bool) -> Self {
        Self {
            all: Vec::new(),
            as_json,
        }
    }

    pub fn good(&mut self, what: &str) {
        self.add(Level::Ok, what);
    }

    pub fn note(&mut self, what: &str) {
        self.add(Level::Note, what);
    }

    pub fn wrong(&mut self, what: &str) {
        self.add(Level::Wrong, what);
    }

    fn add(&mut self, level: Level, text: &str) {
        if !self.as_json {
            let word = match level {
                Level::Ok => "ok   ",
                Level::Note => "note ",
                Level::Wrong => "WRONG",
            };
            print_line(&format!("  {word} {text}"));
        }
        self.all.push(Finding {
            level,
            text: text.to_owned(),
        });
    }

    /// Ends the list; returns how many things need attention.
    pub fn end(&self) -> usize {
        let wrong = self.all.iter().filter(|it| it.level == Level::Wrong).count();
        if self.as_json {
            let list = serde_json::json!({ "findings": self.all, "inOrder": wrong == 0 });
            print_line(&format!("{list:#}"));
        } else if wrong == 0 {
            print_line("Everything is in order.");
        }
        wrong
    }
}
