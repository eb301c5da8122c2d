//! One order as the platform has it: what was bought, where it stands, and what was told of it.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    clock,
    generate::basket::Basket,
    platform::Platform,
    push::Push,
    views::{Courier, HistoryLine, OrderView, PlacedOrder, PushLine, Step},
};

/// A dead receiver must not fill the memory.
const PUSHES_KEPT: usize = 50;

#[derive(Debug)]
pub(crate) struct Order {
    pub number: u64,
    pub platform: Platform,
    pub id: String,
    /// Yemeksepeti's second id.
    pub token: Option<String>,
    pub remote_id: String,
    /// What people say aloud.
    pub short_code: String,
    pub courier: Courier,
    pub state: String,
    pub placed_at: Timestamp,
    pub changed_at: Timestamp,
    pub scheduled_for: Option<Timestamp>,
    /// When the platform stops waiting for an answer.
    pub expires_at: Option<Timestamp>,
    /// Moments that the platform writes into its order, by their names there.
    pub stamps: BTreeMap<&'static str, Timestamp>,
    pub basket: Basket,
    pub cancellation: Option<Cancellation>,
    pub courier_step: Option<Step>,
    pub courier_name: Option<String>,
    /// The service's id for the order, which Yemeksepeti asks for.
    pub remote_order_id: Option<String>,
    pub history: Vec<HistoryLine>,
    pub pushes: VecDeque<PushLine>,
    /// Messages that wait until the one before has gone.
    pub queue: VecDeque<Push>,
    pub is_pushing: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Cancellation {
    pub by: String,
    pub reason_id: String,
    pub reason: String,
    pub note: String,
}

impl Order {
    pub(crate) fn new(
        platform: Platform,
        remote_id: &str,
        courier: Courier,
        basket: Basket,
        now: Timestamp,
    ) -> Self {
        Self {
            number: 0,
            platform,
            id: String::new(),
            token: None,
            remote_id: remote_id.to_owned(),
            short_code: String::new(),
            courier,
            state: String::new(),
            placed_at: now,
            changed_at: now,
            scheduled_for: None,
            expires_at: None,
            stamps: BTreeMap::new(),
            basket,
            cancellation: None,
            courier_step: None,
            courier_name: None,
            remote_order_id: None,
            history: Vec::new(),
            pushes: VecDeque::new(),
            queue: VecDeque::new(),
            is_pushing: false,
        }
    }

    pub(crate) fn enter(&mut self, state: &str, by: &str, now: Timestamp) {
        self.state = state.to_owned();
        self.changed_at = now;
        let line = HistoryLine {
            at: clock::text(now),
            state: shown(self.platform, state),
            by: by.to_owned(),
        };
        self.history.push(line);
    }

    pub(crate) fn is_final(&self) -> bool {
        self.platform.side().is_final(self)
    }

    /// How long ago a stamp was set; nothing when it was not.
    pub(crate) fn seconds_since(&self, stamp: &str, now: Timestamp) -> Option<i64> {
        self.stamps
            .get(stamp)
            .map(|&then| now.duration_since(then).as_secs())
    }

    pub(crate) fn note_push(&mut self, line: PushLine) {
        if self.pushes.len() == PUSHES_KEPT {
            self.pushes.pop_front();
        }
        self.pushes.push_back(line);
    }

    pub(crate) fn placed(&self) -> PlacedOrder {
        PlacedOrder {
            platform: self.platform,
            provider_order_id: self.id.clone(),
            token: self.token.clone(),
            remote_id: self.remote_id.clone(),
        }
    }

    pub(crate) fn view(&self) -> OrderView {
        OrderView {
            platform: self.platform,
            provider_order_id: self.id.clone(),
            token: self.token.clone(),
            remote_id: self.remote_id.clone(),
            state: shown(self.platform, &self.state),
            courier: self.courier,
            total: self.basket.total(),
            cancelled_by: self
                .cancellation
                .as_ref()
                .map(|cancellation| cancellation.by.clone()),
            cancel_reason: self
                .cancellation
                .as_ref()
                .map(|cancellation| cancellation.reason_id.clone()),
            remote_order_id: self.remote_order_id.clone(),
            history: self.history.clone(),
            pushes: self.pushes.iter().cloned().collect(),
        }
    }
}

/// Getir's states are numbers, the others' words.
fn shown(platform: Platform, state: &str) -> Value {
    match (platform, state.parse::<u64>()) {
        (Platform::Getir, Ok(number)) => Value::from(number),
        _ => Value::from(state),
    }
}
