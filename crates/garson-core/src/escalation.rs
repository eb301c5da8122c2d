//! Escalation: what happens when an order is not accepted in time, step by step.

use crate::id::ChannelId;
use crate::order::Status;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Steps that a restaurant may have.
pub const MAX_STEPS: usize = 10;
/// The longest time before or after the deadline, or age of an order, in seconds: a day.
pub const MAX_SECONDS: u32 = 24 * 60 * 60;

/// A step of a restaurant's escalation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    pub when: When,
    pub seconds: u32,
    /// The step is taken only if no board, stream or poller is connected for the restaurant at that time.
    #[serde(default)]
    pub only_if_unwatched: bool,
    #[serde(flatten)]
    pub action: StepAction,
}

/// What the seconds of a step are counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum When {
    BeforeAcceptBy,
    AfterAcceptBy,
    /// From the arrival of the order.
    Age,
}

impl When {
    pub const ALL: [Self; 3] = [Self::BeforeAcceptBy, Self::AfterAcceptBy, Self::Age];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BeforeAcceptBy => "beforeAcceptBy",
            Self::AfterAcceptBy => "afterAcceptBy",
            Self::Age => "age",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum StepAction {
    /// The open boards ring urgently.
    Ring,
    /// A message is sent by a channel.
    Message { channel_id: ChannelId },
    /// The service accepts the order.
    Verify,
    /// The service cancels the order. Without a reason, or where the platform does not accept it, the integration's default
    /// reason is used.
    Cancel {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
}

impl StepAction {
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Message { .. } => "message",
            Self::Verify => "verify",
            Self::Cancel { .. } => "cancel",
        }
    }

    /// Does the platform have to be asked for its reasons before the step can be taken?
    #[must_use]
    pub const fn needs_platform(&self) -> bool {
        matches!(self, Self::Cancel { .. })
    }
}

impl Step {
    /// When the step is due for an order that arrived at `arrived_at`; `None` when it counts from a deadline that the order does
    /// not have. A time before the arrival means at once.
    #[must_use]
    pub fn due_at(&self, arrived_at: Timestamp, accept_by: Option<Timestamp>) -> Option<Timestamp> {
        let span = Duration::from_secs(u64::from(self.seconds));
        let at = match self.when {
            When::Age => arrived_at.plus(span),
            When::BeforeAcceptBy => accept_by?.minus(span),
            When::AfterAcceptBy => accept_by?.plus(span),
        };
        Some(at.max(arrived_at))
    }
}

/// Does an order with this status wait to be accepted?
#[must_use]
pub const fn waits_for_acceptance(status: Status) -> bool {
    matches!(status, Status::New | Status::Scheduled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(when: When, seconds: u32) -> Step {
        Step {
            when,
            seconds,
            only_if_unwatched: false,
            action: StepAction::Ring,
        }
    }

    #[test]
    fn due_time_counts_from_the_deadline_or_the_arrival() {
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1000);
        let (arrived, deadline) = (at(1_000), Some(at(1_300)));
        assert_eq!(step(When::Age, 60).due_at(arrived, None), Some(at(1_060)));
        assert_eq!(
            step(When::BeforeAcceptBy, 60).due_at(arrived, deadline),
            Some(at(1_240))
        );
        assert_eq!(
            step(When::AfterAcceptBy, 60).due_at(arrived, deadline),
            Some(at(1_360))
        );
        assert_eq!(step(When::BeforeAcceptBy, 60).due_at(arrived, None), None);
        assert_eq!(
            step(When::BeforeAcceptBy, 900).due_at(arrived, deadline),
            Some(arrived),
            "a step whose time has passed is due at once"
        );
    }

    #[test]
    fn steps_are_stored_as_the_api_shows_them() {
        let step = Step {
            action: StepAction::Cancel {
                reason: Some("busy".to_owned()),
                note: None,
            },
            ..step(When::AfterAcceptBy, 30)
        };
        let json = serde_json::to_string(&step).unwrap();
        assert_eq!(
            json,
            r#"{"when":"afterAcceptBy","seconds":30,"onlyIfUnwatched":false,"action":"cancel","reason":"busy"}"#
        );
        assert_eq!(serde_json::from_str::<Step>(&json).unwrap(), step);
    }
}
