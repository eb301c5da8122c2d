//! What a receiver prints: events to standard output, and about them, unless a program reads that, too.

use super::event::plain;
use super::history::Totals;
use crate::cli::command::print_line;
use garson_core::clock::{Clock, SystemClock};
use serde_json::Value;

/// How events are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    Lines,
    /// The first so many.
    First(u64),
    Full,
    /// The bodies alone; everything else goes to standard error.
    Json,
}

impl Show {
    pub fn new(json: bool, full: bool) -> Self {
        match (json, full) {
            (true, _) => Self::Json,
            (false, true) => Self::Full,
            (false, false) => Self::Lines,
        }
    }

    /// Something that is not an event.
    pub fn notice(self, text: &str) {
        match self {
            Self::Json => eprintln!("{text}"),
            Self::Lines | Self::First(_) | Self::Full => print_line(text),
        }
    }

    /// The event of this number, with the status that it is answered with.
    pub fn event(self, number: u64, body: &[u8], document: &Value, line: &str, status: Option<u16>) {
        if matches!(self, Self::First(count) if number > count) {
            return;
        }
        if self == Self::Json {
            // In valid JSON, line breaks occur only between tokens, where they can be replaced.
            let body = String::from_utf8_lossy(body).replace(['\r', '\n'], " ");
            return print_line(body.trim());
        }
        let answer = match status {
            Some(200..=299) => String::new(),
            Some(status) => format!("  answered {status}"),
            None => "  closed without an answer".to_owned(),
        };
        print_line(&format!("{}  {line}{answer}", time()));
        if self == Self::Full {
            print_line(&format!("{document:#}"));
        }
    }

    /// A request that was not taken.
    pub fn refused(self, why: &str, status: u16) {
        self.notice(&format!("{}  refused: {}  answered {status}", time(), plain(why)));
    }

    pub fn summary(self, totals: Totals) {
        let Totals {
            received,
            repeats,
            out_of_order,
            failed,
            refused,
        } = totals;
        self.notice(&format!(
            "{received} received, {repeats} of them repeats, {out_of_order} out of order, {failed} answered with an \
             error; {refused} refused"
        ));
    }
}

/// The time of day, in UTC as in the events.
fn time() -> String {
    let now = SystemClock.now().to_string();
    now.get(11..).map_or(now.clone(), str::to_owned)
}
