//! A state of the model: the nodes, the table of calls, the platform, and attempts.

use super::table::{Platform, Row};
use super::task::Task;
use crate::check::Symmetric;
use crate::cluster::{Cluster, Id};

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    pub cluster: Cluster,
    pub rows: Vec<Row>,
    /// What the platform knows of each call.
    pub platform: Vec<Platform>,
    pub tasks: Vec<Task>,
    pub trouble_left: u8,
    pub held_back_left: u8,
    /// A request was sent while an earlier one was neither refused nor followed by a read-back.
    pub was_repeated_blindly: bool,
    /// A result changed a call that another attempt was making.
    pub was_disturbed: bool,
    /// A result was written by an attempt whose lease was not the newest.
    pub was_written_late: bool,
    /// Two calls of the order were in flight under valid leases.
    pub had_two_at_once: bool,
}

impl Symmetric for State {
    fn swap_nodes(&mut self) {
        let last = self.cluster.nodes.len() - 1;
        self.cluster.nodes.swap(0, last);
        for task in &mut self.tasks {
            task.node = match task.node {
                0 => last,
                node if node == last => 0,
                node => node,
            };
        }
        self.tasks.sort_unstable();
    }

    fn visit_ids(&mut self, visit: &mut dyn FnMut(&mut Id)) {
        self.cluster.visit_ids(visit);
        self.rows
            .iter_mut()
            .filter_map(|row| row.node.as_mut())
            .for_each(&mut *visit);
        self.tasks.iter_mut().for_each(|task| visit(&mut task.id));
        self.tasks.sort_unstable();
    }

    fn members(&mut self) -> &mut u16 {
        &mut self.cluster.members
    }
}
