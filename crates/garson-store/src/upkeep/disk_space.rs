//! Is there room for more? After a failed write this is tried with more than the last free pages of a disk can hold.

use crate::{Result, StoreError, Tx, params};
use uuid::Uuid;

/// More than the orders that are written together at most times.
const BYTES: usize = 256 * 1024;

/// What is written to try. If nobody removes it, it goes with the old answers that it lies among.
#[derive(Clone, Copy, Debug)]
pub struct Trial([u8; 16]);

impl Trial {
    #[must_use]
    pub fn new() -> Self {
        Self(Uuid::now_v7().into_bytes())
    }
}

impl Default for Trial {
    fn default() -> Self {
        Self::new()
    }
}

/// Writes something large.
pub fn fill(tx: &mut Tx<'_>, trial: Trial) -> Result<()> {
    let mut body = vec![0; BYTES];
    // So that no engine can make it small.
    getrandom::fill(&mut body).map_err(|_| StoreError::unavailable("no randomness to be had"))?;
    tx.execute(
        "INSERT INTO idempotency (account_id, key_hash, request_hash, reserved_id, status, body, leased_until, created_at)
         VALUES (?1, ?2, ?2, ?2, 0, ?3, 0, 0)",
        params![&Uuid::nil().as_bytes()[..], &trial.0[..], &body[..]],
    )?;
    Ok(())
}

/// Removes it again.
pub fn clear(tx: &mut Tx<'_>, trial: Trial) -> Result<()> {
    tx.execute(
        "DELETE FROM idempotency WHERE account_id = ?1 AND key_hash = ?2",
        params![&Uuid::nil().as_bytes()[..], &trial.0[..]],
    )?;
    Ok(())
}
