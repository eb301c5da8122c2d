//! A state of the model: the nodes, the database, and what each node has in memory.

use super::database::Database;
use super::endpoint::Endpoint;
use crate::check::Symmetric;
use crate::cluster::{Cluster, Id};

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    pub cluster: Cluster,
    pub database: Database,
    /// What each node has in memory for the account.
    pub endpoints: Vec<Option<Endpoint>>,
    /// An event that is being sent by hand, and its attempts when it was read.
    pub manual: Option<(usize, u8)>,
    pub refusals_left: u8,
    pub manual_left: u8,
    /// An attempt of an event began before a predecessor was accepted or had failed twice.
    pub has_overtaken: bool,
    /// There are two orders, and the receiver treats them alike.
    pub are_orders_alike: bool,
}

impl Symmetric for State {
    fn swap_nodes(&mut self) {
        let last = self.endpoints.len() - 1;
        self.cluster.nodes.swap(0, last);
        self.endpoints.swap(0, last);
    }

    fn swap_orders(&mut self) {
        if self.are_orders_alike {
            State::swap_orders(self);
        }
    }

    fn visit_ids(&mut self, visit: &mut dyn FnMut(&mut Id)) {
        self.cluster.visit_ids(visit);
        self.database.owner.iter_mut().for_each(visit);
    }

    fn members(&mut self) -> &mut u16 {
        &mut self.cluster.members
    }
}
