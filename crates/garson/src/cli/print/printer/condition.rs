//! The condition of a printer, and why a ticket was not printed.

use garson_core::printer::PrinterState;
use std::fmt;

/// What is known of a printer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub state: PrinterState,
    /// For support; empty if there is nothing to say.
    pub message: String,
}

impl Default for Condition {
    fn default() -> Self {
        Self::of(PrinterState::Ready)
    }
}

impl Condition {
    pub fn of(state: PrinterState) -> Self {
        Self {
            state,
            message: String::new(),
        }
    }

    pub fn new(state: PrinterState, message: impl fmt::Display) -> Self {
        Self {
            state,
            message: message.to_string().chars().take(200).collect(),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.state.as_str())?;
        if !self.message.is_empty() {
            write!(f, " ({})", self.message)?;
        }
        Ok(())
    }
}

/// Why a ticket was not printed.
#[derive(Debug)]
pub enum PrintError {
    /// Nothing reached the printer.
    NotSent(Condition),
    /// Some of it, or all of it, may be printed.
    Uncertain(Condition),
}

impl PrintError {
    pub fn condition(&self) -> &Condition {
        match self {
            Self::NotSent(condition) | Self::Uncertain(condition) => condition,
        }
    }
}

/// Is told of the printer's condition while a ticket waits.
pub type Observer<'a> = dyn Fn(&Condition) + Send + Sync + 'a;
