//! Leases in the table of calls, and results that are written under them.

use super::config::{Calls, Mutation};
use super::state::State;
use super::task::{Task, Verdict};

impl State {
    /// Does a node make this call, as a query of `node` sees it?
    fn is_running(&self, call: usize, node: usize) -> bool {
        let row = &self.rows[call];
        let Some(holder) = row.node.filter(|id| self.cluster.is_member(*id)) else {
            return false;
        };
        let in_flight = self
            .tasks
            .iter()
            .any(|task| task.node == node && task.call == call);
        let is_lost = holder == self.cluster.nodes[node].id && row.is_lease_over && !in_flight;
        !is_lost
    }

    /// Can a node lease this call?
    pub(super) fn is_runnable(&self, call: usize, node: usize) -> bool {
        let it = &self.cluster.nodes[node];
        let mut others = (0..self.rows.len()).filter(|other| *other != call && self.rows[*other].is_open);
        self.cluster.may_begin(node)
            && it.can_query()
            && self.cluster.is_member(it.id)
            && self.rows[call].is_open
            && !self.is_running(call, node)
            && !others.any(|other| other < call || self.is_running(other, node))
    }

    /// Leases a call and returns what the node gets to know of it.
    pub(super) fn lease(&mut self, model: &Calls, call: usize, node: usize) -> Task {
        let (id, lease) = (self.cluster.nodes[node].id, self.next_lease(call));
        let row = &mut self.rows[call];
        row.is_unclear |= row.node.is_some() && !model.has(Mutation::TakenOverAsClear);
        row.node = Some(id);
        row.is_lease_over = false;
        row.attempts += 1;
        row.lease = lease;
        Task::new(node, call, *row, id)
    }

    fn next_lease(&self, call: usize) -> u8 {
        let of_tasks = self
            .tasks
            .iter()
            .filter(|task| task.call == call)
            .map(|task| task.lease);
        let used: Vec<u8> = of_tasks.chain([self.rows[call].lease]).collect();
        (0..=u8::MAX).find(|lease| !used.contains(lease)).unwrap_or(0)
    }

    /// Writes the result of an attempt, if the call still has the attempts that it had then.
    pub(super) fn write_result(&mut self, model: &Calls, task: &Task, verdict: Verdict) {
        let row = &mut self.rows[task.call];
        let is_current = row.attempts == task.attempts || model.has(Mutation::NoAttemptsCheck);
        if !row.is_open || !is_current {
            return;
        }
        self.was_written_late |= row.lease != task.lease;
        self.was_disturbed |= row.lease != task.lease && row.node.is_some();
        let is_unclear = match verdict {
            Verdict::Done | Verdict::NotDone => {
                row.is_open = false;
                return;
            }
            // The client gets the answer; its question is not repeated.
            Verdict::Later | Verdict::HeldBack if task.is_for_client => {
                row.is_open = false;
                return;
            }
            Verdict::Later => false,
            Verdict::Unclear => true,
            Verdict::HeldBack => task.is_unclear,
        };
        row.node = None;
        row.is_lease_over = false;
        row.is_unclear = is_unclear;
        if verdict == Verdict::HeldBack && model.uncounts_attempts {
            row.attempts = row.attempts.saturating_sub(1);
        }
    }
}
