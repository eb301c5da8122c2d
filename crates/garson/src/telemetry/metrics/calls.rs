//! Calls to platforms, by topic and outcome.

use super::labels::{label, label_product, label_values, platform_index, providers};
use super::tally::Tally;
use super::timings::{CALL_BUCKETS, Timings};
use garson_core::order::CallKind;
use garson_core::platform::{CallError, Provider};
use prometheus_client::registry::Registry;
use std::time::Duration;

label_values! {
    /// What a call to a platform is about.
    Topic {
        Verify "verify",
        Cancel "cancel",
        Ready "ready",
        /// An order has reached a status.
        Tell "tell",
        /// One order is read.
        Look "look",
        /// Orders are polled.
        Poll "poll",
        Login "login",
        /// The platform is notified that orders can be sent.
        Enlist "enlist",
        Menu "menu",
        /// Products or options are switched on or off, or read.
        Items "items",
        /// Prices are changed.
        Prices "prices",
        /// The reasons with which an order can be cancelled.
        Reasons "reasons",
        /// The state of a store is read or changed.
        Store "store",
        /// Opening hours are read or changed.
        Hours "hours",
    }
}

impl From<CallKind> for Topic {
    fn from(kind: CallKind) -> Self {
        match kind {
            CallKind::Verify => Self::Verify,
            CallKind::Cancel => Self::Cancel,
            CallKind::Ready => Self::Ready,
            CallKind::Tell(_) => Self::Tell,
        }
    }
}

label_values! {
    /// The result of a call.
    CallOutcome {
        Done "done",
        /// The platform refused.
        Refused "refused",
        /// The platform said that it is too early.
        NotYet "not_yet",
        /// It was not done and can be retried.
        Later "later",
        /// It may have been done.
        Unclear "unclear",
    }
}

impl<T> From<&Result<T, CallError>> for CallOutcome {
    fn from(result: &Result<T, CallError>) -> Self {
        match result {
            Ok(_) => Self::Done,
            Err(trouble) => Self::from(trouble),
        }
    }
}

impl From<&CallError> for CallOutcome {
    fn from(trouble: &CallError) -> Self {
        match trouble {
            CallError::Refused { .. } | CallError::RetryableRefusal { .. } | CallError::SessionOver => {
                Self::Refused
            }
            CallError::NotYet { .. } => Self::NotYet,
            CallError::Later { .. } | CallError::HeldBack { .. } => Self::Later,
            CallError::Unclear { .. } => Self::Unclear,
        }
    }
}

#[derive(Debug)]
pub struct Calls {
    made: Tally,
    times: Timings,
}

impl Calls {
    pub(super) fn new(registry: &mut Registry) -> Self {
        let topics = label("kind", Topic::ALL.iter().map(|topic| topic.as_str()));
        let outcomes = label("outcome", CallOutcome::ALL.iter().map(|outcome| outcome.as_str()));
        let made = Tally::new(&label_product(&providers(), &topics), &outcomes);
        registry.register("platform_calls", "Calls to platforms", made.clone());
        let times = Timings::new(providers(), CALL_BUCKETS);
        registry.register(
            "platform_call_seconds",
            "Duration of calls to platforms, including the wait for rate limits",
            times.clone(),
        );
        Self { made, times }
    }

    pub fn count(&self, provider: Provider, topic: Topic, outcome: CallOutcome, took: Duration) {
        if let Some(index) = platform_index(provider) {
            self.made
                .count(index * Topic::ALL.len() + topic as usize, outcome as usize);
            self.times.observe(index, took);
        }
    }
}
