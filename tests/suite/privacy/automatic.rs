//! Data that is erased by itself: orders after some days, raw messages after some days.

use super::setup::{deliver, finish, order_of_zeynep, place, traces};
use crate::support::{Backend, TestService};
use serde_json::json;
use std::time::Duration;

on_both! {
    orders_are_anonymised_after_the_chosen_days
    raw_messages_are_removed_after_their_time
    ; sqlite_only:
    installation_and_account_choose_days
    nothing_is_anonymised_by_default
}

const DAY: Duration = Duration::from_secs(24 * 3600);

async fn orders_are_anonymised_after_the_chosen_days(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    for number in 0..45 {
        let order = place(&shop, &order_of_zeynep("s", &format!("Z{number}"), 5_000)).await;
        deliver(&service.a, &order).await;
    }
    let open = place(&shop, &order_of_zeynep("s", "open", 5_000)).await;
    service
        .a
        .put("/privacy/settings", &json!({ "anonymiseDays": 30 }))
        .await
        .data();
    let before = service.a.get("/orders/grouped-payments").await.data();
    service.advance(29 * DAY);
    finish(&service).await;
    assert!(service.a.get("/orders/Z0").await.data()["customer"]["name"].is_string());
    service.advance(2 * DAY);
    let young = place(&shop, &order_of_zeynep("s", "young", 0)).await;
    finish(&service).await;
    assert!(service.a.get("/orders/Z0").await.data()["customer"]["name"].is_null());
    assert!(service.a.get("/orders/Z44").await.data()["customer"]["name"].is_null());
    assert!(service.a.get(&format!("/orders/{young}")).await.data()["customer"]["name"].is_string());
    // An order in progress is erased when it has ended.
    let path = format!("/orders/{open}");
    assert!(service.a.get(&path).await.data()["customer"]["name"].is_string());
    deliver(&service.a, &open).await;
    finish(&service).await;
    assert!(service.a.get(&path).await.data()["customer"]["name"].is_null());
    let mut after = service.a.get("/orders/grouped-payments").await.data();
    after["currencies"][0]["count"] = json!(after["currencies"][0]["count"].as_i64().unwrap() - 1);
    assert_eq!(after["currencies"], before["currencies"]);
    let log = service.a.get("/audit?action=customer.expired").await.data();
    let count = |it: &serde_json::Value| it["after"]["orders"].as_i64().unwrap();
    assert_eq!(log.as_array().unwrap().iter().map(count).sum::<i64>(), 45);
}

async fn raw_messages_are_removed_after_their_time(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    place(&shop, &order_of_zeynep("s", "1", 5_000)).await;
    shop.post(br#"{"storeId":"s","nonsense":true}"#).await;
    service.advance(20 * DAY);
    place(&shop, &order_of_zeynep("s", "2", 5_000)).await;
    assert_eq!(service.count("inbox"), 3);
    service.sweep().await;
    assert_eq!(service.count("inbox"), 3);
    service.advance(11 * DAY);
    service.sweep().await;
    assert_eq!(service.count("inbox"), 1);
    // The order itself stays.
    assert_eq!(
        service.a.get("/orders/1").await.data()["customer"]["name"],
        "Zeynep Karaağaç"
    );
}

async fn installation_and_account_choose_days(backend: Backend) {
    let service =
        TestService::open_with(backend, |settings| settings.privacy.anonymise_days = 20, None).await;
    let shop = service.shop(&service.a, "s").await;
    let order = place(&shop, &order_of_zeynep("s", "1", 5_000)).await;
    deliver(&service.a, &order).await;
    let set = service
        .a
        .put("/privacy/settings", &json!({ "anonymiseDays": 50 }))
        .await
        .data();
    assert_eq!(set, json!({ "anonymiseDays": 50, "installationDays": 20 }));
    service.advance(21 * DAY);
    finish(&service).await;
    assert_eq!(traces(&service), [] as [String; 0]);
}

async fn nothing_is_anonymised_by_default(backend: Backend) {
    let service = TestService::open(backend).await;
    let shop = service.shop(&service.a, "s").await;
    let order = place(&shop, &order_of_zeynep("s", "1", 5_000)).await;
    deliver(&service.a, &order).await;
    service.advance(3_000 * DAY);
    finish(&service).await;
    assert_eq!(
        service.a.get("/orders/1").await.data()["customer"]["name"],
        "Zeynep Karaağaç"
    );
}
