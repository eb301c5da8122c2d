//! The rules by which an order changes: one pure function from an order and an input to a decision.

use super::{
    Action, Actor, CallKind, Cancellation, Change, NewOrder, Order, ProviderSync, Status, TimelineLine,
    TimelineReason,
};
use crate::event::{EventKind, NewEvent};
use crate::id::{AccountId, IntegrationId, OrderId, RestaurantId};
use crate::platform::Provider;
use crate::time::Timestamp;
use std::fmt;

/// What happens to an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The platform reports.
    Report(Change),
    /// The account or the service requests an action; platforms that require consent are asked first.
    Want(Action, Actor),
    /// The platform has consented to the action.
    Agreed(Action, Actor),
}

/// What follows from an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub order: Order,
    pub timeline: Vec<TimelineLine>,
    pub events: Vec<NewEvent>,
    /// The platform must consent to this call before the order changes.
    pub ask: Option<CallKind>,
    /// Calls that inform the platform, in this sequence, when its rate limits allow.
    pub tell: Vec<CallKind>,
}

impl Decision {
    /// Whether the order has changed.
    #[must_use]
    pub fn is_change(&self, before: &Order) -> bool {
        self.order != *before
    }
}

/// Why an action is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is delivered or cancelled: there is no next status.
    NoNextStatus(Status),
    /// It is for later.
    NotDue { scheduled_for: Option<Timestamp> },
    /// It is cancelled.
    IsCancelled(Status),
    /// Only an order in preparation can be ready.
    NotPreparing(Status),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNextStatus(status) => write!(f, "The order is at {status}, which has no next status."),
            Self::NotDue {
                scheduled_for: Some(at),
            } => write!(f, "The order is pre-approved and due at {at}."),
            Self::NotDue { scheduled_for: None } => f.write_str("The order is pre-approved and not due yet."),
            Self::IsCancelled(status) => write!(f, "The order is cancelled: {status}."),
            Self::NotPreparing(status) => write!(f, "The order is at {status}, not in preparation."),
        }
    }
}

impl std::error::Error for Refusal {}

/// Whose order a new one is.
#[derive(Clone, Copy, Debug)]
pub struct OrderOwner {
    pub account_id: AccountId,
    pub restaurant_id: RestaurantId,
    pub integration_id: IntegrationId,
    pub provider: Provider,
}

/// Records a new order. With `auto_verify` the service verifies it at once, or asks the platform for consent if `asks`.
#[must_use]
pub fn place(
    id: OrderId,
    home: OrderOwner,
    new: &NewOrder,
    at: Timestamp,
    asks: bool,
    auto_verify: bool,
) -> Decision {
    let order = Order {
        id,
        account_id: home.account_id,
        restaurant_id: home.restaurant_id,
        integration_id: home.integration_id,
        provider: home.provider,
        provider_order_id: new.provider_order_id.clone(),
        identity: new.identity.clone(),
        short_code: new.short_code.clone(),
        status: new.status,
        provider_status: new.provider_status.clone(),
        provider_data: new.provider_data.clone(),
        sequence: 0,
        total: new.content.amount.total,
        currency: new.content.amount.currency,
        payment_type: new.content.payment.kind,
        payment_code: new.content.payment.provider_code.clone(),
        placed_at: new.placed_at.unwrap_or(at),
        accept_by: new.accept_by,
        scheduled_for: new.scheduled_for,
        ready_at: None,
        reported_at: None,
        created_at: at,
        updated_at: at,
        revision: 1,
        content_version: new.version.number(),
        cancellation: None,
        preparation_minutes: None,
        sync: ProviderSync::NotNeeded,
        flag: None,
    };
    let mut draft = Draft::of(order, at);
    draft.timeline(None, new.status, Actor::Platform, TimelineReason::Arrived);
    draft.event(EventKind::Created { status: new.status });
    if auto_verify && matches!(new.status, Status::New | Status::Scheduled) {
        draft.verify_or_ask(Actor::System, asks, TimelineReason::VerifiedAutomatically);
    }
    draft.decide()
}

/// Decides the result of `input`; `asks` says whether the platform must consent first.
pub fn apply(order: &Order, input: &Input, at: Timestamp, asks: bool) -> Result<Decision, Refusal> {
    let draft = Draft::of(order.clone(), at);
    match input {
        Input::Report(change) => Ok(report(draft, change, asks)),
        Input::Want(action, by) => want(draft, action, *by, asks),
        Input::Agreed(action, by) => want(draft, action, *by, false),
    }
}

fn report(mut draft: Draft, change: &Change, asks: bool) -> Decision {
    match change {
        Change::Moved {
            to,
            by,
            provider_status,
        } if draft.order.status.can_move_to(*to) && !to.is_cancelled() => {
            let was_pre_approved = draft.order.status == Status::ScheduledAccepted;
            draft.provider_status(provider_status.as_ref());
            draft.move_to(*to, *by, TimelineReason::Reported);
            if was_pre_approved && *to == Status::New {
                draft.verify_or_ask(Actor::System, asks, TimelineReason::PreApprovedAndDue);
            }
        }
        Change::Cancelled {
            by,
            reason,
            note,
            provider_status,
        } if !draft.order.status.is_cancelled() => {
            draft.provider_status(provider_status.as_ref());
            let at = draft.at;
            draft.cancel(Cancellation {
                by: *by,
                reason: reason.clone(),
                note: note.clone(),
                at,
            });
        }
        // The status is the same; only the platform's word for it may be new.
        Change::Moved {
            to, provider_status, ..
        } if *to == draft.order.status => draft.provider_status(provider_status.as_ref()),
        // Late or repeated: the order is further along already.
        Change::Moved { .. } | Change::Cancelled { .. } => {}
    }
    draft.decide()
}

fn want(mut draft: Draft, action: &Action, by: Actor, asks: bool) -> Result<Decision, Refusal> {
    let status = draft.order.status;
    match action {
        Action::Verify { preparation_minutes } => {
            let was_waiting = matches!(status, Status::New | Status::Scheduled);
            verify(&mut draft, by, asks)?;
            if was_waiting && !asks {
                draft.order.preparation_minutes = *preparation_minutes;
            }
        }
        Action::Advance => match status {
            Status::Scheduled | Status::New => verify(&mut draft, by, asks)?,
            Status::ScheduledAccepted => {
                return Err(Refusal::NotDue {
                    scheduled_for: draft.order.scheduled_for,
                });
            }
            Status::Preparing => {
                draft.ready();
                draft.move_and_tell(Status::OnTheWay, by, TimelineReason::Advanced);
            }
            Status::OnTheWay => draft.move_and_tell(Status::Delivered, by, TimelineReason::Advanced),
            Status::Delivered | Status::Cancelled | Status::CancelledByPlatform => {
                return Err(Refusal::NoNextStatus(status));
            }
        },
        Action::Ready => match status {
            Status::Preparing => draft.ready(),
            Status::OnTheWay | Status::Delivered => {}
            Status::Cancelled | Status::CancelledByPlatform => return Err(Refusal::IsCancelled(status)),
            Status::Scheduled | Status::ScheduledAccepted | Status::New => {
                return Err(Refusal::NotPreparing(status));
            }
        },
        Action::Cancel { .. } if status.is_cancelled() => {}
        Action::Cancel { .. } if asks => draft.ask = Some(CallKind::Cancel),
        Action::Cancel { reason, note } => {
            let at = draft.at;
            draft.cancel(Cancellation {
                by,
                reason: reason.clone(),
                note: note.clone(),
                at,
            });
            draft.tell = vec![CallKind::Tell(draft.order.status)];
        }
    }
    Ok(draft.decide())
}

fn verify(draft: &mut Draft, by: Actor, asks: bool) -> Result<(), Refusal> {
    match draft.order.status {
        Status::New | Status::Scheduled => {
            draft.verify_or_ask(by, asks, TimelineReason::Verified);
            Ok(())
        }
        // A client may repeat a request after a network failure.
        Status::ScheduledAccepted | Status::Preparing | Status::OnTheWay | Status::Delivered => Ok(()),
        status @ (Status::Cancelled | Status::CancelledByPlatform) => Err(Refusal::IsCancelled(status)),
    }
}

/// A decision in the making.
pub(super) struct Draft {
    pub(super) order: Order,
    at: Timestamp,
    pub(super) timeline: Vec<TimelineLine>,
    events: Vec<NewEvent>,
    ask: Option<CallKind>,
    tell: Vec<CallKind>,
}

impl Draft {
    pub(super) fn of(order: Order, at: Timestamp) -> Self {
        Self {
            order,
            at,
            timeline: Vec::new(),
            events: Vec::new(),
            ask: None,
            tell: Vec::new(),
        }
    }

    fn verify_or_ask(&mut self, by: Actor, asks: bool, why: TimelineReason) {
        if asks {
            self.ask = Some(CallKind::Verify);
        } else if self.order.status == Status::Scheduled {
            self.move_and_tell(Status::ScheduledAccepted, by, why);
        } else {
            self.move_and_tell(Status::Preparing, by, why);
        }
    }

    fn move_and_tell(&mut self, to: Status, by: Actor, why: TimelineReason) {
        self.move_to(to, by, why);
        self.tell.push(CallKind::Tell(to));
    }

    fn move_to(&mut self, to: Status, by: Actor, why: TimelineReason) {
        let from = self.order.status;
        self.order.status = to;
        self.order.updated_at = self.at;
        self.timeline(Some(from), to, by, why);
        self.event(EventKind::Moved { from, to, by });
    }

    fn cancel(&mut self, cancellation: Cancellation) {
        let from = self.order.status;
        let to = cancellation.by.cancelled_status();
        self.order.status = to;
        self.order.updated_at = self.at;
        let why = cancellation
            .reason
            .as_ref()
            .map_or(TimelineReason::Cancelled, |reason| {
                TimelineReason::text(&reason.name)
            });
        self.timeline(Some(from), to, cancellation.by, why);
        self.order.cancellation = Some(cancellation.clone());
        self.event(EventKind::Cancelled {
            status: to,
            cancellation,
        });
    }

    fn ready(&mut self) {
        if self.order.ready_at.is_none() {
            self.order.ready_at = Some(self.at);
            self.order.updated_at = self.at;
            self.tell.push(CallKind::Ready);
        } else if matches!(self.order.sync, ProviderSync::Failed { .. }) {
            // The call failed before: send it again.
            self.tell.push(CallKind::Ready);
        }
    }

    fn provider_status(&mut self, provider_status: Option<&String>) {
        if let Some(words) = provider_status {
            self.order.provider_status = Some(words.clone());
        }
    }

    fn timeline(&mut self, from: Option<Status>, to: Status, by: Actor, why: TimelineReason) {
        self.timeline.push(TimelineLine {
            at: self.at,
            from,
            to,
            by,
            why: Some(why),
            revision: None,
        });
    }

    pub(super) fn event(&mut self, kind: EventKind) {
        self.order.sequence += 1;
        self.events.push(NewEvent {
            sequence: self.order.sequence,
            kind,
        });
    }

    pub(super) fn decide(self) -> Decision {
        let Self {
            order,
            timeline,
            events,
            ask,
            tell,
            ..
        } = self;
        Decision {
            order,
            timeline,
            events,
            ask,
            tell,
        }
    }
}

#[cfg(test)]
#[path = "apply_tests.rs"]
mod tests;
