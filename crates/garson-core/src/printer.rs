//! Printers that a print agent serves, and what it reports of them.

use crate::id::{OrderId, PrintJobId, PrinterId, RestaurantId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// An agent that has not reported for this long is not running, or has no connection.
pub const SILENT_AFTER: Duration = Duration::from_secs(60);
/// An agent that has been silent for longer was switched off on purpose: it is no longer worth a notice.
pub const SWITCHED_OFF_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

macro_rules! states {
    ($($(#[$doc:meta])* $variant:ident $word:literal,)*) => {
        /// What an agent says of its printer.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum PrinterState {
            $($(#[$doc])* $variant,)*
        }

        impl PrinterState {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The word used in the API and in storage.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            #[must_use]
            pub fn named(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|state| state.as_str() == word)
            }
        }
    };
}

states! {
    Ready "ready",
    /// It prints, but the roll is nearly empty.
    PaperLow "paper_low",
    NoPaper "no_paper",
    CoverOpen "cover_open",
    /// Connected, but it takes no data.
    Offline "offline",
    /// It cannot be reached.
    Unreachable "unreachable",
    /// It reports a fault of its own, such as a jammed knife.
    Fault "fault",
}

impl PrinterState {
    /// Can it print now?
    #[must_use]
    pub fn can_print(self) -> bool {
        matches!(self, Self::Ready | Self::PaperLow)
    }
}

/// An agent whose clock differs by this much from the service's has a wrong clock.
pub const CLOCK_TOLERANCE: Duration = Duration::from_secs(2 * 60);

/// What an agent says besides the state of the printer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentNotes {
    /// The agent's own words, for support.
    pub message: Option<String>,
    /// Orders that it did not print in the last day, because they had come too long before.
    pub skipped: i64,
    /// By how many seconds its clock is ahead of the service's, or behind if negative; `None` if the clock is right.
    pub clock_ahead: Option<i64>,
}

/// A printer as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printer {
    pub id: PrinterId,
    /// The restaurant whose orders it prints; all of the account's without one.
    pub restaurant_id: Option<RestaurantId>,
    pub name: String,
    pub state: PrinterState,
    pub notes: AgentNotes,
    /// Tickets that wait for the printer.
    pub waiting: i64,
    pub created_at: Timestamp,
    pub seen_at: Timestamp,
    /// When the state became what it is.
    pub state_at: Timestamp,
}

impl Printer {
    /// Has its agent stopped reporting?
    #[must_use]
    pub fn is_silent(&self, now: Timestamp) -> bool {
        now.since(self.seen_at) > SILENT_AFTER
    }

    /// Must people do something about it now?
    #[must_use]
    pub fn needs_attention(&self, now: Timestamp) -> bool {
        (!self.state.can_print() || self.is_silent(now)) && now.since(self.seen_at) < SWITCHED_OFF_AFTER
    }
}

/// What an agent reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrinterReport {
    pub state: PrinterState,
    pub notes: AgentNotes,
    pub waiting: i64,
    /// Requested tickets that are printed.
    pub printed: Vec<PrintJobId>,
}

/// A ticket that a person wants printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintJob {
    pub id: PrintJobId,
    pub printer_id: PrinterId,
    pub order_id: OrderId,
    /// Which ticket: `kitchen`, `courier` or `customer`.
    pub kind: String,
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn printer(state: PrinterState) -> Printer {
        Printer {
            id: PrinterId(Uuid::nil()),
            restaurant_id: None,
            name: "Mutfak".to_owned(),
            state,
            notes: AgentNotes::default(),
            waiting: 0,
            created_at: Timestamp::default(),
            seen_at: Timestamp::default(),
            state_at: Timestamp::default(),
        }
    }

    #[test]
    fn words_and_json_agree() {
        for state in PrinterState::ALL {
            assert_eq!(PrinterState::named(state.as_str()), Some(*state));
            assert_eq!(
                serde_json::to_string(state).unwrap(),
                format!("\"{}\"", state.as_str())
            );
        }
    }

    #[test]
    fn a_silent_agent_needs_attention_for_a_day() {
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1_000);
        let ready = printer(PrinterState::Ready);
        assert!(!ready.needs_attention(at(60)));
        assert!(ready.needs_attention(at(61)));
        assert!(!ready.needs_attention(at(86_400)));
        assert!(printer(PrinterState::NoPaper).needs_attention(at(0)));
        assert!(!printer(PrinterState::PaperLow).needs_attention(at(0)));
    }
}
