//! The hash of a row of the audit log.

use crate::{Result, StoreError};
use garson_core::time::Timestamp;
use sha2::{Digest, Sha256};

/// The hash before the first row of a chain.
pub const NO_HASH: [u8; 32] = [0; 32];

pub fn hash_of(bytes: &[u8]) -> Result<[u8; 32]> {
    let hash = <[u8; 32]>::try_from(bytes);
    hash.map_err(|_| StoreError::corrupt("a hash of the audit log has another length"))
}

/// A row as its hash covers it: the columns as they are stored.
pub struct HashedRow<'a> {
    pub account: &'a [u8],
    pub number: i64,
    pub at: Timestamp,
    pub actor: &'a str,
    pub actor_id: Option<&'a [u8]>,
    pub actor_name: Option<&'a str>,
    pub address: Option<&'a str>,
    pub action: &'a str,
    pub record_id: Option<&'a str>,
    pub restaurant_id: Option<&'a [u8]>,
    pub before: Option<&'a str>,
    pub after: Option<&'a str>,
}

impl HashedRow<'_> {
    /// SHA-256 of the previous hash and every column. Each column has its length before it, so that no two rows are the same text;
    /// NULL has a length that no value has.
    pub fn hash(&self, previous: &[u8; 32]) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(b"garson audit 1");
        hash.update(previous);
        hash.update(self.number.to_be_bytes());
        hash.update(self.at.as_millis().to_be_bytes());
        let texts = [
            Some(self.account),
            Some(self.actor.as_bytes()),
            self.actor_id,
            self.actor_name.map(str::as_bytes),
            self.address.map(str::as_bytes),
            Some(self.action.as_bytes()),
            self.record_id.map(str::as_bytes),
            self.restaurant_id,
            self.before.map(str::as_bytes),
            self.after.map(str::as_bytes),
        ];
        for text in texts {
            let length = text.map_or(u64::MAX, |text| text.len() as u64);
            hash.update(length.to_be_bytes());
            hash.update(text.unwrap_or_default());
        }
        hash.finalize().into()
    }
}
