//! The account acts on an order: verify, advance, ready, cancel.
//!
//! What only has to be told moves at once. What the platform must agree to is asked: the call is written down, made
//! while the client waits, and the order moves when the platform has agreed.

use super::ask::{Pauses, Question, ask, join};
use super::reasons;
use crate::app::App;
use crate::flow::order_actions::calls::{DEADLINE, LEASE};
use crate::flow::platform_client::Contact;
use crate::flow::{Fault, persist};
use garson_core::id::{AccountId, CallId, OrderId};
use garson_core::order::{
    Action, Actor, CallArgument, CallKind, Input, Order, OrderContent, Status, TimelineLine, apply,
};
use garson_core::platform::Platform;
use garson_core::restaurant::{PaymentMatch, matched_id};
use garson_core::time::Timestamp;
use garson_store::tables::calls::{BlockingCall, DueCall, LeaseHolder, NewCall};
use garson_store::tables::idempotency::KeyedRequest;
use garson_store::tables::integrations::Connected;
use garson_store::tables::{calls, idempotency, integrations, nodes, orders, restaurants};
use garson_store::{StoreError, Tx};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long it is tried to withdraw a question while storage is unavailable, and the pause between tries. After that the
/// worker finds the call when its lease has ended.
const WITHDRAW_FOR: Duration = Duration::from_secs(60);
const WITHDRAW_AGAIN: Duration = Duration::from_millis(500);

/// The one order that an id in a path names.
pub fn find_one(tx: &mut Tx<'_>, account: AccountId, path_id: &str) -> Result<Order, Fault> {
    only_one(orders::find(tx, account, path_id)?, path_id)
}

pub(crate) fn only_one(mut found: Vec<Order>, id: &str) -> Result<Order, Fault> {
    match (found.pop(), found.len()) {
        (None, _) => Err(Fault::not_found("order", id)),
        (Some(order), 0) => Ok(order),
        (Some(last), _) => {
            let candidates = found.iter().map(|order| order.id).chain([last.id]).collect();
            Err(Fault::AmbiguousOrder {
                id: id.to_owned(),
                candidates,
            })
        }
    }
}

pub(crate) fn platform_of(order: &Order) -> Result<&'static dyn Platform, Fault> {
    garson_platforms::of(order.provider).ok_or_else(|| Fault::UnknownProvider {
        provider: order.provider.to_string(),
    })
}

/// An order with everything that is known of it.
pub struct OrderDetail {
    pub order: Order,
    pub content: OrderContent,
    pub timeline: Vec<TimelineLine>,
    /// The POS's own id for the way of paying.
    pub matched_id: Option<String>,
}

/// What the POS calls the way in which an order is paid, if that is matched.
pub(crate) fn pos_id(matches: &[PaymentMatch], order: &Order) -> Option<String> {
    let code = order.payment_code.as_deref();
    matched_id(matches, order.provider, order.payment_type, code).map(str::to_owned)
}

pub async fn detail(app: &App, account: AccountId, path_id: String) -> Result<OrderDetail, Fault> {
    app.store
        .read(move |tx| {
            let order = find_one(tx, account, &path_id)?;
            let matches = restaurants::payment_matches(tx, order.restaurant_id)?;
            Ok(OrderDetail {
                content: orders::content(tx, order.id)?,
                timeline: orders::timeline(tx, order.id)?,
                matched_id: pos_id(&matches, &order),
                order,
            })
        })
        .await
}

/// An order before and after something was done to it.
#[derive(Clone, Debug)]
pub struct Step {
    pub before: Status,
    pub after: Order,
}

pub async fn verify(app: &Arc<App>, account: AccountId, path_id: String) -> Result<Step, Fault> {
    act(app, Wish::of(account, path_id, Action::Verify), limit()).await
}

/// One step forward. Under a client's key the step is taken once, whatever happens in between.
pub async fn advance(
    app: &Arc<App>,
    account: AccountId,
    path_id: String,
    keyed: Option<Arc<KeyedRequest>>,
) -> Result<Step, Fault> {
    let wish = Wish::of(account, path_id, Action::Advance);
    act(app, Wish { keyed, ..wish }, limit()).await
}

/// One step forward for somebody who has seen the order at a status; refused if it stands elsewhere by now.
pub async fn advance_from(
    app: &Arc<App>,
    account: AccountId,
    path_id: String,
    seen: Status,
) -> Result<Step, Fault> {
    let (wish, seen) = (Wish::of(account, path_id, Action::Advance), Some(seen));
    act(app, Wish { seen, ..wish }, limit()).await
}

pub async fn ready(app: &Arc<App>, account: AccountId, path_id: String) -> Result<Step, Fault> {
    act(app, Wish::of(account, path_id, Action::Ready), limit()).await
}

/// Tells the platform again what it could not be told; an order of which it knows everything stays as it is.
pub async fn tell_again(app: &Arc<App>, account: AccountId, path_id: String) -> Result<Step, Fault> {
    let (holder, now) = (Arc::clone(app), app.now());
    let step = app
        .store
        .write(account, move |tx| {
            let named = find_one(tx, account, &path_id)?;
            let order = orders::lock(tx, named.id)?.ok_or_else(|| Fault::not_found("order", &path_id))?;
            let connected = integrations::by_id(tx, &holder.vault, order.integration_id)?;
            let after = match connected.and_then(|connected| holder.contact(&connected)) {
                Some(contact) => persist::tell_again(tx, &contact, &order, now)?,
                // The integration was removed: there is no platform to notify.
                None => order.clone(),
            };
            let before = order.status;
            Ok::<_, Fault>(Step { before, after })
        })
        .await?;
    app.wake_calls.look_at(step.after.integration_id);
    Ok(step)
}

/// Cancels with a reason that the platform accepts: the given one, the integration's usual one, or the first.
pub async fn cancel(
    app: &Arc<App>,
    account: AccountId,
    path_id: String,
    reason: Option<String>,
    note: Option<String>,
) -> Result<Step, Fault> {
    let until = limit();
    let reason = reasons::choose(app, account, path_id.clone(), reason, until).await?;
    let action = Action::Cancel { reason, note };
    act(app, Wish::of(account, path_id, action), until).await
}

/// How long a client waits for its answer.
fn limit() -> Instant {
    Instant::now() + DEADLINE
}

/// How far an action has come.
enum Progress {
    /// The order has moved, or had nothing to do.
    Finished(Box<Step>),
    /// The platform is to be asked by us.
    Ask(Box<Question>),
    /// Somebody else is asking the same already, of an order as it stands before that.
    Join(CallId, Box<Order>),
    /// Another call of the order is being made, which has to end first.
    Wait(Box<Order>),
}

/// What is left to be done for a client after its action was begun.
enum Begun {
    Ended(Box<Step>),
    Join(CallId, Box<Order>),
    Wait(Box<Order>),
}

async fn act(app: &Arc<App>, wish: Wish, until: Instant) -> Result<Step, Fault> {
    let wish = Arc::new(wish);
    loop {
        // In a task of its own: a client may disconnect, and its question must not stay written and leased but never put.
        let beginning = tokio::spawn(begin(Arc::clone(app), Arc::clone(&wish), until));
        match beginning.await.unwrap_or(Err(Fault::ProviderTimeout))? {
            Begun::Ended(step) => return Ok(*step),
            Begun::Join(call, before) => {
                app.wake_calls.look_at(before.integration_id);
                if let Some(step) = join(app, call, &before, &wish.action, until).await? {
                    return Ok(step);
                }
            }
            Begun::Wait(order) => {
                app.wake_calls.look_at(order.integration_id);
                wait_for_way(app, order.id, until).await?;
            }
        }
    }
}

/// Moves the order, or puts the question to its platform, unless another call is in the way.
async fn begin(app: Arc<App>, wish: Arc<Wish>, until: Instant) -> Result<Begun, Fault> {
    let (account, now) = (wish.account, app.now());
    let id = CallId::at(now);
    let holder = Arc::clone(&app);
    let progress = app
        .store
        .write(account, move |tx| wish.begin(tx, &holder, id, now))
        .await;
    match progress {
        Ok(Progress::Finished(step)) => {
            app.wake_calls.look_at(step.after.integration_id);
            Ok(Begun::Ended(step))
        }
        Ok(Progress::Ask(question)) => Ok(Begun::Ended(Box::new(ask(app, *question, until).await?))),
        Ok(Progress::Join(call, before)) => Ok(Begun::Join(call, before)),
        Ok(Progress::Wait(order)) => Ok(Begun::Wait(order)),
        Err(fault) => {
            if matches!(&fault, Fault::Store(error) if error.is_temporary()) {
                // The commit may have taken place all the same. The client is told that nothing was done.
                tokio::spawn(withdraw(app, account, id));
            }
            Err(fault)
        }
    }
}

/// Ends a question that was never put, if it was written, as soon as storage allows: a repeat of the client is then a new
/// question, and does not wait for one that this process does not make.
async fn withdraw(app: Arc<App>, account: AccountId, id: CallId) {
    let began = Instant::now();
    loop {
        let now = app.now();
        match app
            .store
            .write(account, move |tx| calls::withdraw(tx, id, now))
            .await
        {
            Ok(Some((order, integration))) => {
                app.calls_ended.wake(order);
                app.wake_calls.look_at(integration);
                return;
            }
            Ok(None) => return,
            Err(error) if StoreError::is_temporary(&error) && began.elapsed() < WITHDRAW_FOR => {
                tokio::time::sleep(WITHDRAW_AGAIN).await;
            }
            Err(error) => {
                tracing::warn!(%error, call = %id, "a question that was not put could not be withdrawn");
                return;
            }
        }
    }
}

/// Waits until no call of an order stands in the way of a question, looking without writing anything.
async fn wait_for_way(app: &Arc<App>, order: OrderId, until: Instant) -> Result<(), Fault> {
    let waiter = app.calls_ended.join(order);
    let mut pauses = Pauses::default();
    loop {
        let mut ended = pin!(waiter.ended());
        ended.as_mut().enable();
        let holder = Arc::clone(app);
        let in_the_way = app
            .store
            .read(move |tx| calls::blocking_call(tx, order, holder.maker().unwrap_or_else(LeaseHolder::none)))
            .await?;
        if in_the_way.is_none() {
            return Ok(());
        }
        if Instant::now() >= until {
            return Err(Fault::ProviderTimeout);
        }
        let _ended_or_not = tokio::time::timeout(pauses.longer(), ended).await;
    }
}

/// A question that is to be put.
struct Plan {
    /// The id that its call gets.
    call: CallId,
    kind: CallKind,
    connected: Connected,
    maker: LeaseHolder,
    in_the_way: Option<BlockingCall>,
}

/// A question belongs to the node that puts it, and this one is none just now: others have given it up, and it is about to
/// come back.
fn not_joined() -> Fault {
    Fault::Store(StoreError::unavailable("this node is not among the others"))
}

/// What a client wants.
struct Wish {
    account: AccountId,
    path_id: String,
    keyed: Option<Arc<KeyedRequest>>,
    /// The status that the client has seen, where that matters.
    seen: Option<Status>,
    action: Action,
}

impl Wish {
    fn of(account: AccountId, path_id: String, action: Action) -> Self {
        Self {
            account,
            path_id,
            keyed: None,
            seen: None,
            action,
        }
    }

    /// Moves the order, or writes the question down that its platform is to be asked.
    fn begin(&self, tx: &mut Tx<'_>, app: &App, call: CallId, now: Timestamp) -> Result<Progress, Fault> {
        let named = find_one(tx, self.account, &self.path_id)?;
        let before = orders::lock(tx, named.id)?.ok_or_else(|| Fault::not_found("order", &self.path_id))?;
        if self.seen.is_some_and(|seen| seen != before.status) {
            return Err(Fault::MovedOn);
        }
        let maker = app.maker();
        let in_the_way = calls::blocking_call(tx, before.id, maker.unwrap_or(LeaseHolder::none()))?;
        if let Some(status) = taken_before(tx, self.keyed.as_deref())? {
            match in_the_way {
                Some(way) if way.kind.is_question() => return self.join(tx, way, before, now),
                // The question was put, and came to nothing: it is put again.
                _ if status == before.status => {}
                _ => {
                    return Ok(Progress::Finished(Box::new(Step {
                        before: status,
                        after: before,
                    })));
                }
            }
        }
        let platform = platform_of(&before)?;
        let input = Input::Want(self.action.clone(), Actor::Account);
        // The integration may have been removed since; its order can still be brought to an end here.
        let connected = integrations::by_id(tx, &app.vault, before.integration_id)?;
        let asks = platform.capability().asks && connected.is_some();
        let question = apply(&before, &input, now, asks)?.ask;
        match (question, connected) {
            (Some(kind), Some(connected)) => {
                let maker = maker.ok_or_else(not_joined)?;
                let plan = Plan {
                    call,
                    kind,
                    connected,
                    maker,
                    in_the_way,
                };
                self.put_down(tx, before, plan, now)
            }
            (_, connected) => {
                let contact = Contact::new(app, platform, connected.as_ref());
                let input = match asks {
                    true => input,
                    // There is nobody to ask.
                    false => Input::Agreed(self.action.clone(), Actor::Account),
                };
                let after = persist::apply_and_write(tx, &contact, &before, &input, None, now)?;
                self.note(tx, &before)?;
                Ok(Progress::Finished(Box::new(Step {
                    before: before.status,
                    after,
                })))
            }
        }
    }

    fn put_down(&self, tx: &mut Tx<'_>, order: Order, plan: Plan, now: Timestamp) -> Result<Progress, Fault> {
        let Plan {
            call: id,
            kind,
            connected,
            maker,
            in_the_way,
        } = plan;
        match in_the_way {
            Some(way) if way.kind == kind => return self.join(tx, way, order, now),
            Some(way)
                if kind == CallKind::Cancel && self.drop_own_question(tx, &order, way, maker, now)? => {}
            Some(way) => {
                calls::make_due_now(tx, way.id, now)?;
                return Ok(Progress::Wait(Box::new(order)));
            }
            None => {}
        }
        if !nodes::is_member(tx, maker.node)? {
            return Err(not_joined());
        }
        if kind == CallKind::Cancel {
            // Nothing else is told while it is asked; whoever is about to, on another node, finds that it is not due.
            calls::delay_open(tx, order.id, now, now.plus(LEASE))?;
        }
        let argument = match &self.action {
            Action::Cancel { reason, note } => CallArgument {
                by: Actor::Account,
                reason: reason.clone(),
                note: note.clone(),
            },
            _ => CallArgument::by(Actor::Account),
        };
        let lease = maker.lease(LEASE);
        let written = NewCall {
            id,
            order: &order,
            kind,
            argument: Some(&argument),
            due_at: now,
            lease: Some(lease),
            created_at: now,
        };
        calls::create(tx, &written)?;
        self.note(tx, &order)?;
        Ok(Progress::Ask(Box::new(Question {
            preparation_minutes: persist::preparation_minutes(tx, &order)?,
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
                leased_until: lease.until,
            },
            order,
            connected,
        })))
    }

    /// Waits for a question that is put already; one that only waits for its next try is put now.
    fn join(
        &self,
        tx: &mut Tx<'_>,
        way: BlockingCall,
        order: Order,
        now: Timestamp,
    ) -> Result<Progress, Fault> {
        if !way.is_running {
            calls::make_due_now(tx, way.id, now)?;
        }
        Ok(Progress::Join(way.id, Box::new(order)))
    }

    /// An order that is to be cancelled need not be verified by the service any more.
    fn drop_own_question(
        &self,
        tx: &mut Tx<'_>,
        order: &Order,
        way: BlockingCall,
        maker: LeaseHolder,
        now: Timestamp,
    ) -> Result<bool, Fault> {
        let question = calls::open_question(tx, order.id, CallKind::Verify)?;
        let is_own = question.is_some_and(|call| call.id == way.id && call.argument.by == Actor::System);
        Ok(is_own && calls::abandon_unless_running(tx, order.id, way.id, maker, now)?)
    }

    fn note(&self, tx: &mut Tx<'_>, before: &Order) -> Result<(), Fault> {
        match &self.keyed {
            Some(keyed) => Ok(idempotency::record_step(tx, keyed, before.status.code())?),
            None => Ok(()),
        }
    }
}

/// The status from which a step has been taken under this key, by a run that did not live to answer.
fn taken_before(tx: &mut Tx<'_>, keyed: Option<&KeyedRequest>) -> Result<Option<Status>, Fault> {
    let Some(keyed) = keyed else { return Ok(None) };
    Ok(idempotency::completed_step(tx, keyed)?.and_then(Status::from_code))
}
