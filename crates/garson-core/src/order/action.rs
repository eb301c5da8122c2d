//! What the account wants done with an order, and which calls to a platform that can take.

use super::{Actor, Reason, Status};
use serde::{Deserialize, Serialize};

/// What the account, or the service on its behalf, wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Accept the order.
    Verify,
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
    /// May we accept it?
    Verify,
    /// May we cancel it?
    Cancel,
    /// The food is ready.
    Ready,
    /// The order has come to this status.
    Tell(Status),
}

impl CallKind {
    /// The platform must agree to it; nothing has moved here before it has.
    #[must_use]
    pub fn is_question(self) -> bool {
        matches!(self, Self::Verify | Self::Cancel)
    }

    /// How far along an order's way the step is; once the platform shows a step, it has got past those before it.
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

    /// The word under which it is stored.
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

/// Who wants a call made, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallArgument {
    pub by: Actor,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl CallArgument {
    #[must_use]
    pub fn by(by: Actor) -> Self {
        Self {
            by,
            reason: None,
            note: None,
        }
    }

    /// What was wanted, for the platform's agreement to be put to the order; telling wants nothing.
    #[must_use]
    pub fn action(&self, call: CallKind) -> Option<Action> {
        match call {
            CallKind::Verify => Some(Action::Verify),
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
