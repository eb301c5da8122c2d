//! Several endpoints of an account: filters, ordering, isolation, schedules and disabling.

use super::running_program::RunningProgram;
use super::setup::{Setup, pid};
use crate::support::{
    ApiClient, Backend, CannedResponse, Gate, Ledger, ReceivedRequest, Receiver, wait_until,
};
use garson::flow::notices;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

on_both! {
    endpoint_gets_what_its_filter_allows
    filter_of_the_default_endpoint_skips_events
    hanging_endpoint_delays_no_other
    order_is_kept_at_every_endpoint
    backlog_of_an_endpoint_survives_a_restart
    paused_endpoint_gets_what_it_missed_on_request
    failing_endpoint_is_disabled_with_a_notice
    long_schedule_tries_for_three_days
    nothing_is_lost_at_any_endpoint_over_kills
    deleted_endpoint_leaves_no_rows
    ; sqlite_only:
    event_carries_its_order
    attempts_show_headers_and_sixteen_kilobytes
}

/// Creates an endpoint; returns its path.
async fn endpoint(client: &ApiClient, receiver: &Receiver, more: Value) -> String {
    let mut body = json!({ "url": receiver.url("/endpoint"), "authorization": "none" });
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    let made = client.post("/webhook-endpoints", &body).await.data();
    format!("/webhook-endpoints/{}", made["id"].as_str().unwrap())
}

async fn patch(client: &ApiClient, path: &str, body: Value) -> Value {
    client.json("PATCH", path, &body.to_string()).await.data()
}

fn names(receiver: &Receiver) -> Vec<String> {
    let name = |seen: &ReceivedRequest| seen.json()["olay"].as_str().unwrap().to_owned();
    receiver.seen().iter().map(name).collect()
}

async fn wait_until_settled(setup: &Setup) {
    wait_until("all endpoints have everything", async || {
        setup.pending() + setup.service.count("endpoint_deliveries WHERE state = 'pending'") == 0
    })
    .await;
}

async fn endpoint_gets_what_its_filter_allows(backend: Backend) {
    let setup = Setup::open(backend).await;
    let client = &setup.service.a;
    let [all, created, elsewhere, platform] = [
        Receiver::start().await,
        Receiver::start().await,
        Receiver::start().await,
        Receiver::start().await,
    ];
    let other = setup.service.shop(client, "other").await;
    endpoint(client, &all, json!({})).await;
    endpoint(client, &created, json!({ "events": ["siparis.olusturuldu"] })).await;
    endpoint(client, &elsewhere, json!({ "restaurantIds": [other.restaurant] })).await;
    endpoint(client, &platform, json!({ "platforms": ["getir"] })).await;
    setup.shop.order("1").await;
    setup.verify("1").await;
    other.order("2").await;
    wait_until_settled(&setup).await;
    assert_eq!((all.count(), platform.count()), (3, 0));
    assert_eq!(names(&created), ["siparis.olusturuldu", "siparis.olusturuldu"]);
    assert_eq!(elsewhere.seen().iter().map(pid).collect::<Vec<_>>(), ["2"]);
    // What an endpoint does not want is not even stored for it.
    assert_eq!(setup.service.count("endpoint_deliveries"), 3 + 2 + 1);
    assert!(all.seen()[0].header("authorization").is_none());
    assert!(setup.receiver.seen()[0].header("authorization").is_some());
}

async fn filter_of_the_default_endpoint_skips_events(backend: Backend) {
    let setup = Setup::open(backend).await;
    let client = &setup.service.a;
    let default = client.get("/webhook-endpoints").await.data()[0].clone();
    assert_eq!(default["isDefault"], json!(true));
    let path = format!("/webhook-endpoints/{}", default["id"].as_str().unwrap());
    let body = json!({ "events": ["siparis.olusturuldu"], "authorization": "token", "signed": true });
    let changed = patch(client, &path, body).await;
    let token = changed["token"].as_str().unwrap();
    assert!(changed["signingSecret"].as_str().unwrap().starts_with("whsec_"));
    setup.shop.order("1").await;
    setup.verify("1").await;
    setup
        .wait_for_records(
            "1",
            &[("delivered", Value::Null, 1), ("skipped", json!("filtered"), 0)],
        )
        .await;
    let seen = setup.receiver.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(
        seen[0].header("authorization"),
        Some(format!("Bearer {token}").as_str())
    );
    assert_eq!(
        seen[0].header("webhook-id"),
        seen[0].json()["veri"]["id"].as_str()
    );
    // The contract's way to say it makes the key travel again.
    client
        .put("/webhook", &json!({ "authorization": "bearer" }))
        .await
        .data();
    setup.shop.order("2").await;
    let seen = setup.receiver.wait_for(2).await;
    assert!(
        seen[1]
            .header("authorization")
            .unwrap()
            .starts_with("Bearer gsn_")
    );
}

async fn hanging_endpoint_delays_no_other(backend: Backend) {
    let setup = Setup::open_with(backend, |settings| settings.webhook.max_in_flight = 32).await;
    let client = &setup.service.a;
    let (hanging, healthy) = (Receiver::start().await, Receiver::start().await);
    hanging.set_default_response(CannedResponse::Silence);
    endpoint(client, &hanging, json!({})).await;
    endpoint(client, &healthy, json!({})).await;
    setup.submit_orders("h-", 60, true).await;
    wait_until("the others have everything", async || {
        healthy.count() == 120 && setup.receiver.count() == 120
    })
    .await;
    for receiver in [&healthy, &setup.receiver] {
        let ledger = Ledger::of(receiver);
        ledger.assert_ordered();
        assert_eq!(ledger.repeats(), 0);
    }
    assert!(hanging.most_open() <= 16, "{}", hanging.most_open());
    let memory = setup.service.app.delivery_gauges.memory();
    assert!(memory.queued <= 3 * 256, "{memory:?}");
}

/// Fails about every third first attempt, each receiver others.
fn fails_sometimes(receiver: &Receiver, salt: usize) {
    let tried = Mutex::new(HashMap::<String, usize>::new());
    receiver.respond_with(move |seen| {
        let id = seen.json()["veri"]["id"].as_str().unwrap().to_owned();
        let sum: usize = id.bytes().map(usize::from).sum();
        let mut tried = tried.lock().unwrap();
        let count = tried.entry(id).or_default();
        *count += 1;
        let is_refused = *count == 1 && (sum + salt).is_multiple_of(3);
        CannedResponse::Status(if is_refused { 503 } else { 200 })
    });
}

async fn order_is_kept_at_every_endpoint(backend: Backend) {
    let setup = Setup::open_with(backend, |settings| settings.webhook.retry_seconds = vec![1, 1, 1]).await;
    let mut receivers = vec![setup.receiver.clone()];
    for _ in 0..3 {
        let receiver = Receiver::start().await;
        endpoint(&setup.service.a, &receiver, json!({})).await;
        receivers.push(receiver);
    }
    for (salt, receiver) in receivers.iter().enumerate() {
        fails_sometimes(receiver, salt);
    }
    setup.submit_orders("o-", 40, true).await;
    wait_until("every endpoint has accepted everything", async || {
        setup.advance_clock(2);
        setup.pending() + setup.service.count("endpoint_deliveries WHERE state = 'pending'") == 0
    })
    .await;
    assert_eq!(
        setup
            .service
            .count("endpoint_deliveries WHERE state = 'delivered'"),
        240
    );
    for receiver in &receivers {
        let ledger = Ledger::of(receiver);
        ledger.assert_ordered();
        assert_eq!(ledger.events().len(), 80);
    }
}

async fn backlog_of_an_endpoint_survives_a_restart(backend: Backend) {
    let mut setup = Setup::open(backend).await;
    let receiver = Receiver::start().await;
    let gate = Gate::closed();
    receiver.set_default_response(CannedResponse::Behind(gate.clone(), 200));
    endpoint(&setup.service.a, &receiver, json!({})).await;
    setup.submit_orders("b-", 300, false).await;
    wait_until("the first endpoint has everything", async || setup.pending() == 0).await;
    gate.open();
    setup.restart().await;
    // Attempts that were in flight may have timed out.
    wait_until("every endpoint has everything", async || {
        setup.advance_clock(20);
        setup.pending() + setup.service.count("endpoint_deliveries WHERE state = 'pending'") == 0
    })
    .await;
    assert_eq!(Ledger::of(&receiver).events().len(), 300);
    assert_eq!(Ledger::of(&setup.receiver).events().len(), 300);
}

async fn paused_endpoint_gets_what_it_missed_on_request(backend: Backend) {
    let setup = Setup::open(backend).await;
    let client = &setup.service.a;
    let receiver = Receiver::start().await;
    let path = endpoint(client, &receiver, json!({})).await;
    let paused = patch(client, &path, json!({ "isActive": false })).await;
    assert_eq!(paused["state"], json!("paused"));
    setup.shop.order("1").await;
    setup.wait_until_delivered("1", 1).await;
    let listed = client.get(&format!("{path}/deliveries")).await.data();
    assert_eq!(
        (&listed[0]["state"], &listed[0]["reason"]),
        (&json!("skipped"), &json!("endpoint_paused"))
    );
    let since = json!({ "since": "2026-01-01T00:00:00Z", "includeSkipped": true });
    let retry = format!("{path}/deliveries/retry");
    client.post(&retry, &since).await.refused(409, "no_webhook");
    patch(client, &path, json!({ "isActive": true })).await;
    let started = client.post(&retry, &since).await.data();
    assert_eq!(started["found"], json!(1));
    receiver.wait_for(1).await;
    wait_until_settled(&setup).await;
    // By hand, as often as wanted.
    let event = listed[0]["id"].as_str().unwrap();
    let again = format!("{path}/deliveries/{event}/resend");
    assert_eq!(client.act(&again).await.data()["statusCode"], json!(200));
    let listed = client
        .get(&format!("{path}/deliveries?state=delivered"))
        .await
        .data();
    assert_eq!(listed[0]["attempts"].as_array().unwrap().len(), 2);
    assert_eq!(receiver.count(), 2);
    setup
        .service
        .b
        .act(&again)
        .await
        .refused(404, "webhook_record_not_found");
}

async fn failing_endpoint_is_disabled_with_a_notice(backend: Backend) {
    let setup = Setup::open_with(backend, |settings| {
        settings.webhook.disable_after_hours = 2_000;
        settings.webhook.keep_days = 3_650;
    })
    .await;
    let client = &setup.service.a;
    let (receiver, gateway) = (Receiver::start().await, Receiver::start().await);
    receiver.set_default_response(CannedResponse::Status(500));
    let channel = json!({ "name": "Gateway", "kind": "http", "language": "en", "url": gateway.url("/"), "body": "{\"message\":\"{text}\"}" });
    let channel = client.post("/channels", &channel).await.data();
    let wanted = json!({ "kinds": ["endpointDisabled"], "channelIds": [channel["id"]] });
    client.put("/notices", &wanted).await.data();
    let path = endpoint(client, &receiver, json!({ "label": "Kitchen display" })).await;
    for n in 0..3 {
        setup.shop.order(&n.to_string()).await;
        wait_until("the event is given up", async || {
            setup.advance_clock(60);
            setup.service.count("endpoint_deliveries WHERE state = 'failed'") == n + 1
        })
        .await;
    }
    let failing = client.get(&path).await.data();
    assert_eq!(failing["state"], json!("active"));
    assert!(failing["failingSince"].is_string());
    notices::step(&setup.service.app).await.unwrap();
    assert_eq!(gateway.count(), 0);
    setup.advance_clock(2_000 * 3600);
    setup.shop.order("late").await;
    wait_until("it is disabled", async || {
        client.get(&path).await.data()["state"] == json!("disabled")
    })
    .await;
    setup.shop.order("later").await;
    wait_until("what waited for it is skipped", async || {
        setup.advance_clock(60);
        setup
            .service
            .count("endpoint_deliveries WHERE reason = 'endpoint_disabled'")
            == 2
    })
    .await;
    notices::step(&setup.service.app).await.unwrap();
    notices::step(&setup.service.app).await.unwrap();
    let told = gateway.wait_for(1).await;
    assert!(told[0].body.contains("Kitchen display"), "{}", told[0].body);
    // The default endpoint went on all the time.
    setup.wait_until_delivered("later", 1).await;
    receiver.set_default_response(CannedResponse::Status(200));
    patch(client, &path, json!({ "isActive": true })).await;
    let since = json!({ "since": "2026-01-01T00:00:00Z", "includeSkipped": true });
    client
        .post(&format!("{path}/deliveries/retry"), &since)
        .await
        .data();
    wait_until("it gets what it has missed", async || {
        setup
            .service
            .count("endpoint_deliveries WHERE state = 'delivered'")
            == 5
    })
    .await;
    let works = client.get(&path).await.data();
    assert_eq!(
        (&works["state"], &works["failingSince"]),
        (&json!("active"), &Value::Null)
    );
    notices::step(&setup.service.app).await.unwrap();
    assert_eq!(gateway.count(), 1);
}

async fn long_schedule_tries_for_three_days(backend: Backend) {
    let setup = Setup::open(backend).await;
    let client = &setup.service.a;
    let receiver = Receiver::start().await;
    receiver.respond_with(|seen| match pid(seen).as_str() {
        "1" if seen.json()["veri"]["sequence"] == json!(1) => CannedResponse::Status(503),
        _ => CannedResponse::Status(200),
    });
    let path = endpoint(client, &receiver, json!({ "retries": "long" })).await;
    setup.shop.order("1").await;
    setup.verify("1").await;
    let attempts = async || {
        let listed = client.get(&format!("{path}/deliveries?orderId=1")).await.data();
        let of = |n: usize| listed[n]["attempts"].as_array().unwrap().len();
        (of(1), of(0), listed[1]["state"] == json!("pending"))
    };
    wait_until("the first attempt has failed", async || attempts().await.0 == 1).await;
    assert_eq!(attempts().await.1, 0, "the second event waits");
    let began = setup.service.app.now();
    while attempts().await.2 {
        let before = attempts().await.0;
        wait_until("the next attempt", async || {
            setup.advance_clock(900);
            // Time for the dispatcher to notice.
            tokio::time::sleep(Duration::from_millis(20)).await;
            let now = attempts().await;
            now.0 > before || !now.2
        })
        .await;
        if before == 1 {
            wait_until("the second event comes after two failures", async || {
                attempts().await.1 == 1
            })
            .await;
        }
    }
    assert_eq!(attempts().await.0, 12);
    let took = setup.service.app.now().since(began);
    assert!(took > Duration::from_secs(48 * 3600), "{took:?}");
    // The default endpoint has got both.
    setup
        .wait_for_records(
            "1",
            &[("delivered", Value::Null, 1), ("delivered", Value::Null, 1)],
        )
        .await;
}

async fn nothing_is_lost_at_any_endpoint_over_kills(backend: Backend) {
    const KILLS: usize = 10;
    let receiver = Receiver::start().await.keeps_connections();
    let mut running = RunningProgram::open(backend, 1, &receiver).await;
    let mut receivers = vec![receiver.clone()];
    for n in 0..3 {
        let more = Receiver::start().await.keeps_connections();
        more.respond_with(move |_| CannedResponse::After(Duration::from_millis(5 * n), 200));
        endpoint(&running.clients[0], &more, json!({})).await;
        receivers.push(more);
    }
    let load = running.submit_orders(4, Duration::from_millis(25));
    for _ in 0..KILLS {
        running.wait_until_listening().await;
        // Deliveries alone are not progress: those of before the kill come again.
        let (arrived, acknowledged) = (receivers[3].count(), load.count());
        wait_until("it acknowledges and delivers", async || {
            receivers[3].count() > arrived + 5 && load.count() > acknowledged + 3
        })
        .await;
        running.kill();
        running.start();
    }
    running.wait_until_listening().await;
    let acknowledged = load.finish().await;
    assert!(acknowledged.len() > 3 * KILLS, "{}", acknowledged.len());
    for receiver in &receivers {
        wait_until("everything has come", async || {
            let came: std::collections::BTreeSet<(String, i64)> = receiver
                .seen()
                .iter()
                .map(|seen| {
                    let veri = &seen.json()["veri"];
                    (pid(seen), veri["sequence"].as_i64().unwrap_or_default())
                })
                .collect();
            acknowledged.is_subset(&came)
        })
        .await;
        Ledger::of(receiver).assert_ordered();
    }
    running.ends().await;
}

async fn deleted_endpoint_leaves_no_rows(backend: Backend) {
    let setup = Setup::open(backend).await;
    let client = &setup.service.a;
    let receiver = Receiver::start().await;
    let path = endpoint(client, &receiver, json!({ "signed": true })).await;
    setup.submit_orders("d-", 30, false).await;
    wait_until_settled(&setup).await;
    setup
        .service
        .b
        .delete(&path)
        .await
        .refused(404, "endpoint_not_found");
    client.delete(&path).await.done();
    client.get(&path).await.refused(404, "endpoint_not_found");
    assert_eq!(
        client
            .get("/webhook-endpoints")
            .await
            .data()
            .as_array()
            .unwrap()
            .len(),
        1
    );
    setup.shop.order("after").await;
    setup.wait_until_delivered("after", 1).await;
    setup.service.sweep().await;
    wait_until("its rows are swept", async || {
        setup.service.count("endpoint_deliveries")
            + setup.service.count("endpoint_attempts")
            + setup.service.count("webhook_endpoints")
            == 0
    })
    .await;
    assert_eq!(receiver.count(), 30);
}

async fn event_carries_its_order(backend: Backend) {
    let setup = Setup::open(backend).await;
    let client = &setup.service.a;
    let receiver = Receiver::start().await;
    endpoint(client, &receiver, json!({ "body": "withOrder" })).await;
    let order = setup.shop.order("1").await;
    let seen = receiver.wait_for(1).await[0].json();
    let wanted = client.get(&format!("/orders/{order}")).await.data();
    assert_eq!(seen["veri"]["order"]["id"], json!(order));
    assert_eq!(seen["veri"]["order"]["items"], wanted["items"]);
    assert_eq!(seen["olay"], json!("siparis.olusturuldu"));
    // The default endpoint and the stored event stay as they are.
    let plain = setup.receiver.wait_for(1).await[0].json();
    assert!(plain["veri"].get("order").is_none());
    assert_eq!(client.get("/events").await.data()[0]["veri"], plain["veri"]);
}

async fn attempts_show_headers_and_sixteen_kilobytes(backend: Backend) {
    let setup = Setup::open(backend).await;
    let client = &setup.service.a;
    let receiver = Receiver::start().await;
    let body = "x".repeat(40_000);
    receiver.next(CannedResponse::Body(500, body.clone()));
    receiver.next(CannedResponse::Body(200, "accepted".to_owned()));
    let path = endpoint(client, &receiver, json!({})).await;
    setup.shop.order("1").await;
    setup.wait_until_delivered("1", 1).await;
    wait_until("it is tried again", async || {
        setup.advance_clock(12);
        receiver.count() == 2
    })
    .await;
    wait_until_settled(&setup).await;
    let listed = client.get(&format!("{path}/deliveries")).await.data();
    let response = |n: usize| listed[0]["attempts"][n]["response"].as_str().unwrap().to_owned();
    let (head, rest) = response(0)
        .split_once("\n\n")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    assert!(head.contains("content-length: 40000"), "{head}");
    assert!(rest.len() > 16_000 && rest.len() < 16_500, "{}", rest.len());
    assert!(response(1).ends_with("\n\naccepted"), "{}", response(1));
    let statistics = client.get(&format!("{path}/statistics")).await.data();
    assert_eq!(
        (
            &statistics["attempts"],
            &statistics["failures"],
            &statistics["successRate"]
        ),
        (&json!(2), &json!(1), &json!(0.5))
    );
    assert!(
        statistics["lastFailure"]["explanation"]
            .as_str()
            .unwrap()
            .contains("500")
    );
    assert_eq!(statistics["hours"].as_array().unwrap().len(), 1);
}
