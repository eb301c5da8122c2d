//! The nodes: processes that serve this database, and which of them delivers for which account.
//!
//! When a node dies, another one removes it, and its accounts are free from then on. If it was only suspended, it finds its row
//! missing and joins again under a new id, so nothing that it still holds under the old one is valid.

use crate::engine::{Migration, check_join, newest};
use crate::tables::row::{columns, each, insert, value};
use crate::{ACCOUNTS, Result, Tx, params};
use garson_core::id::{AccountId, NodeId};

/// A member node. Its heartbeats grow while it is alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub id: NodeId,
    pub name: String,
    pub heartbeats: i64,
}

columns! {
    const COLUMNS = "" of nodes { id, name, beats }
    fn node() -> Node {
        Ok(Node { id, name, heartbeats: beats })
    }
}

/// Adds a node. One with the same name was an earlier process on the same address, and is removed.
pub fn join(tx: &mut Tx<'_>, id: NodeId, name: &str) -> Result<()> {
    tx.execute("DELETE FROM nodes WHERE name = ?1", params![name])?;
    insert!(
        tx,
        nodes {
            id: &id,
            name: name,
            beats: 0
        }
    )?;
    Ok(())
}

/// Records which migrations the program of a node knows. Fails if the database has one that the program cannot work with; the node must
/// not join then.
pub fn declare_schema(tx: &mut Tx<'_>, id: NodeId, migrations: &[Migration]) -> Result<()> {
    check_join(tx, migrations)?;
    tx.execute(
        "UPDATE nodes SET schema_number = ?2 WHERE id = ?1",
        params![&id, newest(migrations)],
    )?;
    Ok(())
}

/// Records that the node is alive; `false` when it is no longer a member.
pub fn heartbeat(tx: &mut Tx<'_>, id: NodeId) -> Result<bool> {
    let rows = tx.execute("UPDATE nodes SET beats = beats + 1 WHERE id = ?1", params![&id])?;
    Ok(rows > 0)
}

pub fn is_member(tx: &mut Tx<'_>, id: NodeId) -> Result<bool> {
    let sql = "SELECT beats FROM nodes WHERE id = ?1";
    let found = tx.query_opt(sql, params![&id], value::<i64>)?;
    Ok(found.is_some())
}

pub fn list(tx: &mut Tx<'_>) -> Result<Vec<Node>> {
    let sql = format!("SELECT {COLUMNS} FROM nodes ORDER BY id");
    tx.query(&sql, params![], each(node))
}

pub fn count(tx: &mut Tx<'_>) -> Result<i64> {
    tx.query_one("SELECT COUNT(*) FROM nodes", params![], value)
}

/// Removes a node that has sent no heartbeat since it was read; `true` when it was removed.
pub fn remove_silent(tx: &mut Tx<'_>, node: &Node) -> Result<bool> {
    let rows = tx.execute(
        "DELETE FROM nodes WHERE id = ?1 AND beats = ?2",
        params![&node.id, node.heartbeats],
    )?;
    Ok(rows > 0)
}

/// Removes all nodes except this one: for a database that only one process may serve.
pub fn remove_others(tx: &mut Tx<'_>, id: NodeId) -> Result<()> {
    tx.execute("DELETE FROM nodes WHERE id <> ?1", params![&id])?;
    Ok(())
}

/// Removes a node at its orderly shutdown: its accounts are free at once.
pub fn leave(tx: &mut Tx<'_>, id: NodeId) -> Result<()> {
    tx.execute("DELETE FROM nodes WHERE id = ?1", params![&id])?;
    Ok(())
}

/// Makes this node deliver for an account unless another member does; `true` when this node delivers now. A change of owner
/// raises the version, so that the new owner reads all pending deliveries, even if it had the account before.
pub fn claim_account(tx: &mut Tx<'_>, account: AccountId, id: NodeId) -> Result<bool> {
    let rows = tx.on(ACCOUNTS).execute(
        "UPDATE accounts SET deliver_node = ?2,
                deliver_version = deliver_version + CASE WHEN deliver_node = ?2 THEN 0 ELSE 1 END
         WHERE id = ?1 AND (deliver_node = ?2 OR deliver_node IS NULL OR deliver_node NOT IN (SELECT id FROM nodes))
           AND ?2 IN (SELECT id FROM nodes)",
        params![&account, &id],
    )?;
    Ok(rows > 0)
}

/// The accounts after an id that a node delivers for.
pub fn accounts_of(
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
        value,
    )
}

/// Releases an account for other nodes; `false` when this node did not deliver for it.
pub fn release_account(tx: &mut Tx<'_>, account: AccountId, id: NodeId) -> Result<bool> {
    let rows = tx.on(ACCOUNTS).execute(
        "UPDATE accounts SET deliver_node = NULL WHERE id = ?1 AND deliver_node = ?2",
        params![&account, &id],
    )?;
    Ok(rows > 0)
}

/// Locks the account for this transaction; `true` when the node delivers for it.
pub fn lock_account(tx: &mut Tx<'_>, account: AccountId, id: NodeId) -> Result<bool> {
    let owner = tx.on(ACCOUNTS).query_opt(
        "SELECT deliver_node FROM accounts WHERE id = ?1 {lock}",
        params![&account],
        value::<Option<NodeId>>,
    )?;
    Ok(owner.flatten() == Some(id))
}
