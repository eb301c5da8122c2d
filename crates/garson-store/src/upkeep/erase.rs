//! Erases the customer's personal data from an order and from everything that was stored with it. What is counted stays: items,
//! amounts, payment, times, statuses.
//!
//! An erased order can be listed, read and exported as before, without the customer. Its events keep their ids, sequence and state;
//! one that is not delivered yet is delivered without personal data. Its raw messages are removed.

use crate::engine::in_list::remove;
use crate::lists::search;
use crate::tables::accounts;
use crate::tables::json::{from_json, to_json};
use crate::tables::orders;
use crate::tables::row::{tuple, value};
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, EventId, OrderId};
use garson_core::order::{Cancellation, ContentChange, TimelineReason};
use garson_core::privacy::{erase_cancellation, erase_changes, erase_content, erase_event, erased_reason};
use garson_core::time::Timestamp;

/// What became of an order that was to be erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erased {
    Done,
    /// It was erased before, or is gone.
    NothingToDo,
    /// It is still open: whoever prepares and delivers it needs the data.
    Open,
}

/// Erases one order. `even_if_open`: also one that has not ended. The caller holds the account's lock.
pub fn erase_order(
    tx: &mut Tx<'_>,
    account: AccountId,
    id: OrderId,
    now: Timestamp,
    even_if_open: bool,
) -> Result<Erased> {
    let row = tx.query_opt(
        "SELECT position, status, erased_at, cancellation FROM orders WHERE id = ?1 AND account_id = ?2 {lock}",
        params![&id, &account],
        tuple::<(i64, i64, Option<i64>, Option<String>)>,
    )?;
    let Some((position, status, erased_at, cancellation)) = row else {
        return Ok(Erased::NothingToDo);
    };
    if erased_at.is_some() {
        return Ok(Erased::NothingToDo);
    }
    if status < 900 && !even_if_open {
        return Ok(Erased::Open);
    }
    tx.execute(
        "UPDATE orders SET erased_at = ?2 WHERE id = ?1",
        params![&id, now],
    )?;
    erase_all(tx, account, id, position, cancellation)?;
    Ok(Erased::Done)
}

/// Erases what a late message has brought to an order that was erased before. The caller holds the order's lock.
pub fn erase_again(tx: &mut Tx<'_>, account: AccountId, id: OrderId) -> Result<()> {
    let row = tx.query_opt(
        "SELECT position, cancellation FROM orders WHERE id = ?1 AND account_id = ?2 AND erased_at IS NOT NULL",
        params![&id, &account],
        tuple::<(i64, Option<String>)>,
    )?;
    match row {
        Some((position, cancellation)) => erase_all(tx, account, id, position, cancellation),
        None => Ok(()),
    }
}

fn erase_all(
    tx: &mut Tx<'_>,
    account: AccountId,
    id: OrderId,
    position: i64,
    cancellation: Option<String>,
) -> Result<()> {
    let mut cancellation: Option<Cancellation> = cancellation
        .map(|json| from_json("cancellation", &json))
        .transpose()?;
    cancellation.iter_mut().for_each(erase_cancellation);
    let reason = cancellation
        .as_ref()
        .and_then(|it| it.reason.as_ref().map(|reason| reason.name.clone()));
    let cancellation = cancellation.map(|it| to_json("cancellation", &it)).transpose()?;
    tx.execute(
        "UPDATE orders SET cancellation = ?2, provider_data = NULL, sync_message = NULL WHERE id = ?1",
        params![&id, cancellation.as_ref()],
    )?;
    content(tx, id)?;
    timeline(tx, id, reason.as_deref())?;
    events(tx, account, id)?;
    tx.execute(
        "UPDATE order_notices SET message = NULL WHERE order_id = ?1",
        params![&id],
    )?;
    tx.execute(
        "UPDATE calls SET message = NULL, argument = CASE WHEN state = 'open' THEN argument ELSE NULL END WHERE order_id = ?1",
        params![&id],
    )?;
    remove(tx, "inbox", "order_id", &[id])?;
    remove(tx, "waiting_erasures", "order_id", &[id])?;
    search::reindex(tx, account, position)
}

fn content(tx: &mut Tx<'_>, id: OrderId) -> Result<()> {
    let sql = "SELECT body FROM order_contents WHERE order_id = ?1";
    let Some(body) = tx.query_opt(sql, params![&id], value::<String>)? else {
        return Ok(());
    };
    let erased = match orders::parse_content(&body) {
        Ok(mut content) => {
            erase_content(&mut content);
            to_json("order content", &content)?
        }
        // Content that cannot be read may still hold personal data.
        Err(_) => "{}".to_owned(),
    };
    tx.execute(
        "UPDATE order_contents SET body = ?2 WHERE order_id = ?1",
        params![&id, &erased],
    )?;
    Ok(())
}

fn timeline(tx: &mut Tx<'_>, id: OrderId, cancel_reason: Option<&str>) -> Result<()> {
    let lines = tx.query(
        "SELECT number, why, changes FROM order_timeline WHERE order_id = ?1",
        params![&id],
        tuple::<(i64, Option<String>, Option<String>)>,
    )?;
    for (number, why, changes) in lines {
        let erased_why = why
            .as_deref()
            .and_then(|why| erased_reason(TimelineReason::read(why), cancel_reason))
            .map(|reason| reason.stored());
        let erased_changes = match &changes {
            Some(json) => {
                let mut changes: Vec<ContentChange> = from_json("list of changes", json)?;
                erase_changes(&mut changes);
                Some(to_json("list of changes", &changes)?)
            }
            None => None,
        };
        if erased_why != why || erased_changes != changes {
            tx.execute(
                "UPDATE order_timeline SET why = ?3, changes = ?4 WHERE order_id = ?1 AND number = ?2",
                params![&id, number, erased_why.as_ref(), erased_changes.as_ref()],
            )?;
        }
    }
    Ok(())
}

/// Events and what receivers answered to them. Deliveries that are in memory are read again.
fn events(tx: &mut Tx<'_>, account: AccountId, order: OrderId) -> Result<()> {
    let stored = tx.query(
        "SELECT id, body, state FROM events WHERE order_id = ?1",
        params![&order],
        tuple::<(EventId, String, String)>,
    )?;
    let mut has_pending = false;
    for (id, body, state) in &stored {
        if let Some(erased) = erase_event(body) {
            tx.execute("UPDATE events SET body = ?2 WHERE id = ?1", params![id, &erased])?;
            has_pending |= state == "pending";
        }
        for table in ["attempts", "endpoint_attempts"] {
            let sql =
                format!("UPDATE {table} SET response = NULL WHERE event_id = ?1 AND response IS NOT NULL");
            tx.execute(&sql, params![id])?;
        }
    }
    let pending_elsewhere =
        "SELECT position FROM endpoint_deliveries WHERE order_id = ?1 AND state = 'pending' LIMIT 1";
    has_pending |= tx
        .query_opt(pending_elsewhere, params![&order], value::<i64>)?
        .is_some();
    if has_pending {
        accounts::drop_deliveries(tx, account)?;
    }
    Ok(())
}
