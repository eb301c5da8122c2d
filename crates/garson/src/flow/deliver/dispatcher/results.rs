//! Takes deliveries that commits hand over, and the results of attempts and database jobs.

use super::state::Dispatcher;
use crate::flow::Fault;
use crate::flow::deliver::endpoint::Load;
use crate::flow::deliver::in_flight::CancelReason;
use crate::flow::deliver::jobs;
use crate::flow::deliver::message::{EndedAttempt, Message};
use garson_core::id::{AccountId, NodeId};
use garson_store::StoreError;
use garson_store::publish::HandoffMessage;
use garson_store::tables::deliveries::{Delivery, Settlement};
use std::sync::Arc;
use std::time::Instant;

impl Dispatcher {
    pub(super) fn take_handover(&mut self, handover: HandoffMessage) {
        self.touched.extend(handover.account());
        match handover {
            HandoffMessage::Committed {
                account,
                before,
                last,
                version,
                deliveries,
            } => {
                let now = Instant::now();
                let endpoint = self.endpoint(account);
                endpoint.handed(before, last, version, deliveries, now);
            }
            HandoffMessage::Recheck { account } => match self.endpoints.get_mut(&account) {
                Some(endpoint) => endpoint.reload(),
                // Perhaps no node delivers for it yet.
                None => self.scan_soon(),
            },
            // Whether it is ours, and what is due, shows when it is read.
            HandoffMessage::CommittedElsewhere { account, last } => self.endpoint(account).has_grown(last),
            HandoffMessage::PollNow { integration } => {
                self.app.poll_requests.poll_now_for_other_node(integration)
            }
            HandoffMessage::NodeLeft => {
                self.scan_soon();
                self.app.call_waker.wake_all();
                self.app.poll_requests.integrations_changed();
                self.app.store_signals.integrations_changed();
            }
        }
    }

    pub(super) fn handle(&mut self, message: Message) {
        match message {
            Message::Ended(ended) => self.ended(ended),
            Message::Loaded(account, node, result) => self.loaded(account, node, result),
            Message::Settled(account, node, settlements, result) => {
                self.settled(account, node, settlements, result);
            }
            Message::Scanned(result, took) => self.scanned(result, took),
            Message::Claimed(node, result) => match result {
                Ok(accounts) if Some(node) == self.node => {
                    for account in accounts {
                        // The node that had it before may have left deliveries that this node does not know of.
                        self.endpoint(account).reload();
                        self.touched.insert(account);
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(%error, "accounts without a node could not be claimed")
                }
            },
        }
    }

    pub(super) fn ended(&mut self, ended: EndedAttempt) {
        if let Some(kind) = self.in_flight.end((ended.node, ended.id)) {
            self.slots.give_back(kind);
        }
        let Some(endpoint) = self.endpoint_of(ended.account, ended.node) else {
            return;
        };
        let now = Instant::now();
        match ended.result {
            Some((took, settlement)) => endpoint.ended(ended.id, Some(took), Some(settlement), now),
            None => {
                endpoint.ended(ended.id, None, None, now);
                endpoint.forget(ended.id, ended.place);
            }
        }
        self.touched.insert(ended.account);
    }

    pub(super) fn loaded(&mut self, account: AccountId, node: NodeId, result: Result<Option<Load>, Fault>) {
        let Some(endpoint) = self.endpoint_of(account, node) else {
            return;
        };
        match result {
            Ok(Some(load)) => {
                endpoint.loaded(load, Instant::now());
                for id in endpoint.misdirected() {
                    self.in_flight.cancel((node, id), CancelReason::AddressChanged);
                }
            }
            // Another node delivers for it now.
            Ok(None) => {
                self.endpoints.remove(&account);
            }
            Err(fault) => {
                tracing::warn!(%account, ?fault, "due deliveries could not be read");
                endpoint.not_loaded();
            }
        }
        self.touched.insert(account);
    }

    pub(super) fn settled(
        &mut self,
        account: AccountId,
        node: NodeId,
        settlements: Arc<Vec<Settlement>>,
        result: Result<Option<Vec<Delivery>>, StoreError>,
    ) {
        let Some(endpoint) = self.endpoint_of(account, node) else {
            return;
        };
        match result {
            Ok(Some(released)) => {
                endpoint.settled(&settlements);
                endpoint.released(released);
                let is_busy = endpoint.is_busy();
                if self.is_stopping && !is_busy && self.app.is_shared() {
                    self.release(account, node);
                }
                for settlement in settlements.iter() {
                    self.app.metrics.delivery.count_end(settlement.outcome);
                }
            }
            Ok(None) => {
                tracing::warn!(%account, results = settlements.len(), "another node delivers for this account now");
                self.endpoints.remove(&account);
            }
            Err(error) => {
                tracing::warn!(%account, %error, "delivery results could not be stored");
                endpoint.not_settled(Arc::unwrap_or_clone(settlements));
            }
        }
        self.touched.insert(account);
    }

    /// Lets other nodes deliver for an account: all its results are stored, and nothing more is started.
    pub(super) fn release(&self, account: AccountId, node: NodeId) {
        let app = Arc::clone(&self.app);
        tokio::spawn(async move {
            // If it fails, leaving the nodes does the same.
            let _ = jobs::release(&app, node, &[account]).await;
        });
    }
}
