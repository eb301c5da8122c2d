//! The state of the dispatcher.

use crate::app::App;
use crate::flow::deliver::endpoint::Endpoint;
use crate::flow::deliver::in_flight::InFlightAttempts;
use crate::flow::deliver::message::Message;
use crate::flow::deliver::receiver::Receiver;
use crate::flow::deliver::slots::Slots;
use crate::flow::deliver::wake_times::WakeTimes;
use garson_core::id::{AccountId, NodeId};
use garson_core::time::Timestamp;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

pub struct Dispatcher {
    pub app: Arc<App>,
    pub node: Option<NodeId>,
    pub endpoints: BTreeMap<Receiver, Endpoint>,
    pub slots: Slots,
    pub in_flight: InFlightAttempts,
    /// The receiver that waited for a slot and gets one now.
    pub turn: Option<Receiver>,
    pub messages: mpsc::UnboundedSender<Message>,
    /// When each receiver's next retry is due.
    pub retries: WakeTimes<Timestamp>,
    /// When each receiver's endpoint can start more attempts.
    pub resting: WakeTimes<Instant>,
    pub is_scanning: bool,
    /// A change may have come too late for the scan that is running.
    pub must_rescan: bool,
    pub next_scan: Instant,
    /// Both clocks at the last scan.
    pub scan_clocks: Option<(Timestamp, Instant)>,
    /// Receivers whose endpoints have changed since the last step.
    pub touched: HashSet<Receiver>,
    pub is_stopping: bool,
}

impl Dispatcher {
    pub fn new(app: Arc<App>, messages: mpsc::UnboundedSender<Message>) -> Self {
        Self {
            node: app.store.node_id(),
            endpoints: BTreeMap::new(),
            slots: Slots::new(app.settings.webhook.max_in_flight),
            in_flight: InFlightAttempts::default(),
            turn: None,
            messages,
            retries: WakeTimes::default(),
            resting: WakeTimes::default(),
            is_scanning: false,
            must_rescan: false,
            next_scan: Instant::now(),
            scan_clocks: None,
            touched: HashSet::new(),
            is_stopping: false,
            app,
        }
    }

    /// A receiver's endpoint, created if it is not in memory.
    pub fn endpoint(&mut self, receiver: Receiver) -> &mut Endpoint {
        let webhook = &self.app.settings.webhook;
        let (most, seconds) = (webhook.max_per_endpoint, webhook.attempt_seconds);
        let deadline = Duration::from_secs(u64::from(seconds));
        self.endpoints
            .entry(receiver)
            .or_insert_with(|| Endpoint::new(most, deadline, Instant::now()))
    }

    /// A receiver's endpoint, unless the work was started under an earlier id of this node.
    pub fn endpoint_of(&mut self, receiver: Receiver, node: NodeId) -> Option<&mut Endpoint> {
        let is_current = Some(node) == self.node;
        self.endpoints.get_mut(&receiver).filter(|_| is_current)
    }

    /// Removes all endpoints of an account from memory: another node delivers for it.
    pub fn remove_account(&mut self, account: AccountId) {
        let known = self.endpoints.range(Receiver::all_of(account));
        let known: Vec<Receiver> = known.map(|(receiver, _)| *receiver).collect();
        for receiver in known {
            self.endpoints.remove(&receiver);
            self.touched.insert(receiver);
        }
    }

    /// Has an account an attempt in flight, or a result that is not stored yet?
    pub fn is_busy(&self, account: AccountId) -> bool {
        let mut known = self.endpoints.range(Receiver::all_of(account));
        known.any(|(_, endpoint)| endpoint.is_busy())
    }
}
