//! Verifies a chain in chunks: every row has the next number, and the hash that its columns and the row before it give.

use super::hash::{HashedRow, NO_HASH, hash_of};
use crate::tables::row::{Cells, tuple};
use crate::{AUDIT, Result, StoreError, Tx, params};
use garson_core::id::AccountId;
use garson_core::time::Timestamp;

/// A row of a chain, by its number and hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainPoint {
    pub number: i64,
    pub hash: [u8; 32],
}

/// The ends of an account's chain: the last row that retention has removed, and the last row. Nothing if it has no chain.
pub fn chain(tx: &mut Tx<'_>, account: AccountId) -> Result<Option<(ChainPoint, ChainPoint)>> {
    let sql = "SELECT removed, removed_hash, number, hash FROM audit_chains WHERE account_id = ?1";
    let found = tx
        .on(AUDIT)
        .query_opt(sql, params![&account], tuple::<(i64, Vec<u8>, i64, Vec<u8>)>)?;
    let point = |number, hash: &[u8]| {
        Ok::<_, StoreError>(ChainPoint {
            number,
            hash: hash_of(hash)?,
        })
    };
    found
        .map(|(removed, removed_hash, number, hash)| {
            Ok((point(removed, &removed_hash)?, point(number, &hash)?))
        })
        .transpose()
}

/// Where a chain is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The rows from one number to another are missing.
    Missing { from: i64, to: i64 },
    /// The row was changed, or another was put in its place.
    Changed { number: i64, at: Timestamp },
    /// A row stands outside of the chain: before its first row, or behind its last one.
    Inserted { number: i64, at: Timestamp },
    /// There are rows, but the record of the chain's ends is missing.
    NoEnds,
    /// The record of the chain's ends names another hash for the last row.
    OtherEnd { number: i64 },
    /// The row that was to be compared has been removed, as retention does.
    Removed { number: i64 },
}

/// What was found in a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedChunk {
    pub rows: u64,
    pub findings: Vec<Finding>,
    /// The last row of the chunk: the next chunk continues here.
    pub last: ChainPoint,
    /// There are no more rows.
    pub is_end: bool,
}

/// The most rows outside of a chain that are named.
const NAMED: i64 = 100;

/// Verifies the next rows of a chain, at most `limit`: from its beginning, or after a point. Reads one snapshot, so entries that are
/// added and removed in the meantime are no findings. After a changed row the chain is followed from the hash that the row has, so
/// that each change is found once.
pub fn verify_chunk(
    tx: &mut Tx<'_>,
    account: AccountId,
    after: Option<ChainPoint>,
    limit: i64,
) -> Result<VerifiedChunk> {
    let Some((removed, end)) = chain(tx, account)? else {
        let has_rows = !outside(tx, account, (0, 0))?.is_empty();
        return Ok(VerifiedChunk {
            rows: 0,
            findings: has_rows.then_some(Finding::NoEnds).into_iter().collect(),
            last: removed_nothing(),
            is_end: true,
        });
    };
    let mut previous = after.filter(|it| it.number >= removed.number).unwrap_or(removed);
    let mut expected = previous.number + 1;
    let mut findings = Vec::new();
    let sql = "SELECT number, at, actor, actor_id, actor_name, address, action, record_id, restaurant_id, before, after, hash
               FROM audit_log WHERE account_id = ?1 AND number > ?2 AND number <= ?3 ORDER BY number LIMIT ?4";
    let params = params![&account, previous.number, end.number, limit];
    let rows = tx.on(AUDIT).query(sql, params, |row| {
        let row = read(&mut Cells::new(row), account, &previous.hash)?;
        if row.number > expected {
            let (from, to) = (expected, row.number - 1);
            findings.push(Finding::Missing { from, to });
        } else if row.own_hash != row.expected_hash {
            // The first row after a gap cannot be verified: its hash needs that of the row before it.
            let (number, at) = (row.number, row.at);
            findings.push(Finding::Changed { number, at });
        }
        previous = ChainPoint {
            number: row.number,
            hash: <[u8; 32]>::try_from(row.own_hash.as_slice()).unwrap_or(row.expected_hash),
        };
        expected = row.number + 1;
        Ok(())
    })?;
    let rows = rows.len() as u64;
    let is_end = i64::try_from(rows).is_ok_and(|rows| rows < limit);
    if is_end {
        if previous.number < end.number {
            let (from, to) = (expected, end.number);
            findings.push(Finding::Missing { from, to });
        } else if previous.hash != end.hash {
            let number = end.number;
            findings.push(Finding::OtherEnd { number });
        }
        findings.extend(outside(tx, account, (removed.number, end.number))?);
    }
    Ok(VerifiedChunk {
        rows,
        findings,
        last: previous,
        is_end,
    })
}

fn removed_nothing() -> ChainPoint {
    ChainPoint {
        number: 0,
        hash: NO_HASH,
    }
}

/// The rows that are no part of the chain between its ends.
fn outside(tx: &mut Tx<'_>, account: AccountId, (removed, last): (i64, i64)) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (condition, bound) in [("number <= ?2", removed), ("number > ?2", last)] {
        let sql = format!(
            "SELECT number, at FROM audit_log WHERE account_id = ?1 AND {condition} ORDER BY number LIMIT ?3"
        );
        let found = tx
            .on(AUDIT)
            .query(&sql, params![&account, bound, NAMED], tuple::<(i64, Timestamp)>)?;
        findings.extend(
            found
                .into_iter()
                .map(|(number, at)| Finding::Inserted { number, at }),
        );
    }
    Ok(findings)
}

/// A row's number, and its hash as stored and as its columns give it, whatever these contain.
struct StoredRow {
    number: i64,
    at: Timestamp,
    own_hash: Vec<u8>,
    expected_hash: [u8; 32],
}

fn read(cells: &mut Cells<'_, '_>, account: AccountId, previous: &[u8; 32]) -> Result<StoredRow> {
    let (number, at): (i64, Timestamp) = (cells.read()?, cells.read()?);
    let actor = cells.text()?.to_owned();
    let actor_id: Option<Vec<u8>> = cells.read()?;
    let actor_name: Option<String> = cells.read()?;
    let address: Option<String> = cells.read()?;
    let action = cells.text()?.to_owned();
    let record_id: Option<String> = cells.read()?;
    let restaurant_id: Option<Vec<u8>> = cells.read()?;
    let before: Option<String> = cells.read()?;
    let after: Option<String> = cells.read()?;
    let own_hash: Vec<u8> = cells.read()?;
    let row = HashedRow {
        account: account.as_bytes(),
        number,
        at,
        actor: &actor,
        actor_id: actor_id.as_deref(),
        actor_name: actor_name.as_deref(),
        address: address.as_deref(),
        action: &action,
        record_id: record_id.as_deref(),
        restaurant_id: restaurant_id.as_deref(),
        before: before.as_deref(),
        after: after.as_deref(),
    };
    Ok(StoredRow {
        number,
        at,
        expected_hash: row.hash(previous),
        own_hash,
    })
}
