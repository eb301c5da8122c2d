//! The processes that serve a database, and which of them delivers for which account.
//!
//! A node that is gone is taken out by another one, and its accounts are free from that moment. If it was only asleep, it
//! finds itself missing and comes back under a new id: nothing that it still holds under the old one counts.

use crate::{ACCOUNTS, Result, Tx, params};
use garson_core::id::{AccountId, NodeId};

/// A node as it is seen by others: while it lives, its beats grow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub id: NodeId,
    pub name: String,
    pub beats: i64,
}

/// Puts a node among the others. One of the same name was a process before this one at the same place, and is gone.
pub fn join(tx: &mut Tx<'_>, id: NodeId, name: &str) -> Result<()> {
    tx.execute("DELETE FROM nodes WHERE name = ?1", params![name])?;
    tx.execute(
        "INSERT INTO nodes (id, name, beats) VALUES (?1, ?2, 0)",
        params![&id, name],
    )?;
    Ok(())
}

/// Shows that the node lives; `false` when others have given it up.
pub fn beat(tx: &mut Tx<'_>, id: NodeId) -> Result<bool> {
    let rows = tx.execute("UPDATE nodes SET beats = beats + 1 WHERE id = ?1", params![&id])?;
    Ok(rows > 0)
}

/// Is the node among the others?
pub fn is_there(tx: &mut Tx<'_>, id: NodeId) -> Result<bool> {
    let found = tx.query_opt("SELECT beats FROM nodes WHERE id = ?1", params![&id], |row| {
        row.get::<i64>(0)
    })?;
    Ok(found.is_some())
}

pub fn list(tx: &mut Tx<'_>) -> Result<Vec<Node>> {
    tx.query(
        "SELECT id, name, beats FROM nodes ORDER BY id",
        params![],
        |row| {
            Ok(Node {
                id: row.get(0)?,
                name: row.get(1)?,
                beats: row.get(2)?,
            })
        },
    )
}

pub fn count(tx: &mut Tx<'_>) -> Result<i64> {
    tx.query_one("SELECT COUNT(*) FROM nodes", params![], |row| row.get(0))
}

/// Takes a node out, unless it has shown itself since; `true` when it is gone.
pub fn give_up(tx: &mut Tx<'_>, node: &Node) -> Result<bool> {
    let rows = tx.execute(
        "DELETE FROM nodes WHERE id = ?1 AND beats = ?2",
        params![&node.id, node.beats],
    )?;
    Ok(rows > 0)
}

/// Takes out every node but this one: for a database that only one process may serve.
pub fn give_up_others(tx: &mut Tx<'_>, id: NodeId) -> Result<()> {
    tx.execute("DELETE FROM nodes WHERE id <> ?1", params![&id])?;
    Ok(())
}

/// A node ends in an orderly way: its accounts are free at once.
pub fn leave(tx: &mut Tx<'_>, id: NodeId) -> Result<()> {
    tx.execute("DELETE FROM nodes WHERE id = ?1", params![&id])?;
    Ok(())
}

/// Makes this node deliver for an account, if nobody does; does it now? What another one has left behind is looked for
/// anew, also by a node that had the account before.
pub fn claim(tx: &mut Tx<'_>, account: AccountId, id: NodeId) -> Result<bool> {
    let rows = tx.on(ACCOUNTS).execute(
        "UPDATE accounts SET deliver_node = ?2,
                deliver_version = deliver_version + CASE WHEN deliver_node = ?2 THEN 0 ELSE 1 END
         WHERE id = ?1 AND (deliver_node = ?2 OR deliver_node IS NULL OR deliver_node NOT IN (SELECT id FROM nodes))
           AND ?2 IN (SELECT id FROM nodes)",
        params![&account, &id],
    )?;
    Ok(rows > 0)
}

/// Accounts after an id that a node delivers for.
pub fn accounts(
    tx: &mut Tx<'_>,
    id: NodeId,
    after: Option<AccountId>,
    limit: usize,
) -> Result<Vec<AccountId>> {
    let after = after.map_or_else(Vec::new, |account| account.as_bytes().to_vec());
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    tx.on(ACCOUNTS).query(
        "SELECT id FROM accounts WHERE deliver_node = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
        params![&id, &after, limit],
        |row| row.get(0),
    )
}

/// A node delivers no longer for an account: another may; `false` when it did not.
pub fn let_go(tx: &mut Tx<'_>, account: AccountId, id: NodeId) -> Result<bool> {
    let rows = tx.on(ACCOUNTS).execute(
        "UPDATE accounts SET deliver_node = NULL WHERE id = ?1 AND deliver_node = ?2",
        params![&account, &id],
    )?;
    Ok(rows > 0)
}

/// Holds the account for this transaction; does that node deliver for it?
pub fn hold(tx: &mut Tx<'_>, account: AccountId, id: NodeId) -> Result<bool> {
    let owner = tx.on(ACCOUNTS).query_opt(
        "SELECT deliver_node FROM accounts WHERE id = ?1 {lock}",
        params![&account],
        |row| row.get::<Option<NodeId>>(0),
    )?;
    Ok(owner.flatten() == Some(id))
}
