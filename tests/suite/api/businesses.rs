//! Businesses: create, read, change.

use crate::support::TestService;
use serde_json::{Value, json};

cases! {
    business_is_returned_with_all_fields
    update_keeps_missing_fields_and_clears_null_fields
    invalid_fields_are_refused_and_change_nothing
    a_business_lists_its_restaurants
    linking_moves_a_restaurant
}

const NOW: &str = "2026-03-01T09:00:00.000Z";
const FIELDS: [&str; 9] = [
    "description",
    "vatNumber",
    "taxOffice",
    "address",
    "city",
    "country",
    "zipCode",
    "phone",
    "email",
];

fn whole() -> Value {
    json!({
        "name": "Gıda A.Ş.", "description": "Üç şube", "vatNumber": "1234567890", "taxOffice": "Kadıköy",
        "address": "Moda", "city": "İstanbul", "country": "TR", "zipCode": "34710", "phone": "+902161112233",
        "email": "muhasebe@example.com",
    })
}

async fn business_is_returned_with_all_fields(service: TestService) {
    let made = service.a.post("/businesses", &whole()).await.data();
    let mut wanted = whole();
    wanted["id"] = made["id"].clone();
    wanted["createdAt"] = json!(NOW);
    wanted["updatedAt"] = json!(NOW);
    assert_eq!(made, wanted);
    let id = made["id"].as_str().unwrap();
    assert_eq!(id.parse::<uuid::Uuid>().unwrap().get_version_num(), 7);
    assert_eq!(service.a.get(&format!("/businesses/{id}")).await.data(), wanted);
    let small = service
        .a
        .post("/businesses", &json!({ "name": "x", "unknown": 1 }))
        .await
        .data();
    assert!(FIELDS.iter().all(|field| small[field] == Value::Null));
    let listed = service.a.get("/businesses").await.data();
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert!(listed.as_array().unwrap().contains(&wanted) && listed.as_array().unwrap().contains(&small));
    assert_eq!(service.b.get("/businesses").await.data(), json!([]));
}

async fn update_keeps_missing_fields_and_clears_null_fields(service: TestService) {
    let made = service.a.post("/businesses", &whole()).await.data();
    let path = format!("/businesses/{}", made["id"].as_str().unwrap());
    service.advance(std::time::Duration::from_secs(1));
    let mut wanted = made.clone();
    for field in FIELDS {
        let changed = service
            .a
            .put(&path, &json!({ "name": "Gıda A.Ş.", field: null }))
            .await
            .data();
        wanted[field] = Value::Null;
        wanted["updatedAt"] = json!("2026-03-01T09:00:01.000Z");
        assert_eq!(changed, wanted);
    }
    let changed = service
        .a
        .put(&path, &json!({ "name": "Yeni", "city": "Ankara", "phone": "" }))
        .await
        .data();
    assert_eq!(
        (&changed["name"], &changed["city"], &changed["phone"]),
        (&json!("Yeni"), &json!("Ankara"), &json!(""))
    );
    assert_eq!(service.a.get(&path).await.data(), changed);
}

async fn invalid_fields_are_refused_and_change_nothing(service: TestService) {
    let made = service.a.post("/businesses", &whole()).await.data();
    let path = format!("/businesses/{}", made["id"].as_str().unwrap());
    let long = "x".repeat(201);
    for (body, field) in [
        (json!({}), "name"),
        (json!({ "name": null }), "name"),
        (json!({ "name": "" }), "name"),
        (json!({ "name": " \t " }), "name"),
        (json!({ "name": 7 }), "name"),
        (json!({ "name": long }), "name"),
        (json!({ "name": "x", "city": 7 }), "city"),
        (json!({ "name": "x", "city": long }), "city"),
        (json!({ "name": "x", "email": {} }), "email"),
        (json!({ "description": "no name" }), "name"),
    ] {
        service
            .a
            .post("/businesses", &body)
            .await
            .wrong(422, "invalid_field", field);
        service
            .a
            .put(&path, &body)
            .await
            .wrong(422, "invalid_field", field);
    }
    assert_eq!(service.a.get("/businesses").await.data(), json!([made]));
}

async fn a_business_lists_its_restaurants(service: TestService) {
    let business = service
        .a
        .post("/businesses", &json!({ "name": "b" }))
        .await
        .data();
    let id = business["id"].as_str().unwrap();
    let path = format!("/businesses/{id}/restaurants");
    assert_eq!(service.a.get(&path).await.data(), json!([]));
    let inside = service
        .a
        .post("/restaurants", &json!({ "name": "in", "businessId": id }))
        .await
        .data();
    service
        .a
        .post("/restaurants", &json!({ "name": "out" }))
        .await
        .data();
    assert_eq!(service.a.get(&path).await.data(), json!([inside]));
}

async fn linking_moves_a_restaurant(service: TestService) {
    let mut paths = Vec::new();
    let mut ids = Vec::new();
    for name in ["one", "two"] {
        let made = service
            .a
            .post("/businesses", &json!({ "name": name }))
            .await
            .data();
        paths.push(format!(
            "/businesses/{}/restaurants",
            made["id"].as_str().unwrap()
        ));
        ids.push(made["id"].clone());
    }
    let made = service
        .a
        .post("/restaurants", &json!({ "name": "r" }))
        .await
        .data();
    let link = json!({ "restaurantId": made["id"] });
    for (path, id) in paths.iter().zip(&ids) {
        let linked = service.a.post(path, &link).await.data();
        assert_eq!((&linked["id"], &linked["businessId"]), (&made["id"], id));
    }
    service.a.post(&paths[1], &link).await.data();
    assert_eq!(service.a.get(&paths[0]).await.data(), json!([]));
    assert_eq!(service.a.get(&paths[1]).await.data().as_array().unwrap().len(), 1);
    service
        .a
        .act(&paths[0])
        .await
        .wrong(422, "invalid_field", "restaurantId");
    service
        .a
        .post(&paths[0], &json!({ "restaurantId": "x" }))
        .await
        .refused(404, "restaurant_not_found");
    service
        .a
        .post("/businesses/x/restaurants", &link)
        .await
        .refused(404, "business_not_found");
    assert_eq!(service.a.get(&paths[1]).await.data().as_array().unwrap().len(), 1);
}
