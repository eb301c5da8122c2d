//! Everything that the platforms know, behind one lock.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use jiff::Timestamp;

use crate::{
    autopilot::{Alarm, Pilot},
    clock::{self, Clock},
    faults::Faults,
    generate::basket::Basket,
    journal::Journal,
    limits::{Limit, Limits},
    order::Order,
    orders::Orders,
    platform::Platform,
    push::Push,
    random::Random,
    settings::SimSettings,
    store::{Store, StoreKey},
    views::{Courier, OrderRequest, PlacedOrder},
};

const ORDERS_AT_ONCE: usize = 10_000;

#[derive(Debug)]
pub(crate) struct World {
    pub settings: SimSettings,
    /// Where the platforms are reached, without a slash at the end.
    pub public_url: String,
    pub clock: Clock,
    /// Chooses what customers do: the same from the same seed.
    pub content: Random,
    /// Makes ids: different in every run.
    pub ids: Random,
    pub stores: BTreeMap<StoreKey, Arc<Store>>,
    pub orders: Orders,
    pub journal: Journal,
    pub faults: Faults,
    pub tokens: Tokens,
    pub pilot: Option<Pilot>,
    /// What is going to happen to orders, and when.
    pub alarms: BTreeSet<(Timestamp, u64, Alarm)>,
    /// Orders whose messages have nobody sending them yet.
    pub to_push: Vec<u64>,
    /// Pushes that wait until their platform's next one has gone.
    pub held: Vec<(Platform, u64, Push)>,
    limits: Limits,
}

/// Why something that was asked for over the control API is not done.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The request makes no sense.
    Invalid(String),
    NotFound(String),
    /// Not in this state.
    Conflict(String),
}

impl World {
    pub(crate) fn new(settings: SimSettings, public_url: String) -> Self {
        Self {
            content: Random::new(settings.seed),
            ids: Random::from_system(),
            settings,
            public_url,
            clock: Clock::default(),
            stores: BTreeMap::new(),
            orders: Orders::default(),
            journal: Journal::default(),
            faults: Faults::default(),
            tokens: Tokens::default(),
            pilot: None,
            alarms: BTreeSet::new(),
            to_push: Vec::new(),
            held: Vec::new(),
            limits: Limits::default(),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Counts a call against a limit, unless limits are off.
    pub(crate) fn allow(&mut self, key: String, limit: Limit) -> bool {
        let now = self.now();
        !self.settings.rate_limits || self.limits.allow(key, limit, now)
    }

    pub(crate) fn store(&self, platform: Platform, remote_id: &str) -> Option<Arc<Store>> {
        self.stores.get(&(platform, remote_id.to_owned())).cloned()
    }

    pub(crate) fn stores_of(&self, platform: Platform) -> impl Iterator<Item = &Arc<Store>> {
        self.stores
            .values()
            .filter(move |store| store.platform == platform)
    }

    /// Lets customers order.
    pub(crate) fn place_orders(&mut self, request: &OrderRequest) -> Result<Vec<PlacedOrder>, Refusal> {
        if !(1..=ORDERS_AT_ONCE).contains(&request.count) {
            return Err(Refusal::Invalid(format!("count must be 1 to {ORDERS_AT_ONCE}")));
        }
        (0..request.count).map(|_| self.place_order(request)).collect()
    }

    fn place_order(&mut self, request: &OrderRequest) -> Result<PlacedOrder, Refusal> {
        let side = request.platform.side();
        let store = self.store_for(request)?;
        let mut usual = || {
            if self.content.percent(60) {
                Courier::Platform
            } else {
                Courier::Restaurant
            }
        };
        let courier = request.courier.unwrap_or_else(&mut usual);
        side.takes(courier, request.scheduled_in_minutes.is_some())
            .map_err(Refusal::Invalid)?;
        let now = self.now();
        let basket = Basket::of(&mut self.content, &store.menu, request.payment, courier);
        let mut order = Order::new(request.platform, &store.remote_id, courier, basket, now);
        order.scheduled_for = request
            .scheduled_in_minutes
            .map(|minutes| clock::add_seconds(now, u64::from(minutes) * 60));
        side.place(self, &mut order);
        let placed = order.placed();
        let expires_at = order.expires_at;
        let number = self.orders.add(order);
        if let Some(at) = expires_at {
            self.alarms.insert((at, number, Alarm::Expire));
        }
        if request.push {
            side.announce(self, &store, number);
        }
        Ok(placed)
    }

    fn store_for(&mut self, request: &OrderRequest) -> Result<Arc<Store>, Refusal> {
        let platform = request.platform;
        if let Some(remote_id) = &request.remote_id {
            let store_id = match platform {
                Platform::Trendyol => remote_id.rsplit(':').next().unwrap_or(remote_id),
                _ => remote_id,
            };
            let found = self.store(platform, store_id);
            return found.ok_or_else(|| Refusal::NotFound(format!("no store {remote_id} on {platform}")));
        }
        let stores: Vec<_> = self.stores_of(platform).cloned().collect();
        let chosen = self.content.pick(&stores).cloned();
        chosen.ok_or_else(|| Refusal::Invalid(format!("no store is registered on {platform}")))
    }

    /// Brings an order into a state, with all that follows from it.
    pub(crate) fn enter(&mut self, number: u64, state: &str, by: &str) {
        let now = self.now();
        let Some(order) = self.orders.get_mut(number) else {
            return;
        };
        let was_final = order.is_final();
        order.enter(state, by, now);
        let is_final = order.is_final();
        if let Some(pilot) = &self.pilot
            && let Some(at) = pilot.courier_comes(order, now)
        {
            self.alarms.insert((at, number, Alarm::Courier));
        }
        if is_final && !was_final {
            self.orders.finish(number);
        }
    }

    /// Writes a moment into the order under the platform's name for it.
    pub(crate) fn stamp(&mut self, number: u64, name: &'static str) {
        let now = self.now();
        if let Some(order) = self.orders.get_mut(number) {
            order.stamps.insert(name, now);
        }
    }

    /// Queues a message about an order behind those that have not gone yet.
    /// Takes one piece out of an order; another one must be left.
    pub(crate) fn remove_piece(&mut self, number: u64) -> Result<(), String> {
        let now = self.now();
        let Some(order) = self.orders.get_mut(number) else {
            return Ok(());
        };
        if order.is_final() {
            return Err(format!("the order is {} already", order.state));
        }
        order.basket.remove_piece()?;
        let state = order.state.clone();
        order.enter(&state, "restaurant", now);
        Ok(())
    }

    pub(crate) fn enqueue(&mut self, number: u64, push: Push) {
        let Some(order) = self.orders.get_mut(number) else {
            return;
        };
        order.queue.push_back(push);
        if !order.is_pushing {
            order.is_pushing = true;
            self.to_push.push(number);
        }
    }
}

/// Logins that have not run out.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    valid: HashMap<(Platform, String), (String, Timestamp)>,
}

impl Tokens {
    pub(crate) fn issue(
        &mut self,
        platform: Platform,
        token: &str,
        owner: &str,
        until: Timestamp,
        now: Timestamp,
    ) {
        self.valid.retain(|_, (_, until)| *until > now);
        self.valid
            .insert((platform, token.to_owned()), (owner.to_owned(), until));
    }

    /// Whose token it is, if it still is one.
    pub(crate) fn owner(&self, platform: Platform, token: &str, now: Timestamp) -> Option<String> {
        let (owner, until) = self.valid.get(&(platform, token.to_owned()))?;
        (*until > now).then(|| owner.clone())
    }

    pub(crate) fn revoke(&mut self, platform: Platform, token: &str) {
        self.valid.remove(&(platform, token.to_owned()));
    }
}
