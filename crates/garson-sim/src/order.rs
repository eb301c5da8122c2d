//! One order as the platform has it: its content, its state, and the messages that were sent about it.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;
use serde_json::Value;

use crate::{
    clock,
    generate::basket::Basket,
    message::Message,
    platform::Platform,
    views::{Courier, HistoryLine, OrderView, PlacedOrder, PushLine, Step},
};

/// An unreachable receiver must not fill the memory.
const PUSHES_KEPT: usize = 50;

/// The states of a platform's orders, as far as all platforms share them.
#[derive(Debug)]
pub(crate) struct States {
    /// Nothing more happens after these.
    pub last: &'static [&'static str],
    /// The last states of orders that the platform's courier does not carry.
    pub last_without_courier: &'static [&'static str],
    /// The platform's courier can take the order.
    pub ready: &'static str,
    /// The control API shows states as numbers.
    pub are_numbers: bool,
}

#[derive(Debug)]
pub(crate) struct Order {
    pub number: u64,
    pub platform: Platform,
    states: &'static States,
    pub id: String,
    /// Yemeksepeti's second id.
    pub token: Option<String>,
    pub remote_id: String,
    /// The code that people read out.
    pub short_code: String,
    pub courier: Courier,
    pub state: String,
    pub placed_at: Timestamp,
    pub changed_at: Timestamp,
    pub scheduled_for: Option<Timestamp>,
    /// When the platform stops waiting for an answer.
    pub expires_at: Option<Timestamp>,
    /// Timestamps in the order, by the platform's names.
    pub stamps: BTreeMap<&'static str, Timestamp>,
    pub basket: Basket,
    pub cancellation: Option<Cancellation>,
    pub courier_step: Option<Step>,
    pub courier_name: Option<String>,
    /// The service's id for the order, which Yemeksepeti asks for.
    pub remote_order_id: Option<String>,
    pub history: Vec<HistoryLine>,
    pub pushes: VecDeque<PushLine>,
    /// Messages that are sent after those before them.
    pub queue: VecDeque<Message>,
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
        states: &'static States,
        remote_id: &str,
        courier: Courier,
        basket: Basket,
        now: Timestamp,
    ) -> Self {
        Self {
            number: 0,
            platform,
            states,
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
            state: self.states.show(state),
            by: by.to_owned(),
        };
        self.history.push(line);
    }

    pub(crate) fn is_final(&self) -> bool {
        let state = self.state.as_str();
        self.states.last.contains(&state)
            || (self.courier != Courier::Platform && self.states.last_without_courier.contains(&state))
    }

    /// Whether the platform's courier can take it now.
    pub(crate) fn waits_for_courier(&self) -> bool {
        self.courier == Courier::Platform && self.state == self.states.ready
    }

    /// Seconds since a timestamp was set, if it was.
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
            state: self.states.show(&self.state),
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

impl States {
    fn show(&self, state: &str) -> Value {
        match state.parse::<u64>() {
            Ok(number) if self.are_numbers => Value::from(number),
            _ => Value::from(state),
        }
    }
}
