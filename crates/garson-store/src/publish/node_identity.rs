//! Which node of the cluster this process is.

use garson_core::id::NodeId;
use parking_lot::Mutex;

#[derive(Debug, Default)]
pub struct NodeIdentity(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    id: Option<NodeId>,
    is_stopping: bool,
}

impl NodeIdentity {
    /// The id of this node, if it has joined the cluster.
    #[must_use]
    pub fn id(&self) -> Option<NodeId> {
        self.0.lock().id
    }

    pub fn set(&self, id: Option<NodeId>) {
        self.0.lock().id = id;
    }

    /// The id of this node, if it accepts new deliveries.
    #[must_use]
    pub fn deliverer(&self) -> Option<NodeId> {
        let state = self.0.lock();
        state.id.filter(|_| !state.is_stopping)
    }

    /// From now on this node only finishes deliveries that are in progress: it is about to shut down.
    pub fn stop_delivering(&self) {
        self.0.lock().is_stopping = true;
    }
}
