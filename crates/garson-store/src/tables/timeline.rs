//! The timeline of an order: its status changes and revisions, line by line.

use crate::engine::in_list::{filled, marks};
use crate::engine::{Insert, Param};
use crate::tables::json::{from_json, to_json};
use crate::tables::row::{column_list, columns, each};
use crate::{Result, StoreError, Tx, params};
use garson_core::id::OrderId;
use garson_core::order::{Actor, RevisionLine, TimelineLine, TimelineReason};

/// How many orders one statement reads.
const PER_STATEMENT: usize = 32;

const INSERT: Insert<'_> = Insert::into(
    "order_timeline",
    column_list!(order_timeline {
        order_id,
        number,
        at,
        from_status,
        to_status,
        actor,
        why
    }),
);
const INSERT_REVISION: Insert<'_> = Insert::into(
    "order_timeline",
    column_list!(order_timeline {
        order_id,
        number,
        at,
        from_status,
        to_status,
        actor,
        why,
        revision,
        changes
    }),
);

/// Starts the timeline of a new order; `number` is that of the first line.
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
            Some(revision) => {
                let changes = to_json("list of changes", &revision.changes)?;
                let mut more = plain.to_vec();
                more.extend_from_slice(params![revision.revision, &changes]);
                tx.insert(&INSERT_REVISION, &more)?
            }
        };
        number += 1;
    }
    Ok(())
}

/// Appends lines to an existing timeline. Their numbers continue the stored ones: not every line has an event whose number it
/// could take.
pub fn append_timeline(tx: &mut Tx<'_>, id: OrderId, lines: &[TimelineLine]) -> Result<()> {
    for line in lines {
        let changes = line
            .revision
            .as_ref()
            .map(|revision| to_json("list of changes", &revision.changes));
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
                line.revision.as_ref().map(|revision| revision.revision),
                changes.as_ref(),
            ],
        )?;
    }
    Ok(())
}

columns! {
    const COLUMNS = "" of order_timeline {
        at, from_status, to_status, actor: String, why, revision: Option<i64>, changes: Option<String>,
    }
    fn line() -> TimelineLine {
        let revision = revision.zip(changes).map(|(revision, changes)| {
            let changes = from_json("list of changes", &changes)?;
            Ok::<_, StoreError>(RevisionLine { revision, changes })
        });
        Ok(TimelineLine {
            at,
            from: from_status,
            to: to_status,
            by: Actor::named(&actor).ok_or_else(|| StoreError::corrupt("a timeline has an unknown actor"))?,
            why,
            revision: revision.transpose()?,
        })
    }
}

pub fn timeline(tx: &mut Tx<'_>, id: OrderId) -> Result<Vec<TimelineLine>> {
    let sql = format!("SELECT {COLUMNS} FROM order_timeline WHERE order_id = ?1 ORDER BY number");
    tx.query(&sql, params![&id], each(line))
}

/// The timelines of these orders, by order and line number.
pub fn timelines(tx: &mut Tx<'_>, ids: &[OrderId]) -> Result<Vec<(OrderId, TimelineLine)>> {
    let sql = format!(
        "SELECT order_id, {COLUMNS} FROM order_timeline WHERE order_id IN ({}) ORDER BY order_id, number",
        marks(1, PER_STATEMENT)
    );
    let mut lines = Vec::new();
    for chunk in ids.chunks(PER_STATEMENT) {
        let params: Vec<Param<'_>> = filled(chunk, PER_STATEMENT).map(Param::from).collect();
        let read = each(|cells| Ok((cells.read()?, line(cells)?)));
        lines.extend(tx.query(&sql, &params, read)?);
    }
    Ok(lines)
}
