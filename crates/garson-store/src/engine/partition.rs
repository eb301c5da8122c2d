//! Which writer runs a job.

use garson_core::id::AccountId;

/// Jobs of one partition go to the same writer. Each account is a partition, so that its jobs do not wait for each other's
/// locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Partition {
    number: u64,
    /// The account whose rows the job changes.
    account: Option<AccountId>,
}

impl Partition {
    /// For work that belongs to no account.
    pub const COMMON: Self = Self::numbered(u64::MAX);

    /// One of many partitions that have nothing to do with accounts.
    #[must_use]
    pub const fn numbered(number: u64) -> Self {
        Self {
            number,
            account: None,
        }
    }

    pub(super) fn account(self) -> Option<AccountId> {
        self.account
    }

    /// The index of the writer, of so many.
    pub(super) fn writer(self, count: usize) -> usize {
        usize::try_from(self.number % (count.max(1) as u64)).unwrap_or(0)
    }
}

impl From<AccountId> for Partition {
    fn from(account: AccountId) -> Self {
        let (high, low) = account.0.as_u64_pair();
        Self {
            number: high ^ low,
            account: Some(account),
        }
    }
}
