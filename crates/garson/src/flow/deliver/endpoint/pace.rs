//! How many attempts may be under way to a receiver, and which of them end early.

use super::{Address, Endpoint, Lane};
use crate::flow::deliver::attempt::Target;
use garson_core::id::EventId;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An attempt that has been under way for so long is slow. The width of a receiver is about those that are not: one that
/// hangs on some orders is still offered the others, up to its most.
pub const SLOW_AFTER: Duration = Duration::from_millis(500);
/// A receiver that has not taken anything for so long, and keeps failing, gets one attempt at a time, slow or not.
const TRUSTED_FOR: Duration = Duration::from_secs(300);
/// When all its places are taken, a first attempt takes that of the oldest one that has been under way for so many times as
/// long as this receiver usually needs, but at least for this part of the time that an attempt may take.
const UNUSUAL: u32 = 4;
const LEAST_PART: u32 = 5;
impl Address {
    pub(super) fn url(&self) -> Option<&str> {
        match self {
            Self::Unknown | Self::Nowhere => None,
            Self::At(target) => Some(&target.url),
        }
    }
}

/// An attempt under way.
#[derive(Debug)]
pub(super) struct Flying {
    pub lane: Lane,
    pub began: Instant,
    pub target: Option<Arc<Target>>,
    /// It was told to end.
    pub is_cancelled: bool,
}

impl Flying {
    fn is_slow(&self, now: Instant) -> bool {
        now.duration_since(self.began) >= SLOW_AFTER
    }
}

impl Endpoint {
    pub(super) fn flying_late(&self) -> usize {
        self.flying.values().filter(|it| it.lane == Lane::Late).count()
    }

    /// Attempts that its width is about, in all and retries among them: those that are not slow. Of a receiver that keeps
    /// failing, and has not taken anything lately, all count: it most likely hangs on every order.
    fn counted(&self, now: Instant) -> (usize, usize) {
        let is_trusted = |at: Instant| now.saturating_duration_since(at) < TRUSTED_FOR;
        let counts_slow = self.is_troubled() && !self.answered_at.is_some_and(is_trusted);
        let counted = self.flying.values().filter(|it| counts_slow || !it.is_slow(now));
        counted.fold((0, 0), |(all, late), it| {
            (all + 1, late + usize::from(it.lane == Lane::Late))
        })
    }

    /// When more can be begun of what is queued, though nothing has ended until then.
    #[must_use]
    pub fn wakes_at(&self, now: Instant) -> Option<Instant> {
        if self.queued() == 0 {
            return None;
        }
        let rested = self.rests_until;
        let flying = self.flying.values().filter(|it| !it.is_cancelled);
        let waits = flying.flat_map(|it| [it.began + SLOW_AFTER, it.began + self.patience()]);
        waits.chain(rested).filter(|at| *at > now).min()
    }

    /// How long an attempt may take while others wait for its place.
    fn patience(&self) -> Duration {
        match self.usual {
            Some(usual) => (usual * UNUSUAL).clamp(self.deadline / LEAST_PART, self.deadline),
            None => self.deadline / 2,
        }
    }

    /// From when on an attempt is taken to hang, as far as that is known of this receiver.
    pub fn hangs_after(&self) -> Duration {
        self.usual
            .map_or(Duration::ZERO, |usual| (usual * UNUSUAL).min(self.deadline))
    }

    /// An attempt that is to end, as one that timed out, because a first attempt waits for its place.
    pub fn preempt(&mut self, now: Instant) -> Option<EventId> {
        let is_full = self.flying.len() >= self.most;
        let cancelled = self.flying.values().filter(|it| it.is_cancelled).count();
        if !is_full || self.fresh.len() <= cancelled || !matches!(self.address, Address::At(_)) {
            return None;
        }
        let patience = self.patience();
        let (id, flying) = self
            .flying
            .iter_mut()
            .filter(|(_, it)| !it.is_cancelled && now.duration_since(it.began) >= patience)
            .min_by_key(|(_, it)| it.began)?;
        flying.is_cancelled = true;
        Some(*id)
    }

    /// Attempts that are to end, and not to count, because they go to an address that is not the account's any more.
    pub fn misdirected(&mut self) -> Vec<EventId> {
        if matches!(self.address, Address::Unknown) {
            return Vec::new();
        }
        let url = self.address.url();
        let mut found = Vec::new();
        for (id, flying) in &mut self.flying {
            let is_elsewhere = flying
                .target
                .as_ref()
                .is_some_and(|it| Some(it.url.as_str()) != url);
            if is_elsewhere && !flying.is_cancelled {
                flying.is_cancelled = true;
                found.push(*id);
            }
        }
        found
    }

    /// A new address is another receiver: how the old one fared says nothing about it.
    pub(super) fn set_address(&mut self, address: Address) {
        let url = address.url().map(str::to_owned);
        if self.last_url.as_ref().is_some_and(|last| *last != url) {
            self.failures = 0;
            self.width = self.most;
            self.rests_until = None;
            self.usual = None;
            self.answered_at = None;
        }
        self.last_url = Some(url);
        self.address = address;
    }

    /// Which lane the next delivery would come from.
    #[must_use]
    pub fn next_lane(&self, now: Instant) -> Option<Lane> {
        let (counted, counted_late) = self.counted(now);
        if counted >= self.width {
            return None;
        }
        // Retries never take the whole width, so that a fresh one need not wait for them to fail.
        let half = |width: usize| (width / 2).max(1);
        let may_retry = counted_late < half(self.width) && self.flying_late() < half(self.most);
        let has_late = !self.late.is_empty() && may_retry;
        match (self.fresh.is_empty(), has_late) {
            (true, false) => None,
            (true, true) => Some(Lane::Late),
            (false, false) => Some(Lane::Fresh),
            (false, true) if self.last_lane == Lane::Fresh => Some(Lane::Late),
            (false, true) => Some(Lane::Fresh),
        }
    }

    /// Was an attempt made at another receiver than the account has now? It says nothing about this one.
    pub(super) fn is_of_another_address(&self, flown: Option<&Flying>) -> bool {
        let target = flown.and_then(|flown| flown.target.as_ref());
        let known = self.last_url.as_ref();
        target.is_some_and(|target| known.is_some_and(|url| url.as_deref() != Some(target.url.as_str())))
    }
}
