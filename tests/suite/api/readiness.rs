//! `/readyz`: not ready within two seconds while storage does not answer, and ready again after recovery.

use crate::support::{Reply, Scrape, StealAwareInstant, TestService, request, send, wait_until};
use garson_store::StoreError;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

cases! {
    hanging_storage_is_not_ready
    failing_storage_is_not_ready
    unjoined_node_is_not_ready
    expired_node_rejoins
    failed_worker_runs_are_counted
    repeatedly_failing_worker_is_not_ready
}

/// The deadline of the response.
const AT_ONCE: Duration = Duration::from_secs(2);

async fn readyz(addr: SocketAddr) -> Reply {
    let began = StealAwareInstant::now();
    let reply = send(addr, &request("GET", "/readyz", &[], &[])).await;
    assert!(began.elapsed() < AT_ONCE, "it took {:?}", began.elapsed());
    reply
}

async fn is_green(service: &TestService) {
    wait_until("it is ready", async || readyz(service.addr).await.status == 200).await;
    assert_eq!(Scrape::of(service.addr).await.get("garson_storage_up"), Some(1.0));
}

async fn is_red(service: &TestService) {
    let reply = readyz(service.addr).await;
    reply.refused(503, "storage_unavailable");
    assert_eq!(reply.header("retry-after"), Some("1"));
    let began = StealAwareInstant::now();
    let scrape = Scrape::of(service.addr).await;
    assert!(began.elapsed() < AT_ONCE, "it took {:?}", began.elapsed());
    assert_eq!(scrape.get("garson_storage_up"), Some(0.0));
    // The process itself is alive, and says so.
    let alive = send(service.addr, &request("GET", "/healthz", &[], &[])).await;
    assert_eq!(alive.status, 200);
}

/// Occupies all readers until it is dropped.
struct Hold(Arc<(Mutex<bool>, Condvar)>);

impl Hold {
    async fn all_readers(service: &TestService) -> Self {
        let gate = Arc::<(Mutex<bool>, Condvar)>::default();
        let held = Arc::<AtomicUsize>::default();
        let readers = service.app.settings.storage.readers;
        for _ in 0..readers {
            let (app, gate, held) = (Arc::clone(&service.app), Arc::clone(&gate), Arc::clone(&held));
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
        wait_until("all readers are held", async || {
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

async fn hanging_storage_is_not_ready(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    is_green(&service).await;
    let hold = Hold::all_readers(&service).await;
    is_red(&service).await;
    // The workers wait, each with one read.
    let waiting = async || {
        let scrape = Scrape::of(service.addr).await;
        scrape.get("garson_waiting_reads").unwrap()
    };
    let before = waiting().await;
    // Those who look do not add to the trouble, however often they do.
    let mut looking = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let addr = service.addr;
        looking.spawn(async move { readyz(addr).await.status });
    }
    assert!(looking.join_all().await.iter().all(|status| *status == 503));
    let scrape = Scrape::of(service.addr).await;
    let waiting = waiting().await;
    assert!(
        waiting >= 1.0 && waiting - before <= 10.0,
        "{waiting} jobs wait, {before} before"
    );
    // Metrics that need no storage are shown; others are omitted.
    let orders = "garson_orders_total{provider=\"direct\",way=\"pushed\"}";
    assert_eq!(scrape.get(orders), Some(1.0));
    for absent in ["garson_undelivered", "garson_open_calls", "garson_nodes"] {
        assert_eq!(scrape.get(absent), None, "{absent}");
    }
    drop(hold);
    is_green(&service).await;
    assert!(Scrape::of(service.addr).await.get("garson_undelivered").is_some());
}

async fn failing_storage_is_not_ready(service: TestService) {
    is_green(&service).await;
    service.execute_sql("ALTER TABLE accounts RENAME TO accounts_elsewhere");
    is_red(&service).await;
    service.execute_sql("ALTER TABLE accounts_elsewhere RENAME TO accounts");
    is_green(&service).await;
}

async fn unjoined_node_is_not_ready(service: TestService) {
    is_green(&service).await;
    let identity = service.app.store.node_identity();
    let node = identity.id();
    assert!(node.is_some());
    wait_until("it is not ready", async || {
        identity.set(None);
        readyz(service.addr).await.status == 503
    })
    .await;
    // It recovers without a restart.
    is_green(&service).await;
}

async fn expired_node_rejoins(service: TestService) {
    is_green(&service).await;
    let identity = service.app.store.node_identity();
    let before = identity.id();
    service.execute_sql("DELETE FROM nodes");
    wait_until("it is among the nodes again", async || {
        service.count("nodes") == 1 && identity.id() != before
    })
    .await;
    is_green(&service).await;
}

async fn failed_worker_runs_are_counted(service: TestService) {
    let failed = async || {
        Scrape::of(service.addr)
            .await
            .get("garson_worker_failed_turns_total")
    };
    is_green(&service).await;
    assert_eq!(failed().await, Some(0.0));
    service.execute_sql("ALTER TABLE calls RENAME TO calls_elsewhere");
    wait_until("a turn has failed", async || failed().await > Some(0.0)).await;
    service.execute_sql("ALTER TABLE calls_elsewhere RENAME TO calls");
    is_green(&service).await;
}

async fn repeatedly_failing_worker_is_not_ready(service: TestService) {
    is_green(&service).await;
    let failing = service
        .app
        .spawn_worker("a worker that ends at once", |_| async {});
    wait_until("it is not ready", async || {
        readyz(service.addr).await.status == 503
    })
    .await;
    failing.abort();
    let reply = readyz(service.addr).await;
    let error = reply.refused(503, "storage_unavailable");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("keeps failing"), "{message}");
    assert_eq!(reply.header("retry-after"), Some("1"));
    let scrape = Scrape::of(service.addr).await;
    assert!(scrape.count("garson_worker_restarts_total") >= 3.0);
    // Storage is there, and the process lives.
    assert_eq!(scrape.get("garson_storage_up"), Some(1.0));
    service.a.get("/orders").await.data();
}
