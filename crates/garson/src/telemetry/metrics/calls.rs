//! What platforms are called for, and what they say.

use super::tally::{Tally, each_with_each, label, providers};
use super::timings::{OF_CALLS, Timings};
use super::{place_of, words};
use garson_core::order::CallKind;
use garson_core::platform::{Provider, Trouble};
use prometheus_client::registry::Registry;
use std::time::Duration;

words! {
    /// What a platform is called for.
    Topic {
        Verify "verify",
        Cancel "cancel",
        Ready "ready",
        /// An order has come to a status.
        Tell "tell",
        /// One order is read.
        Look "look",
        /// Orders are asked for.
        Poll "poll",
        Login "login",
        /// It is told that orders may come.
        Enlist "enlist",
        Menu "menu",
        /// The reasons with which an order can be cancelled.
        Reasons "reasons",
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

words! {
    /// What came of a call.
    CallOutcome {
        Done "done",
        /// The platform said no.
        Refused "refused",
        /// The platform said that its moment has not come.
        NotYet "not_yet",
        /// It was not done, and may be another time.
        Later "later",
        /// It may have been done.
        Unclear "unclear",
    }
}

impl<T> From<&Result<T, Trouble>> for CallOutcome {
    fn from(result: &Result<T, Trouble>) -> Self {
        match result {
            Ok(_) => Self::Done,
            Err(trouble) => Self::from(trouble),
        }
    }
}

impl From<&Trouble> for CallOutcome {
    fn from(trouble: &Trouble) -> Self {
        match trouble {
            Trouble::Refused { .. } | Trouble::RetryableRefusal { .. } | Trouble::SessionOver => {
                Self::Refused
            }
            Trouble::NotYet { .. } => Self::NotYet,
            Trouble::Later { .. } | Trouble::HeldBack { .. } => Self::Later,
            Trouble::Unclear { .. } => Self::Unclear,
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
        let made = Tally::new(&each_with_each(&providers(), &topics), &outcomes);
        registry.register("platform_calls", "Calls to platforms", made.clone());
        let times = Timings::new(providers(), OF_CALLS);
        registry.register(
            "platform_call_seconds",
            "Time that calls to platforms took, with the wait for their limits",
            times.clone(),
        );
        Self { made, times }
    }

    pub fn count(&self, provider: Provider, topic: Topic, outcome: CallOutcome, took: Duration) {
        if let Some(place) = place_of(provider) {
            self.made
                .count(place * Topic::ALL.len() + topic as usize, outcome as usize);
            self.times.observe(place, took);
        }
    }
}
