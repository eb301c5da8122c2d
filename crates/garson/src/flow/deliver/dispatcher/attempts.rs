//! Starts attempts, and frees slots for receivers that wait for one.

use super::state::Dispatcher;
use crate::flow::deliver::attempt_task::AttemptTask;
use crate::flow::deliver::endpoint::Endpoint;
use crate::flow::deliver::held::Held;
use crate::flow::deliver::in_flight::CancelReason;
use crate::flow::deliver::jobs;
use crate::flow::deliver::message::{EndedAttempt, Message};
use crate::flow::deliver::receiver::Receiver;
use crate::flow::deliver::slots::SlotKind;
use garson_core::id::NodeId;
use garson_store::tables::deliveries::{Outcome, Settlement};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The pause after the database has failed.
const ERROR_PAUSE: Duration = Duration::from_millis(500);

impl Dispatcher {
    /// Frees a slot for the receiver that waits for one. A slow first attempt moves to a slot for troubled receivers, which frees
    /// its slot at once. Otherwise an attempt of the account with the most slots is cancelled, or one that hangs if the waiting
    /// receiver has none in flight; its slot is free when it has ended. Returns whether a slot is free now.
    pub(super) fn free_slot(&mut self, kind: SlotKind, held: &Held, now: Instant) -> bool {
        let waiting = self.slots.waiting(kind, held);
        let Some((receiver, waiting)) = waiting.filter(|_| !self.is_stopping) else {
            return false;
        };
        if kind == SlotKind::First
            && let Some(slow) = self.in_flight.slow(now)
            && self.slots.take(SlotKind::Troubled)
        {
            self.in_flight.set_kind(slow, SlotKind::Troubled);
            self.slots.give_back(SlotKind::First);
            return true;
        }
        let hangs_after = |receiver: Receiver| {
            let endpoint = self.endpoints.get(&receiver);
            endpoint.map_or(Duration::ZERO, Endpoint::hangs_after)
        };
        let victim = self.in_flight.victim(kind, (receiver, waiting), now, hangs_after);
        if let Some(victim) = victim {
            self.in_flight.cancel(victim, CancelReason::Preempted);
        }
        false
    }

    /// Starts everything for a receiver that can be started now.
    pub(super) fn pump(&mut self, receiver: Receiver) {
        let Some(node) = self.node else { return };
        let Some(endpoint) = self.endpoints.get_mut(&receiver) else {
            self.retries.clear(receiver);
            self.resting.clear(receiver);
            return;
        };
        let (now, instant) = (self.app.now(), Instant::now());
        if let Some(settlements) = endpoint.start_settling() {
            self.start_settling(receiver, node, settlements);
        }
        // Without a valid lease other nodes may have taken over.
        let may_begin = !self.is_stopping && self.app.node_lease.is_valid();
        if may_begin {
            self.begin_attempts(receiver, node, instant);
        }
        let Some(endpoint) = self.endpoints.get_mut(&receiver) else {
            return;
        };
        if may_begin && let Some(wanted) = endpoint.start_loading(now, instant) {
            let (app, messages) = (Arc::clone(&self.app), self.messages.clone());
            tokio::spawn(async move {
                let result = jobs::load(&app, receiver, node, wanted).await;
                if result.is_err() {
                    tokio::time::sleep(ERROR_PAUSE).await;
                }
                // The dispatcher may have stopped.
                let _ = messages.send(Message::Loaded(receiver, node, result));
            });
        }
        if !endpoint.is_idle() {
            endpoint.idle_since = instant;
        }
        let retry_at = endpoint.late_at().filter(|at| *at > now);
        self.retries.set(receiver, retry_at);
        self.resting.set(receiver, endpoint.more_at(instant));
    }

    pub(super) fn begin_attempts(&mut self, receiver: Receiver, node: NodeId, instant: Instant) {
        while let Some(endpoint) = self.endpoints.get_mut(&receiver) {
            let Some((delivery, kind, target)) = endpoint.next(instant) else {
                if let Some(hanging) = endpoint.preempt(instant) {
                    let key = (node, receiver.endpoint, hanging);
                    self.in_flight.cancel(key, CancelReason::Preempted);
                }
                return;
            };
            let Some(target) = target else {
                let skipped = Settlement {
                    id: delivery.id,
                    order_id: delivery.order_id,
                    outcome: Outcome::Skipped,
                    attempt: None,
                    attempts_before: delivery.attempts,
                };
                endpoint.ended(delivery.id, None, Some(skipped), instant);
                self.touched.insert(receiver);
                continue;
            };
            let slot = SlotKind::of(kind, endpoint.is_troubled());
            // While other receivers wait for slots, each gets one in its turn.
            let is_its_turn = !self.slots.is_wanted(slot) || self.turn.take() == Some(receiver);
            if !is_its_turn || !self.slots.take(slot) {
                endpoint.put_back(delivery, kind);
                self.slots.wait(slot, receiver);
                return;
            }
            let key = (node, receiver.endpoint, delivery.id);
            let cancellation = self.in_flight.begin(key, receiver, slot, instant);
            let task = AttemptTask {
                app: Arc::clone(&self.app),
                messages: self.messages.clone(),
                ended: Some(EndedAttempt {
                    receiver,
                    node,
                    id: delivery.id,
                    place: delivery.position,
                    result: None,
                }),
            };
            tokio::spawn(task.run(delivery, target, cancellation));
        }
    }

    pub(super) fn start_settling(&mut self, receiver: Receiver, node: NodeId, settlements: Vec<Settlement>) {
        let (app, messages) = (Arc::clone(&self.app), self.messages.clone());
        let settlements = Arc::new(settlements);
        tokio::spawn(async move {
            let result = jobs::settle(&app, receiver, node, Arc::clone(&settlements)).await;
            if result.is_err() {
                tokio::time::sleep(ERROR_PAUSE).await;
            }
            // The dispatcher may have stopped.
            let _ = messages.send(Message::Settled(receiver, node, settlements, result));
        });
    }
}
