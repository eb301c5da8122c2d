//! Orders that arrive at any node and advance at the next ones, with a ledger of acknowledgements.

use super::cluster_setup::{Account, Cluster, order_at, step_at};
use crate::support::StealAwareInstant;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;

/// What was acknowledged: the account's path, the order's record, the event's number within it, and when.
#[derive(Clone, Debug)]
pub struct Ack {
    pub path: String,
    pub order: String,
    pub sequence: i64,
    pub at: StealAwareInstant,
}

/// What all senders share.
#[derive(Clone)]
pub struct Load {
    doors: Arc<Mutex<Vec<SocketAddr>>>,
    acks: Arc<Mutex<Vec<Ack>>>,
    refusals: Arc<Mutex<Vec<String>>>,
    next: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
}

/// Senders at work.
pub struct OrderLoad {
    pub load: Load,
    senders: JoinSet<()>,
}

/// The steps of an order after it was taken.
const STEPS: [&str; 3] = ["verify", "change-status", "change-status"];

impl Load {
    /// Pours orders of these accounts from several senders, as many as there are to be.
    pub fn pour(cluster: &Cluster, accounts: &[Account], senders: usize, orders: usize) -> OrderLoad {
        let load = Self {
            doors: Arc::new(Mutex::new(cluster.doors.clone())),
            acks: Arc::default(),
            refusals: Arc::default(),
            next: Arc::default(),
            is_over: Arc::default(),
        };
        let mut tasks = JoinSet::new();
        for _ in 0..senders {
            let (load, accounts) = (load.clone(), accounts.to_vec());
            tasks.spawn(async move {
                while !load.is_over.load(Ordering::Relaxed) {
                    let n = load.next.fetch_add(1, Ordering::Relaxed);
                    if n >= orders {
                        return;
                    }
                    let account = &accounts[n % accounts.len()];
                    load.carry(account, n).await;
                }
            });
        }
        OrderLoad { load, senders: tasks }
    }

    /// Takes an order through its life, each step at another node. What is not acknowledged is left there.
    async fn carry(&self, account: &Account, n: usize) {
        if let Err(refusal) = self.try_to_carry(account, n).await {
            self.refusals.lock().unwrap().push(refusal);
        }
    }

    async fn try_to_carry(&self, account: &Account, n: usize) -> Result<(), String> {
        let id = format!("L-{n}");
        let order = order_at(self.door(n), account, &id).await?;
        self.note(account, &order, 1);
        for (step, sequence) in STEPS.iter().zip(2..) {
            let door = self.door(n + usize::try_from(sequence).unwrap());
            step_at(door, account, step, &id).await?;
            self.note(account, &order, sequence);
        }
        Ok(())
    }

    fn door(&self, n: usize) -> SocketAddr {
        let doors = self.doors.lock().unwrap();
        doors[n % doors.len()]
    }

    /// Nothing is sent there from now on.
    pub fn avoid(&self, door: SocketAddr) {
        self.doors.lock().unwrap().retain(|it| *it != door);
    }

    /// A node that was avoided gets its share again.
    pub fn resume(&self, door: SocketAddr) {
        self.doors.lock().unwrap().push(door);
    }

    fn note(&self, account: &Account, order: &str, sequence: i64) {
        self.acks.lock().unwrap().push(Ack {
            path: account.path.clone(),
            order: order.to_owned(),
            sequence,
            at: StealAwareInstant::now(),
        });
    }

    pub fn acks(&self) -> Vec<Ack> {
        self.acks.lock().unwrap().clone()
    }

    /// What was not acknowledged, and why.
    pub fn refusals(&self) -> Vec<String> {
        self.refusals.lock().unwrap().clone()
    }
}

impl OrderLoad {
    /// Waits until every order has gone its way.
    pub async fn finish(mut self) -> Load {
        while let Some(ended) = self.senders.join_next().await {
            ended.unwrap();
        }
        self.load
    }

    /// Starts nothing more, and waits for requests in flight.
    pub async fn stop(self) -> Load {
        self.load.is_over.store(true, Ordering::Relaxed);
        self.finish().await
    }
}

/// Where an event is in an order.
fn number_of(veri: &Value) -> Option<(String, i64)> {
    Some((veri["orderId"].as_str()?.to_owned(), veri["sequence"].as_i64()?))
}

/// When the last of what was acknowledged arrived; fails when something is still missing `limit` after `start`.
pub async fn all_arrived(
    cluster: &Cluster,
    acks: &[Ack],
    start: StealAwareInstant,
    limit: Duration,
) -> StealAwareInstant {
    let wanted: BTreeSet<(String, i64)> = acks.iter().map(|ack| (ack.order.clone(), ack.sequence)).collect();
    let paths: BTreeSet<&String> = acks.iter().map(|ack| &ack.path).collect();
    loop {
        let mut first: BTreeMap<(String, i64), StealAwareInstant> = BTreeMap::new();
        for arrival in paths.iter().flat_map(|path| cluster.sink.at(path)) {
            if let Some(number) = number_of(&arrival.json()["veri"]) {
                first.entry(number).or_insert(arrival.at);
            }
        }
        let missing: Vec<_> = wanted.iter().filter(|it| !first.contains_key(it)).collect();
        if missing.is_empty() {
            let last = wanted.iter().filter_map(|it| first.get(it)).max();
            return last.copied().unwrap_or_else(StealAwareInstant::now);
        }
        assert!(
            start.elapsed() < limit,
            "{} of {} acknowledged events have not come: {:?}",
            missing.len(),
            wanted.len(),
            &missing[..missing.len().min(5)]
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// How often something came again.
#[derive(Debug, PartialEq, Eq)]
pub struct Tally {
    pub events: usize,
    pub repeats: usize,
}

/// Holds what arrived against what the nodes show: every event of every account has come with its exact content, the
/// same bytes each time, and no order's event before the one that precedes it.
pub async fn check(cluster: &Cluster, accounts: &[Account], node: usize) -> Tally {
    let mut tally = Tally {
        events: 0,
        repeats: 0,
    };
    for account in accounts {
        let mut shown = cluster.events(account, node).await;
        // Before its first order the account had no webhook.
        shown.retain(|event| event["veri"]["orderId"].is_string());
        crate::support::wait_until("everything comes", async || {
            cluster.sink.first_arrivals(&account.path).len() >= shown.len()
        })
        .await;
        let first = cluster.sink.first_arrivals(&account.path);
        for event in &shown {
            let id = event["veri"]["id"].as_str().unwrap();
            let arrived = first.get(id).unwrap_or_else(|| panic!("{event} never came"));
            assert_eq!(&arrived.json()["veri"], &event["veri"], "another content");
        }
        assert_eq!(first.len(), shown.len(), "something came that nobody knows of");
        let all = cluster.sink.at(&account.path);
        let mut reached: BTreeMap<String, i64> = BTreeMap::new();
        for arrival in &all {
            assert_eq!(
                arrival.body,
                first[&arrival.event()].body,
                "a repeat has other bytes"
            );
            let Some((order, sequence)) = number_of(&arrival.json()["veri"]) else {
                continue;
            };
            let before = reached.entry(order.clone()).or_default();
            assert!(sequence <= *before + 1, "{order}: {sequence} came after {before}");
            *before = sequence.max(*before);
        }
        tally.events += first.len();
        tally.repeats += all.len() - first.len();
    }
    tally
}
