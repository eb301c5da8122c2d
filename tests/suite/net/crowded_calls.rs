//! Calls to platforms that hang, fail or cannot be read do not hold up those of other accounts.

use crate::support::{Answer, Caller, Gate, House, Kind, Receiver, Shop, StealAwareInstant, block_on, until};
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

fn both(case: impl AsyncFn(House)) {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        block_on(async {
            case(House::open_private(kind).await).await;
        });
    }
}

/// A shop of an account, or of the other one, that wants to be told of every status.
async fn a_shop(house: &House, is_first: bool, name: &str, receiver: &Receiver) -> Shop {
    let caller = if is_first { &house.a } else { &house.b };
    shop_of(house, caller, name, receiver).await
}

async fn shop_of(house: &House, caller: &Caller, name: &str, receiver: &Receiver) -> Shop {
    let made = caller.post("/restaurants", &json!({ "name": name })).await.data();
    let more = json!({ "callbackUrl": receiver.url("/status") });
    house
        .connect(caller, made["id"].as_str().unwrap(), name, more)
        .await
}

/// Orders that are verified, so that their shop is to be told.
async fn verified(house: &House, is_first: bool, shop: &Shop, count: usize) {
    let caller = if is_first { &house.a } else { &house.b };
    for n in 0..count {
        let id = shop.order(&format!("{}-{n}", shop.store)).await;
        caller.act(&format!("/orders/verify/{id}")).await.data();
    }
}

/// The calls of a healthy account are made, and soon.
async fn are_told(house: &House, shop: &Shop, receiver: &Receiver, count: usize) {
    for n in 0..count {
        let before = receiver.count();
        let id = shop.order(&format!("{}-soon-{n}", shop.store)).await;
        house.a.act(&format!("/orders/verify/{id}")).await.data();
        let verified = StealAwareInstant::now();
        receiver.wait_for(before + 1).await;
        let took = verified.elapsed();
        assert!(took < SOON, "{took:?}");
    }
}

#[test]
fn a_shop_that_hangs_holds_up_nobody_else_and_recovers() {
    both(async |house| {
        let (healthy, hanging) = (Receiver::start().await, Receiver::start().await);
        hanging.usually(Answer::Silence);
        let fine = a_shop(&house, true, "fine", &healthy).await;
        let stuck = a_shop(&house, false, "stuck", &hanging).await;
        verified(&house, false, &stuck, 420).await;
        are_told(&house, &fine, &healthy, 8).await;
        // When it answers again, it is told of all of them.
        hanging.usually(Answer::Status(200));
        let mut waited = Duration::ZERO;
        while house.count("calls WHERE state = 'open'") > 0 {
            assert!(waited < Duration::from_secs(120), "nothing recovers");
            tokio::time::sleep(Duration::from_millis(500)).await;
            waited += Duration::from_millis(500);
            house.advance(Duration::from_secs(5));
        }
    });
}

#[test]
fn many_integrations_that_fail_at_once_hold_up_nobody_else() {
    both(async |house| {
        let (healthy, failing) = (Receiver::start().await, Receiver::start().await);
        failing.usually(Answer::Status(503));
        let fine = a_shop(&house, true, "fine", &healthy).await;
        for n in 0..30 {
            let stuck = a_shop(&house, false, &format!("stuck{n}"), &failing).await;
            verified(&house, false, &stuck, 5).await;
        }
        failing.wait_for(30).await;
        multiply_calls(&house, 1);
        house.advance(Duration::from_secs(2));
        are_told(&house, &fine, &healthy, 8).await;
    });
}

#[test]
fn failing_integrations_of_many_accounts_delay_no_other_account() {
    const ACCOUNTS: usize = 40;
    both(async |house| {
        let (healthy, failing) = (Receiver::start().await, Receiver::start().await);
        failing.usually(Answer::Status(503));
        let fine = a_shop(&house, true, "fine", &healthy).await;
        for n in 0..ACCOUNTS {
            let email = format!("stuck-{n}@example.com");
            let made = accounts::create(&house.app, email.clone(), &email, None).await;
            let (_, key) = made.unwrap();
            let caller = Caller::new(house.addr, key.secret.expose());
            let stuck = shop_of(&house, &caller, &format!("stuck{n}"), &failing).await;
            let id = stuck.order(&format!("stuck{n}-1")).await;
            caller.act(&format!("/orders/verify/{id}")).await.data();
        }
        failing.wait_for(ACCOUNTS).await;
        multiply_calls(&house, ACCOUNTS);
        house.advance(Duration::from_secs(2));
        are_told(&house, &fine, &healthy, 8).await;
    });
}

/// Adds the calls of 400 integrations, with 15 orders each and three calls for each of them, all due at once, spread over as many
/// accounts that have a call already. Nothing is known of these orders, so that their calls end as soon as they are made.
fn multiply_calls(house: &House, accounts: usize) {
    let blob = |number: &str| match house.kind {
        Kind::Sqlite => format!("CAST(printf('%016d', {number}) AS BLOB)"),
        Kind::Postgres => format!("convert_to(lpad(CAST({number} AS TEXT), 16, '0'), 'UTF8')"),
    };
    let numbers = |name: &str, last: u32| {
        format!("{name} (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM {name} WHERE n < {last})")
    };
    let (order, integration) = (blob("i.n * 100 + o.n"), blob("i.n"));
    let id = blob("(i.n * 100 + o.n) * 10 + c.n");
    house.meddle(&format!(
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
fn a_call_that_cannot_be_read_stops_nobody() {
    both(async |house| {
        let healthy = Receiver::start().await;
        let fine = a_shop(&house, true, "fine", &healthy).await;
        let other = a_shop(&house, false, "other", &healthy).await;
        healthy.usually(Answer::Status(503));
        verified(&house, false, &other, 1).await;
        healthy.wait_for(1).await;
        until("the call is put off", async || {
            house.count("calls WHERE state = 'open' AND node IS NULL AND attempts = 1") == 1
        })
        .await;
        house.meddle("UPDATE calls SET argument = '{' WHERE state = 'open'");
        healthy.usually(Answer::Status(200));
        house.advance(Duration::from_secs(60));
        are_told(&house, &fine, &healthy, 3).await;
        until("the damaged one is set aside", async || {
            house.count("calls WHERE state = 'failed'") == 1
        })
        .await;
        let order = house.b.get("/orders/other-0").await.data();
        assert_eq!(order["providerSync"]["state"], json!("failed"), "{order:#}");
    });
}

/// Bytes in which the key's mark is damaged look like what was sealed with another master key.
#[test]
fn a_call_whose_credentials_cannot_be_opened_is_set_aside() {
    both(async |house| {
        for (n, damage) in ["07070707", "01ffffffff0707070707"].into_iter().enumerate() {
            let receiver = Receiver::start().await;
            receiver.usually(Answer::Status(503));
            let shop = a_shop(&house, true, &format!("shop{n}"), &receiver).await;
            verified(&house, true, &shop, 1).await;
            receiver.wait_for(1).await;
            until("the call is put off", async || {
                house.count("calls WHERE state = 'open' AND node IS NULL AND attempts = 1") == 1
            })
            .await;
            house.damage_credentials(damage, &format!("remote_id = 'shop{n}'"));
            house.advance(Duration::from_secs(60));
            until("the call is set aside", async || {
                let order = house.a.get(&format!("/orders/shop{n}-0")).await.data();
                order["providerSync"]["state"] == json!("failed")
            })
            .await;
            assert_eq!(house.count("calls WHERE state = 'open'"), 0, "{damage}");
        }
    });
}

#[test]
fn a_clock_that_was_ahead_does_not_hold_up_calls() {
    both(async |mut house| {
        let receiver = Receiver::start().await;
        let mut shop = a_shop(&house, true, "fine", &receiver).await;
        let right = house.app.now();
        house.advance(Duration::from_secs(3 * 60 * 60));
        receiver.usually(Answer::Status(503));
        verified(&house, true, &shop, 1).await;
        receiver.wait_for(1).await;
        until("the call is put off", async || {
            house.count("calls WHERE state = 'open' AND node IS NULL AND attempts = 1") == 1
        })
        .await;
        receiver.usually(Answer::Status(200));
        house
            .restart_meanwhile(|clock| clock.set(right.plus(Duration::from_secs(60))))
            .await;
        shop.addr = house.addr;
        // New ones are told at once, though the account's moments are still ahead of the clock.
        let id = shop.order("new").await;
        house.a.act(&format!("/orders/verify/{id}")).await.data();
        until("the new one is told", async || {
            house.a.get("/orders/new").await.data()["providerSync"]["state"] == json!("done")
        })
        .await;
        // What was planned by the clock that was ahead follows after its pause.
        house.advance(Duration::from_secs(10));
        until("the old one is told", async || {
            house.a.get("/orders/fine-0").await.data()["providerSync"]["state"] == json!("done")
        })
        .await;
    });
}

#[test]
fn a_lease_lasts_from_the_moment_that_it_is_written() {
    both(async |house| {
        let receiver = Receiver::start().await;
        let shop = a_shop(&house, true, "fine", &receiver).await;
        receiver.usually(Answer::Status(503));
        verified(&house, true, &shop, 1).await;
        receiver.wait_for(1).await;
        until("the call is put off", async || {
            house.count("calls WHERE state = 'open' AND node IS NULL AND attempts = 1") == 1
        })
        .await;
        let gate = Gate::closed();
        receiver.usually(Answer::Behind(gate.clone(), 200));
        // The job that leases the call has to wait for the writer.
        let (release, released) = mpsc::channel::<()>();
        let (begun, begins) = oneshot::channel();
        let held = Mutex::new(Some((begun, released)));
        let (app, freed_at) = (Arc::clone(&house.app), Arc::<AtomicI64>::default());
        let noted = Arc::clone(&freed_at);
        let hold = move |_: &mut garson_store::Tx<'_>| {
            if let Some((begun, released)) = held.lock().unwrap().take() {
                let _gone = begun.send(());
                let _gone = released.recv_timeout(Duration::from_secs(30));
                noted.store(app.maker().unwrap().clock_ms, Ordering::SeqCst);
            }
            Ok::<_, StoreError>(())
        };
        let app = Arc::clone(&house.app);
        let holding = tokio::spawn(async move { app.store.write(Partition::COMMON, hold).await });
        begins.await.unwrap();
        house.advance(Duration::from_secs(60));
        until("a job waits for the writer", async || {
            house.app.store.waiting() > 0
        })
        .await;
        // It may be another job than the one that is meant. The case would prove less then, but not fail.
        tokio::time::sleep(Duration::from_millis(500)).await;
        release.send(()).unwrap();
        holding.await.unwrap().unwrap();
        receiver.wait_for(2).await;
        let lease = i64::try_from(LEASE.as_millis()).unwrap();
        let leased = format!(
            "calls WHERE state = 'open' AND leased_until >= {}",
            freed_at.load(Ordering::SeqCst) + lease
        );
        assert_eq!(house.count(&leased), 1);
        gate.open();
    });
}
