//! How many attempts may be under way in all: a part for first attempts, one for retries, and one for receivers that keep
//! failing, so that none of them can take the others' place.

use super::endpoint::Lane;
use garson_core::id::AccountId;
use std::collections::{HashMap, VecDeque};

/// What an attempt counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Fresh,
    Late,
    Troubled,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Fresh, Self::Late, Self::Troubled];

    pub fn of(lane: Lane, is_troubled: bool) -> Self {
        match (is_troubled, lane) {
            (true, _) => Self::Troubled,
            (false, Lane::Fresh) => Self::Fresh,
            (false, Lane::Late) => Self::Late,
        }
    }

    fn index(self) -> usize {
        match self {
            Self::Fresh => 0,
            Self::Late => 1,
            Self::Troubled => 2,
        }
    }
}

/// The slots of all kinds, and who waits for one.
pub struct Slots {
    free: [usize; 3],
    all: usize,
    queues: [VecDeque<AccountId>; 3],
}

impl Slots {
    /// Half of them for first attempts, a quarter for retries, a quarter for those in trouble.
    pub fn new(all: usize) -> Self {
        let quarter = (all / 4).max(1);
        let free = [all.saturating_sub(2 * quarter).max(1), quarter, quarter];
        Self {
            free,
            all: free.iter().sum(),
            queues: Default::default(),
        }
    }

    pub fn take(&mut self, kind: Kind) -> bool {
        match self.free.get_mut(kind.index()) {
            Some(free) if *free > 0 => {
                *free -= 1;
                true
            }
            _ => false,
        }
    }

    pub fn give_back(&mut self, kind: Kind) {
        if let Some(free) = self.free.get_mut(kind.index()) {
            *free += 1;
        }
    }

    /// An account waits for a slot of this kind.
    pub fn wait(&mut self, kind: Kind, account: AccountId) {
        if let Some(queue) = self.queues.get_mut(kind.index())
            && !queue.contains(&account)
        {
            queue.push_back(account);
        }
    }

    /// Who is next for the slots of this kind, if one is free: whoever holds the fewest, and waits longest among those.
    pub fn next(&mut self, kind: Kind, held: &HashMap<AccountId, usize>) -> Option<AccountId> {
        let is_free = self.free.get(kind.index()).is_some_and(|free| *free > 0);
        if !is_free {
            return None;
        }
        let (first, _) = self.waiting(kind, held)?;
        let queue = self.queues.get_mut(kind.index())?;
        queue.retain(|account| *account != first);
        Some(first)
    }

    /// Who would be next if there were a slot of this kind, and how many wait for one.
    pub fn waiting(&self, kind: Kind, held: &HashMap<AccountId, usize>) -> Option<(AccountId, usize)> {
        let queue = self.queues.get(kind.index())?;
        let first = queue
            .iter()
            .min_by_key(|account| held.get(account).copied().unwrap_or(0))?;
        Some((*first, queue.len()))
    }

    /// Does anybody wait for a slot of this kind?
    pub fn is_wanted(&self, kind: Kind) -> bool {
        self.queues
            .get(kind.index())
            .is_some_and(|queue| !queue.is_empty())
    }

    pub fn has_waiting(&self) -> bool {
        self.queues.iter().any(|queue| !queue.is_empty())
    }

    pub fn taken(&self) -> usize {
        self.all - self.free.iter().sum::<usize>()
    }
}
