//! Platform calls that hang, fail or cannot be read do not delay those of other accounts.

use crate::support::{
    ApiClient, Backend, CannedResponse, Gate, Receiver, Shop, StealAwareInstant, TestService, block_on,
    wait_until,
};
use garson::flow::admin::accounts;
use garson::flow::order_actions::calls::LEASE;
use garson_store::{Partition, StoreError};
use serde_json::json;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use tokio::sync::oneshot;

/// Well below the deadline of a call that hangs, and far above what a call takes.
const SOON: Duration = Duration::from_secs(8);

fn both(case: impl AsyncFn(TestService)) {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        block_on(async {
            case(TestService::open_private(backend).await).await;
        });
    }
}

/// A shop of either account with a callback URL.
async fn a_shop(service: &TestService, is_first: bool, name: &str, receiver: &Receiver) -> Shop {
    let client = if is_first { &service.a } else { &service.b };
    shop_of(service, client, name, receiver).await
}

async fn shop_of(service: &TestService, client: &ApiClient, name: &str, receiver: &Receiver) -> Shop {
    let made = client.post("/restaurants", &json!({ "name": name })).await.data();
    let more = json!({ "callbackUrl": receiver.url("/status") });
    service
        .connect(client, made["id"].as_str().unwrap(), name, more)
        .await
}

/// Verified orders, which cause a callback each.
async fn verified(service: &TestService, is_first: bool, shop: &Shop, count: usize) {
    let client = if is_first { &service.a } else { &service.b };
    for n in 0..count {
        let id = shop.order(&format!("{}-{n}", shop.store)).await;
        client.act(&format!("/orders/verify/{id}")).await.data();
    }
}

/// The calls of a healthy account are made, and soon.
async fn are_told(service: &TestService, shop: &Shop, receiver: &Receiver, count: usize) {
    for n in 0..count {
        let before = receiver.count();
        let id = shop.order(&format!("{}-soon-{n}", shop.store)).await;
        service.a.act(&format!("/orders/verify/{id}")).await.data();
        let verified = StealAwareInstant::now();
        receiver.wait_for(before + 1).await;
        let took = verified.elapsed();
        assert!(took < SOON, "{took:?}");
    }
}

#[test]
fn hanging_shop_delays_no_other_and_recovers() {
    both(async |service| {
        let (healthy, hanging) = (Receiver::start().await, Receiver::start().await);
        hanging.set_default_response(CannedResponse::Silence);
        let fine = a_shop(&service, true, "fine", &healthy).await;
        let stuck = a_shop(&service, false, "stuck", &hanging).await;
        verified(&service, false, &stuck, 420).await;
        are_told(&service, &fine, &healthy, 8).await;
        // After recovery it gets all of them.
        hanging.set_default_response(CannedResponse::Status(200));
        let mut waited = Duration::ZERO;
        while service.count("calls WHERE state = 'open'") > 0 {
            assert!(waited < Duration::from_secs(120), "nothing recovers");
            tokio::time::sleep(Duration::from_millis(500)).await;
            waited += Duration::from_millis(500);
            service.advance(Duration::from_secs(5));
        }
    });
}

#[test]
fn many_failing_integrations_delay_no_other() {
    both(async |service| {
        let (healthy, failing) = (Receiver::start().await, Receiver::start().await);
        failing.set_default_response(CannedResponse::Status(503));
        let fine = a_shop(&service, true, "fine", &healthy).await;
        for n in 0..30 {
            let stuck = a_shop(&service, false, &format!("stuck{n}"), &failing).await;
            verified(&service, false, &stuck, 5).await;
        }
        failing.wait_for(30).await;
        multiply_calls(&service, 1);
        service.advance(Duration::from_secs(2));
        are_told(&service, &fine, &healthy, 8).await;
    });
}

#[test]
fn failing_integrations_of_many_accounts_delay_no_other_account() {
    const ACCOUNTS: usize = 40;
    both(async |service| {
        let (healthy, failing) = (Receiver::start().await, Receiver::start().await);
        failing.set_default_response(CannedResponse::Status(503));
        let fine = a_shop(&service, true, "fine", &healthy).await;
        for n in 0..ACCOUNTS {
            let email = format!("stuck-{n}@example.com");
            let made = accounts::create(&service.app, email.clone(), &email, None).await;
            let (_, key) = made.unwrap();
            let client = ApiClient::new(service.addr, key.secret.expose());
            let stuck = shop_of(&service, &client, &format!("stuck{n}"), &failing).await;
            let id = stuck.order(&format!("stuck{n}-1")).await;
            client.act(&format!("/orders/verify/{id}")).await.data();
        }
        failing.wait_for(ACCOUNTS).await;
        multiply_calls(&service, ACCOUNTS);
        service.advance(Duration::from_secs(2));
        are_told(&service, &fine, &healthy, 8).await;
    });
}

/// Adds the calls of 400 integrations, with 15 orders each and three calls for each of them, all due at once, spread over as many
/// accounts that have a call already. Nothing is known of these orders, so that their calls end as soon as they are made.
fn multiply_calls(service: &TestService, accounts: usize) {
    let blob = |number: &str| match service.backend {
        Backend::Sqlite => format!("CAST(printf('%016d', {number}) AS BLOB)"),
        Backend::Postgres => format!("convert_to(lpad(CAST({number} AS TEXT), 16, '0'), 'UTF8')"),
    };
    let numbers = |name: &str, last: u32| {
        format!("{name} (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM {name} WHERE n < {last})")
    };
    let (order, integration) = (blob("i.n * 100 + o.n"), blob("i.n"));
    let id = blob("(i.n * 100 + o.n) * 10 + c.n");
    service.execute_sql(&format!(
        "WITH RECURSIVE {}, {}, {}
         INSERT INTO calls (id, account_id, restaurant_id, order_id, integration_id, number, kind, argument, state, attempts,
                            due_at, node, leased_until, unclear, created_at, blocked, planned_at)
         SELECT {id}, one.account_id, one.restaurant_id, {order}, {integration}, c.n, one.kind, one.argument, 'open', 0,
                one.due_at, NULL, 0, 0, one.created_at, CASE WHEN c.n = 1 THEN 0 ELSE 1 END, one.planned_at
         FROM (SELECT calls.*, ROW_NUMBER() OVER (PARTITION BY account_id ORDER BY id) AS of_account,
                      DENSE_RANK() OVER (ORDER BY account_id) AS account_number FROM calls) AS one, i, o, c
         WHERE one.of_account = 1 AND one.account_number = 1 + i.n % {accounts};",
        numbers("i", 400),
        numbers("o", 15),
        numbers("c", 3),
    ));
}

#[test]
fn unreadable_call_blocks_no_other() {
    both(async |service| {
        let healthy = Receiver::start().await;
        let fine = a_shop(&service, true, "fine", &healthy).await;
        let other = a_shop(&service, false, "other", &healthy).await;
        healthy.set_default_response(CannedResponse::Status(503));
        verified(&service, false, &other, 1).await;
        healthy.wait_for(1).await;
        wait_until("the call is put off", async || {
            service.count("calls WHERE state = 'open' AND node IS NULL AND attempts = 1") == 1
        })
        .await;
        service.execute_sql("UPDATE calls SET argument = '{' WHERE state = 'open'");
        healthy.set_default_response(CannedResponse::Status(200));
        service.advance(Duration::from_secs(60));
        are_told(&service, &fine, &healthy, 3).await;
        wait_until("the damaged one is set aside", async || {
            service.count("calls WHERE state = 'failed'") == 1
        })
        .await;
        let order = service.b.get("/orders/other-0").await.data();
        assert_eq!(order["providerSync"]["state"], json!("failed"), "{order:#}");
    });
}

/// Bytes in which the key's mark is damaged look like what was sealed with another master key.
#[test]
fn call_with_undecryptable_credentials_is_set_aside() {
    both(async |service| {
        for (n, damage) in ["07070707", "01ffffffff0707070707"].into_iter().enumerate() {
            let receiver = Receiver::start().await;
            receiver.set_default_response(CannedResponse::Status(503));
            let shop = a_shop(&service, true, &format!("shop{n}"), &receiver).await;
            verified(&service, true, &shop, 1).await;
            receiver.wait_for(1).await;
            wait_until("the call is put off", async || {
                service.count("calls WHERE state = 'open' AND node IS NULL AND attempts = 1") == 1
            })
            .await;
            service.corrupt_credentials(damage, &format!("remote_id = 'shop{n}'"));
            service.advance(Duration::from_secs(60));
            wait_until("the call is set aside", async || {
                let order = service.a.get(&format!("/orders/shop{n}-0")).await.data();
                order["providerSync"]["state"] == json!("failed")
            })
            .await;
            assert_eq!(service.count("calls WHERE state = 'open'"), 0, "{damage}");
        }
    });
}

#[test]
fn clock_that_was_ahead_does_not_delay_calls() {
    both(async |mut service| {
        let receiver = Receiver::start().await;
        let mut shop = a_shop(&service, true, "fine", &receiver).await;
        let right = service.app.now();
        service.advance(Duration::from_secs(3 * 60 * 60));
        receiver.set_default_response(CannedResponse::Status(503));
        verified(&service, true, &shop, 1).await;
        receiver.wait_for(1).await;
        wait_until("the call is put off", async || {
            service.count("calls WHERE state = 'open' AND node IS NULL AND attempts = 1") == 1
        })
        .await;
        receiver.set_default_response(CannedResponse::Status(200));
        service
            .restart_meanwhile(|clock| clock.set(right.plus(Duration::from_secs(60))))
            .await;
        shop.addr = service.addr;
        // New ones are sent at once, although stored timestamps of the account are ahead of the clock.
        let id = shop.order("new").await;
        service.a.act(&format!("/orders/verify/{id}")).await.data();
        wait_until("the new one is told", async || {
            service.a.get("/orders/new").await.data()["providerSync"]["state"] == json!("done")
        })
        .await;
        // What was planned by the clock that was ahead follows after its pause.
        service.advance(Duration::from_secs(10));
        wait_until("the old one is told", async || {
            service.a.get("/orders/fine-0").await.data()["providerSync"]["state"] == json!("done")
        })
        .await;
    });
}

#[test]
fn lease_starts_when_it_is_written() {
    both(async |service| {
        let receiver = Receiver::start().await;
        let shop = a_shop(&service, true, "fine", &receiver).await;
        receiver.set_default_response(CannedResponse::Status(503));
        verified(&service, true, &shop, 1).await;
        receiver.wait_for(1).await;
        wait_until("the call is put off", async || {
            service.count("calls WHERE state = 'open' AND node IS NULL AND attempts = 1") == 1
        })
        .await;
        let gate = Gate::closed();
        receiver.set_default_response(CannedResponse::Behind(gate.clone(), 200));
        // The job that leases the call has to wait for the writer.
        let (release, released) = mpsc::channel::<()>();
        let (begun, begins) = oneshot::channel();
        let held = Mutex::new(Some((begun, released)));
        let (app, freed_at) = (Arc::clone(&service.app), Arc::<AtomicI64>::default());
        let noted = Arc::clone(&freed_at);
        let hold = move |_: &mut garson_store::Tx<'_>| {
            if let Some((begun, released)) = held.lock().unwrap().take() {
                // The test may have failed already.
                let _ = begun.send(());
                // A timeout ends the job as well.
                let _ = released.recv_timeout(Duration::from_secs(30));
                noted.store(app.maker().unwrap().clock_ms, Ordering::SeqCst);
            }
            Ok::<_, StoreError>(())
        };
        let app = Arc::clone(&service.app);
        let holding = tokio::spawn(async move { app.store.write(Partition::COMMON, hold).await });
        begins.await.unwrap();
        let waiting = service.app.store.waiting();
        // The call becomes due, which is the only work that this starts.
        service.advance(Duration::from_secs(60));
        wait_until("the lease job waits for the writer", async || {
            service.app.store.waiting() > waiting
        })
        .await;
        release.send(()).unwrap();
        holding.await.unwrap().unwrap();
        receiver.wait_for(2).await;
        let lease = i64::try_from(LEASE.as_millis()).unwrap();
        let leased = format!(
            "calls WHERE state = 'open' AND leased_until >= {}",
            freed_at.load(Ordering::SeqCst) + lease
        );
        assert_eq!(service.count(&leased), 1);
        gate.open();
    });
}
