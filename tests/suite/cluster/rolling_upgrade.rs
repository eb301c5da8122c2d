//! Nodes are replaced by nodes of a later version, one after the other, while orders arrive.

use super::cluster_setup::Cluster;
use super::load::{Load, OrderLoad, all_arrived, check};
use crate::support::{Program, StealAwareInstant, block_on, wait_until};
use std::time::Duration;

/// Makes the program a later version of itself, with migrations of every kind.
const NEXT_VERSION: [(&str, &str); 1] = [("E2E_NEXT_VERSION", "1")];
/// More than the load can take before it is stopped.
const ORDERS: usize = 1_000_000;

const IS_EXPANDED: &str = "SELECT COUNT(*) FROM schema_migrations WHERE number = 1001";
const IS_CONTRACTED: &str = "SELECT COUNT(*) FROM schema_migrations WHERE number = 1002";

/// Takes a node out of the load, as a load balancer does, and stops it.
async fn stop(cluster: &mut Cluster, load: &OrderLoad, node: usize) {
    load.load.avoid(cluster.doors[node]);
    cluster.nodes[node].terminate();
    assert!(
        cluster.nodes[node].ended().await,
        "{}",
        cluster.nodes[node].printed()
    );
}

async fn more_orders(load: &OrderLoad) {
    let before = load.load.acks().len();
    wait_until("more is acknowledged", async || {
        load.load.acks().len() > before + 60
    })
    .await;
}

#[test]
fn nodes_are_upgraded_one_after_the_other() {
    block_on(async {
        let mut cluster = Cluster::start(3).await;
        let accounts = [cluster.account("one", 0).await, cluster.account("two", 1).await];
        let load = Load::pour(&cluster, &accounts, 6, ORDERS);
        more_orders(&load).await;

        // The first one is upgraded, taken back, and upgraded again.
        stop(&mut cluster, &load, 0).await;
        cluster.restart_with(0, &NEXT_VERSION).await;
        load.load.resume(cluster.doors[0]);
        more_orders(&load).await;
        assert_eq!(cluster.number(IS_EXPANDED), 1);
        stop(&mut cluster, &load, 0).await;
        cluster.restart(0).await;
        load.load.resume(cluster.doors[0]);
        more_orders(&load).await;

        let mut last_of_before = 0;
        for node in 0..3 {
            assert_eq!(cluster.number(IS_CONTRACTED), 0, "a node of before is running");
            stop(&mut cluster, &load, node).await;
            last_of_before = cluster.number("SELECT MAX(created_at) FROM orders");
            cluster.restart_with(node, &NEXT_VERSION).await;
            load.load.resume(cluster.doors[node]);
            more_orders(&load).await;
        }
        let load = load.stop().await;
        let start = StealAwareInstant::now();

        let acks = load.acks();
        all_arrived(&cluster, &acks, start, Duration::from_secs(30)).await;
        let tally = check(&cluster, &accounts, 1).await;
        println!(
            "{} acknowledged, {tally:?}, refused: {:?}",
            acks.len(),
            load.refusals()
        );
        // A request that was about to connect when its node was stopped.
        for refusal in load.refusals() {
            let is_repeatable = refusal.contains(" 503 ") || refusal.to_lowercase().contains("connection re");
            assert!(is_repeatable, "{refusal}");
        }
        assert!(load.refusals().len() <= 5 * 6, "{:?}", load.refusals());

        // What was left to be done while nodes ran is done: the index, the rows, and what the nodes of before needed.
        wait_until("nothing of the migrations is left", async || {
            cluster.number("SELECT COUNT(*) FROM schema_steps WHERE is_done = 0") == 0
                && cluster.number(IS_CONTRACTED) == 1
        })
        .await;
        // This program does not write the column, whatever version it plays.
        let unfilled = format!(
            "SELECT COUNT(*) FROM orders WHERE later_total IS NULL AND created_at <= {last_of_before}"
        );
        assert_eq!(cluster.number(&unfilled), 0);
        let index = "SELECT COUNT(*) FROM pg_indexes WHERE indexname = 'later_orders_by_total'";
        assert_eq!(cluster.number(index), 1);

        // A node of before cannot start any more, and says why.
        let mut late = Program::serve(&cluster.storage, &[]);
        assert!(!late.ended().await);
        assert!(
            late.printed().contains("newer than this program"),
            "{}",
            late.printed()
        );
        assert_eq!(cluster.number("SELECT COUNT(*) FROM nodes"), 3);
    });
}
