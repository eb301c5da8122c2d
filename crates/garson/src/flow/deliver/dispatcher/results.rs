//! Takes deliveries that commits hand over, and the results of attempts and database jobs.

use super::state::Dispatcher;
use crate::flow::Fault;
use crate::flow::deliver::in_flight::CancelReason;
use crate::flow::deliver::jobs;
use crate::flow::deliver::message::{EndedAttempt, Loaded, Message};
use crate::flow::deliver::receiver::Receiver;
use garson_core::id::{AccountId, EndpointId, NodeId};
use garson_store::StoreError;
use garson_store::publish::HandoffMessage;
use garson_store::tables::deliveries::{Delivery, Settlement};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

impl Dispatcher {
    pub(super) fn take_handover(&mut self, handover: HandoffMessage) {
        match handover {
            HandoffMessage::Committed {
                account,
                before,
                last,
                version,
                deliveries,
                endpoint_deliveries,
            } => self.committed(account, (before, last), version, deliveries, endpoint_deliveries),
            HandoffMessage::Recheck { account } => {
                let default = Receiver::default_of(account);
                // Perhaps no node delivers for it yet. Reading the default endpoint also finds the others.
                if !self.endpoints.contains_key(&default) {
                    self.scan_soon();
                }
                for (receiver, endpoint) in self.endpoints.range_mut(Receiver::all_of(account)) {
                    endpoint.reload();
                    self.touched.insert(*receiver);
                }
            }
            // Whether it is ours, and what is due, shows when it is read.
            HandoffMessage::CommittedElsewhere { account, last } => {
                self.endpoint(Receiver::default_of(account)).has_grown(last);
                for (receiver, endpoint) in self.endpoints.range_mut(Receiver::all_of(account)) {
                    endpoint.has_grown(last);
                    self.touched.insert(*receiver);
                }
            }
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

    /// Passes the deliveries of a commit to the endpoints. Those in memory learn of its positions even if they get nothing.
    fn committed(
        &mut self,
        account: AccountId,
        (before, last): (i64, i64),
        version: i64,
        deliveries: Vec<Delivery>,
        endpoint_deliveries: Vec<(EndpointId, Delivery)>,
    ) {
        let now = Instant::now();
        let default = Receiver::default_of(account);
        let mut by_receiver = BTreeMap::from([(default, deliveries)]);
        for (endpoint, delivery) in endpoint_deliveries {
            let receiver = Receiver { account, endpoint };
            by_receiver.entry(receiver).or_default().push(delivery);
        }
        for (receiver, _) in self.endpoints.range(Receiver::all_of(account)) {
            by_receiver.entry(*receiver).or_default();
        }
        for (receiver, deliveries) in by_receiver {
            let endpoint = self.endpoint(receiver);
            endpoint.handed(before, last, version, deliveries, now);
            self.touched.insert(receiver);
        }
    }

    pub(super) fn handle(&mut self, message: Message) {
        match message {
            Message::Ended(ended) => self.ended(ended),
            Message::Loaded(receiver, node, result) => self.loaded(receiver, node, result),
            Message::Settled(receiver, node, settlements, result) => {
                self.settled(receiver, node, settlements, result);
            }
            Message::Scanned(result, took) => self.scanned(result, took),
            Message::Claimed(node, result) => match result {
                Ok(accounts) if Some(node) == self.node => {
                    for account in accounts {
                        // The node that had it before may have left deliveries that this node does not know of.
                        self.endpoint(Receiver::default_of(account));
                        for (receiver, endpoint) in self.endpoints.range_mut(Receiver::all_of(account)) {
                            endpoint.reload();
                            self.touched.insert(*receiver);
                        }
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
        if let Some(kind) = self
            .in_flight
            .end((ended.node, ended.receiver.endpoint, ended.id))
        {
            self.slots.give_back(kind);
        }
        let Some(endpoint) = self.endpoint_of(ended.receiver, ended.node) else {
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
        self.touched.insert(ended.receiver);
    }

    pub(super) fn loaded(&mut self, receiver: Receiver, node: NodeId, result: Result<Option<Loaded>, Fault>) {
        let account = receiver.account;
        let Some(endpoint) = self.endpoint_of(receiver, node) else {
            return;
        };
        match result {
            Ok(Some(Loaded { load, others })) => {
                let last_place = load.last_place;
                endpoint.loaded(load, Instant::now());
                for id in endpoint.misdirected() {
                    let key = (node, receiver.endpoint, id);
                    self.in_flight.cancel(key, CancelReason::AddressChanged);
                }
                for endpoint in others {
                    let other = Receiver { account, endpoint };
                    self.endpoint(other).has_grown(last_place);
                    self.touched.insert(other);
                }
            }
            // Another node delivers for it now.
            Ok(None) => self.remove_account(account),
            Err(fault) => {
                tracing::warn!(%account, ?fault, "due deliveries could not be read");
                endpoint.not_loaded();
            }
        }
        self.touched.insert(receiver);
    }

    pub(super) fn settled(
        &mut self,
        receiver: Receiver,
        node: NodeId,
        settlements: Arc<Vec<Settlement>>,
        result: Result<Option<Vec<Delivery>>, StoreError>,
    ) {
        let account = receiver.account;
        let Some(endpoint) = self.endpoint_of(receiver, node) else {
            return;
        };
        match result {
            Ok(Some(released)) => {
                endpoint.settled(&settlements);
                endpoint.released(released);
                if self.is_stopping && !self.is_busy(account) && self.app.is_shared() {
                    self.release(account, node);
                }
                for settlement in settlements.iter() {
                    self.app.metrics.delivery.count_end(settlement.outcome);
                }
            }
            Ok(None) => {
                tracing::warn!(%account, results = settlements.len(), "another node delivers for this account now");
                self.remove_account(account);
            }
            Err(error) => {
                tracing::warn!(%account, %error, "delivery results could not be stored");
                endpoint.not_settled(Arc::unwrap_or_clone(settlements));
            }
        }
        self.touched.insert(receiver);
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
