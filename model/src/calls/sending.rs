//! What an attempt does at the platform.

use super::config::{Calls, Mutation};
use super::state::State;
use super::task::{Phase, Task, Verdict};

impl State {
    /// A client's question, written and leased by the node that puts it.
    pub fn ask(&mut self) {
        let row = &mut self.rows[0];
        row.node = Some(self.cluster.nodes[0].id);
        row.attempts = 1;
        let task = Task::new(0, 0, *row, self.cluster.nodes[0].id);
        self.tasks.push(Task {
            is_for_client: true,
            ..task
        });
    }

    /// May the call be sent now?
    pub(super) fn may_make(&self, model: &Calls, task: &Task) -> bool {
        let node = &self.cluster.nodes[task.node];
        let has_id = node.id == task.id || model.has(Mutation::NoNodeCheck);
        let may_send = !node.is_stopping || model.has(Mutation::StoppingProcessSends);
        node.has_lease && !task.is_lease_over && has_id && may_send
    }

    /// Sends the request, and notes whether that repeats one whose outcome nobody has looked up.
    pub(super) fn send(&mut self, at: usize, is_done: bool) {
        let task = self.tasks[at];
        let platform = &mut self.platform[task.call];
        self.was_repeated_blindly |= platform.unresolved & !task.seen != 0;
        let bit = 1 << platform.sends;
        platform.sends += 1;
        platform.unresolved |= bit;
        let was_done = platform.is_done;
        platform.is_done |= is_done;
        self.tasks[at].phase = Phase::Sent { bit, is_done };
        if was_done {
            self.tasks[at].phase = Phase::Confirming;
        }
        let mut others = self.tasks.iter().filter(|it| it.call != task.call);
        self.had_two_at_once |= others.any(|it| matches!(it.phase, Phase::Sent { .. }) && self.holds(it));
    }

    /// Does the attempt still hold its call?
    fn holds(&self, task: &Task) -> bool {
        let row = &self.rows[task.call];
        row.is_open && row.lease == task.lease && self.cluster.is_member(task.id)
    }

    /// The order was read: later requests know what became of these.
    pub(super) fn read_back(&mut self, model: &Calls, at: usize) {
        let task = self.tasks[at];
        let platform = &self.platform[task.call];
        let is_question = model.has_question && task.call == 0;
        self.tasks[at].seen = platform.unresolved;
        self.tasks[at].phase = match platform.is_done {
            true => Phase::Answered(Verdict::Done),
            false if is_question => Phase::Answered(Verdict::NotDone),
            false => Phase::Waiting,
        };
    }
}
