//! How many attempts may be in flight to a receiver, and which of them are cancelled.

use super::address::{Address, AttemptKind};
use super::in_flight::{InFlight, SLOW_AFTER};
use super::state::Endpoint;
use garson_core::id::EventId;
use std::time::{Duration, Instant};

/// A failing receiver that has accepted nothing for this long gets one attempt at a time, slow or not.
const TRUSTED_FOR: Duration = Duration::from_secs(300);
/// When all its places are taken, a first attempt takes the place of the oldest attempt that has run for this many times the
/// receiver's usual time, but at least for this part of the deadline.
const UNUSUAL: u32 = 4;
const LEAST_PART: u32 = 5;

impl Endpoint {
    pub(super) fn retries_in_flight(&self) -> usize {
        self.in_flight
            .values()
            .filter(|it| it.kind == AttemptKind::Retry)
            .count()
    }

    /// Attempts that count against its width, in total and retries: those that are not slow. For a troubled receiver that has
    /// accepted nothing for long, all count: it most likely hangs on every order.
    pub(super) fn counted(&self, now: Instant) -> (usize, usize) {
        let is_trusted = |at: Instant| now.saturating_duration_since(at) < TRUSTED_FOR;
        let counts_slow = self.is_troubled() && !self.answered_at.is_some_and(is_trusted);
        let counted = self
            .in_flight
            .values()
            .filter(|it| counts_slow || !it.is_slow(now));
        counted.fold((0, 0), |(all, late), it| {
            (all + 1, late + usize::from(it.kind == AttemptKind::Retry))
        })
    }

    /// When more attempts can start although none has ended until then.
    #[must_use]
    pub fn more_at(&self, now: Instant) -> Option<Instant> {
        if self.queued() == 0 {
            return None;
        }
        let pause_end = self.paused_until;
        let attempts = self.in_flight.values().filter(|it| !it.is_cancelled);
        let waits = attempts.flat_map(|it| [it.began + SLOW_AFTER, it.began + self.patience()]);
        waits.chain(pause_end).filter(|at| *at > now).min()
    }

    /// How long an attempt may take while other deliveries wait for its place.
    pub(super) fn patience(&self) -> Duration {
        match self.usual_time {
            Some(usual_time) => (usual_time * UNUSUAL).clamp(self.deadline / LEAST_PART, self.deadline),
            None => self.deadline / 2,
        }
    }

    /// After what time an attempt counts as hanging, as far as this receiver's usual time is known.
    pub fn hangs_after(&self) -> Duration {
        self.usual_time.map_or(Duration::ZERO, |usual_time| {
            (usual_time * UNUSUAL).min(self.deadline)
        })
    }

    /// Cancels an attempt, as timed out, because a first attempt waits for its place.
    pub fn preempt(&mut self, now: Instant) -> Option<EventId> {
        let is_full = self.in_flight.len() >= self.most;
        let cancelled = self.in_flight.values().filter(|it| it.is_cancelled).count();
        if !is_full || self.fresh.len() <= cancelled || !matches!(self.address, Address::At(_)) {
            return None;
        }
        let patience = self.patience();
        let (id, attempt) = self
            .in_flight
            .iter_mut()
            .filter(|(_, it)| !it.is_cancelled && now.duration_since(it.began) >= patience)
            .min_by_key(|(_, it)| it.began)?;
        attempt.is_cancelled = true;
        Some(*id)
    }

    /// Cancels attempts, without counting them, that go to an address that the account no longer has.
    pub fn misdirected(&mut self) -> Vec<EventId> {
        if matches!(self.address, Address::Unknown) {
            return Vec::new();
        }
        let url = self.address.url();
        let mut found = Vec::new();
        for (id, attempt) in &mut self.in_flight {
            let is_elsewhere = attempt
                .target
                .as_ref()
                .is_some_and(|it| Some(it.url.as_str()) != url);
            if is_elsewhere && !attempt.is_cancelled {
                attempt.is_cancelled = true;
                found.push(*id);
            }
        }
        found
    }

    /// Sets the address. A new address is another receiver: failures and times of the old one are reset.
    pub(super) fn set_address(&mut self, address: Address) {
        let url = address.url().map(str::to_owned);
        if self.last_url.as_ref().is_some_and(|last| *last != url) {
            self.failures = 0;
            self.width = self.most;
            self.paused_until = None;
            self.usual_time = None;
            self.answered_at = None;
        }
        self.last_url = Some(url);
        self.address = address;
    }

    /// Whether the next attempt is a first attempt or a retry, if one may start.
    #[must_use]
    pub fn next_kind(&self, now: Instant) -> Option<AttemptKind> {
        let (counted, counted_late) = self.counted(now);
        if counted >= self.width {
            return None;
        }
        // Retries never take the whole width, so that first attempts need not wait for them to fail.
        let half = |width: usize| (width / 2).max(1);
        let may_retry = counted_late < half(self.width) && self.retries_in_flight() < half(self.most);
        let has_late = !self.late.is_empty() && may_retry;
        match (self.fresh.is_empty(), has_late) {
            (true, false) => None,
            (true, true) => Some(AttemptKind::Retry),
            (false, false) => Some(AttemptKind::First),
            (false, true) if self.last_kind == AttemptKind::First => Some(AttemptKind::Retry),
            (false, true) => Some(AttemptKind::First),
        }
    }

    /// Did an attempt go to another receiver than the account has now? Its result says nothing about this one.
    pub(super) fn is_of_another_address(&self, attempt: Option<&InFlight>) -> bool {
        let target = attempt.and_then(|attempt| attempt.target.as_ref());
        let known = self.last_url.as_ref();
        target.is_some_and(|target| known.is_some_and(|url| url.as_deref() != Some(target.url.as_str())))
    }
}
