//! Which id a record of the other service has here.

use crate::flow::Fault;
use garson_core::id::AccountId;
use garson_store::Tx;
use garson_store::tables::imported::{IdOf, IdState, id_state};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The command, in the audit log.
pub(super) const COMMAND: &str = "import";

/// Whether a record is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found<T> {
    Here(T),
    /// Not yet; it gets this id.
    New(T),
    /// It was deleted here, and its removal is not finished.
    Deleted,
}

impl<T> Found<T> {
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Found<U> {
        match self {
            Self::Here(id) => Found::Here(make(id)),
            Self::New(id) => Found::New(make(id)),
            Self::Deleted => Found::Deleted,
        }
    }
}

/// Looks for a record by the id that it has at the other service.
pub(super) fn find(
    tx: &mut Tx<'_>,
    account: AccountId,
    kind: IdOf,
    theirs: &str,
) -> Result<Found<Uuid>, Fault> {
    // Only one that reads the same here: other spellings of it may be other records there.
    let same = Uuid::parse_str(theirs).ok();
    let same = same.filter(|id| id.to_string() == theirs && !id.is_nil() && !id.is_max());
    let candidates = [same, Some(derived(account, kind, theirs))];
    let mut free = None;
    for id in candidates.into_iter().flatten() {
        match id_state(tx, account, kind, id)? {
            IdState::Ours => return Ok(Found::Here(id)),
            IdState::Deleted => return Ok(Found::Deleted),
            IdState::Free => free = free.or(Some(id)),
            IdState::Foreign => {}
        }
    }
    // The derived id is the account's own, so it is never foreign.
    Ok(free.map_or(Found::Deleted, Found::New))
}

/// An id of the account's own for a record of the other service, always the same.
fn derived(account: AccountId, kind: IdOf, theirs: &str) -> Uuid {
    let hash = Sha256::new()
        .chain_update(account.as_bytes())
        .chain_update(format!("{kind:?}:"))
        .chain_update(theirs)
        .finalize();
    let mut bytes = [0; 16];
    for (to, from) in bytes.iter_mut().zip(hash.iter()) {
        *to = *from;
    }
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::time::Timestamp;

    #[test]
    fn derived_ids_depend_on_account_kind_and_id() {
        let (a, b) = (
            AccountId::at(Timestamp::from_millis(1)),
            AccountId::at(Timestamp::from_millis(2)),
        );
        let id = derived(a, IdOf::Order, "17");
        assert_eq!(id, derived(a, IdOf::Order, "17"));
        for other in [
            derived(b, IdOf::Order, "17"),
            derived(a, IdOf::Restaurant, "17"),
            derived(a, IdOf::Order, "18"),
        ] {
            assert_ne!(id, other);
        }
    }
}
