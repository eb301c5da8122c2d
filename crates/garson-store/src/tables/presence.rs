//! Which boards, streams, pollers and printers are connected to which node. Rows count only while their node is a member.

use crate::tables::json::{from_json, to_json};
use crate::tables::row::{insert, tuple};
use crate::{Result, Tx, params};
use garson_core::id::{AccountId, NodeId};
use garson_core::presence::Presence;

/// Replaces what is connected to a node for an account. A node that is no longer a member writes nothing.
pub fn replace(tx: &mut Tx<'_>, node: NodeId, account: AccountId, connected: &[Presence]) -> Result<()> {
    if connected.is_empty() {
        tx.execute(
            "DELETE FROM presence WHERE node = ?1 AND account_id = ?2",
            params![&node, &account],
        )?;
        return Ok(());
    }
    let body = to_json("list of connections", connected)?;
    insert!(
        tx,
        presence {
            node: &node,
            account_id: &account,
            body: &body,
        },
        "ON CONFLICT (node, account_id) DO UPDATE SET body = excluded.body"
    )?;
    Ok(())
}

/// What is connected for an account to the member nodes other than `own`.
pub fn of_account(tx: &mut Tx<'_>, account: AccountId, own: Option<NodeId>) -> Result<Vec<Presence>> {
    let rows = tx.query(
        "SELECT node, body FROM presence WHERE account_id = ?1 AND node IN (SELECT id FROM nodes)",
        params![&account],
        tuple::<(NodeId, String)>,
    )?;
    let mut found = Vec::new();
    for (_, body) in rows.into_iter().filter(|(node, _)| Some(*node) != own) {
        found.extend(from_json::<Vec<Presence>>("list of connections", &body)?);
    }
    Ok(found)
}

/// Removes the rows of nodes that are no longer members.
pub fn remove_of_gone_nodes(tx: &mut Tx<'_>) -> Result<u64> {
    tx.execute(
        "DELETE FROM presence WHERE node NOT IN (SELECT id FROM nodes)",
        params![],
    )
}
