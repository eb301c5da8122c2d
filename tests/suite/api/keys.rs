//! API keys: shown once, one of them primary, revoked at once.

use crate::support::{ApiClient, TestService};
use serde_json::{Value, json};

cases! {
    new_key_is_replayed_only_to_the_requesting_key
    new_key_is_shown_once_and_works
    newest_remaining_key_becomes_primary
    the_last_key_cannot_be_revoked
    revoked_key_stops_working_immediately
    last_use_of_a_key_is_recorded
}

async fn primary(client: &ApiClient) -> Vec<Value> {
    let keys = client.get("/keys").await.data();
    let primary = keys
        .as_array()
        .unwrap()
        .iter()
        .filter(|key| key["isPrimary"] == json!(true));
    primary.map(|key| key["id"].clone()).collect()
}

async fn new_key_is_shown_once_and_works(service: TestService) {
    let made = service.a.post("/keys", &json!({ "label": "Kasa" })).await.data();
    let secret = made["apiKey"].as_str().unwrap().to_owned();
    let wanted = json!({
        "id": made["id"], "label": "Kasa", "hint": secret[secret.len() - 4..], "isPrimary": false,
        "createdAt": "2026-03-01T09:00:00.000Z", "lastUsedAt": null, "apiKey": secret, "scopes": null,
        "restaurantIds": null, "networks": [], "expiresAt": null, "replacedBy": null, "lastUsedFrom": null,
    });
    assert_eq!(made, wanted);
    let listed = service.a.get("/keys").await;
    assert!(!listed.text().contains(&secret) && !listed.text().contains(&service.a.key));
    assert_eq!(listed.data().as_array().unwrap().len(), 2);
    assert!(
        listed
            .data()
            .as_array()
            .unwrap()
            .iter()
            .all(|key| key.as_object().unwrap().len() == 12)
    );
    ApiClient::new(service.addr, &secret).get("/orders").await.data();
    // Nothing is required, so nothing need be sent.
    assert_eq!(service.a.act("/keys").await.data()["label"], json!(null));
    service
        .a
        .post("/keys", &json!({ "label": 7 }))
        .await
        .wrong(422, "invalid_field", "label");
}

async fn newest_remaining_key_becomes_primary(service: TestService) {
    let first = primary(&service.a).await;
    assert_eq!(first.len(), 1);
    let (mut ids, mut holders) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        service.advance(std::time::Duration::from_secs(1));
        let made = service.a.act("/keys").await.data();
        ids.push(made["id"].clone());
        holders.push(ApiClient::new(service.addr, made["apiKey"].as_str().unwrap()));
    }
    let chosen = format!("/keys/{}", ids[0].as_str().unwrap());
    let made = service.a.act(&format!("{chosen}/primary")).await.data();
    assert_eq!((&made["id"], &made["isPrimary"]), (&ids[0], &json!(true)));
    assert_eq!(primary(&service.a).await, [ids[0].clone()]);
    holders[0].delete(&chosen).await.done();
    assert_eq!(primary(&service.a).await, [ids[2].clone()]);
    service.a.delete(&chosen).await.refused(404, "key_not_found");
    holders[2]
        .act(&format!("{chosen}/primary"))
        .await
        .refused(404, "key_not_found");
    assert_eq!(primary(&service.a).await, [ids[2].clone()]);
    service
        .a
        .delete(&format!("/keys/{}", ids[1].as_str().unwrap()))
        .await
        .done();
    assert_eq!(primary(&service.a).await, [ids[2].clone()]);
}

async fn the_last_key_cannot_be_revoked(service: TestService) {
    let keys = service.a.get("/keys").await.data();
    let only = keys[0]["id"].as_str().unwrap();
    service
        .a
        .delete(&format!("/keys/{only}"))
        .await
        .refused(409, "last_key");
    assert_eq!(primary(&service.a).await, [json!(only)]);
}

async fn revoked_key_stops_working_immediately(service: TestService) {
    let made = service.a.act("/keys").await.data();
    let other = ApiClient::new(service.addr, made["apiKey"].as_str().unwrap());
    other.get("/orders").await.data();
    service
        .a
        .delete(&format!("/keys/{}", made["id"].as_str().unwrap()))
        .await
        .done();
    other.get("/orders").await.refused(401, "unauthorized");
    // A key may also revoke itself.
    let made = service.a.act("/keys").await.data();
    let own = ApiClient::new(service.addr, made["apiKey"].as_str().unwrap());
    own.delete(&format!("/keys/{}", made["id"].as_str().unwrap()))
        .await
        .done();
    own.get("/orders").await.refused(401, "unauthorized");
    service.a.get("/orders").await.data();
}

async fn last_use_of_a_key_is_recorded(service: TestService) {
    crate::support::wait_until("the use is noted", async || {
        service.a.get("/keys").await.data()[0]["lastUsedAt"] == json!("2026-03-01T09:00:00.000Z")
    })
    .await;
}

async fn new_key_is_replayed_only_to_the_requesting_key(service: TestService) {
    let other = service.a.act("/keys").await.data();
    let other = ApiClient::new(service.addr, other["apiKey"].as_str().unwrap());
    let made = service.a.keyed("once", "/keys", "{}").await.data();
    assert_eq!(service.a.keyed("once", "/keys", "{}").await.data(), made);
    other
        .keyed("once", "/keys", "{}")
        .await
        .refused(409, "idempotency_key_reused");
    // Anything else is the same request whichever key sends it.
    let body = json!({ "name": "r" }).to_string();
    let restaurant = service.a.keyed("twice", "/restaurants", &body).await.data();
    assert_eq!(
        other.keyed("twice", "/restaurants", &body).await.data(),
        restaurant
    );
}
