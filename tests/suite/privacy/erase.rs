//! Erasing a customer: no trace is left, and everything that is counted stays.

use super::setup::{PHONE, deliver, finish, indexed, is_in_file, order_of_zeynep, place, traces};
use crate::support::{ApiClient, Backend, CannedResponse, Receiver, TestService, order_body, wait_until};
use serde_json::{Value, json};
use std::time::Duration;

on_both! {
    erased_customer_leaves_no_trace_and_all_sums_stay
    open_order_is_erased_when_it_has_ended
    pending_event_is_delivered_without_personal_data
    ; sqlite_only:
    late_message_does_not_restore_erased_data
    only_the_primary_key_erases
    command_erases_and_exports
}

/// Sums, reports and lists, which an erasure must not change.
async fn sums(client: &ApiClient) -> Vec<Value> {
    let mut all = Vec::new();
    for path in [
        "/orders/grouped-payments",
        "/reports/summary?from=2026-03-01&to=2026-03-01",
        "/orders?limit=200",
        "/orders/reports/pending",
    ] {
        all.push(client.get(path).await.success());
    }
    all
}

async fn erase(service: &TestService, query: Value) -> Value {
    let started = service.a.post("/privacy/erasures", &query).await.data();
    finish(service).await;
    let path = format!("/privacy/erasures/{}", started["id"].as_str().unwrap());
    let ended = service.a.get(&path).await.data();
    assert!(!ended["finishedAt"].is_null(), "{ended}");
    ended
}

async fn erased_customer_leaves_no_trace_and_all_sums_stay(backend: Backend) {
    let receiver = Receiver::start().await;
    // What a receiver answers is stored with the attempt that failed.
    receiver.set_default_response(CannedResponse::Body(500, "Zeynep Karaağaç 5559871234".to_owned()));
    let mut service = TestService::open_private(backend).await;
    let client = service.a.clone();
    let shop = service.shop(&client, "s").await;
    client
        .put(
            "/webhook",
            &json!({ "url": receiver.url("/hook"), "orderUpdates": true }),
        )
        .await
        .data();
    let endpoint = json!({ "url": receiver.url("/kds"), "body": "withOrder" });
    client.post("/webhook-endpoints", &endpoint).await.data();
    let first = place(&shop, &order_of_zeynep("s", "1", 5_000)).await;
    // A later version, whose changes quote the notes.
    let mut later = order_of_zeynep("s", "1", 6_000);
    later["revision"] = json!(2);
    later["note"] = json!("Zeynep: zili çalmayın");
    place(&shop, &later).await;
    deliver(&client, &first).await;
    let second = place(&shop, &order_of_zeynep("s", "2", 7_000)).await;
    let cancel = json!({ "note": "Zeynep Karaağaç vazgeçti" });
    client
        .post(&format!("/orders/cancel/{second}"), &cancel)
        .await
        .data();
    // The clock stands still: each order's first event is attempted once.
    let are_stored =
        async |count| service.count("attempts") == count && service.count("endpoint_attempts") == count;
    wait_until("the attempts are stored", async || are_stored(2).await).await;
    receiver.set_default_response(CannedResponse::Body(500, "no".to_owned()));
    let mut other = order_body("s", "3", 1_000);
    other["customer"] = json!({ "name": "Mehmet Demir", "phone": "5551112233" });
    let other = place(&shop, &other).await;
    wait_until("its attempts are stored", async || are_stored(3).await).await;
    indexed(&service, 3).await;
    assert!(!traces(&service).is_empty());
    let before = sums(&client).await;
    let ended = erase(&service, json!({ "phone": PHONE })).await;
    assert_eq!((&ended["erased"], &ended["waiting"]), (&json!(2), &json!(0)));
    assert_eq!(sums(&client).await, before);
    let order = client.get(&format!("/orders/{first}")).await.data();
    assert_eq!(order["amount"]["total"], json!(6_000));
    assert!(!order.to_string().contains("Zeynep"), "{order}");
    let kept = client.get(&format!("/orders/{other}")).await.data();
    assert_eq!(kept["customer"]["name"], "Mehmet Demir");
    assert_eq!(traces(&service), [] as [String; 0]);
    // A second run finds nobody.
    let again = erase(&service, json!({ "phone": PHONE })).await;
    assert_eq!(again["erased"], json!(0));
    let search = client
        .post("/privacy/search", &json!({ "name": "Zeynep Karaağaç" }))
        .await
        .data();
    assert_eq!(search["orders"], json!([]));
    if backend == Backend::Sqlite {
        service.stop().await;
        assert!(!is_in_file(&service));
    }
}

async fn open_order_is_erased_when_it_has_ended(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    let order = place(&shop, &order_of_zeynep("s", "1", 5_000)).await;
    let ended = erase(&service, json!({ "email": "zeynep@example.org" })).await;
    assert_eq!((&ended["erased"], &ended["waiting"]), (&json!(0), &json!(1)));
    let path = format!("/orders/{order}");
    assert_eq!(
        service.a.get(&path).await.data()["customer"]["name"],
        "Zeynep Karaağaç"
    );
    deliver(&service.a, &order).await;
    finish(&service).await;
    assert!(service.a.get(&path).await.data()["customer"]["name"].is_null());
    assert_eq!(traces(&service), [] as [String; 0]);
    assert_eq!(service.count("waiting_erasures"), 0);
}

async fn pending_event_is_delivered_without_personal_data(backend: Backend) {
    let receiver = Receiver::start().await;
    receiver.set_default_response(CannedResponse::Status(503));
    let service = TestService::open_private(backend).await;
    let shop = service.shop(&service.a, "s").await;
    service
        .a
        .put("/webhook", &json!({ "url": receiver.url("/hook") }))
        .await
        .data();
    let order = place(&shop, &order_of_zeynep("s", "1", 5_000)).await;
    let cancel = json!({ "note": "Zeynep Karaağaç vazgeçti" });
    service
        .a
        .post(&format!("/orders/cancel/{order}"), &cancel)
        .await
        .data();
    receiver.wait_for(1).await;
    erase(&service, json!({ "phone": PHONE })).await;
    let seen = receiver.count();
    receiver.set_default_response(CannedResponse::Status(200));
    wait_until("the cancellation is delivered", async || {
        service.advance(Duration::from_secs(60));
        let seen = receiver.seen();
        seen.iter()
            .any(|it| it.answered == Some(200) && it.json()["olay"] == "siparis.iptal_edildi")
    })
    .await;
    for request in &receiver.seen()[seen..] {
        assert!(!request.body.contains("Zeynep"), "{}", request.body);
    }
    let delivered = service.a.get("/events").await.data();
    assert!(!delivered.to_string().contains("Zeynep"));
}

async fn late_message_does_not_restore_erased_data(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    let order = place(&shop, &order_of_zeynep("s", "1", 5_000)).await;
    deliver(&service.a, &order).await;
    place(&shop, &order_of_zeynep("s", "2", 5_000)).await;
    shop.cancel(
        "2",
        json!({ "storeId": "s", "reason": "Zeynep Karaağaç vazgeçti" }),
    )
    .await;
    assert!(traces(&service).iter().any(|it| it.contains("vazgeçti")));
    erase(&service, json!({ "phone": PHONE })).await;
    assert_eq!(traces(&service), [] as [String; 0]);
    // The same message again, and a later version.
    place(&shop, &order_of_zeynep("s", "1", 5_000)).await;
    let mut later = order_of_zeynep("s", "1", 6_000);
    later["revision"] = json!(2);
    shop.post(later.to_string().as_bytes()).await.success();
    let shown = service.a.get(&format!("/orders/{order}")).await.data();
    assert!(shown["customer"]["name"].is_null(), "{shown}");
    // Its amounts are those of the platform, nevertheless.
    assert_eq!(
        (&shown["amount"]["total"], &shown["revision"]),
        (&json!(6_000), &json!(2))
    );
    let cancel = json!({ "storeId": "s", "reason": "Zeynep vazgeçti", "note": "Zeynep 5559871234 vazgeçti" });
    shop.cancel("1", cancel).await;
    assert_eq!(traces(&service), [] as [String; 0]);
}

async fn only_the_primary_key_erases(backend: Backend) {
    let service = TestService::open(backend).await;
    let made = service.a.post("/keys", &json!({})).await.data();
    let other = ApiClient {
        key: made["apiKey"].as_str().unwrap().to_owned(),
        ..service.a.clone()
    };
    let query = json!({ "phone": PHONE });
    other
        .post("/privacy/erasures", &query)
        .await
        .refused(403, "primary_key_required");
    let started = service
        .a
        .keyed("once", "/privacy/erasures", &query.to_string())
        .await
        .data();
    let again = service
        .a
        .keyed("once", "/privacy/erasures", &query.to_string())
        .await
        .data();
    assert_eq!(started["id"], again["id"]);
    let path = format!("/privacy/erasures/{}", started["id"].as_str().unwrap());
    service.b.get(&path).await.refused(404, "erasure_not_found");
}

async fn command_erases_and_exports(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    let order = place(&shop, &order_of_zeynep("s", "1", 5_000)).await;
    deliver(&service.a, &order).await;
    let customer = service.storage().folder().join("customer.txt");
    std::fs::write(&customer, format!("phone: {PHONE}\nname: Zeynep Karaağaç\n")).unwrap();
    let customer = customer.display().to_string();
    let run = |words: &[&str]| {
        let mut all = vec!["privacy"];
        all.extend_from_slice(words);
        all.extend_from_slice(&["--account", "first@example.com", "--customer", &customer]);
        let ended = service.command(&all);
        assert!(ended.success, "{words:?}: {}", ended.err);
        ended.out
    };
    assert!(run(&["search"]).contains(&order));
    let file = service.storage().folder().join("out.json").display().to_string();
    assert_eq!(run(&["export", &file]).trim(), "1 orders");
    let exported: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(exported["orders"][0]["id"], json!(order));
    assert!(run(&["erase"]).contains("1 orders erased"));
    assert_eq!(traces(&service), [] as [String; 0]);
    let listed = service.command(&["privacy", "erasures", "--account", "first@example.com"]);
    let words: Vec<&str> = listed.out.lines().last().unwrap().split_whitespace().collect();
    assert_eq!(words[2..5], ["1", "0", "done"], "{}", listed.out);
}
