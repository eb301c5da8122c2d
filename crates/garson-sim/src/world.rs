//! The state of all simulated platforms, behind one lock.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use jiff::Timestamp;

use crate::{
    autopilot_plan::AutopilotPlan,
    clock::Clock,
    faults::Faults,
    journal::Journal,
    limits::{Limit, Limits},
    message::Message,
    orders::Orders,
    platform::Platform,
    random::Random,
    settings::SimSettings,
    shop::{PriceBatch, SeenBodies, Shop},
    store::{Store, StoreKey},
};

/// Something that is going to happen to an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TimedEvent {
    Expire,
    CustomerCancels,
    Courier,
}

#[derive(Debug)]
pub(crate) struct World {
    pub settings: SimSettings,
    /// Where the platforms are reached, without a trailing slash.
    pub public_url: String,
    pub clock: Clock,
    /// Chooses what customers do: reproducible from the seed.
    pub content: Random,
    /// Makes ids: different in every run.
    pub ids: Random,
    pub stores: BTreeMap<StoreKey, Arc<Store>>,
    /// The stores' states besides their orders; a store that is missing is as at first.
    shops: BTreeMap<StoreKey, Shop>,
    pub price_batches: BTreeMap<String, PriceBatch>,
    pub seen_bodies: SeenBodies,
    pub orders: Orders,
    pub journal: Journal,
    pub faults: Faults,
    pub tokens: Tokens,
    pub autopilot: Option<AutopilotPlan>,
    /// What is going to happen to orders, and when.
    pub timed_events: BTreeSet<(Timestamp, u64, TimedEvent)>,
    /// Orders with messages for which no task is running yet.
    pub to_push: Vec<u64>,
    /// Messages that are not about an order.
    pub reports: Vec<(Platform, Message)>,
    /// Messages that wait until their platform has sent its next one.
    pub held: Vec<(Platform, u64, Message)>,
    limits: Limits,
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
            shops: BTreeMap::new(),
            price_batches: BTreeMap::new(),
            seen_bodies: SeenBodies::new(),
            orders: Orders::default(),
            journal: Journal::default(),
            faults: Faults::default(),
            tokens: Tokens::default(),
            autopilot: None,
            timed_events: BTreeSet::new(),
            to_push: Vec::new(),
            reports: Vec::new(),
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

    /// What the platform knows of a store besides its orders.
    pub(crate) fn shop(&mut self, key: &StoreKey) -> &mut Shop {
        self.shops.entry(key.clone()).or_default()
    }

    /// The same, to be read.
    pub(crate) fn shop_of(&self, key: &StoreKey) -> Shop {
        self.shops.get(key).cloned().unwrap_or_default()
    }

    /// Moves an order to a state.
    pub(crate) fn enter(&mut self, number: u64, state: &str, by: &str) {
        let now = self.now();
        let Some(order) = self.orders.get_mut(number) else {
            return;
        };
        let was_final = order.is_final();
        order.enter(state, by, now);
        let is_final = order.is_final();
        if order.waits_for_courier()
            && let Some(autopilot) = &self.autopilot
        {
            self.timed_events
                .insert((autopilot.courier_after(now), number, TimedEvent::Courier));
        }
        if is_final && !was_final {
            self.orders.finish(number);
        }
    }

    /// Sets a timestamp of the order, by the platform's name for it.
    pub(crate) fn stamp(&mut self, number: u64, name: &'static str) {
        let now = self.now();
        if let Some(order) = self.orders.get_mut(number) {
            order.stamps.insert(name, now);
        }
    }

    /// Removes one piece from an order; at least one must be left.
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

    /// Queues a message about an order after those that are waiting.
    pub(crate) fn enqueue(&mut self, number: u64, message: Message) {
        let Some(order) = self.orders.get_mut(number) else {
            return;
        };
        order.queue.push_back(message);
        if !order.is_pushing {
            order.is_pushing = true;
            self.to_push.push(number);
        }
    }
}

/// Access tokens that have not expired.
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

    /// The owner of a valid token.
    pub(crate) fn owner(&self, platform: Platform, token: &str, now: Timestamp) -> Option<String> {
        let (owner, until) = self.valid.get(&(platform, token.to_owned()))?;
        (*until > now).then(|| owner.clone())
    }

    pub(crate) fn revoke(&mut self, platform: Platform, token: &str) {
        self.valid.remove(&(platform, token.to_owned()));
    }
}
