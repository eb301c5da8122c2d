//! Scans the database regularly: a due delivery must not depend on a notification.

use super::state::Dispatcher;
use crate::flow::deliver::jobs;
use crate::flow::deliver::message::{Message, PendingReceiver};
use crate::flow::deliver::receiver::Receiver;
use crate::telemetry::DispatcherGauges;
use garson_core::id::AccountId;
use garson_store::StoreError;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The shortest pause between scans.
pub const SCAN_INTERVAL: Duration = Duration::from_secs(1);
/// A receiver without due deliveries for this time is removed from memory.
const FORGET: Duration = Duration::from_secs(60);
/// With this many deliveries in memory, each receiver keeps only a few.
const CROWDED: usize = 8_192;

impl Dispatcher {
    pub(super) fn scan_soon(&mut self) {
        self.next_scan = Instant::now();
        self.must_rescan = self.is_scanning;
    }

    pub(super) fn start_scan(&mut self) {
        self.is_scanning = true;
        self.update_gauges();
        let (app, messages) = (Arc::clone(&self.app), self.messages.clone());
        tokio::spawn(async move {
            let began = Instant::now();
            let result = jobs::scan(&app).await;
            // The dispatcher may have stopped.
            let _ = messages.send(Message::Scanned(result, began.elapsed()));
        });
    }

    pub(super) fn scanned(&mut self, result: Result<Vec<PendingReceiver>, StoreError>, took: Duration) {
        self.is_scanning = false;
        // A scan of many accounts takes long; it must not keep the database busy.
        let pause = if std::mem::take(&mut self.must_rescan) {
            Duration::ZERO
        } else {
            SCAN_INTERVAL.max(took * 20)
        };
        self.next_scan = Instant::now() + pause;
        self.app.workers.note_turn(&result);
        let waiting = match result {
            Ok(waiting) => waiting,
            Err(error) => {
                tracing::warn!(%error, "undelivered events could not be scanned");
                return;
            }
        };
        let oldest = waiting.iter().map(|waiting| waiting.state.oldest_at).min();
        let accounts: BTreeSet<AccountId> = waiting.iter().map(|it| it.receiver.account).collect();
        self.app.delivery_gauges.set_waiting(accounts.len(), oldest);
        let clock_was_set_back = self.clock_was_set_back();
        let Some(node) = self.node else { return };
        let mut free = BTreeSet::new();
        for PendingReceiver { receiver, state: it } in waiting {
            match it.node {
                None => {
                    free.insert(it.account);
                }
                Some(owner) if owner == node => {
                    let endpoint = self.endpoint(receiver);
                    endpoint.compare(it.last_position, it.version, it.retry_at);
                    // Its retries may have been planned before this process started, by a fast clock.
                    let is_first =
                        it.retry_at.is_some() && !std::mem::replace(&mut endpoint.retries_checked, true);
                    self.touched.insert(receiver);
                    if clock_was_set_back || is_first {
                        self.bring_forward(receiver);
                    }
                }
                Some(_) => self.remove_account(it.account),
            }
        }
        let mut free: Vec<AccountId> = free.into_iter().collect();
        if !free.is_empty() && !self.is_stopping {
            let (app, messages) = (Arc::clone(&self.app), self.messages.clone());
            // Each node starts at another position, so that they share the accounts of a dead node.
            let start = usize::from(node.as_bytes()[15]) * free.len() / 256;
            free.rotate_left(start);
            tokio::spawn(async move {
                for some in free.chunks(jobs::BATCH) {
                    let result = jobs::claim(&app, some, node).await;
                    let has_failed = result.is_err();
                    // The dispatcher may have stopped.
                    let _ = messages.send(Message::Claimed(node, result));
                    if has_failed {
                        return;
                    }
                }
            });
        }
        let now = Instant::now();
        self.endpoints
            .retain(|_, endpoint| !endpoint.is_idle() || now.duration_since(endpoint.idle_since) < FORGET);
    }

    /// Has the clock been set back since the last scan?
    pub(super) fn clock_was_set_back(&mut self) -> bool {
        let (now, instant) = (self.app.now(), Instant::now());
        let before = self.scan_clocks.replace((now, instant));
        before.is_some_and(|(then, at)| {
            now.plus(Duration::from_secs(1)) < then.plus(instant.duration_since(at))
        })
    }

    /// Brings forward retries that lie too far ahead; the commit makes the dispatcher read them.
    pub(super) fn bring_forward(&self, receiver: Receiver) {
        let app = Arc::clone(&self.app);
        tokio::spawn(async move {
            if let Err(error) = jobs::bring_forward(&app, receiver).await {
                tracing::warn!(%error, "retries could not be brought forward after the clock was set back");
            }
        });
    }

    /// Updates the gauges, and limits how much each receiver keeps in memory when there is much in total.
    pub(super) fn update_gauges(&mut self) {
        let mut memory = DispatcherGauges {
            in_flight: self.slots.taken(),
            endpoints: self.endpoints.len(),
            ..DispatcherGauges::default()
        };
        for endpoint in self.endpoints.values() {
            memory.queued += endpoint.queued();
            memory.troubled += usize::from(endpoint.is_troubled());
        }
        self.app.delivery_gauges.set_memory(memory);
        let is_crowded = memory.queued > CROWDED;
        for endpoint in self.endpoints.values_mut() {
            endpoint.set_crowded(is_crowded);
        }
    }
}
