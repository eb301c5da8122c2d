//! One attempt at a call: read first what an earlier one has left unclear, send, and look at who did it.

use crate::app::App;
use crate::flow::intake::receive::read_fetched;
use crate::flow::platform_client::{Contact, converse};
use crate::telemetry::Topic;
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::order::{Actor, CallArgument, CallKind, Change, Order, Status};
use garson_core::platform::{Errand, RefusalCause, Sighting, Success, Trouble};
use tokio::time::Instant;

/// What is to be attempted.
pub struct Attempt<'a> {
    pub contact: &'a Contact,
    pub order: &'a Order,
    pub kind: CallKind,
    pub argument: &'a CallArgument,
    pub preparation_minutes: Option<u32>,
    /// An earlier attempt may have done it.
    pub is_unclear: bool,
    /// A client's question is never put again: only what became of it is found out.
    pub may_send: bool,
    pub until: Instant,
}

/// What came of it.
#[derive(Debug)]
pub enum Verdict {
    /// It is done; what the platform shows of the order, where it had to be looked at.
    Done(Option<Box<Sighting>>),
    /// It was not done, and is not to be sent again.
    NotDone,
    /// It was not done, because the order is cancelled there; what the platform says, and shows of the order.
    Overtaken(Explanation, Box<Sighting>),
    Trouble(Trouble),
}

impl Attempt<'_> {
    pub async fn make(&self, app: &App) -> Verdict {
        if self.is_unclear && self.can_look() {
            match self.look(app).await {
                Ok(seen) if self.is_done_in(&seen) => return Verdict::Done(self.credited(seen)),
                Ok(seen) if reached(&seen).is_cancelled() => return overtaken(seen),
                Ok(seen) if self.may_send && !self.missing_before(&seen).is_empty() => {
                    return self.catch_up(app, &seen).await;
                }
                Ok(_) => {}
                Err(trouble) if trouble.is_refusal_of_order() && self.may_be_hidden() => {}
                // It waits for its turn, and stays as unclear as it is.
                Err(held @ Trouble::HeldBack { .. }) => return Verdict::Trouble(held),
                // Still unclear: nothing may be repeated before it has been read.
                Err(trouble) => return Verdict::Trouble(still_unclear(trouble)),
            }
        }
        if !self.may_send {
            return Verdict::NotDone;
        }
        if self.contact.platform.is_implied(self.kind, self.order) {
            return Verdict::Done(None);
        }
        match self.send(app, self.kind).await {
            Ok(Success::Done) => Verdict::Done(None),
            Ok(Success::Already) if self.can_look() => self.confirm(app).await,
            Ok(Success::Already) => Verdict::Done(None),
            // A courier, the customer or staff at the platform's tablet may have been faster; or an earlier step is missing.
            Err(trouble) if trouble.is_refusal_of_order() && self.can_look() => {
                self.explain(app, trouble).await
            }
            Err(trouble) => Verdict::Trouble(trouble),
        }
    }

    /// The platform says that it was so already: the order has to show it, and who did it. Some platforms say so of every state
    /// that does not fit.
    async fn confirm(&self, app: &App) -> Verdict {
        match self.look(app).await {
            Ok(seen) if self.is_done_in(&seen) => Verdict::Done(Some(seen)),
            Ok(seen) if reached(&seen).is_cancelled() => overtaken(seen),
            // It named the state itself, which the order does not show when it is read.
            Ok(seen) if !self.contact.platform.shows(self.kind) => Verdict::Done(Some(seen)),
            Ok(seen) if !self.missing_before(&seen).is_empty() => self.catch_up(app, &seen).await,
            Ok(seen) => Verdict::Trouble(self.contradicted(&seen)),
            Err(trouble) if trouble.is_refusal_of_order() && self.may_be_hidden() => Verdict::Done(None),
            Err(held @ Trouble::HeldBack { .. }) if !self.kind.is_question() => Verdict::Trouble(held),
            Err(trouble) => Verdict::Trouble(still_unclear(trouble)),
        }
    }

    fn contradicted(&self, seen: &Sighting) -> Trouble {
        let status = reached(seen);
        let message = PlatformFailure::Contradicted {
            status: status.code(),
            name: status.name().to_owned(),
        };
        Trouble::retryable(message, RefusalCause::Conflict)
    }

    /// The platform has refused: what it shows of the order says why, and whether that is final.
    async fn explain(&self, app: &App, refusal: Trouble) -> Verdict {
        match self.look(app).await {
            Ok(seen) if self.is_done_in(&seen) => Verdict::Done(Some(seen)),
            Ok(seen) if reached(&seen).is_cancelled() => Verdict::Overtaken(refusal.explanation(), seen),
            // An earlier try went unanswered, and now the order's state does not allow the step: it was done then. The order
            // shows neither when it is read.
            Ok(seen)
                if self.is_unclear && !self.contact.platform.shows(self.kind) && is_conflict(&refusal) =>
            {
                Verdict::Done(Some(seen))
            }
            Ok(seen) if !self.missing_before(&seen).is_empty() => self.catch_up(app, &seen).await,
            Ok(_) => Verdict::Trouble(refusal),
            Err(trouble) if trouble.is_refusal_of_order() && self.may_be_hidden() => {
                Verdict::Trouble(refusal)
            }
            Err(Trouble::Refused { .. }) => Verdict::Trouble(refusal),
            // Nobody knows yet why.
            Err(_) => Verdict::Trouble(Trouble::retryable(refusal.explanation(), RefusalCause::Other)),
        }
    }

    /// The steps before this one that the platform wants and that it shows to be missing.
    fn missing_before(&self, seen: &Sighting) -> Vec<CallKind> {
        if self.kind.is_question() {
            return Vec::new();
        }
        let platform = self.contact.platform;
        STEPS
            .into_iter()
            .filter(|step| step.progress() < self.kind.progress())
            .filter(|step| platform.shows(*step) && !self.shows_done(*step, seen))
            .filter(|step| platform.wants(*step, self.order, &self.contact.credentials))
            .filter(|step| !platform.is_implied(*step, self.order))
            .collect()
    }

    /// Sends the missing steps first, and then this one.
    async fn catch_up(&self, app: &App, seen: &Sighting) -> Verdict {
        for step in self.missing_before(seen) {
            tracing::info!(order = %self.order.id, ?step, "a step that the platform lacks is sent again");
            if let Err(trouble) = self.send(app, step).await {
                return Verdict::Trouble(trouble);
            }
        }
        let gap = self.contact.terms.between_moves;
        if !gap.is_zero() {
            return Verdict::Trouble(Trouble::NotYet {
                message: PlatformFailure::PauseBetweenMoves {
                    seconds: gap.as_secs(),
                }
                .into(),
                pause: gap,
                patience: gap * 10,
            });
        }
        match self.send(app, self.kind).await {
            Ok(Success::Done) => Verdict::Done(None),
            Ok(Success::Already) => match self.look(app).await {
                Ok(seen) if self.is_done_in(&seen) => Verdict::Done(Some(seen)),
                Ok(seen) => Verdict::Trouble(self.contradicted(&seen)),
                Err(trouble) => Verdict::Trouble(still_unclear(trouble)),
            },
            Err(trouble) => Verdict::Trouble(trouble),
        }
    }

    fn can_look(&self) -> bool {
        self.contact.platform.capability().look
    }

    /// May the order be missing when it is read, because it has been neither accepted nor cancelled?
    fn may_be_hidden(&self) -> bool {
        self.kind.is_question() && self.contact.platform.hides_unaccepted()
    }

    async fn send(&self, app: &App, kind: CallKind) -> Result<Success, Trouble> {
        let errand = Errand {
            call: kind,
            order: self.order,
            reason: self.argument.reason.as_ref(),
            note: self.argument.note.as_deref(),
            preparation_minutes: self.preparation_minutes,
            now: app.now(),
        };
        let platform = self.contact.platform;
        converse(
            app,
            self.contact,
            Topic::from(kind),
            self.until,
            |link| {
                if let Some(address) = platform.refused_address(&errand, link) {
                    app.lines.refused.note(platform.provider(), &address);
                }
                platform.write(&errand, link)
            },
            |link, response| platform.outcome(kind, link, response),
        )
        .await
    }

    pub async fn look(&self, app: &App) -> Result<Box<Sighting>, Trouble> {
        let body = look(app, self.contact, self.order, self.until).await?;
        read_fetched(self.contact.platform, body, app.now())
    }

    /// An order that our own question may have cancelled, and that shows no other reason, was cancelled by us: some
    /// platforms do not say by whom.
    fn credited(&self, seen: Box<Sighting>) -> Option<Box<Sighting>> {
        let ours = self.argument.reason.as_ref().map(|reason| reason.id.as_str());
        let is_ours = self.kind == CallKind::Cancel
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

    /// Does what the platform shows mean that this call is done?
    #[must_use]
    pub fn is_done_in(&self, seen: &Sighting) -> bool {
        self.shows_done(self.kind, seen)
    }

    fn shows_done(&self, step: CallKind, seen: &Sighting) -> bool {
        let reached = reached(seen);
        if reached.is_cancelled() {
            return match step {
                CallKind::Cancel => true,
                CallKind::Tell(status) => status.is_cancelled(),
                CallKind::Verify | CallKind::Ready => false,
            };
        }
        match step {
            CallKind::Verify => reached.code() > self.waited_at().code(),
            CallKind::Cancel => false,
            CallKind::Ready => seen.is_ready || reached.code() >= Status::OnTheWay.code(),
            CallKind::Tell(status) => reached.code() >= status.code(),
        }
    }
}

impl Attempt<'_> {
    /// Where the order waited to be verified. A message or a list may have moved it since: the platform has agreed then.
    fn waited_at(&self) -> Status {
        match self.order.status {
            Status::Scheduled | Status::ScheduledAccepted => Status::Scheduled,
            _ => Status::New,
        }
    }
}

/// The steps of an order that its platform can be told of, in their order.
const STEPS: [CallKind; 4] = [
    CallKind::Verify,
    CallKind::Ready,
    CallKind::Tell(Status::OnTheWay),
    CallKind::Tell(Status::Delivered),
];

fn is_conflict(trouble: &Trouble) -> bool {
    let conflict = RefusalCause::Conflict;
    matches!(trouble, Trouble::RetryableRefusal { cause, .. } if *cause == conflict)
}

fn overtaken(seen: Box<Sighting>) -> Verdict {
    Verdict::Overtaken(PlatformFailure::OrderCancelled.into(), seen)
}

fn still_unclear(trouble: Trouble) -> Trouble {
    Trouble::unclear(trouble.explanation())
}

/// Where an order stands on its platform.
#[must_use]
pub fn reached(seen: &Sighting) -> Status {
    match &seen.change {
        Some(Change::Moved { to, .. }) => *to,
        Some(Change::Cancelled { by, .. }) => by.cancelled_status(),
        None => seen.order.status,
    }
}

/// Reads an order from its platform, as a document.
pub async fn look(app: &App, contact: &Contact, order: &Order, until: Instant) -> Result<Vec<u8>, Trouble> {
    let platform = contact.platform;
    converse(
        app,
        contact,
        Topic::Look,
        until,
        |link| platform.look(order, link),
        |link, response| platform.looked(link, response),
    )
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Terms;
    use crate::net::Log;
    use garson_core::integration::Credentials;
    use garson_core::platform::Provider;
    use garson_core::testing::{a_new_order, an_order};
    use std::sync::Arc;

    /// The steps that are missing of a Yemeksepeti order that is picked up and that its platform shows as new.
    fn missing(urls: &str) -> Vec<CallKind> {
        let contact = Contact {
            platform: garson_platforms::of(Provider::new("yemeksepeti")).unwrap(),
            account: None,
            terms: Arc::new(Terms::default()),
            branch: "b".to_owned(),
            credentials: Credentials::new(),
            log: Log::Every,
            share: None,
        };
        let order = Order {
            status: Status::OnTheWay,
            provider_data: Some(format!(r#"{{"courier":"restaurant","urls":{urls}}}"#)),
            ..an_order("1")
        };
        let attempt = Attempt {
            contact: &contact,
            order: &order,
            kind: CallKind::Tell(Status::OnTheWay),
            argument: &CallArgument::by(Actor::Account),
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
    fn a_step_that_the_platform_implies_is_not_missing() {
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
