//! Checks after a failed write whether the disk has space again, by writing more than its last free pages can hold.

use crate::tables::row::insert;
use crate::{Result, StoreError, Tx, params};
use uuid::Uuid;

/// More than the orders of most transactions.
const BYTES: usize = 256 * 1024;

/// The key of the row that the check writes. If the check does not remove it, the sweep of idempotency keys does.
#[derive(Clone, Copy, Debug)]
pub struct Probe([u8; 16]);

impl Probe {
    #[must_use]
    pub fn new() -> Self {
        Self(Uuid::now_v7().into_bytes())
    }
}

impl Default for Probe {
    fn default() -> Self {
        Self::new()
    }
}

/// Writes a large row.
#[expect(clippy::disallowed_methods, reason = "needs real randomness")]
pub fn write_probe(tx: &mut Tx<'_>, probe: Probe) -> Result<()> {
    let mut body = vec![0; BYTES];
    // Random, so that the engine cannot compress it.
    getrandom::fill(&mut body).map_err(|_| StoreError::unavailable("the system has no random bytes"))?;
    insert!(
        tx,
        idempotency {
            account_id: &Uuid::nil().as_bytes()[..],
            key_hash: &probe.0[..],
            request_hash: &probe.0[..],
            reserved_id: &probe.0[..],
            status: 0,
            body: &body[..],
            leased_until: 0,
            created_at: 0,
        }
    )?;
    Ok(())
}

pub fn remove_probe(tx: &mut Tx<'_>, probe: Probe) -> Result<()> {
    tx.execute(
        "DELETE FROM idempotency WHERE account_id = ?1 AND key_hash = ?2",
        params![&Uuid::nil().as_bytes()[..], &probe.0[..]],
    )?;
    Ok(())
}
