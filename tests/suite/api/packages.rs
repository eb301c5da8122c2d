//! Packages: which platforms a restaurant may use, and when.

use crate::support::TestService;
use serde_json::{Value, json};
use std::time::Duration;

cases! {
    new_restaurant_has_an_open_ended_package_of_all_platforms
    packages_are_replaced_as_a_whole
    removing_package_coverage_deactivates_the_integration_with_an_event
    integration_without_package_cannot_be_activated
    order_after_package_end_is_accepted_and_flagged
    expired_package_deactivates_the_integration
    invalid_packages_are_refused_and_change_nothing
}

const NOW: &str = "2026-03-01T09:00:00.000Z";

async fn new_restaurant_has_an_open_ended_package_of_all_platforms(service: TestService) {
    let made = service
        .a
        .post("/restaurants", &json!({ "name": "r" }))
        .await
        .data();
    let path = format!("/restaurants/{}/packages", made["id"].as_str().unwrap());
    let packages = service.a.get(&path).await.data();
    let wanted = json!([{
        "id": packages[0]["id"], "name": "Standard", "startsAt": NOW, "endsAt": null,
        "providers": ["direct", "getir", "migros", "trendyol", "yemeksepeti"],
    }]);
    assert_eq!(packages, wanted);
    assert_eq!(made["packages"], packages);
}

async fn packages_are_replaced_as_a_whole(service: TestService) {
    let made = service
        .a
        .post("/restaurants", &json!({ "name": "r" }))
        .await
        .data();
    let path = format!("/restaurants/{}/packages", made["id"].as_str().unwrap());
    let wanted = json!({ "packages": [
        { "name": "Yaz", "providers": ["direct"], "startsAt": "2026-06-01T00:00:00Z", "endsAt": "2026-09-01T00:00:00Z" },
        { "name": "Hep" },
    ]});
    let set = service.a.put(&path, &wanted).await.data();
    let mut shown: Vec<Value> = set.as_array().unwrap().clone();
    shown.sort_by_key(|package| package["name"].to_string());
    assert_eq!(shown.len(), 2);
    assert_eq!(
        (&shown[0]["name"], &shown[0]["startsAt"], &shown[0]["endsAt"]),
        (&json!("Hep"), &json!(NOW), &Value::Null)
    );
    assert_eq!(shown[1]["endsAt"], json!("2026-09-01T00:00:00.000Z"));
    assert_eq!(service.a.get(&path).await.data(), set);
    assert_eq!(
        service.a.put(&path, &json!({ "packages": [] })).await.data(),
        json!([])
    );
}

async fn removing_package_coverage_deactivates_the_integration_with_an_event(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let restaurant = format!("/restaurants/{}", shop.restaurant);
    service
        .a
        .put(&format!("{restaurant}/packages"), &json!({ "packages": [] }))
        .await
        .data();
    let event = service.a.get("/events?limit=1").await.data()[0].clone();
    assert_eq!(event["olay"], json!("entegrasyon.durum_degisti"));
    assert_eq!(event["veri"]["isActive"], json!(false));
    let shown = service.a.get(&restaurant).await.data();
    assert_eq!(shown["integrations"][0]["isActive"], json!(false));
    let events = service.a.get("/events").await.data();
    service
        .a
        .put(&format!("{restaurant}/packages"), &json!({ "packages": [] }))
        .await
        .data();
    assert_eq!(service.a.get("/events").await.data(), events);
}

async fn integration_without_package_cannot_be_activated(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let restaurant = format!("/restaurants/{}", shop.restaurant);
    let future = json!({ "packages": [{ "name": "Later", "startsAt": "2026-04-01T00:00:00Z" }] });
    service
        .a
        .put(&format!("{restaurant}/packages"), &future)
        .await
        .data();
    let path = format!("{restaurant}/integrations/direct");
    let before = service.a.get(&path).await.data();
    service
        .a
        .put(&path, &json!({ "isActive": true }))
        .await
        .refused(409, "not_covered");
    assert_eq!(service.a.get(&path).await.data(), before);
    service.advance(Duration::from_secs(40 * 24 * 3600));
    assert_eq!(
        service.a.put(&path, &json!({ "isActive": true })).await.data()["isActive"],
        json!(true)
    );
}

async fn order_after_package_end_is_accepted_and_flagged(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let path = format!("/restaurants/{}/packages", shop.restaurant);
    let short = json!({ "packages": [{ "name": "Short", "endsAt": "2026-03-01T10:00:00Z" }] });
    service.a.put(&path, &short).await.data();
    shop.order("1").await;
    assert_eq!(service.a.get("/orders/1").await.data()["flag"], json!(null));
    service.advance(Duration::from_secs(3600));
    shop.order("2").await;
    let detail = service.a.get("/orders/2").await.data();
    assert_eq!(
        (&detail["flag"], &detail["status"]),
        (&json!("package_expired"), &json!(400))
    );
    service.a.act("/orders/verify/2").await.data();
}

async fn expired_package_deactivates_the_integration(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let restaurant = format!("/restaurants/{}", shop.restaurant);
    let short = json!({ "packages": [{ "name": "Short", "endsAt": "2026-03-01T10:00:00Z" }] });
    service
        .a
        .put(&format!("{restaurant}/packages"), &short)
        .await
        .data();
    service.sweep().await;
    assert_eq!(
        service.a.get(&restaurant).await.data()["integrations"][0]["isActive"],
        json!(true)
    );
    service.advance(Duration::from_secs(3600));
    service.sweep().await;
    assert_eq!(
        service.a.get(&restaurant).await.data()["integrations"][0]["isActive"],
        json!(false)
    );
    let event = service.a.get("/events?limit=1").await.data()[0]["veri"].clone();
    assert_eq!(
        (&event["isActive"], &event["occurredAt"]),
        (&json!(false), &json!("2026-03-01T10:00:00.000Z"))
    );
}

async fn invalid_packages_are_refused_and_change_nothing(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let path = format!("/restaurants/{}/packages", shop.restaurant);
    let before = (
        service.a.get(&path).await.data(),
        service.a.get("/events").await.data(),
    );
    service
        .a
        .put(&path, &json!({}))
        .await
        .wrong(422, "invalid_field", "packages");
    for (package, field) in [
        (json!({}), "packages[0].name"),
        (json!({ "name": " " }), "packages[0].name"),
        (
            json!({ "name": "x", "providers": "direct" }),
            "packages[0].providers",
        ),
        (json!({ "name": "x", "startsAt": "soon" }), "packages[0].startsAt"),
        (
            json!({ "name": "x", "endsAt": "2026-01-01T00:00:00Z" }),
            "packages[0].endsAt",
        ),
    ] {
        service
            .a
            .put(&path, &json!({ "packages": [package] }))
            .await
            .wrong(422, "invalid_field", field);
    }
    let unknown = json!({ "packages": [{ "name": "x", "providers": ["pigeon"] }] });
    service
        .a
        .put(&path, &unknown)
        .await
        .refused(404, "unknown_provider");
    let many: Vec<Value> = (0..51).map(|n| json!({ "name": n.to_string() })).collect();
    service
        .a
        .put(&path, &json!({ "packages": many }))
        .await
        .wrong(422, "invalid_field", "packages");
    let after = (
        service.a.get(&path).await.data(),
        service.a.get("/events").await.data(),
    );
    assert_eq!(after, before);
}
