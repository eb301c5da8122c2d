//! The dispatcher's rules for slots.

use super::config::{Age, Attempt, Mutation, SlotKind, SlotModel, State, Step};

/// More rounds than any state needs.
const ROUNDS: usize = 40;

impl SlotModel {
    pub(super) fn collect_steps(&self, state: &State, steps: &mut Vec<Step>) {
        let tenants = (0..self.tenants).filter(|tenant| self.may_begin(state, *tenant));
        steps.extend(tenants.map(Step::Begin));
        for (at, attempt) in state.attempts.iter().enumerate() {
            if attempt.age != Age::Hanging && self.is_stuck(attempt.tenant) {
                steps.push(Step::Age(at));
            }
            if attempt.has_ended {
                steps.push(Step::Drain(at));
            } else if attempt.is_cancelled || !self.is_stuck(attempt.tenant) {
                steps.push(Step::End(at));
            }
        }
        if !state.waiting.is_empty() {
            steps.push(Step::Serve);
        }
        if state.rejoins_left > 0 {
            steps.push(Step::Rejoin);
        }
    }

    /// Attempts of an earlier id do not count against a receiver's width: the endpoint is new.
    fn may_begin(&self, state: &State, tenant: u8) -> bool {
        let own = state
            .attempts
            .iter()
            .filter(|it| it.tenant == tenant && !it.is_of_earlier_id);
        let in_flight = own.count();
        let waits = state.waiting.contains(&tenant);
        !waits && in_flight < usize::from(self.width).min(usize::from(state.pending[usize::from(tenant)]))
    }

    pub(super) fn take(&self, state: &mut State, step: Step) {
        match step {
            // While others wait, each gets a slot in its turn.
            Step::Begin(tenant) if state.waiting.is_empty() && state.free[0] > 0 => state.begin(tenant),
            Step::Begin(tenant) => state.waiting.push(tenant),
            Step::Age(at) => {
                let attempt = &mut state.attempts[at];
                attempt.age = if attempt.age == Age::Young {
                    Age::Slow
                } else {
                    Age::Hanging
                };
            }
            Step::End(at) => state.attempts[at].has_ended = true,
            Step::Drain(at) => self.drain(state, at),
            Step::Serve => self.serve(state),
            Step::Rejoin => {
                state.rejoins_left -= 1;
                state
                    .attempts
                    .iter_mut()
                    .for_each(|it| it.is_of_earlier_id = true);
                state.waiting.clear();
            }
        }
    }

    fn drain(&self, state: &mut State, at: usize) {
        let attempt = state.attempts[at];
        if attempt.is_of_earlier_id && self.has(Mutation::NoDraining) {
            return;
        }
        state.attempts.remove(at);
        state.free[attempt.kind as usize] += 1;
        // A cancelled attempt is repeated; so is one whose result was not recorded.
        if !attempt.is_cancelled && !attempt.is_of_earlier_id {
            state.pending[usize::from(attempt.tenant)] -= 1;
        }
    }

    /// Gives the tenant that is next a slot, or frees one for it.
    fn serve(&self, state: &mut State) {
        let Some(tenant) = state.next_waiting() else {
            return;
        };
        if state.free[0] > 0 {
            state.waiting.retain(|it| *it != tenant);
            state.begin(tenant);
            return;
        }
        if !self.has(Mutation::SlowStays)
            && state.free[1] > 0
            && let Some(slow) = state.oldest_slow()
        {
            state.attempts[slow].kind = SlotKind::Troubled;
            state.free[1] -= 1;
            state.free[0] += 1;
            return;
        }
        if self.has(Mutation::NoPreemption) {
            return;
        }
        let victim = state.of_the_largest(tenant);
        let victim = victim.or_else(|| (!self.has(Mutation::SlowStays)).then(|| state.hanging(tenant))?);
        if let Some(victim) = victim {
            state.attempts[victim].is_cancelled = true;
        }
    }

    /// Is the healthy tenant served from this state, although the attempts of the others never end by themselves?
    pub(super) fn serves_the_healthy(&self, state: &State) -> bool {
        let healthy = usize::from(self.tenants) - 1;
        let mut state = state.clone();
        state.rejoins_left = 0;
        for _ in 0..ROUNDS {
            if state.pending[healthy] == 0 {
                return true;
            }
            for at in (0..state.attempts.len()).rev() {
                let attempt = state.attempts[at];
                if attempt.has_ended {
                    self.take(&mut state, Step::Drain(at));
                } else if attempt.is_cancelled || !self.is_stuck(attempt.tenant) {
                    self.take(&mut state, Step::End(at));
                } else if attempt.age != Age::Hanging {
                    self.take(&mut state, Step::Age(at));
                }
            }
            for tenant in 0..self.tenants {
                if self.may_begin(&state, tenant) {
                    self.take(&mut state, Step::Begin(tenant));
                }
            }
            self.take(&mut state, Step::Serve);
        }
        false
    }
}

impl State {
    fn begin(&mut self, tenant: u8) {
        self.free[0] -= 1;
        self.attempts.push(Attempt {
            tenant,
            kind: SlotKind::First,
            age: Age::Young,
            is_cancelled: false,
            has_ended: false,
            is_of_earlier_id: false,
        });
    }

    /// Slots that a tenant holds, without cancelled attempts.
    fn held(&self, tenant: u8) -> usize {
        let own = self
            .attempts
            .iter()
            .filter(|it| it.tenant == tenant && !it.is_cancelled);
        own.count()
    }

    /// The tenant with the fewest slots, then the one that waits longest.
    fn next_waiting(&self) -> Option<u8> {
        self.waiting
            .iter()
            .copied()
            .min_by_key(|tenant| self.held(*tenant))
    }

    fn oldest_slow(&self) -> Option<usize> {
        let mut attempts = self.attempts.iter();
        attempts.position(|it| it.kind == SlotKind::First && it.age >= Age::Slow)
    }

    fn ending(&self, kinds: &[SlotKind]) -> usize {
        let concerned = self.attempts.iter().filter(|it| kinds.contains(&it.kind));
        concerned.filter(|it| it.is_cancelled).count()
    }

    /// The oldest hanging attempt of the tenant with the most first slots, if it has two more than the waiting one.
    fn of_the_largest(&self, waiting: u8) -> Option<usize> {
        if self.ending(&[SlotKind::First]) >= self.waiting.len() {
            return None;
        }
        let first = |it: &&Attempt| it.kind == SlotKind::First && !it.is_cancelled;
        let held = |tenant: u8| {
            self.attempts
                .iter()
                .filter(first)
                .filter(|it| it.tenant == tenant)
                .count()
        };
        let candidates = (0..self.attempts.len()).filter(|at| {
            let it = &self.attempts[*at];
            first(&it) && it.age == Age::Hanging && held(it.tenant) >= held(waiting) + 2
        });
        // Of equally large tenants the oldest attempt.
        candidates.rev().max_by_key(|at| held(self.attempts[*at].tenant))
    }

    /// The oldest hanging attempt of any kind, for a tenant without any in flight.
    fn hanging(&self, waiting: u8) -> Option<usize> {
        self.oldest_slow()?;
        let has_own = self.attempts.iter().any(|it| it.tenant == waiting);
        if self.ending(&[SlotKind::First, SlotKind::Troubled]) >= self.waiting.len() || has_own {
            return None;
        }
        let mut attempts = self.attempts.iter();
        attempts.position(|it| !it.is_cancelled && it.age == Age::Hanging)
    }
}
