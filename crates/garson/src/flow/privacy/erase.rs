//! Erasing the data of a customer: a request, and its work in chunks.

use super::query::recorded;
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::{AccountId, ErasureId, OrderId};
use garson_core::privacy::CustomerQuery;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::lists::customers;
use garson_store::tables::erasures::{self, Erasure};
use garson_store::tables::{accounts, inbox};
use garson_store::upkeep::erase::{Erased, erase_order};
use serde_json::json;
use std::sync::Arc;

/// Orders examined at once. Reading does not hold up others.
const EXAMINED_AT_ONCE: i64 = 500;
/// Orders erased in one job: a few milliseconds of the writer's time.
const ERASED_AT_ONCE: usize = 10;
/// Requests that one account may run at the same time.
const MAX_OF_ACCOUNT: usize = 20;
/// Messages without an order that are looked through.
const MAX_MESSAGES: i64 = 1_000;
/// Requests that are listed.
const LISTED: i64 = 50;

/// Starts to erase a customer's data. If an earlier run of the same idempotent request has created the id, that one is returned.
pub async fn start(app: &App, by: By, id: ErasureId, query: CustomerQuery) -> Result<Erasure, Fault> {
    let (account, now) = (by.account, app.now());
    let vault = Arc::clone(&app.vault);
    let action = recorded(app, Verb::Erased, &query);
    let started = app
        .store
        .write(account, move |tx| {
            accounts::lock(tx, account)?;
            by.must_hold_primary(tx)?;
            if let Some(known) = erasures::find(tx, account, id)? {
                return Ok(known);
            }
            let limit = i64::try_from(MAX_OF_ACCOUNT).unwrap_or(i64::MAX);
            if erasures::running_of(tx, account, limit)?.len() >= MAX_OF_ACCOUNT {
                return Err(Fault::TooManyErasures);
            }
            let erasure = Erasure {
                id,
                account_id: account,
                last_position: accounts::last_position(tx, account)?,
                reached: 0,
                erased: 0,
                waiting: 0,
                created_at: now,
                finished_at: None,
            };
            erasures::start(tx, &vault, &erasure, &query)?;
            by.record(tx, action.clone(), now);
            Ok(erasure)
        })
        .await?;
    app.wake_privacy.notify_one();
    Ok(started)
}

pub async fn find(app: &App, account: AccountId, id: ErasureId) -> Result<Erasure, Fault> {
    let found = app
        .store
        .read(move |tx| Ok::<_, Fault>(erasures::find(tx, account, id)?))
        .await?;
    found.ok_or_else(|| Fault::not_found(Thing::Erasure, id))
}

pub async fn list(app: &App, account: AccountId) -> Result<Vec<Erasure>, Fault> {
    app.store
        .read(move |tx| Ok(erasures::list(tx, account, LISTED)?))
        .await
}

/// Does the next part of a request. Two nodes may do the same one: a part counts only if the progress is still the one that it was
/// read with.
pub(super) async fn advance(app: &App, erasure: Erasure) -> Result<(), Fault> {
    let (account, id) = (erasure.account_id, erasure.id);
    let vault = Arc::clone(&app.vault);
    let query = app
        .store
        .read(move |tx| Ok::<_, Fault>(erasures::query(tx, &vault, id)?))
        .await?;
    let Some(query) = query else {
        return Ok(());
    };
    let (wanted, range) = (query.clone(), (erasure.reached, erasure.last_position));
    let step = app
        .store
        .read(move |tx| Ok::<_, Fault>(customers::step(tx, account, &wanted, range, EXAMINED_AT_ONCE)?))
        .await?;
    let orders: Vec<(OrderId, i64)> = step.found.iter().map(|it| (it.id, it.position)).collect();
    let mut progress = erasure;
    let mut rest = orders.as_slice();
    // A part without matches is stored too.
    loop {
        let (some, others) = rest.split_at(rest.len().min(ERASED_AT_ONCE));
        rest = others;
        let is_last = rest.is_empty();
        let reached = if is_last {
            step.reached
        } else {
            some.last().map_or(step.reached, |(_, position)| *position)
        };
        let part = Part {
            orders: some.iter().map(|(order, _)| *order).collect(),
            reached,
            finishes: is_last && step.is_end,
        };
        let (before, now, query) = (progress.clone(), app.now(), query.clone());
        let done = app
            .store
            .write(account, move |tx| write_part(tx, &before, &part, &query, now))
            .await?;
        match done {
            Some(stored) if !is_last => progress = stored,
            _ => return Ok(()),
        }
    }
}

/// Orders to erase, and how far that brings the request.
struct Part {
    orders: Vec<OrderId>,
    reached: i64,
    finishes: bool,
}

/// Erases some orders and stores the progress; nothing when another node has done so.
fn write_part(
    tx: &mut Tx<'_>,
    before: &Erasure,
    part: &Part,
    query: &CustomerQuery,
    now: Timestamp,
) -> Result<Option<Erasure>, Fault> {
    let account = before.account_id;
    accounts::lock(tx, account)?;
    if erasures::find(tx, account, before.id)?.as_ref() != Some(before) {
        return Ok(None);
    }
    let mut after = Erasure {
        reached: part.reached,
        finished_at: part.finishes.then_some(now),
        ..before.clone()
    };
    for order in &part.orders {
        match erase_order(tx, account, *order, now, false)? {
            Erased::Done => after.erased += 1,
            Erased::NothingToDo => {}
            Erased::Open => {
                erasures::wait_for(tx, account, *order, now)?;
                after.waiting += 1;
            }
        }
    }
    if part.finishes {
        remove_messages(tx, account, query)?;
        let counts = json!({ "erased": after.erased, "waiting": after.waiting });
        let action = Recorded::new(RecordKind::Customer, Verb::Erased).id(before.id);
        By::system(account).record(tx, action.after(counts), now);
    }
    erasures::save(tx, &after)?;
    Ok(Some(after))
}

/// Removes messages about the customer that belong to no order.
fn remove_messages(tx: &mut Tx<'_>, account: AccountId, query: &CustomerQuery) -> Result<(), Fault> {
    for (id, body) in inbox::open_bodies(tx, account, MAX_MESSAGES)? {
        if query.is_in(&String::from_utf8_lossy(&body)) {
            inbox::remove(tx, id)?;
        }
    }
    Ok(())
}
