//! The steps that are still to be taken for orders that are not accepted.

use crate::engine::Insert;
use crate::error::StoreErrorKind;
use crate::tables::accounts::reserve_positions;
use crate::tables::json::{from_json, to_json};
use crate::tables::orders::append_timeline;
use crate::tables::row::{column_list, columns, each, value};
use crate::{Result, Tx, params};
use garson_core::escalation::Step;
use garson_core::id::{AccountId, OrderId, RestaurantId};
use garson_core::order::{Actor, Order, TimelineLine, TimelineReason};
use garson_core::time::Timestamp;

const INSERT: Insert<'_> = Insert::into(
    "escalation_steps",
    column_list!(escalation_steps {
        order_id,
        number,
        account_id,
        restaurant_id,
        needs_platform,
        step,
        due_at,
        attempts
    }),
);

/// A step that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueStep {
    pub order_id: OrderId,
    pub number: i64,
    pub account_id: AccountId,
    pub restaurant_id: RestaurantId,
    /// `None` if it is damaged: then it is dropped.
    pub step: Option<Step>,
    pub due_at: Timestamp,
    pub attempts: i64,
}

columns! {
    const COLUMNS = "" of escalation_steps {
        order_id, number, account_id, restaurant_id, step: String, due_at, attempts
    }
    fn due_step() -> DueStep {
        let step = match from_json("escalation step", &step) {
            Ok(step) => Some(step),
            Err(error) if error.kind == StoreErrorKind::Corrupt => None,
            Err(error) => return Err(error),
        };
        Ok(DueStep { order_id, number, account_id, restaurant_id, step, due_at, attempts })
    }
}

/// Plans the steps of a new order.
pub fn plan(tx: &mut Tx<'_>, order: &Order, steps: &[Step]) -> Result<()> {
    let numbered = (1_i64..).zip(steps);
    for (number, step) in numbered {
        let Some(due_at) = step.due_at(order.created_at, order.accept_by) else {
            continue;
        };
        let json = to_json("escalation step", step)?;
        let params = params![
            &order.id,
            number,
            &order.account_id,
            &order.restaurant_id,
            i64::from(step.action.needs_platform()),
            &json,
            due_at,
            0_i64,
        ];
        tx.insert(&INSERT, params)?;
    }
    Ok(())
}

/// When the next step of any order is due.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>> {
    let sql = "SELECT due_at FROM escalation_steps ORDER BY due_at LIMIT 1";
    tx.query_opt(sql, params![], value)
}

/// The accounts after another one that have steps due, of those that need their platform or of the others, with a few index steps
/// for each account that has any.
pub fn due_accounts(
    tx: &mut Tx<'_>,
    needs_platform: bool,
    after: Option<AccountId>,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<AccountId>> {
    let after = after.map_or_else(Vec::new, |account| account.as_bytes().to_vec());
    let first = "SELECT s.account_id FROM escalation_steps s WHERE s.needs_platform = ?1 AND s.account_id >";
    let order = "ORDER BY s.needs_platform, s.account_id, s.due_at LIMIT 1";
    let sql = format!(
        "WITH RECURSIVE found (account_id) AS (
             SELECT ({first} ?2 {order})
             UNION ALL
             SELECT ({first} found.account_id {order}) FROM found WHERE found.account_id IS NOT NULL)
         SELECT found.account_id FROM found
         WHERE found.account_id IS NOT NULL
           AND (SELECT s.due_at FROM escalation_steps s
                WHERE s.needs_platform = ?1 AND s.account_id >= found.account_id {order}) <= ?3
         LIMIT ?4"
    );
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    tx.query(
        &sql,
        params![i64::from(needs_platform), &after, now, limit],
        value,
    )
}

/// An account's steps that are due, the longest due first.
pub fn due(
    tx: &mut Tx<'_>,
    needs_platform: bool,
    account: AccountId,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<DueStep>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM escalation_steps
         WHERE needs_platform = ?1 AND account_id = ?2 AND due_at <= ?3
         ORDER BY needs_platform, account_id, due_at LIMIT ?4"
    );
    let kind = i64::from(needs_platform);
    tx.query(&sql, params![kind, &account, now, limit], each(due_step))
}

/// Removes a step because it is being taken; `false` when it is gone, because another node has taken it.
pub fn take(tx: &mut Tx<'_>, order: OrderId, number: i64) -> Result<bool> {
    let rows = tx.execute(
        "DELETE FROM escalation_steps WHERE order_id = ?1 AND number = ?2",
        params![&order, number],
    )?;
    Ok(rows > 0)
}

/// Makes a step due later, after an attempt that changed nothing.
pub fn postpone(tx: &mut Tx<'_>, order: OrderId, number: i64, due_at: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE escalation_steps SET due_at = ?3, attempts = attempts + 1 WHERE order_id = ?1 AND number = ?2",
        params![&order, number, due_at],
    )?;
    Ok(())
}

/// Drops the steps that are left for an order.
pub fn drop_all(tx: &mut Tx<'_>, order: OrderId) -> Result<u64> {
    tx.execute(
        "DELETE FROM escalation_steps WHERE order_id = ?1",
        params![&order],
    )
}

/// The steps that are left for an order, by number.
pub fn of_order(tx: &mut Tx<'_>, order: OrderId) -> Result<Vec<DueStep>> {
    let sql = format!("SELECT {COLUMNS} FROM escalation_steps WHERE order_id = ?1 ORDER BY number");
    tx.query(&sql, params![&order], each(due_step))
}

/// Marks an order whose boards ring urgently, and wakes them. The mark is no change of the order: no list shows it as changed.
pub fn mark_escalated(tx: &mut Tx<'_>, order: &Order, at: Timestamp) -> Result<()> {
    tx.execute(
        "UPDATE orders SET escalated_at = ?2 WHERE id = ?1",
        params![&order.id, at],
    )?;
    tx.wake_watchers(order.account_id);
    Ok(())
}

/// Adds a line to the timeline of a locked order whose status stays the same.
pub fn add_line(tx: &mut Tx<'_>, order: &Order, why: TimelineReason, now: Timestamp) -> Result<()> {
    let mut positions = reserve_positions(tx, order.account_id, 1, now)?;
    tx.execute(
        "UPDATE orders SET updated_at = ?2, changed = ?3 WHERE id = ?1",
        params![&order.id, positions.at, positions.take()],
    )?;
    let line = TimelineLine {
        at: positions.at,
        from: Some(order.status),
        to: order.status,
        by: Actor::System,
        why: Some(why),
        revision: None,
    };
    append_timeline(tx, order.id, &[line])
}
