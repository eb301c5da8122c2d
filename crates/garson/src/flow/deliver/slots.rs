//! Limits the attempts in flight in total: separate slots for first attempts, for retries, and for receivers that keep
//! failing, so that none can crowd out the others.

use super::endpoint::AttemptKind;
use super::held::Held;
use super::receiver::Receiver;
use std::collections::VecDeque;

/// The kind of slot that an attempt needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotKind {
    First,
    Retry,
    Troubled,
}

impl SlotKind {
    pub const ALL: [Self; 3] = [Self::First, Self::Retry, Self::Troubled];

    pub fn of(kind: AttemptKind, is_troubled: bool) -> Self {
        match (is_troubled, kind) {
            (true, _) => Self::Troubled,
            (false, AttemptKind::First) => Self::First,
            (false, AttemptKind::Retry) => Self::Retry,
        }
    }

    fn index(self) -> usize {
        match self {
            Self::First => 0,
            Self::Retry => 1,
            Self::Troubled => 2,
        }
    }
}

/// The slots of all kinds, and the receivers that wait for one.
pub struct Slots {
    free: [usize; 3],
    all: usize,
    queues: [VecDeque<Receiver>; 3],
}

impl Slots {
    /// Half of them are for first attempts, a quarter for retries, a quarter for troubled receivers.
    pub fn new(all: usize) -> Self {
        let quarter = (all / 4).max(1);
        let free = [all.saturating_sub(2 * quarter).max(1), quarter, quarter];
        Self {
            free,
            all: free.iter().sum(),
            queues: Default::default(),
        }
    }

    pub fn take(&mut self, kind: SlotKind) -> bool {
        match self.free.get_mut(kind.index()) {
            Some(free) if *free > 0 => {
                *free -= 1;
                true
            }
            _ => false,
        }
    }

    pub fn give_back(&mut self, kind: SlotKind) {
        if let Some(free) = self.free.get_mut(kind.index()) {
            *free += 1;
        }
    }

    /// Queues a receiver for a slot of this kind.
    pub fn wait(&mut self, kind: SlotKind, receiver: Receiver) {
        if let Some(queue) = self.queues.get_mut(kind.index())
            && !queue.contains(&receiver)
        {
            queue.push_back(receiver);
        }
    }

    /// The next receiver for a slot of this kind, if one is free: that of the account that holds the fewest, then the one that holds
    /// the fewest itself, then the one that waits longest.
    pub fn next(&mut self, kind: SlotKind, held: &Held) -> Option<Receiver> {
        let is_free = self.free.get(kind.index()).is_some_and(|free| *free > 0);
        if !is_free {
            return None;
        }
        let (first, _) = self.waiting(kind, held)?;
        let queue = self.queues.get_mut(kind.index())?;
        queue.retain(|receiver| *receiver != first);
        Some(first)
    }

    /// The receiver that is next for a slot of this kind, and how many wait for one.
    pub fn waiting(&self, kind: SlotKind, held: &Held) -> Option<(Receiver, usize)> {
        let queue = self.queues.get(kind.index())?;
        let first = queue
            .iter()
            .min_by_key(|receiver| (held.by_account(receiver.account), held.by_receiver(**receiver)))?;
        Some((*first, queue.len()))
    }

    /// Does a receiver wait for a slot of this kind?
    pub fn is_wanted(&self, kind: SlotKind) -> bool {
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
