//! An independent ledger: what the service has acknowledged and lists, and what has arrived at a receiver.

use super::{ApiClient, Receiver};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// An event that arrived, in the order of arrival.
#[derive(Clone, Debug)]
pub struct Arrival {
    pub event: String,
    /// The order and the number within it, for events of orders.
    pub order: Option<(String, i64)>,
    pub body: String,
    pub answered: Option<u16>,
    pub at: Instant,
}

impl Arrival {
    fn was_taken(&self) -> bool {
        self.answered.is_some_and(|status| (200..300).contains(&status))
    }
}

/// Everything that a receiver has seen.
#[derive(Clone, Debug, Default)]
pub struct Ledger(pub Vec<Arrival>);

impl Ledger {
    pub fn of(receiver: &Receiver) -> Self {
        let arrival = |seen: super::ReceivedRequest| {
            let json = seen.json();
            let veri = &json["veri"];
            let order = veri["orderId"].as_str().zip(veri["sequence"].as_i64());
            Arrival {
                event: veri["id"].as_str().unwrap().to_owned(),
                order: order.map(|(order, sequence)| (order.to_owned(), sequence)),
                answered: seen.answered,
                at: seen.at,
                body: seen.body,
            }
        };
        Self(receiver.seen().into_iter().map(arrival).collect())
    }

    pub fn events(&self) -> BTreeSet<String> {
        self.0.iter().map(|arrival| arrival.event.clone()).collect()
    }

    /// How often something arrived that had arrived before; always in the same bytes.
    pub fn repeats(&self) -> usize {
        let mut bodies = BTreeMap::new();
        for arrival in &self.0 {
            let first = bodies.entry(&arrival.event).or_insert(&arrival.body);
            assert_eq!(*first, &arrival.body, "other bytes the next time");
        }
        self.0.len() - bodies.len()
    }

    /// An order's next event arrives for the first time only when the one before was taken, or has failed twice.
    pub fn assert_ordered(&self) {
        let mut seen: BTreeMap<(&str, i64), (bool, usize)> = BTreeMap::new();
        for arrival in &self.0 {
            let Some((order, sequence)) = &arrival.order else {
                continue;
            };
            let is_first = !seen.contains_key(&(order.as_str(), *sequence));
            if is_first && *sequence > 1 {
                let before = seen.get(&(order.as_str(), sequence - 1)).copied();
                let (was_taken, failures) = before.unwrap_or_default();
                assert!(
                    was_taken || failures >= 2,
                    "{sequence} of {order} came when the one before was taken: {was_taken}, failed: {failures}"
                );
            }
            let entry = seen.entry((order, *sequence)).or_default();
            entry.0 |= arrival.was_taken();
            entry.1 += usize::from(!arrival.was_taken());
        }
    }

    /// All listed events have arrived, and nothing else, except this many that were skipped.
    pub async fn assert_complete_except_skipped(&self, client: &ApiClient, skipped: usize) {
        let (told, came) = (told(client).await, self.events());
        let lost: Vec<&String> = told.keys().filter(|id| !came.contains(*id)).collect();
        assert_eq!(lost.len(), skipped, "of {} never came: {lost:?}", told.len());
        for arrival in &self.0 {
            let body: Value = serde_json::from_str(&arrival.body).unwrap();
            assert_eq!(told.get(&arrival.event), Some(&body), "came and is not told of");
        }
    }
}

/// All events of an account, by their ids.
pub async fn told(client: &ApiClient) -> BTreeMap<String, Value> {
    let mut events = BTreeMap::new();
    let mut path = "/events?limit=200".to_owned();
    loop {
        let page = client.get(&path).await.success();
        for event in page["data"].as_array().unwrap() {
            let id = event["veri"]["id"].as_str().unwrap().to_owned();
            let twice = events.insert(id, event.clone());
            assert_eq!(twice, None, "an event is listed twice");
        }
        let Some(next) = page["paging"]["next"].as_str() else {
            return events;
        };
        path = format!("/events?limit=200&cursor={next}");
    }
}
