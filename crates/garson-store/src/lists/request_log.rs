//! Pages of an account's last API calls, newest first.

use crate::lists::feed::{Direction, Page, PageRequest};
use crate::tables::request_log::{self, KEPT, LoggedCall};
use crate::tables::row::{each, value};
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, KeyId};

/// What narrows the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFilter {
    pub key: Option<KeyId>,
    /// The lowest and the highest status.
    pub statuses: Option<(i64, i64)>,
    /// What the path begins with.
    pub path: Option<String>,
}

/// A page of the last calls.
pub fn page(
    tx: &mut Tx<'_>,
    account: AccountId,
    filter: &RequestFilter,
    request: PageRequest,
) -> Result<Page<LoggedCall>> {
    // More are stored until they are trimmed.
    let floor = tx.query_opt(
        "SELECT number FROM request_log WHERE account_id = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2",
        params![&account, KEPT],
        value::<i64>,
    )?;
    let floor = floor.unwrap_or(-1);
    let mut read = |between: (i64, i64), limit: usize, way: &str| {
        let columns = request_log::COLUMNS;
        let sql = format!(
            "SELECT {columns} FROM request_log WHERE account_id = ?1 AND number > ?2 AND number < ?3
             AND (CAST(?5 AS {{blob}}) IS NULL OR key_id = ?5)
             AND status >= ?6 AND status <= ?7
             AND (CAST(?8 AS TEXT) IS NULL OR substr(path, 1, length(CAST(?8 AS TEXT))) = CAST(?8 AS TEXT))
             ORDER BY number {way} LIMIT ?4"
        );
        let (lowest, highest) = filter.statuses.unwrap_or((0, i64::MAX));
        tx.query(
            &sql,
            params![
                &account,
                between.0,
                between.1,
                i64::try_from(limit).unwrap_or(i64::MAX),
                filter.key.as_ref(),
                lowest,
                highest,
                filter.path.as_ref(),
            ],
            each(request_log::call),
        )
    };
    let (mut items, next) = match request.direction {
        Direction::Older => {
            let high = request.cursor.unwrap_or(i64::MAX);
            let mut items = read((floor, high), request.limit.saturating_add(1), "DESC")?;
            let has_more = items.len() > request.limit;
            items.truncate(request.limit);
            let next = items.last().filter(|_| has_more).map(|it| it.number);
            (items, next)
        }
        Direction::Newer => {
            let low = request.cursor.unwrap_or(floor).max(floor);
            let mut items = read((low, i64::MAX), request.limit, "ASC")?;
            items.reverse();
            let oldest = items.last().map_or(low.saturating_add(1), |it| it.number);
            let has_older = !read((floor, oldest), 1, "DESC")?.is_empty();
            (items, has_older.then_some(oldest))
        }
    };
    items.truncate(request.limit);
    let newest = items.first().map(|it| it.number);
    Ok(Page {
        prev: Some(newest.unwrap_or_else(|| request.cursor_when_empty())),
        items,
        next,
    })
}
