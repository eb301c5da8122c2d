//! Restaurants: create, read, change, delete.

use crate::support::{ApiClient, TestService};
use serde_json::{Value, json};

cases! {
    header_values_are_masked_for_non_primary_keys_and_on_request
    restaurant_is_returned_with_all_fields
    update_keeps_missing_fields_and_clears_null_fields
    config_is_stored_byte_for_byte
    known_config_keys_are_validated
    invalid_fields_are_refused_and_change_nothing
    deleted_restaurant_is_removed_with_its_data
}

const NOW: &str = "2026-03-01T09:00:00.000Z";
const FIELDS: [&str; 8] = [
    "businessId",
    "description",
    "address",
    "lat",
    "lon",
    "config",
    "paymentMatchingUrl",
    "paymentMatchingHeaders",
];

async fn whole(service: &TestService) -> Value {
    let business = service
        .a
        .post("/businesses", &json!({ "name": "b" }))
        .await
        .data();
    json!({
        "businessId": business["id"], "name": "Moda 🍢", "description": "Deniz manzaralı", "address": "Moda Cad. 12",
        "lat": 40.9812345, "lon": -29.0, "config": { "autoVerify": false, "preparationMinutes": 20, "own": [1, null] },
        "paymentMatchingUrl": "https://pos.example.com/types",
        "paymentMatchingHeaders": { "X-Till": "7", "authorization": "Bearer abc" },
    })
}

async fn restaurant_is_returned_with_all_fields(service: TestService) {
    let body = whole(&service).await;
    let made = service.a.post("/restaurants", &body).await.data();
    let mut wanted = body.clone();
    for (field, value) in [
        ("id", made["id"].clone()),
        ("integrations", json!([])),
        ("packages", made["packages"].clone()),
        ("createdAt", json!(NOW)),
        ("updatedAt", json!(NOW)),
    ] {
        wanted[field] = value;
    }
    assert_eq!(made, wanted);
    assert_eq!(made["packages"].as_array().unwrap().len(), 1);
    let path = format!("/restaurants/{}", made["id"].as_str().unwrap());
    assert_eq!(service.a.get(&path).await.data(), wanted);
    let small = service
        .a
        .post("/restaurants", &json!({ "name": "x" }))
        .await
        .data();
    assert!(FIELDS.iter().all(|field| small[field] == Value::Null), "{small}");
    let listed = service.a.get("/restaurants").await.data();
    assert!(listed.as_array().unwrap().contains(&wanted) && listed.as_array().unwrap().contains(&small));
    assert_eq!(service.b.get("/restaurants").await.data(), json!([]));
}

async fn update_keeps_missing_fields_and_clears_null_fields(service: TestService) {
    let made = service
        .a
        .post("/restaurants", &whole(&service).await)
        .await
        .data();
    let path = format!("/restaurants/{}", made["id"].as_str().unwrap());
    let mut wanted = made.clone();
    for field in FIELDS {
        let changed = service
            .a
            .put(&path, &json!({ "name": "Moda 🍢", field: null }))
            .await
            .data();
        wanted[field] = Value::Null;
        assert_eq!(changed, wanted, "{field}");
        assert_eq!(service.a.get(&path).await.data(), wanted);
    }
    let changed = service
        .a
        .put(&path, &json!({ "name": "Yeni", "lat": -90, "config": {} }))
        .await
        .data();
    assert_eq!(
        (&changed["name"], &changed["lat"], &changed["config"]),
        (&json!("Yeni"), &json!(-90.0), &json!({}))
    );
}

async fn config_is_stored_byte_for_byte(service: TestService) {
    let config = r#"{ "b" : 1.0e2,"a":"\u0131\/" , "n": 100000000000000000000.10, "z":{"deep" :[ 1,2 ]}}"#;
    let made = service
        .a
        .json(
            "POST",
            "/restaurants",
            &format!(r#"{{"name":"r","config":{config}}}"#),
        )
        .await;
    assert!(made.text().contains(config), "{}", made.text());
    let path = format!("/restaurants/{}", made.data()["id"].as_str().unwrap());
    service
        .a
        .put(&path, &json!({ "name": "still there" }))
        .await
        .data();
    assert!(service.a.get(&path).await.text().contains(config));
    assert!(service.a.get("/restaurants").await.text().contains(config));
}

async fn known_config_keys_are_validated(service: TestService) {
    for (config, field) in [
        (json!({ "autoVerify": "yes" }), "config.autoVerify"),
        (json!({ "preparationMinutes": 0 }), "config.preparationMinutes"),
        (json!({ "preparationMinutes": 15.5 }), "config.preparationMinutes"),
        (json!({ "preparationMinutes": "15" }), "config.preparationMinutes"),
        (json!({ "timezone": "Mars/Olympus" }), "config.timezone"),
    ] {
        let body = json!({ "name": "r", "config": config });
        service
            .a
            .post("/restaurants", &body)
            .await
            .wrong(422, "invalid_field", field);
    }
    for config in [json!([]), json!("x"), json!(1)] {
        let body = json!({ "name": "r", "config": config });
        service
            .a
            .post("/restaurants", &body)
            .await
            .wrong(422, "invalid_field", "config");
    }
    assert_eq!(service.a.get("/restaurants").await.data(), json!([]));
    for minutes in ["15", "15.0"] {
        let body = format!(r#"{{"name":"r","config":{{"preparationMinutes":{minutes}}}}}"#);
        let made = service.a.json("POST", "/restaurants", &body).await;
        assert_eq!(made.data()["config"]["preparationMinutes"].as_f64(), Some(15.0));
    }
}

async fn invalid_fields_are_refused_and_change_nothing(service: TestService) {
    let made = service
        .a
        .post("/restaurants", &json!({ "name": "r" }))
        .await
        .data();
    let path = format!("/restaurants/{}", made["id"].as_str().unwrap());
    for (body, field) in [
        (json!({}), "name"),
        (json!({ "name": "" }), "name"),
        (json!({ "name": ["x"] }), "name"),
        (json!({ "name": "x", "lat": 90.1 }), "lat"),
        (json!({ "name": "x", "lon": "29" }), "lon"),
        (json!({ "name": "x", "lon": -181 }), "lon"),
        (json!({ "name": "x", "businessId": 7 }), "businessId"),
        (
            json!({ "name": "x", "paymentMatchingHeaders": [] }),
            "paymentMatchingHeaders",
        ),
        (
            json!({ "name": "x", "paymentMatchingHeaders": { "Host": "x" } }),
            "paymentMatchingHeaders.Host",
        ),
        (
            json!({ "name": "x", "paymentMatchingHeaders": { "X-A": "a\r\nb: c" } }),
            "paymentMatchingHeaders.X-A",
        ),
    ] {
        service
            .a
            .post("/restaurants", &body)
            .await
            .wrong(422, "invalid_field", field);
        service
            .a
            .put(&path, &body)
            .await
            .wrong(422, "invalid_field", field);
    }
    for (url, code) in [
        ("http://10.0.0.1/", "target_not_allowed"),
        ("http://[::1]/", "target_not_allowed"),
        ("nonsense", "invalid_field"),
    ] {
        let body = json!({ "name": "x", "paymentMatchingUrl": url });
        service
            .a
            .post("/restaurants", &body)
            .await
            .wrong(422, code, "paymentMatchingUrl");
        service
            .a
            .put(&path, &body)
            .await
            .wrong(422, code, "paymentMatchingUrl");
    }
    let body = json!({ "name": "x", "businessId": "00000000-0000-7000-8000-000000000000" });
    service
        .a
        .put(&path, &body)
        .await
        .refused(404, "business_not_found");
    assert_eq!(service.a.get("/restaurants").await.data(), json!([made]));
}

async fn deleted_restaurant_is_removed_with_its_data(service: TestService) {
    let (gone, stays) = (
        service.shop(&service.a, "gone").await,
        service.shop(&service.a, "stays").await,
    );
    gone.order("1").await;
    stays.order("2").await;
    let path = format!("/restaurants/{}", gone.restaurant);
    service.a.delete(&path).await.done();
    service.a.delete(&path).await.refused(404, "restaurant_not_found");
    service.a.get(&path).await.refused(404, "restaurant_not_found");
    service.a.get("/orders/1").await.refused(404, "order_not_found");
    service.sweep().await;
    let orders = service.a.get("/orders").await.data();
    assert_eq!(orders.as_array().unwrap().len(), 1);
    let events = service.a.get("/events").await.data();
    assert!(
        events
            .as_array()
            .unwrap()
            .iter()
            .all(|event| event["veri"]["restaurantId"] == json!(stays.restaurant))
    );
    gone.post(b"{}").await.refused(401, "unauthorized");
    // The branch is free again.
    service.shop(&service.b, "gone").await;
}

async fn header_values_are_masked_for_non_primary_keys_and_on_request(service: TestService) {
    let made = service.a.act("/keys").await.data();
    let lesser = ApiClient::new(service.addr, made["apiKey"].as_str().unwrap());
    let (url, headers) = (
        "https://till.example.com/types",
        json!({ "X-Key": "MARKED-1", "X-Other": "MARKED-2" }),
    );
    let body = json!({ "name": "r", "paymentMatchingUrl": url, "paymentMatchingHeaders": headers });
    let made = service.a.post("/restaurants", &body).await.data();
    assert_eq!(made["paymentMatchingHeaders"], headers);
    let path = format!("/restaurants/{}", made["id"].as_str().unwrap());
    let masked = json!({ "X-Key": "***", "X-Other": "***" });
    let shown = [
        lesser.get(&path).await,
        lesser.get("/restaurants").await,
        lesser.put(&path, &json!({ "name": "r" })).await,
    ];
    for reply in shown {
        let text = reply.text();
        assert!(!text.contains("MARKED") && text.contains("***"), "{text}");
    }
    assert_eq!(lesser.get(&path).await.data()["paymentMatchingHeaders"], masked);
    // The mask sent back keeps what is stored; the rest is changed.
    let back = json!({ "name": "r", "paymentMatchingHeaders": { "x-key": "***", "X-Other": "new" } });
    lesser.put(&path, &back).await.data();
    let kept = json!({ "X-Other": "new", "x-key": "MARKED-1" });
    assert_eq!(service.a.get(&path).await.data()["paymentMatchingHeaders"], kept);
    // Nor can a lesser key have them sent to an address of its choice.
    for headers in [Value::Null, json!({ "x-key": "***" })] {
        let mut body = json!({ "name": "r", "paymentMatchingUrl": "https://thief.example.com/" });
        if !headers.is_null() {
            body["paymentMatchingHeaders"] = headers;
        }
        lesser
            .put(&path, &body)
            .await
            .refused(403, "primary_key_required");
    }
    let own = json!({
        "name": "r", "paymentMatchingUrl": "https://other.example.com/", "paymentMatchingHeaders": { "X-Own": "own" },
    });
    lesser.put(&path, &own).await.data();
    assert_eq!(
        service.a.get(&path).await.data()["paymentMatchingHeaders"],
        json!({ "X-Own": "own" })
    );
    // An account may want that for its primary key too.
    let mask = json!({ "name": "r", "config": { "maskPaymentMatchingHeaders": true } });
    service.a.put(&path, &mask).await.data();
    let shown = service.a.get(&path).await.data();
    assert_eq!(shown["paymentMatchingHeaders"], json!({ "X-Own": "***" }));
    let wrong = json!({ "name": "r", "config": { "maskPaymentMatchingHeaders": 1 } });
    assert_eq!(service.a.put(&path, &wrong).await.status, 422);
}
