//! Accounts that are disabled, enabled and deleted while the service runs.

use crate::support::{Backend, PASSWORD, Receiver, TestService, wait_until};
use serde_json::json;
use std::time::Duration;

on_both! {
    disabled_account_is_refused_and_its_orders_are_recorded
    deleted_account_leaves_nothing_and_others_go_on
}

const FIRST: [&str; 2] = ["--email", "first@example.com"];

fn account(service: &TestService, verb: &str, more: &[&str]) -> crate::support::Outcome {
    let words = [&["account", verb][..], &FIRST[..], more].concat();
    service.command(&words)
}

async fn disabled_account_is_refused_and_its_orders_are_recorded(backend: Backend) {
    let service = TestService::open_private(backend).await;
    let receiver = Receiver::start().await;
    let shop = service.shop(&service.a, "s").await;
    let url = receiver.url("/hook");
    service.a.put("/webhook", &json!({ "url": url })).await.data();
    shop.order("before").await;
    receiver.wait_for(1).await;
    let mut user = service.user().await;
    let mut stream = service.a.follow().await;
    let waiting = {
        let a = service.a.clone();
        tokio::spawn(async move { a.get("/events?wait=60").await })
    };

    let disabled = account(&service, "disable", &["--reason", "unpaid"]);
    assert!(disabled.success, "{}", disabled.err);
    wait_until("the key is refused", async || {
        service.a.get("/orders").await.status == 403
    })
    .await;
    service.a.get("/orders").await.refused(403, "account_disabled");
    // Whoever was connected is disconnected; a poll that already had events was answered.
    while stream.next().await.is_some() {}
    assert!(waiting.await.unwrap().status < 500);
    let page = user.open("/").await;
    assert!(page.status == 403 && page.has("devre dışı"), "{}", page.html);
    let page = service
        .anonymous_user()
        .sign_in("first@example.com", PASSWORD)
        .await;
    assert!(page.status == 403 && page.has("devre dışı"), "{}", page.html);
    let page = service
        .anonymous_user()
        .sign_in("first@example.com", "wrong words")
        .await;
    assert_eq!(page.status, 401);
    let listed = service.command(&["account", "list"]).out;
    let line = listed
        .lines()
        .find(|line| line.contains("first@example.com"))
        .unwrap();
    assert!(line.ends_with("disabled"), "{listed}");

    // Nothing of a platform is lost, and nothing is sent.
    shop.order("meanwhile").await;
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(receiver.count(), 1);
    // Others go on.
    service.b.get("/orders").await.data();

    let enabled = account(&service, "enable", &[]);
    assert!(enabled.success, "{}", enabled.err);
    let seen = receiver.wait_for(2).await;
    assert_eq!(seen[1].json()["veri"]["providerOrderId"], "meanwhile");
    let orders = service.a.get("/orders").await.data();
    assert_eq!(orders.as_array().unwrap().len(), 2);
    assert_eq!(user.open("/").await.status, 200);
}

async fn deleted_account_leaves_nothing_and_others_go_on(backend: Backend) {
    let service = TestService::open_private(backend).await;
    let shop = service.shop(&service.a, "s").await;
    let other = service.shop(&service.b, "t").await;
    for n in 0..30 {
        shop.order(&n.to_string()).await;
        other.order(&n.to_string()).await;
    }
    service.user().await;
    let wrong = account(&service, "delete", &["--confirm", "Second"]);
    assert!(
        !wrong.success && wrong.err.contains("nothing was deleted"),
        "{}",
        wrong.err
    );
    service.a.get("/orders").await.data();
    // Without an answer to the question.
    assert!(!account(&service, "delete", &[]).success);

    let deleted = account(&service, "delete", &["--confirm", "First"]);
    assert!(deleted.success, "{}", deleted.err);
    wait_until("the key is refused", async || {
        service.a.get("/orders").await.status == 401
    })
    .await;
    assert_eq!(shop.post(b"{}").await.status, 401);
    for (table, rows) in [
        ("accounts", 1),
        ("account_states", 0),
        ("api_keys", 1),
        ("sessions", 0),
        ("restaurants", 1),
        ("integrations", 1),
        ("orders", 30),
        ("order_contents", 30),
        // One more for the connection of the shop.
        ("events", 31),
    ] {
        assert_eq!(service.count(table), rows, "{table}");
    }
    let orders = service.b.get("/orders?limit=100").await.data();
    assert_eq!(orders.as_array().unwrap().len(), 30);
    assert!(!account(&service, "delete", &["--confirm", "First"]).success);
}
