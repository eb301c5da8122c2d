//! What happens when all faults have ended: every node gets its turns, and the platform answers.

use super::config::Calls;
use super::state::State;
use super::steps::Step;
use super::task::Phase;

/// More rounds than any state needs.
const ROUNDS: usize = 40;

impl Calls {
    /// Does every call end from this state, once the world is healthy?
    pub(super) fn ends_when_healthy(&self, state: &State) -> bool {
        let mut state = state.clone();
        state.cluster.heal();
        for _ in 0..ROUNDS {
            if state.rows.iter().all(|row| !row.is_open) {
                return true;
            }
            while let Some(incident) = state.cluster.healthy_incident() {
                self.take(&mut state, Step::Incident(incident));
            }
            for call in state.lost_calls() {
                self.take(&mut state, Step::LeaseOver(call));
            }
            for call in 0..state.rows.len() {
                let found = (0..state.cluster.nodes.len()).find(|node| state.is_runnable(call, *node));
                if let Some(node) = found {
                    self.take(&mut state, Step::Lease { node, call });
                }
            }
            // From the end: a step may remove its attempt.
            for at in (0..state.tasks.len()).rev() {
                let step = match state.tasks[at].phase {
                    Phase::Begun => Step::Begin(at),
                    Phase::Reading | Phase::Confirming => Step::Read(at),
                    Phase::Waiting => Step::Send {
                        task: at,
                        is_done: true,
                    },
                    Phase::Sent { .. } => Step::Answer(at),
                    Phase::Answered(_) => Step::Write(at),
                };
                self.take(&mut state, step);
            }
        }
        false
    }
}
