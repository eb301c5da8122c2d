//! The audit log. The rows of an account form a chain: each has the hash of the one before it in its own hash.
//!
//! Entries are deferred writes: they get their numbers and hashes at the end of the transaction, all of an account with one read and
//! one write of the end of its chain. The end is locked last, after the account, its restaurants and orders, so that two
//! transactions never wait for each other over it; since nearly every job holds its account's lock anyway, nobody waits longer
//! than without the log.

mod hash;
mod verify;

pub use hash::NO_HASH;
pub use verify::{ChainPoint, Finding, VerifiedChunk, chain, verify_chunk};

use crate::engine::Insert;
use crate::tables::row::{column_list, columns, tuple, value};
use crate::{AUDIT, Result, StoreError, Tx, params};
use garson_core::audit::{ActorKind, AuditAction, AuditActor, AuditEntry, NewAuditEntry};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::time::Timestamp;
use hash::{HashedRow, hash_of};
use uuid::Uuid;

/// The chain of the installation itself: what concerns no account.
pub const INSTALLATION: AccountId = AccountId(Uuid::nil());

/// Adds an entry to the account's log, at the end of this transaction.
pub fn record(tx: &mut Tx<'_>, account: AccountId, entry: NewAuditEntry) {
    tx.deferred().audit.entry(account).or_default().push(entry);
}

const INSERT: Insert<'_> = Insert::into(
    "audit_log",
    column_list!(audit_log {
        account_id,
        number,
        at,
        actor,
        actor_id,
        actor_name,
        address,
        action,
        record_id,
        restaurant_id,
        before,
        after,
        hash
    }),
);

/// The last row of a chain.
struct End {
    number: i64,
    hash: [u8; 32],
    at: Timestamp,
}

/// Writes the entries of an account with the next numbers of its chain.
pub(crate) fn write(tx: &mut Tx<'_>, account: AccountId, entries: &[NewAuditEntry]) -> Result<()> {
    let mut end = lock_end(tx, account)?;
    for entry in entries {
        let entry = storable(entry);
        // Timestamps follow the numbers even if the clock steps back.
        let (number, at) = (end.number + 1, entry.at.max(end.at));
        let action = entry.action.to_string();
        let row = HashedRow {
            account: account.as_bytes(),
            number,
            at,
            actor: entry.actor.kind.as_str(),
            actor_id: entry.actor.id.as_ref().map(|id| id.as_bytes().as_slice()),
            actor_name: entry.actor.name.as_deref(),
            address: entry.address.as_deref(),
            action: &action,
            record_id: entry.record_id.as_deref(),
            restaurant_id: entry.restaurant_id.as_ref().map(RestaurantId::as_bytes),
            before: entry.before.as_deref(),
            after: entry.after.as_deref(),
        };
        let hash = row.hash(&end.hash);
        tx.on(AUDIT).insert(
            &INSERT,
            params![
                &account,
                number,
                at,
                row.actor,
                row.actor_id,
                row.actor_name,
                row.address,
                row.action,
                row.record_id,
                row.restaurant_id,
                row.before,
                row.after,
                &hash
            ],
        )?;
        end = End { number, hash, at };
    }
    tx.on(AUDIT).write(
        "UPDATE audit_chains SET number = ?2, hash = ?3, at = ?4 WHERE account_id = ?1",
        params![&account, end.number, &end.hash, end.at],
    )
}

/// PostgreSQL stores no NUL in text, and a copy to it must not change a hash.
fn storable(entry: &NewAuditEntry) -> NewAuditEntry {
    let clean = |text: &Option<String>| text.as_ref().map(|text| text.replace('\0', "\u{fffd}"));
    NewAuditEntry {
        actor: AuditActor {
            name: clean(&entry.actor.name),
            ..entry.actor.clone()
        },
        address: clean(&entry.address),
        record_id: clean(&entry.record_id),
        before: clean(&entry.before),
        after: clean(&entry.after),
        ..entry.clone()
    }
}

/// The end of a chain, locked; a new chain is empty.
fn lock_end(tx: &mut Tx<'_>, account: AccountId) -> Result<End> {
    if let Some(end) = end(tx, account)? {
        return Ok(end);
    }
    tx.on(AUDIT).execute(
        "INSERT INTO audit_chains (account_id, number, hash, at, removed, removed_hash) VALUES (?1, 0, ?2, 0, 0, ?2)
         ON CONFLICT (account_id) DO NOTHING",
        params![&account, &NO_HASH],
    )?;
    end(tx, account)?.ok_or_else(|| StoreError::internal("the end of an audit chain was not written"))
}

fn end(tx: &mut Tx<'_>, account: AccountId) -> Result<Option<End>> {
    let sql = "SELECT number, hash, at FROM audit_chains WHERE account_id = ?1 {lock}";
    let found = tx
        .on(AUDIT)
        .query_opt(sql, params![&account], tuple::<(i64, Vec<u8>, Timestamp)>)?;
    found
        .map(|(number, hash, at)| {
            Ok(End {
                number,
                hash: hash_of(&hash)?,
                at,
            })
        })
        .transpose()
}

columns! {
    pub(crate) const COLUMNS = "" of audit_log {
        number, at, actor: String, actor_id: Option<Vec<u8>>, actor_name, address, action: String, record_id, restaurant_id, before,
        after, hash: Vec<u8>
    }
    fn entry() -> AuditEntry {
        let unknown = || StoreError::corrupt("an entry of the audit log has an unknown actor or action");
        let id = actor_id.map(|id| Uuid::from_slice(&id)).transpose();
        Ok(AuditEntry {
            number,
            entry: NewAuditEntry {
                at,
                actor: AuditActor {
                    kind: ActorKind::named(&actor).ok_or_else(unknown)?,
                    id: id.map_err(|_| unknown())?,
                    name: actor_name,
                },
                address,
                action: AuditAction::named(&action).ok_or_else(unknown)?,
                record_id,
                restaurant_id,
                before,
                after,
            },
            hash: hash_of(&hash)?,
        })
    }
}

/// The next account after another one that exists, or of which there is a chain or an entry.
pub fn next_log(tx: &mut Tx<'_>, after: Option<AccountId>) -> Result<Option<AccountId>> {
    let after = after.map_or_else(Vec::new, |account| account.as_bytes().to_vec());
    let mut next: Option<AccountId> = None;
    // Each of these may have been removed from the database.
    for sql in [
        "SELECT account_id FROM audit_chains WHERE account_id > ?1 ORDER BY account_id LIMIT 1",
        "SELECT account_id FROM audit_log WHERE account_id > ?1 ORDER BY account_id LIMIT 1",
        "SELECT id FROM accounts WHERE id > ?1 ORDER BY id LIMIT 1",
    ] {
        let found = tx.on(AUDIT).query_opt(sql, params![&after], value::<AccountId>)?;
        next = match (next, found) {
            (Some(one), Some(other)) => Some(if other.as_bytes() < one.as_bytes() {
                other
            } else {
                one
            }),
            (one, other) => one.or(other),
        };
    }
    Ok(next)
}

/// The chains after another one, and whether their first row is from before `oldest`.
pub fn chains_by_age(
    tx: &mut Tx<'_>,
    after: Option<AccountId>,
    oldest: Timestamp,
    limit: i64,
) -> Result<Vec<(AccountId, bool)>> {
    let after = after.map_or_else(Vec::new, |account| account.as_bytes().to_vec());
    let sql = "SELECT c.account_id, (SELECT l.at FROM audit_log l WHERE l.account_id = c.account_id AND l.number > c.removed
                                     ORDER BY l.number LIMIT 1)
               FROM audit_chains c WHERE c.account_id > ?1 ORDER BY c.account_id LIMIT ?2";
    let found = tx.on(AUDIT).query(
        sql,
        params![&after, limit],
        tuple::<(AccountId, Option<Timestamp>)>,
    )?;
    let is_old = |at: Option<Timestamp>| at.is_some_and(|at| at < oldest);
    Ok(found
        .into_iter()
        .map(|(account, at)| (account, is_old(at)))
        .collect())
}

/// Removes the oldest rows from before `oldest`, at most `limit`, and keeps the hash of the last of them: the rest of the chain is
/// verified from there. Returns how many.
pub fn remove_before(tx: &mut Tx<'_>, account: AccountId, oldest: Timestamp, limit: i64) -> Result<u64> {
    lock_end(tx, account)?;
    let sql = "SELECT removed FROM audit_chains WHERE account_id = ?1";
    let removed = tx.on(AUDIT).query_one(sql, params![&account], value::<i64>)?;
    let sql = "SELECT number, at, hash FROM audit_log WHERE account_id = ?1 AND number > ?2 ORDER BY number LIMIT ?3";
    let first = tx.on(AUDIT).query(
        sql,
        params![&account, removed, limit],
        tuple::<(i64, Timestamp, Vec<u8>)>,
    )?;
    let old = first.iter().take_while(|(_, at, _)| *at < oldest).count();
    let Some((last, _, hash)) = old.checked_sub(1).and_then(|last| first.get(last)) else {
        return Ok(0);
    };
    tx.on(AUDIT).execute(
        "DELETE FROM audit_log WHERE account_id = ?1 AND number <= ?2",
        params![&account, *last],
    )?;
    tx.on(AUDIT).execute(
        "UPDATE audit_chains SET removed = ?2, removed_hash = ?3 WHERE account_id = ?1",
        params![&account, *last, hash],
    )?;
    Ok(old as u64)
}

/// Numbers of the rows from `from` on and before `to`, as an open interval; timestamps follow numbers.
pub fn numbers_between(
    tx: &mut Tx<'_>,
    account: AccountId,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
) -> Result<(i64, i64)> {
    let mut first_at = |at: Timestamp| {
        tx.on(AUDIT).query_opt(
            "SELECT number FROM audit_log WHERE account_id = ?1 AND at >= ?2 ORDER BY at, number LIMIT 1",
            params![&account, at],
            value::<i64>,
        )
    };
    let low = match from {
        Some(from) => first_at(from)?.map_or(i64::MAX, |first| first - 1),
        None => 0,
    };
    let high = match to {
        Some(to) => first_at(to)?.unwrap_or(i64::MAX),
        None => i64::MAX,
    };
    Ok((low, high))
}

/// The hash of an entry.
pub fn find_hash(tx: &mut Tx<'_>, account: AccountId, number: i64) -> Result<Option<[u8; 32]>> {
    let sql = "SELECT hash FROM audit_log WHERE account_id = ?1 AND number = ?2";
    let found = tx
        .on(AUDIT)
        .query_opt(sql, params![&account, number], value::<Vec<u8>>)?;
    found.map(|hash| hash_of(&hash)).transpose()
}
