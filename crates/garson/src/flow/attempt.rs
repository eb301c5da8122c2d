//! One attempt at a call: read first what an earlier one has left unclear, send, and look at who did it.

use super::line::{Contact, converse};
use super::receive::read_fetched;
use crate::app::App;
use crate::telemetry::Topic;
use garson_core::order::{Actor, CallArgument, CallKind, Change, Order, Status};
use garson_core::platform::{Errand, Sighting, Success, Trouble};
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
    Overtaken(String, Box<Sighting>),
    Trouble(Trouble),
}

impl Attempt<'_> {
    pub async fn make(&self, app: &App) -> Verdict {
        let can_look = self.contact.platform.capability().look;
        if self.is_unclear && can_look {
            match self.look(app).await {
                Ok(seen) if self.is_done_in(&seen) => return Verdict::Done(self.credited(seen)),
                Ok(seen) if reached(&seen).is_cancelled() => {
                    return Verdict::Overtaken("the order was cancelled".to_owned(), seen);
                }
                Ok(_) => {}
                // Some platforms show an order only after it was accepted or cancelled.
                Err(Trouble::Refused { .. }) if self.kind.is_question() => {}
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
        match self.send(app).await {
            Ok(Success::Done) => Verdict::Done(None),
            Ok(Success::Already) if can_look => self.see_who(app).await,
            Ok(Success::Already) => Verdict::Done(None),
            // The platform's courier, the customer, or somebody at its tablet may have been faster.
            Err(trouble @ Trouble::Refused { .. }) if can_look => match self.look(app).await {
                Ok(seen) if self.is_done_in(&seen) => Verdict::Done(Some(seen)),
                Ok(seen) if reached(&seen).is_cancelled() => Verdict::Overtaken(trouble.to_string(), seen),
                _ => Verdict::Trouble(trouble),
            },
            Err(trouble) => Verdict::Trouble(trouble),
        }
    }

    /// The platform says that it was so already: who did it shows when the order is read. Some platforms say so of every
    /// state that does not fit; a question that the order contradicts was refused.
    async fn see_who(&self, app: &App) -> Verdict {
        match self.look(app).await {
            Ok(seen) if self.kind == CallKind::Verify && reached(&seen).is_cancelled() => {
                Verdict::Overtaken("the order was cancelled".to_owned(), seen)
            }
            Ok(seen) if self.kind.is_question() && !self.is_done_in(&seen) => {
                Verdict::Trouble(Trouble::refused(format!(
                    "the platform says that it was so already, but its order is at {}",
                    reached(&seen)
                )))
            }
            Ok(seen) => Verdict::Done(Some(seen)),
            // There is nothing to be seen, so its word counts.
            Err(Trouble::Refused { .. }) => Verdict::Done(None),
            Err(trouble) if self.kind.is_question() => Verdict::Trouble(still_unclear(trouble)),
            Err(_) => Verdict::Done(None),
        }
    }

    async fn send(&self, app: &App) -> Result<Success, Trouble> {
        let errand = Errand {
            call: self.kind,
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
            Topic::from(self.kind),
            self.until,
            |link| platform.write(&errand, link),
            |link, response| platform.outcome(self.kind, link, response),
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
        let reached = reached(seen);
        match self.kind {
            CallKind::Verify => !reached.is_cancelled() && reached.code() > self.waited_at().code(),
            CallKind::Cancel => reached.is_cancelled(),
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

fn still_unclear(trouble: Trouble) -> Trouble {
    Trouble::unclear(trouble.to_string())
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
