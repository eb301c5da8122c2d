//! The dispatcher: one task that decides which attempt is started when, and never waits for any of them.

mod attempts;
mod results;
mod scan;
mod state;

use self::scan::SCAN_INTERVAL;
use self::state::Dispatcher;
use super::endpoint::Endpoint;
use super::jobs;
use super::message::Message;
use super::slots::SlotKind;
use super::wake_times::WakeTimes;
use crate::app::App;
use garson_core::id::AccountId;
use garson_store::publish::HandoffMessage;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// How often it is checked whether a slot can be taken back, while an account waits for one.
const SLOT_WAIT: Duration = Duration::from_millis(100);

/// Delivers until the service stops, then waits for the attempts in flight.
pub async fn run(app: Arc<App>) {
    let handovers = app.store.handoff().subscribe();
    let (messages, inbox) = mpsc::unbounded_channel();
    Dispatcher::new(app, messages).work(handovers, inbox).await;
}

impl Dispatcher {
    async fn work(
        &mut self,
        mut handovers: mpsc::Receiver<Vec<HandoffMessage>>,
        mut inbox: mpsc::UnboundedReceiver<Message>,
    ) {
        let mut stopping = self.app.stopping.subscribe();
        let app = Arc::clone(&self.app);
        let (mut batches, mut messages) = (Vec::new(), Vec::new());
        loop {
            self.step();
            if self.is_stopping && self.is_done() {
                return;
            }
            let pause = self.pause();
            tokio::select! {
                biased;
                count = handovers.recv_many(&mut batches, 64) => {
                    for handover in batches.drain(..).take(count).flatten() {
                        self.take_handover(handover);
                    }
                }
                count = inbox.recv_many(&mut messages, 256) => {
                    for message in messages.drain(..).take(count) {
                        self.handle(message);
                    }
                }
                _ = stopping.wait_for(|stopping| *stopping), if !self.is_stopping => self.stop(),
                () = app.wake_deliver.notified() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Starts nothing more. Other nodes may take over accounts without attempts in flight here.
    fn stop(&mut self) {
        self.is_stopping = true;
        self.app.store.node_identity().stop_delivering();
        let Some(node) = self.node.filter(|_| self.app.is_shared()) else {
            return;
        };
        let busy = self.endpoints.iter().filter(|(_, endpoint)| endpoint.is_busy());
        let busy: HashSet<AccountId> = busy.map(|(receiver, _)| receiver.account).collect();
        let app = Arc::clone(&self.app);
        tokio::spawn(async move {
            if let Err(error) = jobs::release_idle(&app, node, busy).await {
                tracing::warn!(%error, "accounts could not be handed over before the stop");
            }
        });
    }

    /// Is nothing in flight, and every result stored?
    fn is_done(&self) -> bool {
        self.slots.taken() == 0 && !self.endpoints.values().any(Endpoint::is_writing)
    }

    /// How long until there is something to do without a message.
    fn pause(&self) -> Duration {
        let now = Instant::now();
        let resting = self.resting.first().map(|at| at.saturating_duration_since(now));
        let retry = self.retries.first().map(|at| at.since(self.app.now()));
        // The end of a scan comes as a message.
        let scan = if self.is_scanning || self.is_stopping {
            SCAN_INTERVAL
        } else {
            self.next_scan.saturating_duration_since(now)
        };
        let slot = self.slots.has_waiting().then_some(SLOT_WAIT);
        let soonest = [resting, retry, slot]
            .into_iter()
            .flatten()
            .fold(scan, Duration::min);
        soonest.max(Duration::from_millis(1))
    }

    /// Starts everything that can be started.
    fn step(&mut self) {
        self.check_node();
        let (now, instant) = (self.app.now(), Instant::now());
        if instant >= self.next_scan && !self.is_scanning && !self.is_stopping {
            self.start_scan();
        }
        self.touched.extend(self.retries.take_due(now));
        self.touched.extend(self.resting.take_due(instant));
        for receiver in std::mem::take(&mut self.touched) {
            self.pump(receiver);
        }
        for kind in SlotKind::ALL {
            while self.slots.is_wanted(kind) {
                let held = self.in_flight.counted(kind);
                if let Some(receiver) = self.slots.next(kind, &held) {
                    self.turn = Some(receiver);
                    self.pump(receiver);
                    self.turn = None;
                } else if !self.free_slot(kind, &held, instant) {
                    break;
                }
            }
        }
    }

    /// Starts over under a new node id: other nodes have taken over what this one held.
    fn check_node(&mut self) {
        let node = self.app.store.node_id();
        if node != self.node {
            tracing::warn!("this node starts delivering under a new id");
            self.node = node;
            self.endpoints.clear();
            self.retries = WakeTimes::default();
            self.resting = WakeTimes::default();
            self.next_scan = Instant::now();
        }
    }
}
