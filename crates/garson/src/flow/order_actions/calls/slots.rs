//! Decides which integration's calls are made next: accounts and integrations share the slots fairly, and those whose platform
//! does not answer get few.

use garson_core::id::{AccountId, IntegrationId};
use garson_core::time::Timestamp;
use garson_store::tables::calls::Queue;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::Duration;
use tokio::time::Instant;

/// Concurrent calls in total, for one account, and for integrations whose platform fails.
const MAX_RUNNING: usize = 512;
const MAX_FOR_ACCOUNT: usize = 128;
const MAX_FAILING: usize = 256;
/// Concurrent calls for one integration: at first, and at most after its platform has answered.
const FIRST_WIDTH: usize = 4;
const MAX_WIDTH: usize = 16;
/// After this many failures in a row an integration gets one call at a time, with a pause between them.
const FAILING: u32 = 3;
const FAILING_PAUSE: Duration = Duration::from_secs(1);
/// Calls chosen at once.
const BATCH: usize = 64;
/// Queues read at once.
const QUEUES_AT_ONCE: usize = 64;

/// What a call says about its platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlatformAnswer {
    /// The platform answered, whatever it said.
    Answered,
    /// The platform does not answer or fails.
    PlatformProblem,
    /// It was not sent because of the platform's rate limit; there is room after this time.
    HeldBack(Duration),
    /// It was not sent for another reason.
    Unsent,
}

/// The call queue of an integration.
#[derive(Debug)]
struct QueueState {
    account: Option<AccountId>,
    /// When the next call is due that is not running.
    due_at: Option<Timestamp>,
    /// The queue may have changed and must be read.
    is_stale: bool,
    running: usize,
    width: usize,
    failures: u32,
    /// No call is started before that.
    paused_until: Option<Instant>,
    /// The turn in which it was last served.
    served: u64,
}

impl Default for QueueState {
    fn default() -> Self {
        Self {
            account: None,
            due_at: None,
            is_stale: true,
            running: 0,
            width: FIRST_WIDTH,
            failures: 0,
            paused_until: None,
            served: 0,
        }
    }
}

impl QueueState {
    fn is_failing(&self) -> bool {
        self.failures >= FAILING
    }

    fn is_due(&self, now: Timestamp, instant: Instant) -> bool {
        !self.is_stale
            && self.due_at.is_some_and(|due_at| due_at <= now)
            && self.paused_until.is_none_or(|until| until <= instant)
    }
}

#[derive(Debug, Default)]
pub struct Slots {
    queues: HashMap<IntegrationId, QueueState>,
    accounts: HashMap<AccountId, usize>,
    running: usize,
    failing: usize,
    turns: u64,
}

impl Slots {
    /// The queue of an integration may have changed.
    pub fn mark_stale(&mut self, integration: IntegrationId) {
        self.queues.entry(integration).or_default().is_stale = true;
    }

    /// Replaces all queues with those in the database. Due calls may be running already, so their queues must be read.
    pub fn set_queues(&mut self, queues: &[Queue], now: Timestamp) {
        for state in self.queues.values_mut() {
            state.due_at = None;
        }
        for queue in queues {
            let state = self.queues.entry(queue.integration_id).or_default();
            state.account = Some(queue.account_id);
            state.due_at = Some(queue.due_at);
            state.is_stale = queue.due_at <= now;
        }
        self.queues
            .retain(|_, state| state.running > 0 || state.due_at.is_some());
    }

    /// Integrations whose queues must be read and that have room: first those whose account has the fewest running calls, then
    /// those that were served longest ago.
    pub fn stale_queues(&self) -> Vec<IntegrationId> {
        let mut stale: Vec<_> = self
            .queues
            .iter()
            .filter(|(_, state)| state.is_stale && state.running < state.width)
            .map(|(id, state)| {
                let busy = state.account.and_then(|account| self.accounts.get(&account));
                (busy.copied().unwrap_or(0), state.served, *id)
            })
            .collect();
        stale.sort_unstable();
        stale
            .into_iter()
            .take(QUEUES_AT_ONCE)
            .map(|(_, _, id)| id)
            .collect()
    }

    /// Sets an integration's next due call, as it was read.
    pub fn set_next_due(&mut self, integration: IntegrationId, next: Option<Queue>) {
        let state = self.queues.entry(integration).or_default();
        state.is_stale = false;
        state.due_at = next.map(|queue| queue.due_at);
        state.account = next.map(|queue| queue.account_id).or(state.account);
        if next.is_none() && state.running == 0 {
            self.queues.remove(&integration);
        }
    }

    /// Chooses integrations, and how many calls of each may be started.
    pub fn choose(&mut self, now: Timestamp, instant: Instant) -> Vec<(IntegrationId, usize)> {
        let mut room = MAX_RUNNING.saturating_sub(self.running).min(BATCH);
        let mut failing_room = MAX_FAILING.saturating_sub(self.failing);
        let mut accounts: HashMap<AccountId, usize> = HashMap::new();
        let mut chosen: HashMap<IntegrationId, usize> = HashMap::new();
        let mut waiting: BinaryHeap<_> = self
            .queues
            .iter()
            .filter(|(_, state)| state.is_due(now, instant) && state.running < state.width)
            .filter_map(|(id, state)| {
                let account = state.account?;
                let busy = self.accounts.get(&account).copied().unwrap_or(0);
                Some(Reverse((busy, state.running, state.served, *id, account)))
            })
            .collect();
        while room > 0
            && let Some(Reverse((busy, running, served, id, account))) = waiting.pop()
        {
            let more = accounts.entry(account).or_default();
            let busy_now = self.accounts.get(&account).copied().unwrap_or(0) + *more;
            if busy_now >= MAX_FOR_ACCOUNT {
                continue;
            }
            if busy_now > busy {
                // Other calls of the account were chosen since: it goes back into the queue.
                waiting.push(Reverse((busy_now, running, served, id, account)));
                continue;
            }
            let Some(state) = self.queues.get(&id) else {
                continue;
            };
            if state.is_failing() {
                if failing_room == 0 {
                    continue;
                }
                failing_room -= 1;
            }
            *more += 1;
            room -= 1;
            *chosen.entry(id).or_default() += 1;
            if running + 1 < state.width {
                waiting.push(Reverse((busy_now + 1, running + 1, served, id, account)));
            }
        }
        self.turns += 1;
        for id in chosen.keys() {
            if let Some(state) = self.queues.get_mut(id) {
                state.served = self.turns;
            }
        }
        chosen.into_iter().collect()
    }

    /// Records how many of the chosen calls of an integration could be leased.
    pub fn leased(&mut self, integration: IntegrationId, leased: usize, wanted: usize) {
        if leased < wanted {
            // No more calls are due now; when the next one is must be read.
            self.mark_stale(integration);
        }
    }

    pub fn begun(&mut self, integration: IntegrationId, account: AccountId) {
        let state = self.queues.entry(integration).or_default();
        state.account = Some(account);
        state.running += 1;
        self.failing += usize::from(state.is_failing());
        self.running += 1;
        *self.accounts.entry(account).or_default() += 1;
    }

    /// Records the end of a call: it may be due again, or the next one of its order.
    pub fn ended(
        &mut self,
        integration: IntegrationId,
        account: AccountId,
        answer: PlatformAnswer,
        instant: Instant,
    ) {
        self.running = self.running.saturating_sub(1);
        if let Some(busy) = self.accounts.get_mut(&account) {
            *busy = busy.saturating_sub(1);
            if *busy == 0 {
                self.accounts.remove(&account);
            }
        }
        let state = self.queues.entry(integration).or_default();
        let was_failing = state.is_failing();
        if was_failing {
            self.failing = self.failing.saturating_sub(1);
        }
        state.running = state.running.saturating_sub(1);
        state.is_stale = true;
        match answer {
            PlatformAnswer::Answered => {
                state.failures = 0;
                state.width = (state.width * 2).min(MAX_WIDTH);
                state.paused_until = None;
            }
            PlatformAnswer::PlatformProblem => {
                state.failures = state.failures.saturating_add(1);
                state.width = (state.width / 2).max(1);
                if state.is_failing() {
                    state.width = 1;
                    state.paused_until = Some(instant + FAILING_PAUSE);
                }
            }
            PlatformAnswer::HeldBack(pause) => state.paused_until = Some(instant + pause),
            PlatformAnswer::Unsent => {}
        }
        // Calls that are still running were counted with the previous state.
        match (was_failing, state.is_failing()) {
            (false, true) => self.failing += state.running,
            (true, false) => self.failing = self.failing.saturating_sub(state.running),
            _ => {}
        }
    }

    /// How long until a known call can be started; none when that depends on the end of a call or on a wake-up.
    pub fn pause(&self, now: Timestamp, instant: Instant) -> Option<Duration> {
        if !self.stale_queues().is_empty() {
            return Some(Duration::ZERO);
        }
        if self.running >= MAX_RUNNING {
            return None;
        }
        let account_is_full = |account: AccountId| {
            self.accounts
                .get(&account)
                .is_some_and(|busy| *busy >= MAX_FOR_ACCOUNT)
        };
        self.queues
            .values()
            .filter(|state| state.running < state.width)
            .filter(|state| !(state.is_failing() && self.failing >= MAX_FAILING))
            .filter(|state| !state.account.is_some_and(account_is_full))
            .filter_map(|state| {
                let until_due = state.due_at?.since(now);
                let pause = state
                    .paused_until
                    .map_or(Duration::ZERO, |until| until.saturating_duration_since(instant));
                Some(until_due.max(pause))
            })
            .min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    fn queue(account: AccountId) -> Queue {
        Queue {
            integration_id: IntegrationId(Uuid::now_v7()),
            account_id: account,
            due_at: NOW,
        }
    }

    fn an_account() -> AccountId {
        AccountId(Uuid::now_v7())
    }

    /// Reads all queues and starts all chosen calls; returns the number of calls by account.
    fn fill(slots: &mut Slots, queues: &[Queue]) -> HashMap<AccountId, usize> {
        let of: HashMap<_, _> = queues.iter().map(|queue| (queue.integration_id, queue)).collect();
        let mut begun = HashMap::new();
        loop {
            let stale = slots.stale_queues();
            for id in &stale {
                slots.set_next_due(*id, of.get(id).copied().copied());
            }
            let chosen = slots.choose(NOW, Instant::now());
            if chosen.is_empty() && stale.is_empty() {
                return begun;
            }
            for (id, count) in chosen {
                slots.leased(id, count, count);
                for _ in 0..count {
                    slots.begun(id, of[&id].account_id);
                    *begun.entry(of[&id].account_id).or_default() += 1;
                }
            }
        }
    }

    #[test]
    fn one_account_cannot_take_all_slots() {
        let (large, small) = (an_account(), an_account());
        let mut queues: Vec<_> = (0..300).map(|_| queue(large)).collect();
        let mut slots = Slots::default();
        slots.set_queues(&queues, NOW);
        assert_eq!(
            fill(&mut slots, &queues),
            HashMap::from([(large, MAX_FOR_ACCOUNT)])
        );
        // An account that comes later finds room at once.
        queues.push(queue(small));
        slots.mark_stale(queues[300].integration_id);
        assert_eq!(fill(&mut slots, &queues), HashMap::from([(small, FIRST_WIDTH)]));
    }

    #[test]
    fn platform_that_answers_gets_more_slots_and_one_that_fails_fewer() {
        let account = an_account();
        let one = queue(account);
        let id = one.integration_id;
        let mut slots = Slots::default();
        let instant = Instant::now();
        slots.mark_stale(id);
        assert_eq!(fill(&mut slots, &[one])[&account], FIRST_WIDTH);
        for _ in 0..FIRST_WIDTH {
            slots.ended(id, account, PlatformAnswer::Answered, instant);
        }
        assert_eq!(fill(&mut slots, &[one])[&account], MAX_WIDTH);
        for _ in 0..MAX_WIDTH {
            slots.ended(id, account, PlatformAnswer::PlatformProblem, instant);
        }
        slots.set_next_due(id, Some(one));
        assert!(slots.choose(NOW, instant).is_empty(), "it pauses");
        let later = instant + FAILING_PAUSE;
        assert_eq!(slots.choose(NOW, later), [(id, 1)]);
        assert_eq!((slots.running, slots.failing, slots.accounts.len()), (0, 0, 0));
    }

    #[test]
    fn failing_integrations_leave_slots_to_others() {
        let queues: Vec<_> = (0..2 * MAX_RUNNING).map(|_| queue(an_account())).collect();
        let mut slots = Slots::default();
        for queue in &queues {
            for _ in 0..FAILING {
                slots.begun(queue.integration_id, queue.account_id);
                slots.ended(
                    queue.integration_id,
                    queue.account_id,
                    PlatformAnswer::PlatformProblem,
                    Instant::now() - FAILING_PAUSE,
                );
            }
        }
        let begun = fill(&mut slots, &queues);
        assert_eq!(begun.len(), MAX_FAILING);
        let healthy = queue(an_account());
        slots.mark_stale(healthy.integration_id);
        assert_eq!(fill(&mut slots, &[healthy]).len(), 1);
    }

    #[test]
    fn rate_limited_integration_waits_for_room() {
        let account = an_account();
        let one = queue(account);
        let id = one.integration_id;
        let mut slots = Slots::default();
        let instant = Instant::now();
        slots.begun(id, account);
        let pause = Duration::from_secs(20);
        slots.ended(id, account, PlatformAnswer::HeldBack(pause), instant);
        slots.set_next_due(id, Some(one));
        assert!(slots.choose(NOW, instant).is_empty());
        assert_eq!(slots.pause(NOW, instant), Some(pause));
        assert_eq!(slots.choose(NOW, instant + pause).len(), 1);
    }
}
