//! One attempt at a call: if an earlier one is unclear, read the order first; then send, and interpret the answer.

use crate::app::App;
use crate::flow::platform_client::{Contact, converse_if, read_order, status_on_platform};
use crate::flow::platform_documents::read_fetched;
use crate::telemetry::{Span, SpanId, SpanKind, Stopwatch, Topic};
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::order::{Actor, CallKind, Change, Order, Status};
use garson_core::platform::{CallError, CallRequest, RefusalCause, Sighting, Success};
use garson_store::tables::calls::DueCall;
use std::time::Duration;
use tokio::time::Instant;

/// The pause after which a call is tried again that could not be sent under its lease.
const AFTER_A_LOST_LEASE: Duration = Duration::from_secs(1);

pub struct Attempt<'a> {
    pub contact: &'a Contact,
    pub order: &'a Order,
    pub call: &'a DueCall,
    pub preparation_minutes: Option<u32>,
    /// An earlier attempt may have succeeded.
    pub is_unclear: bool,
    /// A client's question is never repeated in the background: only its outcome is read.
    pub may_send: bool,
    pub until: Instant,
}

/// The outcome of an attempt.
#[derive(Debug)]
pub enum Verdict {
    /// It is done; with the order as the platform shows it, if it had to be read.
    Done(Option<Box<Sighting>>),
    /// It was not done and must not be repeated.
    NotDone,
    /// It was not done because the order is cancelled there; with the platform's message and the order as it shows it.
    Overtaken(Explanation, Box<Sighting>),
    CallError(CallError),
}

impl Verdict {
    /// Why the platform has not done it, without its own words: they may contain personal data.
    fn failure(&self) -> Option<&'static str> {
        match self {
            Self::Done(_) => None,
            Self::NotDone => Some("not done"),
            Self::Overtaken(..) => Some("the order is cancelled"),
            Self::CallError(error) => Some(match error {
                CallError::Refused { .. } | CallError::RetryableRefusal { .. } => "refused",
                CallError::NotYet { .. } => "not yet",
                CallError::Later { .. } => "later",
                CallError::HeldBack { .. } => "not sent",
                CallError::Unclear { .. } => "unclear",
                CallError::SessionOver => "the session is over",
            }),
        }
    }
}

impl Attempt<'_> {
    pub async fn make(&self, app: &App) -> Verdict {
        let began = Stopwatch::start(app.now());
        let verdict = self.make_untraced(app).await;
        if let Some(trace) = app.traces.of(self.order.id) {
            let provider = self.contact.platform.provider();
            let name = format!("call {provider} {}", self.call.kind.as_text());
            let span = Span::new(trace, SpanId::at(app.now()), name, SpanKind::Client)
                .ending_now(&began)
                .with("garson.provider", provider)
                .with("garson.call_id", self.call.id)
                .with_number("garson.attempt", self.call.attempts)
                .failing(verdict.failure().map(str::to_owned));
            app.traces.add(span);
        }
        verdict
    }

    async fn make_untraced(&self, app: &App) -> Verdict {
        if self.is_unclear && self.can_read() {
            match self.read(app).await {
                Ok(seen) if self.is_done_in(&seen) => return Verdict::Done(self.unless_ours(seen)),
                Ok(seen) if status_on_platform(&seen).is_cancelled() => return overtaken(seen),
                Ok(seen) if self.may_send && !self.missing_before(&seen).is_empty() => {
                    return self.catch_up(app, &seen).await;
                }
                Ok(_) => {}
                Err(trouble) if trouble.is_refusal_of_order() && self.may_be_hidden() => {}
                // It waits for the rate limit and stays unclear.
                Err(held @ CallError::HeldBack { .. }) => return Verdict::CallError(held),
                // Still unclear: it must not be repeated before the order has been read.
                Err(trouble) => return Verdict::CallError(still_unclear(trouble)),
            }
        }
        if !self.may_send {
            return Verdict::NotDone;
        }
        if self.contact.platform.is_implied(self.call.kind, self.order) {
            return Verdict::Done(None);
        }
        match self.send(app, self.call.kind).await {
            Ok(Success::Done) => Verdict::Done(None),
            Ok(Success::Already) if self.can_read() => self.confirm(app).await,
            Ok(Success::Already) => Verdict::Done(None),
            // A courier, the customer or staff at the platform's tablet may have acted first; or an earlier step is missing.
            Err(trouble) if trouble.is_refusal_of_order() && self.can_read() => {
                self.explain(app, trouble).await
            }
            Err(trouble) => Verdict::CallError(trouble),
        }
    }

    /// The platform answered that the step was already done. The order is read to confirm it and to see who did it: some
    /// platforms give this answer for every state that does not fit.
    async fn confirm(&self, app: &App) -> Verdict {
        match self.read(app).await {
            Ok(seen) if self.is_done_in(&seen) => Verdict::Done(Some(seen)),
            Ok(seen) if status_on_platform(&seen).is_cancelled() => overtaken(seen),
            // The answer named the state, which the order does not show when it is read.
            Ok(seen) if !self.contact.platform.shows(self.call.kind) => Verdict::Done(Some(seen)),
            Ok(seen) if !self.missing_before(&seen).is_empty() => self.catch_up(app, &seen).await,
            Ok(seen) => Verdict::CallError(self.contradicted(&seen)),
            Err(trouble) if trouble.is_refusal_of_order() && self.may_be_hidden() => Verdict::Done(None),
            Err(trouble) => Verdict::CallError(still_unclear(trouble)),
        }
    }

    fn contradicted(&self, seen: &Sighting) -> CallError {
        let status = status_on_platform(seen);
        let message = PlatformFailure::Contradicted {
            status: status.code(),
            name: status.name().to_owned(),
        };
        CallError::retryable(message, RefusalCause::Conflict)
    }

    /// The platform refused: the order as it shows it says why, and whether that is final.
    async fn explain(&self, app: &App, refusal: CallError) -> Verdict {
        match self.read(app).await {
            Ok(seen) if self.is_done_in(&seen) => Verdict::Done(Some(seen)),
            Ok(seen) if status_on_platform(&seen).is_cancelled() => {
                Verdict::Overtaken(refusal.explanation(), seen)
            }
            // An earlier attempt got no answer, and now the order's state does not allow the step: it was done then. The order
            // shows neither when it is read.
            Ok(seen)
                if self.is_unclear
                    && !self.contact.platform.shows(self.call.kind)
                    && is_conflict(&refusal) =>
            {
                Verdict::Done(Some(seen))
            }
            Ok(seen) if !self.missing_before(&seen).is_empty() => self.catch_up(app, &seen).await,
            Ok(_) => Verdict::CallError(refusal),
            Err(trouble) if trouble.is_refusal_of_order() && self.may_be_hidden() => {
                Verdict::CallError(refusal)
            }
            Err(CallError::Refused { .. }) => Verdict::CallError(refusal),
            // The cause is still unknown.
            Err(_) => Verdict::CallError(CallError::retryable(refusal.explanation(), RefusalCause::Other)),
        }
    }

    /// Earlier steps that the platform wants and that it shows as missing.
    fn missing_before(&self, seen: &Sighting) -> Vec<CallKind> {
        if self.call.kind.is_question() {
            return Vec::new();
        }
        let platform = self.contact.platform;
        STEPS
            .into_iter()
            .filter(|step| step.progress() < self.call.kind.progress())
            .filter(|step| platform.shows(*step) && !self.shows_done(*step, seen))
            .filter(|step| platform.wants(*step, self.order, &self.contact.credentials))
            .filter(|step| !platform.is_implied(*step, self.order))
            .collect()
    }

    /// Sends the missing steps first, then this one.
    async fn catch_up(&self, app: &App, seen: &Sighting) -> Verdict {
        for step in self.missing_before(seen) {
            tracing::info!(order = %self.order.id, ?step, "resending a step that the platform is missing");
            if let Err(trouble) = self.send(app, step).await {
                return Verdict::CallError(trouble);
            }
        }
        let gap = self.contact.terms.between_moves;
        if !gap.is_zero() {
            return Verdict::CallError(CallError::NotYet {
                message: PlatformFailure::PauseBetweenMoves {
                    seconds: gap.as_secs(),
                }
                .into(),
                pause: gap,
                patience: gap * 10,
            });
        }
        match self.send(app, self.call.kind).await {
            Ok(Success::Done) => Verdict::Done(None),
            Ok(Success::Already) => match self.read(app).await {
                Ok(seen) if self.is_done_in(&seen) => Verdict::Done(Some(seen)),
                Ok(seen) => Verdict::CallError(self.contradicted(&seen)),
                Err(trouble) => Verdict::CallError(still_unclear(trouble)),
            },
            Err(trouble) => Verdict::CallError(trouble),
        }
    }

    fn can_read(&self) -> bool {
        self.contact.platform.capability().look
    }

    /// May the platform hide the order because it has been neither accepted nor cancelled?
    fn may_be_hidden(&self) -> bool {
        self.call.kind.is_question() && self.contact.platform.hides_unaccepted()
    }

    async fn send(&self, app: &App, kind: CallKind) -> Result<Success, CallError> {
        let call_request = CallRequest {
            call: kind,
            order: self.order,
            reason: self.call.argument.reason.as_ref(),
            note: self.call.argument.note.as_deref(),
            preparation_minutes: self.preparation_minutes,
            now: app.now(),
        };
        let platform = self.contact.platform;
        converse_if(
            app,
            self.contact,
            Topic::from(kind),
            self.until,
            || self.check_lease(app),
            |link| {
                if let Some(address) = platform.refused_address(&call_request, link) {
                    app.refused_addresses.note(platform.provider(), &address);
                }
                platform.write(&call_request, link)
            },
            |link, response| platform.outcome(kind, link, response),
        )
        .await
    }

    /// The lease may have ended while the request waited for a session or the platform's rate limit.
    fn check_lease(&self, app: &App) -> Result<(), CallError> {
        if app.may_make(self.call) {
            return Ok(());
        }
        Err(CallError::HeldBack {
            message: PlatformFailure::NotSentInTime.into(),
            room_in: AFTER_A_LOST_LEASE,
        })
    }

    async fn read(&self, app: &App) -> Result<Box<Sighting>, CallError> {
        let body = read_order(app, self.contact, self.order, self.until).await?;
        read_fetched(self.contact.platform, body, app.now())
    }

    /// An order that our own question may have cancelled, and that shows no other reason, was cancelled by us: some
    /// platforms do not say who cancelled. Then the order is not reported as cancelled by others.
    fn unless_ours(&self, seen: Box<Sighting>) -> Option<Box<Sighting>> {
        let ours = self
            .call
            .argument
            .reason
            .as_ref()
            .map(|reason| reason.id.as_str());
        let is_ours = self.call.kind == CallKind::Cancel
            && match &seen.change {
                Some(Change::Cancelled {
                    by: Actor::Platform,
                    reason,
                    ..
                }) => reason.as_ref().is_none_or(|said| Some(said.id.as_str()) == ours),
                _ => false,
            };
        (!is_ours).then_some(seen)
    }

    /// Does the order, as the platform shows it, mean that this call is done?
    fn is_done_in(&self, seen: &Sighting) -> bool {
        self.shows_done(self.call.kind, seen)
    }

    fn shows_done(&self, step: CallKind, seen: &Sighting) -> bool {
        let status = status_on_platform(seen);
        if status.is_cancelled() {
            return match step {
                CallKind::Cancel => true,
                CallKind::Tell(told) => told.is_cancelled(),
                CallKind::Verify | CallKind::Ready => false,
            };
        }
        match step {
            CallKind::Verify => status.code() > self.unverified_status().code(),
            CallKind::Cancel => false,
            CallKind::Ready => seen.is_ready || status.code() >= Status::OnTheWay.code(),
            CallKind::Tell(told) => status.code() >= told.code(),
        }
    }

    /// The status in which the order waited to be verified. A message or a poll may have moved it since: then the platform has
    /// agreed.
    fn unverified_status(&self) -> Status {
        match self.order.status {
            Status::Scheduled | Status::ScheduledAccepted => Status::Scheduled,
            _ => Status::New,
        }
    }
}

/// The steps of an order that a platform is notified of, in sequence.
const STEPS: [CallKind; 4] = [
    CallKind::Verify,
    CallKind::Ready,
    CallKind::Tell(Status::OnTheWay),
    CallKind::Tell(Status::Delivered),
];

fn is_conflict(trouble: &CallError) -> bool {
    let conflict = RefusalCause::Conflict;
    matches!(trouble, CallError::RetryableRefusal { cause, .. } if *cause == conflict)
}

fn overtaken(seen: Box<Sighting>) -> Verdict {
    Verdict::Overtaken(PlatformFailure::OrderCancelled.into(), seen)
}

fn still_unclear(trouble: CallError) -> CallError {
    CallError::unclear(trouble.explanation())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Terms;
    use crate::net::Log;
    use garson_core::id::CallId;
    use garson_core::integration::Credentials;
    use garson_core::order::CallArgument;
    use garson_core::platform::Provider;
    use garson_core::testing::{a_new_order, an_order};
    use std::sync::Arc;

    /// The missing steps of a Yemeksepeti order that is picked up here and new on its platform.
    fn missing(urls: &str) -> Vec<CallKind> {
        let contact = Contact {
            platform: garson_platforms::of(Provider::new("yemeksepeti")).unwrap(),
            account: None,
            terms: Arc::new(Terms::default()),
            branch: "b".to_owned(),
            credentials: Credentials::new(),
            log: Log::Every,
            max_answer: 1024,
            share: None,
            limit_wait: None,
            has_more: false,
        };
        let order = Order {
            status: Status::OnTheWay,
            provider_data: Some(format!(r#"{{"courier":"restaurant","urls":{urls}}}"#)),
            ..an_order("1")
        };
        let call = DueCall {
            id: CallId::at(order.created_at),
            account_id: order.account_id,
            order_id: order.id,
            integration_id: order.integration_id,
            kind: CallKind::Tell(Status::OnTheWay),
            argument: CallArgument::by(Actor::Account),
            attempts: 1,
            is_unclear: false,
            not_yet_since: None,
            created_at: order.created_at,
            node: None,
            leased_until: 0,
        };
        let attempt = Attempt {
            contact: &contact,
            order: &order,
            call: &call,
            preparation_minutes: None,
            is_unclear: false,
            may_send: true,
            until: Instant::now(),
        };
        let seen = Sighting {
            order: a_new_order("1"),
            change: None,
            is_ready: false,
        };
        attempt.missing_before(&seen)
    }

    #[test]
    fn step_that_the_platform_implies_is_not_missing() {
        let (accepted, picked_up) = (
            r#""accepted":"https://a.example/1""#,
            r#""pickedUp":"https://a.example/2""#,
        );
        assert_eq!(
            missing(&format!("{{{accepted},{picked_up}}}")),
            [CallKind::Verify]
        );
        assert!(missing(&format!("{{{picked_up}}}")).is_empty());
    }
}
