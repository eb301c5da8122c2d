//! All orders, found by number, by the platform's ids and by store, with an end to how many are kept.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use crate::{order::Order, platform::Platform, store::StoreKey};

const FINISHED_KEPT: usize = 20_000;
const KEPT: usize = 200_000;

#[derive(Debug, Default)]
pub(crate) struct Orders {
    last: u64,
    all: BTreeMap<u64, Order>,
    by_id: HashMap<(Platform, String), u64>,
    by_store: HashMap<StoreKey, BTreeSet<u64>>,
    finished: VecDeque<u64>,
}

impl Orders {
    pub(crate) fn add(&mut self, mut order: Order) -> u64 {
        self.last += 1;
        order.number = self.last;
        for id in [Some(&order.id), order.token.as_ref()].into_iter().flatten() {
            self.by_id.insert((order.platform, id.clone()), order.number);
        }
        self.by_store
            .entry((order.platform, order.remote_id.clone()))
            .or_default()
            .insert(order.number);
        self.all.insert(order.number, order);
        if self.all.len() > KEPT
            && let Some((&oldest, _)) = self.all.first_key_value()
        {
            self.forget(oldest);
        }
        self.last
    }

    /// Counts an order that has just ended; the oldest of too many are forgotten.
    pub(crate) fn finish(&mut self, number: u64) {
        self.finished.push_back(number);
        if self.finished.len() > FINISHED_KEPT
            && let Some(oldest) = self.finished.pop_front()
        {
            self.forget(oldest);
        }
    }

    fn forget(&mut self, number: u64) {
        let Some(order) = self.all.remove(&number) else {
            return;
        };
        for id in [Some(order.id), order.token].into_iter().flatten() {
            self.by_id.remove(&(order.platform, id));
        }
        if let Some(numbers) = self.by_store.get_mut(&(order.platform, order.remote_id)) {
            numbers.remove(&number);
        }
    }

    pub(crate) fn get(&self, number: u64) -> Option<&Order> {
        self.all.get(&number)
    }

    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut Order> {
        self.all.get_mut(&number)
    }

    /// By the platform's order id, or by Yemeksepeti's token.
    pub(crate) fn find(&self, platform: Platform, id: &str) -> Option<&Order> {
        self.by_id
            .get(&(platform, id.to_owned()))
            .and_then(|number| self.get(*number))
    }

    pub(crate) fn of_store(&self, key: &StoreKey) -> impl Iterator<Item = &Order> {
        let numbers = self.by_store.get(key).into_iter().flatten();
        numbers.filter_map(|number| self.get(*number))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Order> {
        self.all.values()
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }
}
