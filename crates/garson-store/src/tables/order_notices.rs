//! What the staff of a restaurant must see on an order's card until it is acknowledged or settled.
//!
//! Accounts that only use the API acknowledge nothing, so a notice lasts a day at most: writing one removes the account's older
//! ones. A write wakes the open boards of the account, because a notice is no event.

use crate::engine::Param;
use crate::engine::in_list::{filled, marks};
use crate::tables::row::{columns, each, insert, value};
use crate::{Result, Tx, params};
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, OrderId};
use garson_core::order::{CallKind, Order, Status};
use garson_core::time::Timestamp;
use std::time::Duration;

/// How long a notice lasts unless it is acknowledged.
pub const LASTS: Duration = Duration::from_secs(24 * 60 * 60);
/// How many orders with notices a board shows.
const MAX_OF_ACCOUNT: i64 = 200;

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// The order was cancelled while it was being prepared or delivered.
    Cancelled,
    /// The platform refused an action, or could not be asked.
    Refused,
}

impl NoticeKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::Refused => "refused",
        }
    }

    fn named(name: &str) -> Option<Self> {
        [Self::Cancelled, Self::Refused]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub order_id: OrderId,
    pub kind: NoticeKind,
    /// The call that was refused.
    pub call: Option<CallKind>,
    /// The status of the order before.
    pub status: Status,
    /// What the platform answered, or why it could not be asked.
    pub message: Option<Explanation>,
    pub at: Timestamp,
}

columns! {
    const COLUMNS = "" of order_notices { order_id, kind: String, call: Option<String>, status, message, created_at }
    /// `None` if the kind is not one of this version.
    fn notice() -> Option<Notice> {
        Ok(NoticeKind::named(&kind).map(|kind| Notice {
            order_id,
            kind,
            call: call.as_deref().and_then(CallKind::named),
            status,
            message,
            at: created_at,
        }))
    }
}

/// Records that an order was cancelled while it was being prepared or delivered. `before` is the order before that.
pub fn record_cancelled(tx: &mut Tx<'_>, before: &Order, now: Timestamp) -> Result<()> {
    write(tx, before, NoticeKind::Cancelled, None, None, now)
}

/// Records that the platform refused a call of an order, or could not be asked.
pub fn record_refused(
    tx: &mut Tx<'_>,
    order: &Order,
    call: CallKind,
    message: &Explanation,
    now: Timestamp,
) -> Result<()> {
    write(tx, order, NoticeKind::Refused, Some(call), Some(message), now)
}

fn write(
    tx: &mut Tx<'_>,
    order: &Order,
    kind: NoticeKind,
    call: Option<CallKind>,
    message: Option<&Explanation>,
    now: Timestamp,
) -> Result<()> {
    tx.execute(
        "DELETE FROM order_notices WHERE account_id = ?1 AND created_at < ?2",
        params![&order.account_id, now.minus(LASTS)],
    )?;
    insert!(
        tx,
        order_notices {
            order_id: &order.id,
            kind: kind.as_str(),
            account_id: &order.account_id,
            call: call.map(CallKind::as_text).as_ref(),
            status: order.status,
            message: message.map(Explanation::stored).as_ref(),
            created_at: now,
        },
        "ON CONFLICT (order_id, kind) DO UPDATE SET call = excluded.call, status = excluded.status,
             message = excluded.message, created_at = excluded.created_at"
    )?;
    tx.wake_watchers(order.account_id);
    Ok(())
}

/// Removes what is known of refused actions of an order that has moved on. Its boards are woken by the move.
pub fn settle_refused(tx: &mut Tx<'_>, order: OrderId) -> Result<()> {
    tx.write(
        "DELETE FROM order_notices WHERE order_id = ?1 AND kind = 'refused'",
        params![&order],
    )
}

/// Removes all notices of an order of the account; `false` when there are none.
pub fn acknowledge(tx: &mut Tx<'_>, account: AccountId, order: OrderId) -> Result<bool> {
    let removed = tx.execute(
        "DELETE FROM order_notices WHERE order_id = ?1 AND account_id = ?2",
        params![&order, &account],
    )?;
    if removed > 0 {
        tx.wake_watchers(account);
    }
    Ok(removed > 0)
}

/// Reports whether an order has a notice of this kind.
pub fn has(tx: &mut Tx<'_>, order: OrderId, kind: NoticeKind) -> Result<bool> {
    let sql = "SELECT created_at FROM order_notices WHERE order_id = ?1 AND kind = ?2";
    let found = tx.query_opt(sql, params![&order, kind.as_str()], value::<i64>)?;
    Ok(found.is_some())
}

/// The newest notices of an account.
pub fn of_account(tx: &mut Tx<'_>, account: AccountId, now: Timestamp) -> Result<Vec<Notice>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM order_notices WHERE account_id = ?1 AND created_at >= ?2
         ORDER BY created_at DESC LIMIT ?3"
    );
    let found = tx.query(
        &sql,
        params![&account, now.minus(LASTS), MAX_OF_ACCOUNT],
        each(notice),
    )?;
    Ok(found.into_iter().flatten().collect())
}

/// The notices of these orders of an account.
pub fn of_orders(tx: &mut Tx<'_>, ids: &[OrderId], now: Timestamp) -> Result<Vec<Notice>> {
    const PER_STATEMENT: usize = 32;
    let sql = format!(
        "SELECT {COLUMNS} FROM order_notices WHERE order_id IN ({})",
        marks(1, PER_STATEMENT)
    );
    let mut notices = Vec::new();
    for chunk in ids.chunks(PER_STATEMENT) {
        let params: Vec<Param<'_>> = filled(chunk, PER_STATEMENT).map(Param::from).collect();
        let found = tx.query(&sql, &params, each(notice))?;
        notices.extend(
            found
                .into_iter()
                .flatten()
                .filter(|it: &Notice| it.at >= now.minus(LASTS)),
        );
    }
    Ok(notices)
}
