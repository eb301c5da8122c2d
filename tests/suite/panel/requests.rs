//! The page of the request log.

use crate::support::{ApiClient, TestService, wait_until};
use serde_json::json;

cases! {
    calls_are_shown_and_filtered
}

async fn calls_are_shown_and_filtered(service: TestService) {
    let made = service
        .a
        .post("/keys", &json!({ "label": "Mutfak ekranı" }))
        .await
        .data();
    let screen = ApiClient::new(service.addr, made["apiKey"].as_str().unwrap());
    screen.get("/orders?limit=5").await.data();
    service.a.get("/orders/not-there").await;
    service.b.get("/restaurants").await.data();
    wait_until("the calls are stored", async || service.count("request_log") == 4).await;
    let mut user = service.user().await;
    let start = user.open("/").await;
    assert!(start.links().iter().any(|link| link == "/requests"));
    let page = user.open("/requests").await;
    assert_eq!(page.status, 200);
    let rows = page.within("request-log", "table");
    for shown in [
        "GET /orders",
        "?limit",
        "Mutfak ekranı",
        "order_not_found",
        "127.0.0.1",
    ] {
        assert!(rows.has(shown), "{shown} in {}", rows.text());
    }
    assert!(!rows.has("/restaurants"), "{}", rows.text());
    let failed = user.open("/requests?status=failed").await;
    let rows = failed.within("request-log", "table");
    assert!(
        rows.has("/orders/not-there") && !rows.has("?limit"),
        "{}",
        rows.text()
    );
    let key = made["id"].as_str().unwrap();
    let of_key = user.open(&format!("/requests?key={key}")).await;
    let rows = of_key.within("request-log", "table");
    assert!(rows.has("?limit") && !rows.has("not-there"), "{}", rows.text());
    let neither = user.open(&format!("/requests?key={key}&status=failed")).await;
    assert!(
        neither.has("Bu süzgece uyan istek yapılmamış."),
        "{}",
        neither.text()
    );
    user.in_english();
    let english = user.open("/requests").await;
    assert!(english.has("API requests"), "{}", english.text());
}
