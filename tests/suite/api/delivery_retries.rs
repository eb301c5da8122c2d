//! Resending all failed deliveries: progress and completion.

use crate::support::{
    ApiClient, Backend, CannedResponse, Gate, Program, Receiver, TestService, TestStorage, block_on,
    wait_until, write_failed_events,
};
use garson::flow::admin::accounts;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

cases! {
    failed_deliveries_are_retried_since_a_timestamp
    skipped_deliveries_are_retried_on_request
    idempotent_retry_starts_once
}

const NOW: &str = "2026-03-01T09:00:00.000Z";
const RETRY: &str = "/webhook/deliveries/retry";
const FAIL: &str = "UPDATE events SET state = 'failed', failures = 4, due_at = NULL;";

/// Registers an address whose name leads nowhere.
async fn register(service: &TestService) {
    let webhook = json!({ "url": "https://pos.example.com" });
    service.a.put("/webhook", &webhook).await.data();
}

async fn count(client: &ApiClient, state: &str) -> usize {
    let path = format!("/webhook/deliveries?limit=200&state={state}");
    client.get(&path).await.data().as_array().unwrap().len()
}

async fn failed_deliveries_are_retried_since_a_timestamp(service: TestService) {
    let since = json!({ "since": NOW });
    service.a.post(RETRY, &since).await.refused(409, "no_webhook");
    register(&service).await;
    for (body, field) in [
        (json!({}), "since"),
        (json!({ "since": "yesterday" }), "since"),
        (json!({ "since": NOW, "includeSkipped": 1 }), "includeSkipped"),
    ] {
        service
            .a
            .post(RETRY, &body)
            .await
            .wrong(422, "invalid_field", field);
    }
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    wait_until("both have been tried", async || service.count("attempts") == 2).await;
    // What the last of its attempts leaves behind.
    service.execute_sql(FAIL);
    let late = json!({ "since": "2026-03-01T09:00:01Z" });
    let none = service.a.post(RETRY, &late).await.data();
    assert_eq!((&none["found"], &none["requeued"]), (&json!(0), &json!(0)));
    assert_eq!(count(&service.a, "failed").await, 2);

    service.advance(Duration::from_secs(1));
    let again = service.a.post(RETRY, &since).await.data();
    let later = "2026-03-01T09:00:01.000Z";
    let wanted = json!({
        "id": again["id"], "state": "done", "since": NOW, "includeSkipped": false, "found": 2, "requeued": 2,
        "createdAt": later, "finishedAt": later,
    });
    assert_eq!(again, wanted);
    assert_eq!(count(&service.a, "pending").await, 2);
    wait_until("both are tried again", async || service.count("attempts") == 4).await;

    let path = |id: &Value| format!("/webhook/deliveries/retries/{}", id.as_str().unwrap());
    assert_eq!(service.a.get(&path(&again["id"])).await.data(), again);
    let listed = service.a.get("/webhook/deliveries/retries").await.data();
    assert_eq!(listed, json!([again, none]));
    assert_eq!(
        service.b.get("/webhook/deliveries/retries").await.data(),
        json!([])
    );
    for (client, id) in [(&service.b, &again["id"]), (&service.a, &json!("7"))] {
        client.get(&path(id)).await.refused(404, "retry_not_found");
    }
}

async fn skipped_deliveries_are_retried_on_request(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    register(&service).await;
    let failed = service.a.post(RETRY, &json!({ "since": NOW })).await.data();
    assert_eq!(failed["found"], json!(0));
    let wanted = json!({ "since": NOW, "includeSkipped": true });
    let skipped = service.a.post(RETRY, &wanted).await.data();
    assert_eq!(
        (&skipped["includeSkipped"], &skipped["requeued"]),
        (&json!(true), &json!(2))
    );
    assert_eq!(count(&service.a, "skipped").await, 0);
}

async fn idempotent_retry_starts_once(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    register(&service).await;
    service.execute_sql(FAIL);
    let body = json!({ "since": NOW }).to_string();
    let first = service.a.keyed("k", RETRY, &body).await;
    assert_eq!(first.data()["requeued"], json!(2));
    let again = service.a.keyed("k", RETRY, &body).await;
    assert_eq!(again.body, first.body);
    assert_eq!(service.count("resends"), 1);
    // The work was begun, and the process died before its answer was kept.
    service.execute_sql(
        "UPDATE idempotency SET status = NULL, body = NULL, leased_until = 0; DELETE FROM events;",
    );
    assert_eq!(service.a.keyed("k", RETRY, &body).await.data(), first.data());
    assert_eq!(service.count("resends"), 1);
    service.a.keyed("other", RETRY, &body).await.data();
    assert_eq!(service.count("resends"), 2);
}

#[test]
fn same_retry_does_not_run_twice_at_once() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        block_on(the_same_is_begun_once(backend));
    }
}

async fn the_same_is_begun_once(backend: Backend) {
    const FAILED: usize = 400;
    let (service, receiver) = (TestService::open_private(backend).await, Receiver::start().await);
    let gate = Gate::closed();
    receiver.set_default_response(CannedResponse::Behind(gate.clone(), 200));
    let shop = service.shop(&service.a, "s").await;
    let account = accounts::by_email(&service.app, "first@example.com")
        .await
        .unwrap()
        .id;
    let restaurant = shop.restaurant.parse().unwrap();
    let now = NOW.parse().unwrap();
    write_failed_events(&service.app.store, account, restaurant, FAILED, now).await;
    // While enough wait to be tried, the rest is left alone.
    let webhook = json!({ "url": receiver.url("/olay") });
    service.a.put("/webhook", &webhook).await.data();
    let since = |n: usize| json!({ "since": format!("2026-02-01T09:00:{n:02}Z") });
    let first = service.a.post(RETRY, &since(0)).await.data();
    assert_eq!(
        (&first["state"], &first["found"], &first["requeued"]),
        (&json!("running"), &json!(FAILED), &json!(100))
    );
    let same = service.a.post(RETRY, &since(0)).await.data();
    assert_eq!((&same["id"], &same["state"]), (&first["id"], &json!("running")));
    // From here on the receiver has enough, and nothing of this comes to its end.
    let path = format!("/webhook/deliveries/retries/{}", first["id"].as_str().unwrap());
    wait_until("enough waits to be tried", async || {
        service.a.get(&path).await.data()["requeued"] == json!(200)
    })
    .await;
    let mut ids = BTreeSet::from([first["id"].to_string()]);
    for n in 1..10 {
        ids.insert(service.a.post(RETRY, &since(n)).await.data()["id"].to_string());
    }
    assert_eq!(ids.len(), 10);
    let refused = service.a.post(RETRY, &since(10)).await;
    refused.refused(429, "too_many_retries");
    assert!(refused.header("retry-after").is_some());
    // The retry of one account does not block another's.
    service.b.put("/webhook", &webhook).await.data();
    assert_eq!(
        service.b.post(RETRY, &since(0)).await.data()["state"],
        json!("done")
    );
    // Without an address there is nothing left to do.
    service.a.delete("/webhook").await.done();
    gate.open();
    wait_until("all of it ends", async || {
        let listed = service.a.get("/webhook/deliveries/retries").await.data();
        let mut states = listed.as_array().unwrap().iter().map(|it| it["state"].clone());
        states.all(|state| state == json!("done"))
    })
    .await;
}

/// Waits for the end of it; a process that was killed is given up after a while.
async fn finished(client: &ApiClient, id: &Value) -> Value {
    let path = format!("/webhook/deliveries/retries/{}", id.as_str().unwrap());
    let mut shown = Value::Null;
    for _ in 0..3 {
        let done = async || {
            shown = client.get(&path).await.data();
            shown["state"] == json!("done")
        };
        if tokio::time::timeout(Duration::from_secs(25), wait_until("it is done", done))
            .await
            .is_ok()
        {
            break;
        }
    }
    assert_eq!(shown["state"], json!("done"), "{shown}");
    shown
}

/// What has come to a receiver: all, and how many of them are different.
fn arrived(receiver: &Receiver) -> (usize, usize) {
    let seen = receiver.seen();
    let ids: BTreeSet<String> = seen
        .iter()
        .map(|seen| seen.json()["veri"]["id"].to_string())
        .collect();
    (seen.len(), ids.len())
}

const PRIVATE: (&str, &str) = ("GARSON_ALLOW_PRIVATE_TARGETS", "true");
const AGES_AGO: &str = "2020-01-01T00:00:00Z";

#[test]
fn retry_continues_after_a_kill() {
    const FAILED: usize = 5_000;
    // Attempts that may be in flight, or delivered but not recorded, when the process dies.
    const REPEATS: usize = 128;
    for backend in [Backend::Sqlite, Backend::Postgres] {
        block_on(async {
            let (storage, receiver) = (TestStorage::new(backend), Receiver::start().await);
            let key = storage.create_account("one@example.com");
            storage
                .insert_failed_events("one@example.com", FAILED, receiver.url("/olay"))
                .await;
            let mut server = Program::serve(&storage, &[PRIVATE]);
            let address = server.address().await;
            let client = ApiClient::new(address, &key);
            let begun = client.post(RETRY, &json!({ "since": AGES_AGO })).await.data();
            assert_eq!(begun["found"], json!(FAILED));
            receiver.wait_for(1_000).await;
            server.kill();
            let before = arrived(&receiver).1;
            assert!(
                before < FAILED - 500,
                "{before} of {FAILED} were sent before the kill"
            );

            let mut server = Program::serve_at(&storage, address.port(), &[PRIVATE]);
            server.address().await;
            let done = finished(&client, &begun["id"]).await;
            assert_eq!(
                (&done["found"], &done["requeued"]),
                (&json!(FAILED), &json!(FAILED))
            );
            wait_until("everything has arrived", async || arrived(&receiver).1 == FAILED).await;
            wait_until("everything is written", async || {
                count(&client, "pending").await == 0
            })
            .await;
            assert_eq!(count(&client, "failed").await, 0);
            let (all, _) = arrived(&receiver);
            assert!(all - FAILED <= REPEATS, "{} came again", all - FAILED);
        });
    }
}

#[test]
fn two_nodes_resend_each_failure_once() {
    const FAILED: usize = 1_500;
    block_on(async {
        let (storage, receiver) = (TestStorage::new(Backend::Postgres), Receiver::start().await);
        let key = storage.create_account("one@example.com");
        storage
            .insert_failed_events("one@example.com", FAILED, receiver.url("/olay"))
            .await;
        let mut nodes = [
            Program::serve(&storage, &[PRIVATE]),
            Program::serve(&storage, &[PRIVATE]),
        ];
        let (one, two) = (nodes[0].address().await, nodes[1].address().await);
        let (one, two) = (ApiClient::new(one, &key), ApiClient::new(two, &key));
        // Both are asked at once: it is one piece of work.
        let body = json!({ "since": AGES_AGO });
        let (here, there) = tokio::join!(one.post(RETRY, &body), two.post(RETRY, &body));
        assert_eq!(here.data()["id"], there.data()["id"]);
        let done = finished(&two, &here.data()["id"]).await;
        assert_eq!(
            (&done["found"], &done["requeued"]),
            (&json!(FAILED), &json!(FAILED))
        );
        wait_until("everything has arrived", async || arrived(&receiver).1 == FAILED).await;
        wait_until("everything is written", async || {
            count(&one, "pending").await == 0
        })
        .await;
        assert_eq!(arrived(&receiver), (FAILED, FAILED));
    });
}

#[test]
fn new_events_do_not_wait_behind_retries() {
    const FAILED: usize = 3_000;
    // What has been made due and not tried when the new one comes, and what is made due meanwhile.
    const BEFORE_IT: usize = 600;
    for backend in [Backend::Sqlite, Backend::Postgres] {
        block_on(async {
            let (storage, receiver) = (TestStorage::new(backend), Receiver::start().await);
            // Slow enough that the whole would take a minute.
            receiver.set_default_response(CannedResponse::After(Duration::from_millis(200), 200));
            let key = storage.create_account("one@example.com");
            storage
                .insert_failed_events("one@example.com", FAILED, receiver.url("/olay"))
                .await;
            let mut server = Program::serve(&storage, &[PRIVATE]);
            let client = ApiClient::new(server.address().await, &key);
            client.post(RETRY, &json!({ "since": AGES_AGO })).await.data();
            receiver.wait_for(50).await;
            // Connecting a branch is an event.
            let made = client.post("/restaurants", &json!({ "name": "r" })).await.data();
            let body =
                json!({ "isActive": true, "remoteId": "s", "credentials": { "inboundKey": "key-of-s" } });
            let path = format!(
                "/restaurants/{}/integrations/direct",
                made["id"].as_str().unwrap()
            );
            client.put(&path, &body).await.data();
            let mut place = None;
            wait_until("the new event arrives", async || {
                let seen = receiver.seen();
                place = seen
                    .iter()
                    .position(|seen| seen.json()["olay"] == json!("entegrasyon.durum_degisti"));
                place.is_some()
            })
            .await;
            assert!(place.unwrap() < BEFORE_IT, "{place:?} came before it");
        });
    }
}
