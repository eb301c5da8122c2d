//! The dispatcher: one task that decides which attempt is begun when, and never waits for any of them.

use super::alarm::Alarm;
use super::endpoint::{Endpoint, Load};
use super::flight::{Ended, Flight};
use super::flights::{Cancel, Flights};
use super::jobs;
use super::look::LOOK;
use super::slots::{Kind, Slots};
use crate::app::App;
use crate::flow::Fault;
use crate::flow::upkeep::membership;
use garson_core::id::{AccountId, NodeId};
use garson_core::time::Timestamp;
use garson_store::StoreError;
use garson_store::engine::Handover;
use garson_store::tables::deliveries::{Delivery, Outcome, PendingAccount, Settlement};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// How often it is seen whether a slot can be taken back, while somebody waits for one.
const ROOM_PAUSE: Duration = Duration::from_millis(100);
/// The pause after the database has failed.
const TROUBLE_PAUSE: Duration = Duration::from_millis(500);

/// What the dispatcher is told.
pub enum Note {
    Ended(Ended),
    Loaded(AccountId, NodeId, Result<Option<Load>, Fault>),
    Settled(
        AccountId,
        NodeId,
        Arc<Vec<Settlement>>,
        Result<Option<Vec<Delivery>>, StoreError>,
    ),
    Looked(Result<Vec<PendingAccount>, StoreError>, Duration),
    Claimed(NodeId, Result<Vec<AccountId>, StoreError>),
}

/// Delivers until the service stops, then lets what is under way come to its end.
pub async fn run(app: Arc<App>) {
    let handed = app.store.desk().open();
    let (notes, inbox) = mpsc::unbounded_channel();
    let slots = Slots::new(app.settings.webhook.max_in_flight);
    let mut dispatcher = Dispatcher {
        node: app.store.desk().node(),
        app,
        endpoints: HashMap::new(),
        slots,
        flights: Flights::default(),
        turn: None,
        notes,
        late: Alarm::default(),
        resting: Alarm::default(),
        is_looking: false,
        looks_again: false,
        look_at: Instant::now(),
        seen_clock: None,
        touched: HashSet::new(),
        is_stopping: false,
    };
    dispatcher.work(handed, inbox).await;
}

pub struct Dispatcher {
    pub(super) app: Arc<App>,
    pub(super) node: Option<NodeId>,
    pub(super) endpoints: HashMap<AccountId, Endpoint>,
    pub(super) slots: Slots,
    flights: Flights,
    /// The account that has waited for a slot and gets one now.
    turn: Option<AccountId>,
    pub(super) notes: mpsc::UnboundedSender<Note>,
    late: Alarm<Timestamp>,
    resting: Alarm<Instant>,
    pub(super) is_looking: bool,
    /// Something has happened that a look which had begun before may not have seen.
    pub(super) looks_again: bool,
    pub(super) look_at: Instant,
    /// What the clocks said at the last look.
    pub(super) seen_clock: Option<(Timestamp, Instant)>,
    /// Endpoints with which something has happened since the last time that things were begun.
    pub(super) touched: HashSet<AccountId>,
    pub(super) is_stopping: bool,
}

impl Dispatcher {
    async fn work(
        &mut self,
        mut handed: mpsc::Receiver<Vec<Handover>>,
        mut inbox: mpsc::UnboundedReceiver<Note>,
    ) {
        let mut stopping = self.app.stopping.subscribe();
        let app = Arc::clone(&self.app);
        let (mut handovers, mut notes) = (Vec::new(), Vec::new());
        loop {
            self.step();
            if self.is_stopping && self.is_done() {
                return;
            }
            let pause = self.pause();
            tokio::select! {
                biased;
                count = handed.recv_many(&mut handovers, 64) => {
                    for handover in handovers.drain(..).take(count).flatten() {
                        self.handed(handover);
                    }
                }
                count = inbox.recv_many(&mut notes, 256) => {
                    for note in notes.drain(..).take(count) {
                        self.noted(note);
                    }
                }
                _ = stopping.wait_for(|stopping| *stopping), if !self.is_stopping => self.stop(),
                () = app.wake_deliver.notified() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Nothing more is begun; other nodes need not wait for what is under way here, but for the same account.
    fn stop(&mut self) {
        self.is_stopping = true;
        self.app.store.desk().close();
        let Some(node) = self.node.filter(|_| membership::is_shared(&self.app)) else {
            return;
        };
        let busy = self.endpoints.iter().filter(|(_, endpoint)| endpoint.is_busy());
        let busy: HashSet<AccountId> = busy.map(|(account, _)| *account).collect();
        let app = Arc::clone(&self.app);
        tokio::spawn(async move {
            if let Err(error) = jobs::hand_on(&app, node, busy).await {
                tracing::warn!(%error, "accounts could not be handed on before the end");
            }
        });
    }

    /// Everything of an account is written down, and nothing more is begun.
    fn let_go(&self, account: AccountId, node: NodeId) {
        let app = Arc::clone(&self.app);
        tokio::spawn(async move {
            // Leaving does the same if this fails.
            drop(jobs::let_go(&app, node, &[account]).await);
        });
    }

    /// Nothing is under way, and every result is written.
    fn is_done(&self) -> bool {
        self.slots.taken() == 0 && !self.endpoints.values().any(Endpoint::is_writing)
    }

    /// How long nothing will happen by itself.
    fn pause(&self) -> Duration {
        let now = Instant::now();
        let resting = self.resting.first().map(|at| at.saturating_duration_since(now));
        let late = self.late.first().map(|at| at.since(self.app.now()));
        // The end of a look is heard of; until then there is nothing to wake up for.
        let look = match self.is_looking || self.is_stopping {
            true => LOOK,
            false => self.look_at.saturating_duration_since(now),
        };
        let room = self.slots.has_waiting().then_some(ROOM_PAUSE);
        let soonest = [resting, late, room]
            .into_iter()
            .flatten()
            .fold(look, Duration::min);
        soonest.max(Duration::from_millis(1))
    }

    /// Begins everything that can be begun.
    fn step(&mut self) {
        self.mind_node();
        let (now, instant) = (self.app.now(), Instant::now());
        if instant >= self.look_at && !self.is_looking && !self.is_stopping {
            self.look();
        }
        self.touched.extend(self.late.due(now));
        self.touched.extend(self.resting.due(instant));
        for account in std::mem::take(&mut self.touched) {
            self.pump(account);
        }
        for kind in Kind::ALL {
            while self.slots.is_wanted(kind) {
                let held = self.flights.counted(kind);
                if let Some(account) = self.slots.next(kind, &held) {
                    self.turn = Some(account);
                    self.pump(account);
                    self.turn = None;
                } else if !self.make_room(kind, &held, instant) {
                    break;
                }
            }
        }
    }

    /// Frees a slot for the account that waits for one, if there is any: first attempts that are slow go on in the slots of
    /// troubled ones; and the account that has the most slots gives one back, or one whose attempt hangs where the other has
    /// none at all. That one is free as soon as the attempt has ended. Says whether one is free now.
    fn make_room(&mut self, kind: Kind, held: &HashMap<AccountId, usize>, now: Instant) -> bool {
        let waiting = self.slots.waiting(kind, held);
        let Some((account, waiting)) = waiting.filter(|_| !self.is_stopping) else {
            return false;
        };
        if kind == Kind::Fresh
            && let Some(slow) = self.flights.slow(now)
            && self.slots.take(Kind::Troubled)
        {
            self.flights.set_kind(slow, Kind::Troubled);
            self.slots.give_back(Kind::Fresh);
            return true;
        }
        let hangs_after = |account: AccountId| {
            let endpoint = self.endpoints.get(&account);
            endpoint.map_or(Duration::ZERO, Endpoint::hangs_after)
        };
        let victim = self.flights.victim(kind, (account, waiting), now, hangs_after);
        if let Some(victim) = victim {
            self.flights.cancel(victim, Cancel::Preempted);
        }
        false
    }

    /// Others may have given this node up: then nothing that it holds is its own any more.
    fn mind_node(&mut self) {
        let node = self.app.store.desk().node();
        if node != self.node {
            tracing::warn!("this node starts delivering anew");
            self.node = node;
            self.endpoints.clear();
            self.late = Alarm::default();
            self.resting = Alarm::default();
            self.look_at = Instant::now();
        }
    }

    fn handed(&mut self, handover: Handover) {
        self.touched.extend(handover.account());
        match handover {
            Handover::Places {
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
            Handover::LookAgain { account } => match self.endpoints.get_mut(&account) {
                Some(endpoint) => endpoint.look_again(),
                // Perhaps nobody delivers for it yet.
                None => self.look_now(),
            },
            // Whether it is ours, and what there is, is seen when it is read.
            Handover::Elsewhere { account, last } => self.endpoint(account).has_grown(last),
            Handover::Poll { integration } => self.app.hurry.up_from_another_node(integration),
            Handover::NodeGone => {
                self.look_now();
                self.app.wake_calls.look_everywhere();
                self.app.hurry.posts_changed();
            }
        }
    }

    pub(super) fn endpoint(&mut self, account: AccountId) -> &mut Endpoint {
        let webhook = &self.app.settings.webhook;
        let (most, seconds) = (webhook.max_per_endpoint, webhook.attempt_seconds);
        let deadline = Duration::from_secs(u64::from(seconds));
        self.endpoints
            .entry(account)
            .or_insert_with(|| Endpoint::new(most, deadline, Instant::now()))
    }

    fn noted(&mut self, note: Note) {
        match note {
            Note::Ended(ended) => self.ended(ended),
            Note::Loaded(account, node, result) => self.loaded(account, node, result),
            Note::Settled(account, node, settlements, result) => {
                self.settled(account, node, settlements, result);
            }
            Note::Looked(result, took) => self.looked(result, took),
            Note::Claimed(node, result) => match result {
                Ok(accounts) if Some(node) == self.node => {
                    for account in accounts {
                        // Whoever had it between has left what this node may not know of.
                        self.endpoint(account).look_again();
                        self.touched.insert(account);
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(%error, "accounts that nobody delivers for could not be claimed")
                }
            },
        }
    }

    /// Does everything for an account that can be done now.
    fn pump(&mut self, account: AccountId) {
        let Some(node) = self.node else { return };
        let Some(endpoint) = self.endpoints.get_mut(&account) else {
            self.late.clear(account);
            self.resting.clear(account);
            return;
        };
        let (now, instant) = (self.app.now(), Instant::now());
        if let Some(settlements) = endpoint.start_settling() {
            self.start_settling(account, node, settlements);
        }
        // A node that has not been able to show that it lives must not begin anything: others may have taken over.
        let may_begin = !self.is_stopping && self.app.lease.is_valid();
        if may_begin {
            self.begin_attempts(account, node, instant);
        }
        let Some(endpoint) = self.endpoints.get_mut(&account) else {
            return;
        };
        if may_begin && let Some(wanted) = endpoint.start_loading(now, instant) {
            let (app, notes) = (Arc::clone(&self.app), self.notes.clone());
            tokio::spawn(async move {
                let result = jobs::load(&app, account, node, wanted).await;
                if result.is_err() {
                    tokio::time::sleep(TROUBLE_PAUSE).await;
                }
                drop(notes.send(Note::Loaded(account, node, result)));
            });
        }
        if !endpoint.is_idle() {
            endpoint.idle_since = instant;
        }
        let late_at = endpoint.late_at().filter(|at| *at > now);
        self.late.set(account, late_at);
        self.resting.set(account, endpoint.wakes_at(instant));
    }

    fn begin_attempts(&mut self, account: AccountId, node: NodeId, instant: Instant) {
        while let Some(endpoint) = self.endpoints.get_mut(&account) {
            let Some((delivery, lane, target)) = endpoint.next(instant) else {
                if let Some(hanging) = endpoint.preempt(instant) {
                    self.flights.cancel((node, hanging), Cancel::Preempted);
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
                self.touched.insert(account);
                continue;
            };
            let kind = Kind::of(lane, endpoint.is_troubled());
            // While others wait for slots, an account gets one in its turn.
            let is_its_turn = !self.slots.is_wanted(kind) || self.turn.take() == Some(account);
            if !is_its_turn || !self.slots.take(kind) {
                endpoint.put_back(delivery, lane);
                self.slots.wait(kind, account);
                return;
            }
            let cancelled = self.flights.begin((node, delivery.id), account, kind, instant);
            let flight = Flight {
                app: Arc::clone(&self.app),
                notes: self.notes.clone(),
                ended: Some(Ended {
                    account,
                    node,
                    id: delivery.id,
                    place: delivery.position,
                    result: None,
                }),
            };
            tokio::spawn(flight.fly(delivery, target, cancelled));
        }
    }

    fn start_settling(&mut self, account: AccountId, node: NodeId, settlements: Vec<Settlement>) {
        let (app, notes) = (Arc::clone(&self.app), self.notes.clone());
        let settlements = Arc::new(settlements);
        tokio::spawn(async move {
            let result = jobs::settle(&app, account, node, Arc::clone(&settlements)).await;
            if result.is_err() {
                tokio::time::sleep(TROUBLE_PAUSE).await;
            }
            drop(notes.send(Note::Settled(account, node, settlements, result)));
        });
    }

    fn ended(&mut self, ended: Ended) {
        if let Some(kind) = self.flights.end((ended.node, ended.id)) {
            self.slots.give_back(kind);
        }
        let endpoint = self
            .endpoints
            .get_mut(&ended.account)
            .filter(|_| Some(ended.node) == self.node);
        let Some(endpoint) = endpoint else { return };
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

    fn loaded(&mut self, account: AccountId, node: NodeId, result: Result<Option<Load>, Fault>) {
        let Some(endpoint) = self
            .endpoints
            .get_mut(&account)
            .filter(|_| Some(node) == self.node)
        else {
            return;
        };
        match result {
            Ok(Some(load)) => {
                endpoint.loaded(load, Instant::now());
                for id in endpoint.misdirected() {
                    self.flights.cancel((node, id), Cancel::Moved);
                }
            }
            // Another node delivers for it now.
            Ok(None) => {
                self.endpoints.remove(&account);
            }
            Err(fault) => {
                tracing::warn!(%account, ?fault, "what is due could not be read");
                endpoint.not_loaded();
            }
        }
        self.touched.insert(account);
    }

    fn settled(
        &mut self,
        account: AccountId,
        node: NodeId,
        settlements: Arc<Vec<Settlement>>,
        result: Result<Option<Vec<Delivery>>, StoreError>,
    ) {
        let Some(endpoint) = self
            .endpoints
            .get_mut(&account)
            .filter(|_| Some(node) == self.node)
        else {
            return;
        };
        match result {
            Ok(Some(released)) => {
                endpoint.settled(&settlements);
                endpoint.released(released);
                if self.is_stopping && !endpoint.is_busy() && membership::is_shared(&self.app) {
                    self.let_go(account, node);
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
                tracing::warn!(%account, %error, "results could not be written");
                endpoint.not_settled(Arc::unwrap_or_clone(settlements));
            }
        }
        self.touched.insert(account);
    }
}
