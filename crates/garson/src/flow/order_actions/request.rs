//! A requested action on an order, and its first transaction: the order moves, or a question for its platform is written.

use super::calls::LEASE;
use super::transition::Transition;
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::find_order::{lock_one, platform_of};
use crate::flow::platform_client::Contact;
use crate::flow::{By, Fault, persist};
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::CallId;
use garson_core::order::{Action, Actor, CallArgument, CallKind, Input, Order, Status, apply};
use garson_core::time::Timestamp;
use garson_store::tables::calls::{BlockingCall, DueCall, LeaseHolder, NewCall};
use garson_store::tables::idempotency::KeyedRequest;
use garson_store::tables::integrations::Connected;
use garson_store::tables::{calls, idempotency, integrations, nodes};
use garson_store::{StoreError, Tx};
use serde_json::{Value, json};
use std::sync::Arc;

/// What a client requests.
pub struct ActionRequest {
    pub by: By,
    pub path_id: String,
    pub keyed: Option<Arc<KeyedRequest>>,
    /// The status that the order must have.
    pub expected_status: Option<Status>,
    pub action: Action,
}

/// The result of a request's first transaction.
pub enum Progress {
    /// The order has moved, or there was nothing to do.
    Finished(Box<Transition>),
    /// The question is written and leased; this request puts it.
    Ask(Box<Question>),
    /// The same question is already being put, for the order as it was before.
    Join(CallId, Box<Order>),
    /// Another call of the order has to end first.
    Blocked(Box<Order>),
}

/// A question to a platform, written and leased.
pub struct Question {
    pub call: DueCall,
    pub order: Order,
    pub connected: Connected,
    pub preparation_minutes: Option<u32>,
}

/// A question that is to be written.
struct Plan {
    call: CallId,
    kind: CallKind,
    connected: Connected,
    maker: LeaseHolder,
    in_the_way: Option<BlockingCall>,
}

/// A question belongs to the node that puts it. Other nodes have declared this one dead, and it is about to join again.
fn not_joined() -> Fault {
    Fault::Store(StoreError::unavailable("this node is not among the others"))
}

impl ActionRequest {
    pub fn new(by: By, path_id: String, action: Action) -> Self {
        Self {
            by,
            path_id,
            keyed: None,
            expected_status: None,
            action,
        }
    }

    /// Moves the order, or writes the question for its platform.
    pub fn begin(&self, tx: &mut Tx<'_>, app: &App, call: CallId, now: Timestamp) -> Result<Progress, Fault> {
        let before = lock_one(tx, self.by.account, &self.path_id)?;
        if self
            .expected_status
            .is_some_and(|expected| expected != before.status)
        {
            return Err(Fault::MovedOn);
        }
        let maker = app.maker();
        let in_the_way = calls::blocking_call(tx, before.id, maker.unwrap_or(LeaseHolder::none()))?;
        if let Some(status) = status_of_interrupted_run(tx, self.keyed.as_deref())? {
            match in_the_way {
                Some(other) if other.kind.is_question() => return join(tx, other, before, now),
                // The question was put without success: it is put again.
                _ if status == before.status => {}
                _ => return Ok(finished(status, before)),
            }
        }
        let platform = platform_of(&before)?;
        let input = Input::Want(self.action.clone(), Actor::Account);
        // The integration may have been removed; its order can still be completed here.
        let connected = integrations::by_id(tx, &app.vault, before.integration_id)?;
        let asks = platform.capability().asks && connected.is_some();
        let question = apply(&before, &input, now, asks)?.ask;
        match (question, connected) {
            (Some(kind), Some(connected)) => {
                let plan = Plan {
                    call,
                    kind,
                    connected,
                    maker: maker.ok_or_else(not_joined)?,
                    in_the_way,
                };
                self.write_question(tx, before, plan, now)
            }
            (_, connected) => {
                let contact = Contact::new(app, platform, connected.as_ref());
                let input = if asks {
                    input
                } else {
                    // There is no platform to ask.
                    Input::Agreed(self.action.clone(), Actor::Account)
                };
                let after = persist::apply_and_write(tx, &contact, &before, &input, None, now)?;
                self.note_acted(tx, &before)?;
                if before.status != after.status || before.ready_at != after.ready_at {
                    self.record(tx, &before, json!({ "status": after.status.code() }), now);
                }
                Ok(finished(before.status, after))
            }
        }
    }

    fn write_question(
        &self,
        tx: &mut Tx<'_>,
        order: Order,
        plan: Plan,
        now: Timestamp,
    ) -> Result<Progress, Fault> {
        let Plan {
            call: id,
            kind,
            connected,
            maker,
            in_the_way,
        } = plan;
        match in_the_way {
            Some(other) if other.kind == kind => return join(tx, other, order, now),
            Some(other)
                if kind == CallKind::Cancel && abandon_own_question(tx, &order, other, maker, now)? => {}
            Some(other) => {
                calls::make_due_now(tx, other.id, now)?;
                return Ok(Progress::Blocked(Box::new(order)));
            }
            None => {}
        }
        if !nodes::is_member(tx, maker.node)? {
            return Err(not_joined());
        }
        if kind == CallKind::Cancel {
            // No other call is made while the question is open; a node that is about to make one finds that it is not due.
            calls::delay_open(tx, order.id, now, now.plus(LEASE))?;
        }
        let argument = self.call_argument();
        let lease = maker.lease(LEASE);
        let to_write = NewCall {
            id,
            order: &order,
            kind,
            argument: Some(&argument),
            due_at: now,
            lease: Some(lease),
            created_at: now,
        };
        calls::create(tx, &to_write)?;
        self.note_acted(tx, &order)?;
        // The platform is asked now; what it answers is in the order's timeline.
        self.record(tx, &order, json!({ "asked": true }), now);
        Ok(Progress::Ask(Box::new(Question {
            preparation_minutes: match argument.preparation_minutes {
                Some(chosen) => Some(chosen),
                None => persist::preparation_minutes(tx, &order)?,
            },
            call: DueCall {
                id,
                account_id: order.account_id,
                order_id: order.id,
                integration_id: order.integration_id,
                kind,
                argument,
                attempts: 1,
                is_unclear: false,
                not_yet_since: None,
                created_at: now,
                node: Some(lease.node),
                leased_until: lease.until,
            },
            order,
            connected,
        })))
    }

    fn call_argument(&self) -> CallArgument {
        match &self.action {
            Action::Cancel { reason, note } => CallArgument {
                by: Actor::Account,
                reason: reason.clone(),
                note: note.clone(),
                preparation_minutes: None,
            },
            Action::Verify { preparation_minutes } => CallArgument {
                preparation_minutes: *preparation_minutes,
                ..CallArgument::by(Actor::Account)
            },
            _ => CallArgument::by(Actor::Account),
        }
    }

    /// Records the action in the audit log. Notes may name the customer, so they are not recorded.
    fn record(&self, tx: &mut Tx<'_>, before: &Order, mut after: Value, now: Timestamp) {
        let verb = match &self.action {
            Action::Verify { .. } => Verb::Verified,
            Action::Advance => Verb::Advanced,
            Action::Ready => Verb::Readied,
            Action::Cancel { .. } => Verb::Cancelled,
        };
        if let Action::Cancel {
            reason: Some(reason), ..
        } = &self.action
        {
            after["reason"] = json!(reason.id);
        }
        let action = Recorded::new(RecordKind::Order, verb)
            .id(before.id)
            .restaurant(before.restaurant_id)
            .before(json!({ "status": before.status.code() }))
            .after(after);
        self.by.record(tx, action, now);
    }

    /// Records under the idempotency key from which status the step was taken.
    fn note_acted(&self, tx: &mut Tx<'_>, before: &Order) -> Result<(), Fault> {
        match &self.keyed {
            Some(keyed) => Ok(idempotency::record_step(tx, keyed, before.status.code())?),
            None => Ok(()),
        }
    }
}

fn finished(before: Status, after: Order) -> Progress {
    Progress::Finished(Box::new(Transition { before, after }))
}

/// Waits for a question that is already being put; one that only waits for its next try is put now.
fn join(tx: &mut Tx<'_>, other: BlockingCall, order: Order, now: Timestamp) -> Result<Progress, Fault> {
    if !other.is_running {
        calls::make_due_now(tx, other.id, now)?;
    }
    Ok(Progress::Join(other.id, Box::new(order)))
}

/// An order that is to be cancelled need not be verified by the service any more.
fn abandon_own_question(
    tx: &mut Tx<'_>,
    order: &Order,
    other: BlockingCall,
    maker: LeaseHolder,
    now: Timestamp,
) -> Result<bool, Fault> {
    let question = calls::open_question(tx, order.id, CallKind::Verify)?;
    let is_own = question.is_some_and(|call| call.id == other.id && call.argument.by == Actor::System);
    Ok(is_own && calls::abandon_unless_running(tx, order.id, other.id, maker, now)?)
}

/// The status from which an interrupted run with the same idempotency key took its step.
fn status_of_interrupted_run(tx: &mut Tx<'_>, keyed: Option<&KeyedRequest>) -> Result<Option<Status>, Fault> {
    let Some(keyed) = keyed else { return Ok(None) };
    Ok(idempotency::completed_step(tx, keyed)?.and_then(Status::from_code))
}
