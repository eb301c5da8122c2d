//! A node is paused for 20 seconds with attempts and a call in flight: afterwards it no longer owns them.

use super::cluster_setup::{Cluster, step_at};
use super::load::{Load, all_arrived, check};
use crate::support::{StealAwareInstant, block_on, wait_until};
use std::time::Duration;

/// What a sleeping node held is taken over within this time.
const TAKEN_OVER: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_secs(20);
/// A node that wakes up notices, and is among the others again, within this time.
const BACK: Duration = Duration::from_secs(8);

/// The state of every event of the account with its attempts, and of its calls.
fn standing(cluster: &Cluster) -> Vec<String> {
    let mut all = cluster.rows(
        "SELECT e.id::text || ' ' || e.state || ' ' || COALESCE(e.reason, '-') || ' ' || e.attempts || ' ' || e.failures
         FROM events e JOIN accounts a ON a.id = e.account_id WHERE a.email = 'x@example.com' ORDER BY e.id",
    );
    all.extend(cluster.rows(
        "SELECT t.event_id::text || ' ' || t.number || ' ' || t.explanation FROM attempts t
         JOIN events e ON e.id = t.event_id JOIN accounts a ON a.id = e.account_id
         WHERE a.email = 'x@example.com' ORDER BY t.event_id, t.number",
    ));
    all.extend(cluster.rows(
        "SELECT c.id::text || ' ' || c.state || ' ' || c.attempts FROM calls c
         JOIN accounts a ON a.id = c.account_id WHERE a.email = 'x@example.com' ORDER BY c.id",
    ));
    all
}

fn undelivered(cluster: &Cluster) -> i64 {
    cluster.number(
        "SELECT COUNT(*) FROM events e JOIN accounts a ON a.id = e.account_id
         WHERE a.email = 'x@example.com' AND e.state NOT IN ('delivered', 'skipped')",
    )
}

#[test]
fn paused_node_cannot_finish_work_it_lost() {
    block_on(async {
        let cluster = Cluster::start(3).await;
        let paused = 0;
        let x = cluster.account("x", paused).await;
        let others = [
            cluster.account("a", paused).await,
            cluster.account("b", 1).await,
            cluster.account("c", 2).await,
        ];
        let names = cluster.rows("SELECT id::text FROM nodes ORDER BY id");
        assert_eq!(names.len(), 3);
        // Attempts and a call are in flight, and more wait in its memory.
        let before = cluster.sink.count(&x.path);
        cluster.sink.hold(&x.path);
        cluster.sink.hold("/calls/x");
        for n in 0..8 {
            cluster.order(&x, &format!("X-{n}"), paused).await.unwrap();
        }
        step_at(cluster.doors[paused], &x, "verify", "first")
            .await
            .unwrap();
        cluster.sink.wait_for(&x.path, before + 4).await;
        cluster.sink.wait_for("/calls/x", 1).await;
        cluster.sink.answer_after(Duration::from_millis(50));
        let order_load = Load::pour(&cluster, &others, 8, 100_000);
        let load = order_load.load.clone();
        wait_until("some orders are acknowledged", async || load.acks().len() > 100).await;
        load.avoid(cluster.doors[paused]);
        cluster.nodes[paused].pause();
        let start = StealAwareInstant::now();
        // The answers come to it while it sleeps: each says that the receiver has not taken it.
        let held = cluster.sink.count(&x.path);
        cluster.sink.release(&x.path, 500);
        cluster.sink.release("/calls/x", 500);
        wait_until("another node delivers what it held", async || {
            undelivered(&cluster) == 0
        })
        .await;
        let took = start.elapsed();
        println!("what it held was delivered {took:?} after it was stopped");
        assert!(took <= TAKEN_OVER, "{took:?}");
        assert!(cluster.sink.count(&x.path) >= held + 4);
        wait_until("another node makes its call", async || {
            let open = "SELECT COUNT(*) FROM calls WHERE state <> 'done' AND account_id =
                        (SELECT id FROM accounts WHERE email = 'x@example.com')";
            cluster.number(open) == 0
        })
        .await;
        assert!(start.elapsed() <= TAKEN_OVER, "{:?}", start.elapsed());
        let load = order_load.stop().await;
        all_arrived(
            &cluster,
            &load.acks(),
            StealAwareInstant::now(),
            Duration::from_secs(5),
        )
        .await;
        assert_ne!(cluster.owner(&x), Some(paused));
        tokio::time::sleep(PAUSE.saturating_sub(start.elapsed())).await;
        let settled = standing(&cluster);
        cluster.nodes[paused].wake();
        let woken = StealAwareInstant::now();
        wait_until("it is back under another id", async || {
            let now = cluster.rows("SELECT id::text FROM nodes ORDER BY id");
            now.len() == 3 && now != names
        })
        .await;
        assert!(woken.elapsed() <= BACK, "{:?}", woken.elapsed());
        let printed = cluster.nodes[paused].printed();
        assert!(
            printed.contains("other nodes have declared this node dead"),
            "{printed}"
        );
        // It works again: it delivers events of an account without a node.
        let fresh = cluster.account("fresh", paused).await;
        assert_eq!(cluster.sink.count(&fresh.path), 1);
        // What it found in its hands has changed nothing.
        assert_eq!(standing(&cluster), settled);
        let all: Vec<_> = others.iter().chain([&x, &fresh]).cloned().collect();
        let tally = check(&cluster, &all, paused).await;
        println!("{tally:?}; the node said:\n{}", cluster.nodes[paused].printed());
    });
}
