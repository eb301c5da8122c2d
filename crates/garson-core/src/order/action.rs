//! Actions on an order, and the calls to a platform that they need.

use super::{Actor, Reason, Status};
use serde::{Deserialize, Serialize};

/// The longest preparation time that can be chosen; platforms take no longer one.
pub const MAX_PREPARATION_MINUTES: u32 = 240;

/// An action of the account, or of the service on its behalf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Accept the order, perhaps with the time that the kitchen needs for it.
    Verify { preparation_minutes: Option<u32> },
    /// One step forward.
    Advance,
    /// The food is ready; the status stays.
    Ready,
    Cancel {
        reason: Option<Reason>,
        note: Option<String>,
    },
}

/// A call to a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallKind {
    /// Asks for consent to accept it.
    Verify,
    /// Asks for consent to cancel it.
    Cancel,
    /// The food is ready.
    Ready,
    /// Informs the platform of a status.
    Tell(Status),
}

impl Action {
    /// Accepts an order in the usual time.
    pub const VERIFY: Self = Self::Verify {
        preparation_minutes: None,
    };
}

impl CallKind {
    /// The platform must consent before the order changes here.
    #[must_use]
    pub fn is_question(self) -> bool {
        matches!(self, Self::Verify | Self::Cancel)
    }

    /// The progress of the step; once the platform shows a step, it has done those before it.
    #[must_use]
    pub fn progress(self) -> i64 {
        match self {
            Self::Verify => Status::Preparing.code(),
            // Between preparing and on the way; it has no status of its own.
            Self::Ready => Status::Preparing.code() + 1,
            Self::Tell(status) => status.code(),
            Self::Cancel => i64::MAX,
        }
    }

    /// The stored form.
    #[must_use]
    pub fn as_text(self) -> String {
        match self {
            Self::Verify => "verify".to_owned(),
            Self::Cancel => "cancel".to_owned(),
            Self::Ready => "ready".to_owned(),
            Self::Tell(status) => format!("tell:{}", status.code()),
        }
    }

    #[must_use]
    pub fn named(text: &str) -> Option<Self> {
        match text {
            "verify" => Some(Self::Verify),
            "cancel" => Some(Self::Cancel),
            "ready" => Some(Self::Ready),
            _ => text
                .strip_prefix("tell:")?
                .parse()
                .ok()
                .and_then(Status::from_code)
                .map(Self::Tell),
        }
    }
}

/// Who requested a call, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallArgument {
    pub by: Actor,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The time that the kitchen needs for an order that is accepted, where it was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preparation_minutes: Option<u32>,
}

impl CallArgument {
    #[must_use]
    pub fn by(by: Actor) -> Self {
        Self {
            by,
            reason: None,
            note: None,
            preparation_minutes: None,
        }
    }

    /// The action to apply when the platform has consented; `None` for calls that only inform it.
    #[must_use]
    pub fn action(&self, call: CallKind) -> Option<Action> {
        match call {
            CallKind::Verify => Some(Action::Verify {
                preparation_minutes: self.preparation_minutes,
            }),
            CallKind::Cancel => Some(Action::Cancel {
                reason: self.reason.clone(),
                note: self.note.clone(),
            }),
            CallKind::Ready | CallKind::Tell(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_stored_under_words_that_read_back() {
        let tells = Status::ALL.map(CallKind::Tell);
        for call in [CallKind::Verify, CallKind::Cancel, CallKind::Ready]
            .into_iter()
            .chain(tells)
        {
            assert_eq!(CallKind::named(&call.as_text()), Some(call));
        }
        assert_eq!(CallKind::named("tell:1"), None);
    }
}
