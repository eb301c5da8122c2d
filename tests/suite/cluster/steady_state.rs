//! All nodes are running: orders arrive and advance at any of them, and commits are visible to all at once.

use super::cluster_setup::{Account, Cluster};
use super::load::{Load, all_arrived, check};
use crate::support::{ApiClient, StealAwareInstant, block_on};
use serde_json::json;
use std::time::Duration;

/// Each round of what one node tells another takes no longer than this; and all together less than by looking, which
/// takes half a second on average.
const SOON: Duration = Duration::from_secs(1);
const ROUNDS: u32 = 10;
const ALL_SOON: Duration = Duration::from_secs(3);

#[test]
fn events_of_all_nodes_arrive_in_order() {
    block_on(async {
        let cluster = Cluster::start(3).await;
        let accounts = [
            cluster.account("a", 0).await,
            cluster.account("b", 1).await,
            cluster.account("c", 2).await,
        ];
        let load = Load::pour(&cluster, &accounts, 12, 300).finish().await;
        let acks = load.acks();
        let refusals = load.refusals();
        assert!(refusals.is_empty(), "{refusals:#?}\n{}", cluster.printed());
        assert_eq!(acks.len(), 4 * 300);
        let last_ack = acks.iter().map(|ack| ack.at).max().unwrap();
        let done = all_arrived(&cluster, &acks, StealAwareInstant::now(), Duration::from_secs(15)).await;
        let behind = done.since(&last_ack);
        let tally = check(&cluster, &accounts, 1).await;
        println!("{tally:?}, the last one {behind:?} after the last acknowledgement");
        // With everything in order nothing is sent twice, although the orders moved at nodes that do not deliver.
        assert_eq!(tally.repeats, 0);
        assert!(behind < Duration::from_secs(2), "{behind:?}");
        let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
        assert_eq!(cluster.number(deadlocks), 0, "nodes were in each other's way");
        tell_of_elsewhere(&cluster, &accounts[0]).await;
        change_elsewhere(&cluster, &accounts[0]).await;
    });
}

/// Streams and long polls at one node show what another commits.
async fn tell_of_elsewhere(cluster: &Cluster, account: &Account) {
    let mut stream = cluster.client(account, 0).follow().await;
    let mut took = Duration::ZERO;
    for n in 0..ROUNDS {
        let node = 1 + usize::try_from(n % 2).unwrap();
        let order = cluster.order(account, &format!("S-{n}"), node).await.unwrap();
        let start = StealAwareInstant::now();
        let told = stream.next().await.unwrap();
        assert_eq!(told.json()["veri"]["orderId"], json!(order));
        assert!(start.elapsed() <= SOON, "round {n}: {:?}", start.elapsed());
        took += start.elapsed();
    }
    println!("streams heard of {ROUNDS} orders of other nodes in {took:?}");
    assert!(took < ALL_SOON, "{took:?}");
    let mut took = Duration::ZERO;
    for n in 0..ROUNDS {
        let node = 1 + usize::try_from(n % 2).unwrap();
        let client = cluster.client(account, 0);
        let newest = client.get("/events?limit=1").await.success();
        let cursor = newest["paging"]["prev"].as_str().unwrap().to_owned();
        let waits = |client: ApiClient| async move {
            let path = format!("/events?dir=prev&cursor={cursor}&wait=30");
            (client.get(&path).await.data(), StealAwareInstant::now())
        };
        let poll = tokio::spawn(waits(client));
        crate::support::wait_until("the poll waits", async || watches(cluster, 0).await >= 2).await;
        let order = cluster.order(account, &format!("P-{n}"), node).await.unwrap();
        let start = StealAwareInstant::now();
        let (page, answered) = poll.await.unwrap();
        assert_eq!(page[0]["veri"]["orderId"], json!(order));
        let time = answered.since(&start);
        assert!(time <= SOON, "round {n}: {time:?}");
        took += time;
    }
    println!("long polls heard of {ROUNDS} orders of other nodes in {took:?}");
    assert!(took < ALL_SOON, "{took:?}");
}

/// How many streams and polls are open at a node.
async fn watches(cluster: &Cluster, node: usize) -> i64 {
    let bytes = crate::support::request("GET", "/metrics", &[], &[]);
    let metrics = crate::support::send(cluster.doors[node], &bytes).await.text();
    let line = metrics.lines().find(|line| {
        let name = line.split(' ').next().unwrap_or_default();
        name.ends_with("event_streams")
    });
    line.unwrap().split(' ').next_back().unwrap().parse().unwrap()
}

/// What is changed at one node holds for the one that delivers from the next event on.
async fn change_elsewhere(cluster: &Cluster, account: &Account) {
    assert_eq!(cluster.owner(account), Some(0));
    let (here, mut there) = (cluster.client(account, 1), cluster.client(account, 2));
    let mut path = account.path.clone();
    let mut count = cluster.sink.count(&path);
    for n in 0..5 {
        let next = format!("{}/{n}", account.path);
        let url = cluster.sink.url(&next);
        here.put("/webhook", &json!({ "url": url })).await.data();
        let start = StealAwareInstant::now();
        cluster.order(account, &format!("U-{n}"), 2).await.unwrap();
        cluster.sink.wait_for(&next, 1).await;
        assert!(start.elapsed() <= SOON, "round {n}: {:?}", start.elapsed());
        assert_eq!(
            cluster.sink.count(&path),
            count,
            "round {n}: the old address was used"
        );
        (path, count) = (next, 1);
    }
    for n in 0..5 {
        let made = there.act("/keys").await.data();
        let (id, secret) = (made["id"].as_str().unwrap(), made["apiKey"].as_str().unwrap());
        there.act(&format!("/keys/{id}/primary")).await.data();
        // Only the primary key may choose the next one.
        there = ApiClient::new(there.addr, secret);
        let start = StealAwareInstant::now();
        cluster.order(account, &format!("K-{n}"), 1).await.unwrap();
        count += 1;
        let came = cluster.sink.wait_for(&path, count).await;
        assert!(start.elapsed() <= SOON, "round {n}: {:?}", start.elapsed());
        assert_eq!(came[count - 1].authorization, format!("Bearer {secret}"));
    }
    assert_eq!(
        cluster.owner(account),
        Some(0),
        "all that was done by the same node"
    );
    // A key that is revoked at one node ends the streams that were opened with it at another.
    let made = here.act("/keys").await.data();
    let other = ApiClient::new(cluster.doors[0], made["apiKey"].as_str().unwrap());
    let mut stream = other.follow().await;
    let id = made["id"].as_str().unwrap();
    here.delete(&format!("/keys/{id}")).await.done();
    let start = StealAwareInstant::now();
    assert_eq!(stream.next().await, None);
    assert!(start.elapsed() <= SOON, "{:?}", start.elapsed());
}
