//! The rotation of the master key: both keys, each sealed with the other, and how far each node has followed.
//!
//! While the row exists, either key opens the database. In the phase `announced` nodes learn the new key and still seal with the
//! old one; in the phase `sealing` they seal with the new one, and everything else is sealed again. The next phase begins only when
//! every node acts on the current one, so no node ever meets a value that it cannot open.

use crate::tables::nodes::Node;
use crate::tables::row::{Cells, columns, each};
use crate::vault::{KeyFingerprint, Vault};
use crate::{Result, StoreError, Tx, params};
use garson_core::id::NodeId;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;

const OLD: &str = "key_rotation/old_key";
const NEW: &str = "key_rotation/new_key";

pub type MasterKey = Secret<[u8; 32]>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Announced,
    Sealing,
}

impl Phase {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Announced => "announced",
            Self::Sealing => "sealing",
        }
    }

    fn named(name: &str) -> Option<Self> {
        [Self::Announced, Self::Sealing]
            .into_iter()
            .find(|phase| phase.as_str() == name)
    }
}

/// A rotation as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotation {
    pub phase: Phase,
    old_key: Vec<u8>,
    new_key: Vec<u8>,
}

/// The two keys of a rotation.
#[derive(Clone, Debug)]
pub struct KeyPair {
    pub old: MasterKey,
    pub new: MasterKey,
}

columns! {
    const COLUMNS = "" of key_rotation { phase: String, old_key, new_key }
    fn rotation() -> Rotation {
        let phase = Phase::named(&phase).ok_or_else(|| StoreError::corrupt("the phase of a rotation is damaged"))?;
        Ok(Rotation { phase, old_key, new_key })
    }
}

/// The rotation, if there is one.
pub fn find(tx: &mut Tx<'_>) -> Result<Option<Rotation>> {
    let sql = format!("SELECT {COLUMNS} FROM key_rotation WHERE id = 1");
    tx.query_opt(&sql, params![], each(rotation))
}

impl Rotation {
    /// Both keys, opened with the one that this process was started with.
    pub fn keys(&self, own: &MasterKey) -> Result<KeyPair> {
        let vault = Vault::new(own);
        if let Ok(new) = vault.open(NEW, b"", &self.new_key) {
            let (old, new) = (own.clone(), key(&new)?);
            return Ok(KeyPair { old, new });
        }
        match vault.open(OLD, b"", &self.old_key) {
            Ok(old) => Ok(KeyPair {
                old: key(&old)?,
                new: own.clone(),
            }),
            Err(_) => Err(StoreError::refused(
                "the master key is being rotated, and the one that is set is neither the old nor the new one",
            )),
        }
    }

    /// Makes a vault use the keys as this phase requires.
    pub fn apply(&self, vault: &Vault, own: &MasterKey) -> Result<KeyPair> {
        let keys = self.keys(own)?;
        match self.phase {
            Phase::Announced => vault.use_keys(&keys.old, &keys.new),
            Phase::Sealing => vault.use_keys(&keys.new, &keys.old),
        }
        Ok(keys)
    }
}

fn key(opened: &Secret<Vec<u8>>) -> Result<MasterKey> {
    let bytes = <[u8; 32]>::try_from(opened.expose().as_slice());
    bytes
        .map(Secret::new)
        .map_err(|_| StoreError::corrupt("a master key of a rotation is damaged"))
}

/// Announces the new key.
pub fn begin(tx: &mut Tx<'_>, keys: &KeyPair, now: Timestamp) -> Result<()> {
    let new_key = Vault::new(&keys.old).seal(NEW, b"", keys.new.expose())?;
    let old_key = Vault::new(&keys.new).seal(OLD, b"", keys.old.expose())?;
    tx.execute(
        "INSERT INTO key_rotation (id, phase, old_key, new_key, started_at) VALUES (1, ?1, ?2, ?3, ?4)",
        params![Phase::Announced.as_str(), &old_key, &new_key, now],
    )?;
    Ok(())
}

pub fn set_phase(tx: &mut Tx<'_>, phase: Phase) -> Result<()> {
    tx.execute(
        "UPDATE key_rotation SET phase = ?1 WHERE id = 1",
        params![phase.as_str()],
    )?;
    Ok(())
}

/// Ends the rotation: the old key is forgotten.
pub fn end(tx: &mut Tx<'_>) -> Result<()> {
    tx.execute("DELETE FROM key_rotation WHERE id = 1", params![])?;
    Ok(())
}

/// Notes that a node acts as a phase requires, and the key that it was started with.
pub fn confirm(
    tx: &mut Tx<'_>,
    node: NodeId,
    started_with: &KeyFingerprint,
    phase: Option<Phase>,
) -> Result<()> {
    // Nodes that have left are not needed any more.
    tx.execute(
        "DELETE FROM node_keys WHERE node NOT IN (SELECT id FROM nodes)",
        params![],
    )?;
    tx.execute(
        "INSERT INTO node_keys (node, started_with, phase) VALUES (?1, ?2, ?3)
         ON CONFLICT (node) DO UPDATE SET started_with = excluded.started_with, phase = excluded.phase",
        params![&node, started_with.as_slice(), phase.map_or("", Phase::as_str)],
    )?;
    Ok(())
}

/// The nodes that do not act as a phase requires yet.
pub fn unconfirmed(tx: &mut Tx<'_>, phase: Phase) -> Result<Vec<Node>> {
    tx.query(
        "SELECT n.id, n.name, n.beats FROM nodes n LEFT JOIN node_keys k ON k.node = n.id
         WHERE k.phase IS NULL OR k.phase <> ?1 ORDER BY n.name",
        params![phase.as_str()],
        each(node),
    )
}

fn node(cells: &mut Cells<'_, '_>) -> Result<Node> {
    Ok(Node {
        id: cells.read()?,
        name: cells.read()?,
        heartbeats: cells.read()?,
    })
}

/// The nodes that were not started with this key.
pub fn started_with_another(tx: &mut Tx<'_>, key: &KeyFingerprint) -> Result<Vec<Node>> {
    tx.query(
        "SELECT n.id, n.name, n.beats FROM nodes n LEFT JOIN node_keys k ON k.node = n.id
         WHERE k.started_with IS NULL OR k.started_with <> ?1 ORDER BY n.name",
        params![key.as_slice()],
        each(node),
    )
}
