//! The steps of call runners and of the platform.

use super::config::{Calls, Mutation};
use super::state::State;
use super::task::{Phase, Task, Verdict};
use crate::cluster::{Effect, Incident, Process};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Incident(Incident),
    Lease {
        node: usize,
        call: usize,
    },
    /// The lease is committed, but the node gets an error and makes no attempt.
    LeaseUnknown {
        node: usize,
        call: usize,
    },
    /// The holder's clock passes the end of a lease.
    LeaseOver(usize),
    /// Others take the step on the platform.
    DoneElsewhere(usize),
    Begin(usize),
    Read(usize),
    ReadFails(usize),
    HoldBack(usize),
    Send {
        task: usize,
        is_done: bool,
    },
    Answer(usize),
    AnswerLost(usize),
    Write(usize),
    WriteFails(usize),
}

impl Calls {
    pub(super) fn collect_steps(&self, state: &State, steps: &mut Vec<Step>) {
        let incidents = state.cluster.incidents(self.with_supersede);
        steps.extend(incidents.into_iter().map(Step::Incident));
        for call in 0..state.rows.len() {
            for node in 0..state.cluster.nodes.len() {
                if state.is_runnable(call, node) {
                    steps.push(Step::Lease { node, call });
                    if state.cluster.faults_left > 0 {
                        steps.push(Step::LeaseUnknown { node, call });
                    }
                }
            }
            if state.can_lease_end(call) {
                steps.push(Step::LeaseOver(call));
            }
            if self.may_be_done_elsewhere && !state.platform[call].is_done {
                steps.push(Step::DoneElsewhere(call));
            }
        }
        for (at, task) in state.tasks.iter().enumerate() {
            if state.cluster.nodes[task.node].process == Process::Running {
                self.collect_task_steps(state, at, task, steps);
            }
        }
    }

    fn collect_task_steps(&self, state: &State, at: usize, task: &Task, steps: &mut Vec<Step>) {
        let (has_trouble, has_limit) = (state.trouble_left > 0, state.held_back_left > 0);
        match task.phase {
            Phase::Begun => steps.push(Step::Begin(at)),
            Phase::Reading => {
                steps.push(Step::Read(at));
                steps.extend(has_trouble.then_some(Step::ReadFails(at)));
                steps.extend(has_limit.then_some(Step::HoldBack(at)));
            }
            Phase::Confirming => {
                steps.push(Step::Read(at));
                steps.extend(has_limit.then_some(Step::HoldBack(at)));
            }
            Phase::Waiting => {
                steps.push(Step::Send {
                    task: at,
                    is_done: true,
                });
                steps.extend(has_trouble.then_some(Step::Send {
                    task: at,
                    is_done: false,
                }));
                steps.extend(has_limit.then_some(Step::HoldBack(at)));
            }
            Phase::Sent { .. } => {
                steps.push(Step::Answer(at));
                steps.extend(has_trouble.then_some(Step::AnswerLost(at)));
            }
            Phase::Answered(_) => {
                let has_database = state.cluster.nodes[task.node].has_database;
                steps.push(if has_database {
                    Step::Write(at)
                } else {
                    Step::WriteFails(at)
                });
            }
        }
    }

    pub(super) fn take(&self, state: &mut State, step: Step) {
        match step {
            Step::Incident(incident) => state.incident(incident),
            Step::Lease { node, call } => {
                let task = state.lease(self, call, node);
                state.tasks.push(task);
            }
            Step::LeaseUnknown { node, call } => {
                state.cluster.faults_left -= 1;
                state.lease(self, call, node);
            }
            Step::LeaseOver(call) => state.end_lease(call),
            Step::DoneElsewhere(call) => state.platform[call].is_done = true,
            Step::Begin(at) => self.begin(state, at),
            Step::Read(at) if state.tasks[at].phase == Phase::Confirming => {
                state.tasks[at].phase = Phase::Answered(Verdict::Done);
            }
            Step::Read(at) => state.read_back(self, at),
            Step::ReadFails(at) => {
                state.trouble_left -= 1;
                state.tasks[at].phase = Phase::Answered(Verdict::Unclear);
            }
            Step::HoldBack(at) => self.hold_back(state, at),
            Step::Send { task, is_done } => self.send_if_leased(state, task, is_done),
            Step::Answer(at) => state.answer(at),
            Step::AnswerLost(at) => {
                state.trouble_left -= 1;
                state.tasks[at].phase = Phase::Answered(Verdict::Unclear);
            }
            Step::Write(at) => {
                let task = state.tasks.remove(at);
                if let Phase::Answered(verdict) = task.phase {
                    state.write_result(self, &task, verdict);
                }
            }
            // The call keeps its lease until that runs out.
            Step::WriteFails(at) => {
                state.tasks.remove(at);
            }
        }
    }

    fn begin(&self, state: &mut State, at: usize) {
        let task = state.tasks[at];
        if !state.may_make(self, &task) {
            // A question stays open, to be looked up; another call keeps its lease until that runs out.
            if task.is_for_client {
                state.tasks[at].phase = Phase::Answered(Verdict::Unclear);
            } else {
                state.tasks.remove(at);
            }
            return;
        }
        let only_reads = self.has_question && task.call == 0 && !task.is_for_client;
        state.tasks[at].phase = if task.is_unclear || only_reads {
            Phase::Reading
        } else {
            Phase::Waiting
        };
    }

    fn hold_back(&self, state: &mut State, at: usize) {
        state.held_back_left -= 1;
        let was_sent = state.tasks[at].phase == Phase::Confirming;
        let verdict = if was_sent && !self.has(Mutation::HeldBackAfterSend) {
            Verdict::Unclear
        } else {
            Verdict::HeldBack
        };
        state.tasks[at].phase = Phase::Answered(verdict);
    }

    fn send_if_leased(&self, state: &mut State, at: usize, is_done: bool) {
        let task = state.tasks[at];
        if state.may_make(self, &task) || self.has(Mutation::NoSecondLeaseCheck) {
            state.trouble_left -= u8::from(!is_done);
            state.send(at, is_done);
        } else {
            state.tasks[at].phase = Phase::Answered(Verdict::HeldBack);
        }
    }
}

impl State {
    /// The platform answers a request: it has done it, or clearly not.
    pub(super) fn answer(&mut self, at: usize) {
        let task = self.tasks[at];
        let Phase::Sent { bit, is_done } = task.phase else {
            return;
        };
        if !is_done {
            self.platform[task.call].unresolved &= !bit;
        }
        let verdict = if is_done { Verdict::Done } else { Verdict::Later };
        self.tasks[at].phase = Phase::Answered(verdict);
    }

    /// An attempt ends before its lease does, unless its process is paused or waits for the database.
    fn can_lease_end(&self, call: usize) -> bool {
        let row = &self.rows[call];
        let holder = self
            .cluster
            .nodes
            .iter()
            .position(|node| Some(node.id) == row.node);
        let Some(node) = holder.filter(|_| row.is_open && !row.is_lease_over) else {
            return false;
        };
        let it = &self.cluster.nodes[node];
        let is_cut_off = it.process == Process::Paused || !it.has_database;
        let is_made = self
            .tasks
            .iter()
            .any(|task| task.call == call && task.lease == row.lease);
        it.process != Process::Dead && (is_cut_off || !is_made)
    }

    pub(super) fn end_lease(&mut self, call: usize) {
        let lease = self.rows[call].lease;
        self.rows[call].is_lease_over = true;
        let made = self
            .tasks
            .iter_mut()
            .filter(|task| task.call == call && task.lease == lease);
        made.for_each(|task| task.is_lease_over = true);
    }

    fn incident(&mut self, incident: Incident) {
        let of_rows = self.rows.iter().filter_map(|row| row.node);
        let of_tasks = self.tasks.iter().map(|task| task.id);
        let fresh = self.cluster.fresh_id(of_rows.chain(of_tasks));
        // A process that joins again continues its attempts.
        if let Effect::Died(node) = self.cluster.apply(incident, fresh) {
            self.tasks.retain(|task| task.node != node);
        }
    }

    /// The calls whose lease a live node has lost without an attempt.
    pub(super) fn lost_calls(&self) -> Vec<usize> {
        (0..self.rows.len())
            .filter(|call| self.can_lease_end(*call))
            .collect()
    }
}
