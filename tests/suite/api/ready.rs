//! `/readyz`: red while storage does not answer, said within two seconds, and green again by itself.

use crate::support::{House, Reply, Scrape, StealAwareInstant, request, send, until};
use garson_store::StoreError;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

cases! {
    a_storage_that_hangs_is_said_to_be_away
    a_storage_that_fails_is_said_to_be_away
    a_node_that_has_not_joined_is_not_ready
    a_node_that_was_taken_out_comes_back
    turns_of_workers_that_fail_are_counted
    a_worker_that_keeps_failing_is_not_ready
}

/// Whoever asks must know within this time.
const AT_ONCE: Duration = Duration::from_secs(2);

async fn readyz(addr: SocketAddr) -> Reply {
    let began = StealAwareInstant::now();
    let reply = send(addr, &request("GET", "/readyz", &[], &[])).await;
    assert!(began.elapsed() < AT_ONCE, "it took {:?}", began.elapsed());
    reply
}

async fn is_green(house: &House) {
    until("it is ready", async || readyz(house.addr).await.status == 200).await;
    assert_eq!(Scrape::of(house.addr).await.get("garson_storage_up"), Some(1.0));
}

async fn is_red(house: &House) {
    let reply = readyz(house.addr).await;
    reply.refused(503, "storage_unavailable");
    assert_eq!(reply.header("retry-after"), Some("1"));
    let began = StealAwareInstant::now();
    let scrape = Scrape::of(house.addr).await;
    assert!(began.elapsed() < AT_ONCE, "it took {:?}", began.elapsed());
    assert_eq!(scrape.get("garson_storage_up"), Some(0.0));
    // The process itself is alive, and says so.
    let alive = send(house.addr, &request("GET", "/healthz", &[], &[])).await;
    assert_eq!(alive.status, 200);
}

/// Occupies all readers until it is dropped.
struct Hold(Arc<(Mutex<bool>, Condvar)>);

impl Hold {
    async fn all_readers(house: &House) -> Self {
        let gate = Arc::<(Mutex<bool>, Condvar)>::default();
        let held = Arc::<AtomicUsize>::default();
        let readers = house.app.settings.storage.readers;
        for _ in 0..readers {
            let (app, gate, held) = (Arc::clone(&house.app), Arc::clone(&gate), Arc::clone(&held));
            tokio::spawn(async move {
                let wait = move |_: &mut garson_store::Tx<'_>| {
                    held.fetch_add(1, Ordering::SeqCst);
                    let is_open = gate.0.lock().unwrap();
                    drop(gate.1.wait_while(is_open, |is_open| !*is_open).unwrap());
                    Ok::<_, StoreError>(())
                };
                app.store.read(wait).await
            });
        }
        until("all readers are held", async || {
            held.load(Ordering::SeqCst) == readers
        })
        .await;
        Self(gate)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }
}

async fn a_storage_that_hangs_is_said_to_be_away(house: House) {
    let shop = house.shop(&house.a, "s").await;
    shop.order("1").await;
    is_green(&house).await;
    let hold = Hold::all_readers(&house).await;
    is_red(&house).await;
    // Those who look do not add to the trouble, however often they do.
    let mut looking = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let addr = house.addr;
        looking.spawn(async move { readyz(addr).await.status });
    }
    assert!(looking.join_all().await.iter().all(|status| *status == 503));
    let scrape = Scrape::of(house.addr).await;
    let waiting = scrape.get("garson_waiting_reads").unwrap();
    assert!((1.0..=10.0).contains(&waiting), "{waiting} jobs wait");
    // What needs no storage is told all the same; what does is left out rather than guessed.
    let orders = "garson_orders_total{provider=\"direct\",way=\"pushed\"}";
    assert_eq!(scrape.get(orders), Some(1.0));
    for absent in ["garson_undelivered", "garson_open_calls", "garson_nodes"] {
        assert_eq!(scrape.get(absent), None, "{absent}");
    }
    drop(hold);
    is_green(&house).await;
    assert!(Scrape::of(house.addr).await.get("garson_undelivered").is_some());
}

async fn a_storage_that_fails_is_said_to_be_away(house: House) {
    is_green(&house).await;
    house.meddle("ALTER TABLE accounts RENAME TO accounts_elsewhere");
    is_red(&house).await;
    house.meddle("ALTER TABLE accounts_elsewhere RENAME TO accounts");
    is_green(&house).await;
}

async fn a_node_that_has_not_joined_is_not_ready(house: House) {
    is_green(&house).await;
    let identity = house.app.store.node_identity();
    let node = identity.id();
    assert!(node.is_some());
    until("it is not ready", async || {
        identity.set(None);
        readyz(house.addr).await.status == 503
    })
    .await;
    // It comes back by itself.
    is_green(&house).await;
}

async fn a_node_that_was_taken_out_comes_back(house: House) {
    is_green(&house).await;
    let identity = house.app.store.node_identity();
    let before = identity.id();
    house.meddle("DELETE FROM nodes");
    until("it is among the nodes again", async || {
        house.count("nodes") == 1 && identity.id() != before
    })
    .await;
    is_green(&house).await;
}

async fn turns_of_workers_that_fail_are_counted(house: House) {
    let failed = async || {
        Scrape::of(house.addr)
            .await
            .get("garson_worker_failed_turns_total")
    };
    is_green(&house).await;
    assert_eq!(failed().await, Some(0.0));
    house.meddle("ALTER TABLE calls RENAME TO calls_elsewhere");
    until("a turn has failed", async || failed().await > Some(0.0)).await;
    house.meddle("ALTER TABLE calls_elsewhere RENAME TO calls");
    is_green(&house).await;
}

async fn a_worker_that_keeps_failing_is_not_ready(house: House) {
    is_green(&house).await;
    let failing = house.app.spawn_worker("a worker that ends at once", |_| async {});
    until("it is not ready", async || readyz(house.addr).await.status == 503).await;
    failing.abort();
    let reply = readyz(house.addr).await;
    let error = reply.refused(503, "storage_unavailable");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("keeps failing"), "{message}");
    assert_eq!(reply.header("retry-after"), Some("1"));
    let scrape = Scrape::of(house.addr).await;
    assert!(scrape.count("garson_worker_restarts_total") >= 3.0);
    // Storage is there, and the process lives.
    assert_eq!(scrape.get("garson_storage_up"), Some(1.0));
    house.a.get("/orders").await.data();
}
