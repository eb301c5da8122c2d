//! A node is killed under load: the others take over its deliveries and calls.

use super::cluster_setup::{Cluster, step_at};
use super::load::{Load, all_arrived, check};
use crate::support::{StealAwareInstant, block_on, wait_until};
use std::time::Duration;

/// A dead node's deliveries and calls are taken over within this time.
const TAKEN_OVER: Duration = Duration::from_secs(15);

#[test]
fn work_of_a_killed_node_is_taken_over() {
    block_on(async {
        let mut cluster = Cluster::start(3).await;
        let accounts = [
            cluster.account("a", 0).await,
            cluster.account("b", 0).await,
            cluster.account("c", 1).await,
            cluster.account("d", 2).await,
        ];
        // A platform's call that is certainly being made when its node dies.
        let calling = cluster.account("calls", 0).await;
        let calls = format!("/calls/{}", calling.name);
        cluster.sink.hold(&calls);
        step_at(cluster.doors[0], &calling, "verify", "first")
            .await
            .unwrap();
        cluster.sink.wait_for(&calls, 1).await;
        let made_by =
            cluster.rows("SELECT n.name FROM calls c JOIN nodes n ON n.id = c.node WHERE c.state = 'open'");
        let client = cluster
            .doors
            .iter()
            .position(|door| made_by[0].contains(&door.to_string()));
        // Slow enough that attempts are always in flight.
        cluster.sink.answer_after(Duration::from_millis(150));
        let order_load = Load::pour(&cluster, &accounts, 12, 100_000);
        let load = order_load.load.clone();
        wait_until("some orders are acknowledged", async || load.acks().len() > 200).await;
        let victim = client.unwrap();
        load.avoid(cluster.doors[victim]);
        cluster.nodes[victim].kill();
        let killed = StealAwareInstant::now();
        cluster.sink.release(&calls, 200);
        wait_until("the others go on", async || {
            let later = load.acks().into_iter().filter(|ack| ack.at > killed);
            later.count() > 100
        })
        .await;
        let load = order_load.stop().await;
        cluster.sink.answer_after(Duration::ZERO);
        let before: Vec<_> = load.acks().into_iter().filter(|ack| ack.at <= killed).collect();
        let done = all_arrived(&cluster, &before, killed, TAKEN_OVER).await;
        println!(
            "{} events acknowledged before the kill; the last of them came {:?} after it",
            before.len(),
            done.since(&killed)
        );
        assert!(done.since(&killed) <= TAKEN_OVER);
        // What the others took for its accounts has had to wait for the same.
        all_arrived(&cluster, &load.acks(), killed, TAKEN_OVER).await;
        let again = cluster.sink.wait_for(&calls, 2).await;
        let took = again[1].at.since(&killed);
        println!("the call was made again {took:?} after the kill");
        assert!(took <= TAKEN_OVER, "{took:?}");
        assert_eq!(again[0].body, again[1].body);
        wait_until("the call has ended", async || {
            cluster.number("SELECT COUNT(*) FROM calls WHERE state <> 'done'") == 0
        })
        .await;
        let survivor = (victim + 1) % 3;
        let tally = check(&cluster, &accounts, survivor).await;
        println!("{tally:?}");
        // In flight at the kill: 16 for each account that it delivered for.
        assert!(tally.repeats <= 4 * 16, "{tally:?}");
        for account in &accounts {
            assert_ne!(cluster.owner(account), Some(victim));
        }
    });
}
