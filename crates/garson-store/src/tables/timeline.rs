//! What has happened to an order, line by line.

use crate::engine::in_list::{filled, marks};
use crate::engine::{Insert, Param, Row};
use crate::tables::orders::{AT_ONCE, from_json, to_json};
use crate::{Result, StoreError, Tx, params};
use garson_core::id::OrderId;
use garson_core::order::{Actor, RevisionLine, TimelineLine, TimelineReason};

const INSERT: Insert<'_> = Insert::into(
    "order_timeline",
    "order_id, number, at, from_status, to_status, actor, why",
);
const INSERT_REVISION: Insert<'_> = Insert::into(
    "order_timeline",
    "order_id, number, at, from_status, to_status, actor, why, revision, changes",
);

/// Begins the timeline of a new order; `number` is that of the first line.
pub fn add_timeline(tx: &mut Tx<'_>, id: OrderId, mut number: i64, lines: &[TimelineLine]) -> Result<()> {
    for line in lines {
        let why = line.why.as_ref().map(TimelineReason::stored);
        let plain = params![
            &id,
            number,
            line.at,
            line.from,
            line.to,
            line.by.as_str(),
            why.as_ref()
        ];
        match &line.revision {
            None => tx.insert(&INSERT, plain)?,
            Some(said) => {
                let changes = to_json(&said.changes)?;
                let mut more = plain.to_vec();
                more.extend_from_slice(params![said.revision, &changes]);
                tx.insert(&INSERT_REVISION, &more)?
            }
        };
        number += 1;
    }
    Ok(())
}

/// Adds lines to the end of the timeline of an order that has one. Their numbers follow those that are there: not every line
/// has an event whose number it could take.
pub fn append_timeline(tx: &mut Tx<'_>, id: OrderId, lines: &[TimelineLine]) -> Result<()> {
    for line in lines {
        let changes = line.revision.as_ref().map(|said| to_json(&said.changes));
        let changes = changes.transpose()?;
        let why = line.why.as_ref().map(TimelineReason::stored);
        tx.write(
            "INSERT INTO order_timeline (order_id, number, at, from_status, to_status, actor, why, revision, changes)
             SELECT ?1, COALESCE(MAX(number), 0) + 1, CAST(?2 AS BIGINT), CAST(?3 AS BIGINT),
                    CAST(?4 AS BIGINT), CAST(?5 AS TEXT), CAST(?6 AS TEXT), CAST(?7 AS BIGINT), CAST(?8 AS TEXT)
             FROM order_timeline WHERE order_id = ?1",
            params![
                &id,
                line.at,
                line.from,
                line.to,
                line.by.as_str(),
                why.as_ref(),
                line.revision.as_ref().map(|said| said.revision),
                changes.as_ref(),
            ],
        )?;
    }
    Ok(())
}

/// What is read of a line, but for the order that it belongs to.
const COLUMNS: &str = "at, from_status, to_status, actor, why, revision, changes";

pub fn timeline(tx: &mut Tx<'_>, id: OrderId) -> Result<Vec<TimelineLine>> {
    let sql = format!("SELECT {COLUMNS} FROM order_timeline WHERE order_id = ?1 ORDER BY number");
    tx.query(&sql, params![&id], line)
}

/// The timelines of these orders, each in its order.
pub fn timelines(tx: &mut Tx<'_>, ids: &[OrderId]) -> Result<Vec<(OrderId, TimelineLine)>> {
    let sql = format!(
        "SELECT {COLUMNS}, order_id FROM order_timeline WHERE order_id IN ({}) ORDER BY order_id, number",
        marks(1, AT_ONCE)
    );
    let mut lines = Vec::new();
    for some in ids.chunks(AT_ONCE) {
        let params: Vec<Param<'_>> = filled(some, AT_ONCE).map(Param::from).collect();
        lines.extend(tx.query(&sql, &params, |row| Ok((row.get(7)?, line(row)?)))?);
    }
    Ok(lines)
}

fn line(row: &Row<'_>) -> Result<TimelineLine> {
    let by: String = row.get(3)?;
    let revision: Option<i64> = row.get(5)?;
    let changes: Option<String> = row.get(6)?;
    let said = revision.zip(changes).map(|(revision, changes)| {
        Ok::<_, StoreError>(RevisionLine {
            revision,
            changes: from_json(&changes)?,
        })
    });
    Ok(TimelineLine {
        at: row.get(0)?,
        from: row.get(1)?,
        to: row.get(2)?,
        by: Actor::named(&by).ok_or_else(|| StoreError::corrupt("a timeline has an unknown actor"))?,
        why: row.get(4)?,
        revision: said.transpose()?,
    })
}
