//! A node is stopped or restarted: nothing waits for its lease to expire.

use super::cluster_setup::Cluster;
use crate::support::{StealAwareInstant, block_on, wait_until};
use std::time::Duration;

/// What a node hands on, or finds again at its own place, goes on within this time.
const AT_ONCE: Duration = Duration::from_secs(3);

#[test]
fn stopped_or_restarted_node_delays_nothing() {
    block_on(async {
        let mut cluster = Cluster::start(3).await;
        stop(&mut cluster).await;
        cluster.restart(0).await;
        come_back(&mut cluster).await;
    });
}

async fn stop(cluster: &mut Cluster) {
    let (idle, busy) = (cluster.account("idle", 0).await, cluster.account("busy", 0).await);
    cluster.sink.hold(&busy.path);
    cluster.order(&busy, "under-way", 0).await.unwrap();
    cluster.sink.wait_for(&busy.path, 2).await;
    cluster.nodes[0].terminate();
    let start = StealAwareInstant::now();
    // Accounts without attempts in flight move to another node at once, while it still waits for a receiver.
    cluster.order(&idle, "next", 1).await.unwrap();
    cluster.sink.wait_for(&idle.path, 2).await;
    println!("handed on after {:?}", start.elapsed());
    assert!(start.elapsed() <= AT_ONCE, "{:?}", start.elapsed());
    cluster.order(&busy, "next", 2).await.unwrap();
    assert_eq!(cluster.sink.count(&busy.path), 2);
    // Attempts in flight finish here, and only here.
    cluster.sink.release(&busy.path, 200);
    let start = StealAwareInstant::now();
    cluster.sink.wait_for(&busy.path, 3).await;
    println!("the rest was handed on after {:?}", start.elapsed());
    assert!(start.elapsed() <= AT_ONCE, "{:?}", start.elapsed());
    assert!(cluster.nodes[0].ended().await);
    for account in [&idle, &busy] {
        let arrivals = cluster.sink.at(&account.path);
        let first = cluster.sink.first_arrivals(&account.path);
        assert_eq!(arrivals.len(), first.len(), "something was sent twice");
        assert_ne!(cluster.owner(account), Some(0));
    }
    wait_until("it has left", async || {
        cluster.number("SELECT COUNT(*) FROM nodes") == 2
    })
    .await;
}

async fn come_back(cluster: &mut Cluster) {
    let account = cluster.account("back", 0).await;
    cluster.sink.hold(&account.path);
    for n in 0..6 {
        cluster.order(&account, &format!("B-{n}"), 0).await.unwrap();
    }
    cluster.sink.wait_for(&account.path, 5).await;
    cluster.nodes[0].kill();
    cluster.sink.release(&account.path, 200);
    cluster.restart(0).await;
    let start = StealAwareInstant::now();
    wait_until("what was left is delivered", async || {
        cluster.number("SELECT COUNT(*) FROM events WHERE state = 'pending'") == 0
    })
    .await;
    println!("found again after {:?}", start.elapsed());
    assert!(start.elapsed() <= AT_ONCE, "{:?}", start.elapsed());
    assert_eq!(cluster.sink.first_arrivals(&account.path).len(), 7);
    assert_eq!(
        cluster.number("SELECT COUNT(*) FROM nodes"),
        3,
        "it is there once"
    );
}
