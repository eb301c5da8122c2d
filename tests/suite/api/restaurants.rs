//! Restaurants: create, read, change, delete.

use crate::support::{Caller, House};
use serde_json::{Value, json};

cases! {
    header_values_are_masked_for_lesser_keys_and_on_demand
    a_restaurant_is_answered_whole
    an_update_keeps_what_is_missing_and_clears_what_is_null
    config_is_kept_byte_for_byte
    known_keys_of_config_are_checked
    wrong_fields_are_refused_and_change_nothing
    a_deleted_restaurant_is_gone_with_everything
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

async fn whole(house: &House) -> Value {
    let business = house.a.post("/businesses", &json!({ "name": "b" })).await.data();
    json!({
        "businessId": business["id"], "name": "Moda 🍢", "description": "Deniz manzaralı", "address": "Moda Cad. 12",
        "lat": 40.9812345, "lon": -29.0, "config": { "autoVerify": false, "preparationMinutes": 20, "own": [1, null] },
        "paymentMatchingUrl": "https://pos.example.com/types",
        "paymentMatchingHeaders": { "X-Till": "7", "authorization": "Bearer abc" },
    })
}

async fn a_restaurant_is_answered_whole(house: House) {
    let body = whole(&house).await;
    let made = house.a.post("/restaurants", &body).await.data();
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
    assert_eq!(house.a.get(&path).await.data(), wanted);
    let small = house.a.post("/restaurants", &json!({ "name": "x" })).await.data();
    assert!(FIELDS.iter().all(|field| small[field] == Value::Null), "{small}");
    let listed = house.a.get("/restaurants").await.data();
    assert!(listed.as_array().unwrap().contains(&wanted) && listed.as_array().unwrap().contains(&small));
    assert_eq!(house.b.get("/restaurants").await.data(), json!([]));
}

async fn an_update_keeps_what_is_missing_and_clears_what_is_null(house: House) {
    let made = house.a.post("/restaurants", &whole(&house).await).await.data();
    let path = format!("/restaurants/{}", made["id"].as_str().unwrap());
    let mut wanted = made.clone();
    for field in FIELDS {
        let changed = house
            .a
            .put(&path, &json!({ "name": "Moda 🍢", field: null }))
            .await
            .data();
        wanted[field] = Value::Null;
        assert_eq!(changed, wanted, "{field}");
        assert_eq!(house.a.get(&path).await.data(), wanted);
    }
    let changed = house
        .a
        .put(&path, &json!({ "name": "Yeni", "lat": -90, "config": {} }))
        .await
        .data();
    assert_eq!(
        (&changed["name"], &changed["lat"], &changed["config"]),
        (&json!("Yeni"), &json!(-90.0), &json!({}))
    );
}

async fn config_is_kept_byte_for_byte(house: House) {
    let config = r#"{ "b" : 1.0e2,"a":"\u0131\/" , "n": 100000000000000000000.10, "z":{"deep" :[ 1,2 ]}}"#;
    let made = house
        .a
        .json(
            "POST",
            "/restaurants",
            &format!(r#"{{"name":"r","config":{config}}}"#),
        )
        .await;
    assert!(made.text().contains(config), "{}", made.text());
    let path = format!("/restaurants/{}", made.data()["id"].as_str().unwrap());
    house.a.put(&path, &json!({ "name": "still there" })).await.data();
    assert!(house.a.get(&path).await.text().contains(config));
    assert!(house.a.get("/restaurants").await.text().contains(config));
}

async fn known_keys_of_config_are_checked(house: House) {
    for (config, field) in [
        (json!({ "autoVerify": "yes" }), "config.autoVerify"),
        (json!({ "preparationMinutes": 0 }), "config.preparationMinutes"),
        (json!({ "preparationMinutes": 15.5 }), "config.preparationMinutes"),
        (json!({ "preparationMinutes": "15" }), "config.preparationMinutes"),
        (json!({ "timezone": "Mars/Olympus" }), "config.timezone"),
    ] {
        let body = json!({ "name": "r", "config": config });
        house
            .a
            .post("/restaurants", &body)
            .await
            .wrong(422, "invalid_field", field);
    }
    for config in [json!([]), json!("x"), json!(1)] {
        let body = json!({ "name": "r", "config": config });
        house
            .a
            .post("/restaurants", &body)
            .await
            .wrong(422, "invalid_field", "config");
    }
    assert_eq!(house.a.get("/restaurants").await.data(), json!([]));
    for minutes in ["15", "15.0"] {
        let body = format!(r#"{{"name":"r","config":{{"preparationMinutes":{minutes}}}}}"#);
        let made = house.a.json("POST", "/restaurants", &body).await;
        assert_eq!(made.data()["config"]["preparationMinutes"].as_f64(), Some(15.0));
    }
}

async fn wrong_fields_are_refused_and_change_nothing(house: House) {
    let made = house.a.post("/restaurants", &json!({ "name": "r" })).await.data();
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
        house
            .a
            .post("/restaurants", &body)
            .await
            .wrong(422, "invalid_field", field);
        house.a.put(&path, &body).await.wrong(422, "invalid_field", field);
    }
    for (url, code) in [
        ("http://10.0.0.1/", "target_not_allowed"),
        ("http://[::1]/", "target_not_allowed"),
        ("nonsense", "invalid_field"),
    ] {
        let body = json!({ "name": "x", "paymentMatchingUrl": url });
        house
            .a
            .post("/restaurants", &body)
            .await
            .wrong(422, code, "paymentMatchingUrl");
        house
            .a
            .put(&path, &body)
            .await
            .wrong(422, code, "paymentMatchingUrl");
    }
    let body = json!({ "name": "x", "businessId": "00000000-0000-7000-8000-000000000000" });
    house.a.put(&path, &body).await.refused(404, "business_not_found");
    assert_eq!(house.a.get("/restaurants").await.data(), json!([made]));
}

async fn a_deleted_restaurant_is_gone_with_everything(house: House) {
    let (gone, stays) = (
        house.shop(&house.a, "gone").await,
        house.shop(&house.a, "stays").await,
    );
    gone.order("1").await;
    stays.order("2").await;
    let path = format!("/restaurants/{}", gone.restaurant);
    house.a.delete(&path).await.done();
    house.a.delete(&path).await.refused(404, "restaurant_not_found");
    house.a.get(&path).await.refused(404, "restaurant_not_found");
    house.a.get("/orders/1").await.refused(404, "order_not_found");
    house.sweep().await;
    let orders = house.a.get("/orders").await.data();
    assert_eq!(orders.as_array().unwrap().len(), 1);
    let events = house.a.get("/events").await.data();
    assert!(
        events
            .as_array()
            .unwrap()
            .iter()
            .all(|event| event["veri"]["restaurantId"] == json!(stays.restaurant))
    );
    gone.post(b"{}").await.refused(401, "unauthorized");
    // The branch is free again.
    house.shop(&house.b, "gone").await;
}

async fn header_values_are_masked_for_lesser_keys_and_on_demand(house: House) {
    let made = house.a.act("/keys").await.data();
    let lesser = Caller::new(house.addr, made["apiKey"].as_str().unwrap());
    let (url, headers) = (
        "https://till.example.com/types",
        json!({ "X-Key": "MARKED-1", "X-Other": "MARKED-2" }),
    );
    let body = json!({ "name": "r", "paymentMatchingUrl": url, "paymentMatchingHeaders": headers });
    let made = house.a.post("/restaurants", &body).await.data();
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
    assert_eq!(house.a.get(&path).await.data()["paymentMatchingHeaders"], kept);
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
        house.a.get(&path).await.data()["paymentMatchingHeaders"],
        json!({ "X-Own": "own" })
    );
    // An account may want that for its primary key too.
    let mask = json!({ "name": "r", "config": { "maskPaymentMatchingHeaders": true } });
    house.a.put(&path, &mask).await.data();
    let shown = house.a.get(&path).await.data();
    assert_eq!(shown["paymentMatchingHeaders"], json!({ "X-Own": "***" }));
    let wrong = json!({ "name": "r", "config": { "maskPaymentMatchingHeaders": 1 } });
    assert_eq!(house.a.put(&path, &wrong).await.status, 422);
}
