//! Pages of an account's audit log, newest first.

use crate::lists::feed::{Direction, Page, PageRequest};
use crate::tables::audit;
use crate::tables::row::each;
use crate::{AUDIT, Result, Tx, params};
use garson_core::audit::{ActorKind, AuditAction, AuditEntry, RecordKind};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::time::Timestamp;
use uuid::Uuid;

/// What narrows the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    pub actor: Option<ActorKind>,
    /// The id of a user or a key.
    pub actor_id: Option<Uuid>,
    /// A user's e-mail address, a command, a platform.
    pub actor_name: Option<String>,
    pub action: Option<AuditAction>,
    pub record: Option<RecordKind>,
    pub record_id: Option<String>,
    pub restaurant: Option<RestaurantId>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
}

/// The most rows that one page examines. A page may have fewer entries than were asked for, and still a next one.
const EXAMINED: i64 = 20_000;

/// A page of the log.
pub fn page(
    tx: &mut Tx<'_>,
    account: AccountId,
    filter: &AuditFilter,
    request: PageRequest,
) -> Result<Page<AuditEntry>> {
    let Some((removed, end)) = audit::chain(tx, account)? else {
        return Ok(Page::empty(request));
    };
    let (low, high) = audit::numbers_between(tx, account, filter.from, filter.to)?;
    let (low, high) = (low.max(removed.number), high.min(end.number.saturating_add(1)));
    if low >= high {
        return Ok(Page::empty(request));
    }
    match request.direction {
        Direction::Older => {
            let from = request.cursor.map_or(high, |cursor| cursor.min(high));
            let (items, next) = older(tx, account, filter, (low, from), request.limit)?;
            let newest = items.first().map(|it| it.number);
            Ok(Page {
                items,
                next,
                prev: Some(newest.unwrap_or_else(|| request.cursor_when_empty())),
            })
        }
        Direction::Newer => {
            let from = request.cursor.map_or(low, |cursor| cursor.max(low));
            let until = high.min(from.saturating_add(EXAMINED));
            let mut items = read(tx, account, filter, (from, until), request.limit, "ASC")?;
            items.reverse();
            let reached = if items.len() < request.limit {
                until - 1
            } else {
                from
            };
            let newest = items.first().map(|it| it.number);
            let oldest = items.last().map_or(from.saturating_add(1), |it| it.number);
            let has_older = !older(tx, account, filter, (low, oldest), 1)?.0.is_empty();
            Ok(Page {
                items,
                next: has_older.then_some(oldest),
                prev: Some(newest.unwrap_or(reached.max(from))),
            })
        }
    }
}

/// Entries before a number, newest first, and where the next page begins.
fn older(
    tx: &mut Tx<'_>,
    account: AccountId,
    filter: &AuditFilter,
    (low, high): (i64, i64),
    limit: usize,
) -> Result<(Vec<AuditEntry>, Option<i64>)> {
    let floor = low.max(high.saturating_sub(EXAMINED));
    let mut items = read(
        tx,
        account,
        filter,
        (floor, high),
        limit.saturating_add(1),
        "DESC",
    )?;
    let has_more = items.len() > limit;
    items.truncate(limit);
    let next = if has_more {
        items.last().map(|it| it.number)
    } else {
        // The rest was not examined.
        (floor > low).then_some(floor + 1)
    };
    Ok((items, next))
}

/// The entries between two numbers, both excluded.
fn read(
    tx: &mut Tx<'_>,
    account: AccountId,
    filter: &AuditFilter,
    (low, high): (i64, i64),
    limit: usize,
    way: &str,
) -> Result<Vec<AuditEntry>> {
    let columns = audit::COLUMNS;
    let sql = format!(
        "SELECT {columns} FROM audit_log WHERE account_id = ?1 AND number > ?2 AND number < ?3
         AND (CAST(?5 AS TEXT) IS NULL OR actor = ?5)
         AND (CAST(?6 AS {{blob}}) IS NULL OR actor_id = ?6)
         AND (CAST(?7 AS TEXT) IS NULL OR actor_name = ?7)
         AND (CAST(?8 AS TEXT) IS NULL OR action LIKE ?8)
         AND (CAST(?9 AS TEXT) IS NULL OR record_id = ?9)
         AND (CAST(?10 AS {{blob}}) IS NULL OR restaurant_id = ?10)
         ORDER BY number {way} LIMIT ?4"
    );
    // Names of actions have no wildcard but `_`, and none differ in one character only.
    let actions = match (filter.action, filter.record) {
        (Some(action), _) => Some(action.to_string()),
        (None, Some(record)) => Some(format!("{}.%", record.as_str())),
        (None, None) => None,
    };
    let actor_id = filter.actor_id.as_ref().map(|id| id.as_bytes().as_slice());
    tx.on(AUDIT).query(
        &sql,
        params![
            &account,
            low,
            high,
            i64::try_from(limit).unwrap_or(i64::MAX),
            filter.actor.map(ActorKind::as_str),
            actor_id,
            filter.actor_name.as_ref(),
            actions.as_ref(),
            filter.record_id.as_ref(),
            filter.restaurant.as_ref(),
        ],
        each(audit::entry),
    )
}
