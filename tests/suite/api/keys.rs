//! API keys: shown once, one of them primary, revoked at once.

use crate::support::{Caller, House};
use serde_json::{Value, json};

cases! {
    a_new_key_is_shown_again_only_to_the_key_that_asked_for_it
    a_new_key_is_shown_once_and_works
    one_key_is_primary_and_the_newest_remaining_inherits
    the_last_key_cannot_be_revoked
    a_revoked_key_stops_at_once
    the_use_of_a_key_is_noted
}

async fn primary(caller: &Caller) -> Vec<Value> {
    let keys = caller.get("/keys").await.data();
    let primary = keys
        .as_array()
        .unwrap()
        .iter()
        .filter(|key| key["isPrimary"] == json!(true));
    primary.map(|key| key["id"].clone()).collect()
}

async fn a_new_key_is_shown_once_and_works(house: House) {
    let made = house.a.post("/keys", &json!({ "label": "Kasa" })).await.data();
    let secret = made["apiKey"].as_str().unwrap().to_owned();
    let wanted = json!({
        "id": made["id"], "label": "Kasa", "hint": secret[secret.len() - 4..], "isPrimary": false,
        "createdAt": "2026-03-01T09:00:00.000Z", "lastUsedAt": null, "apiKey": secret,
    });
    assert_eq!(made, wanted);
    let listed = house.a.get("/keys").await;
    assert!(!listed.text().contains(&secret) && !listed.text().contains(&house.a.key));
    assert_eq!(listed.data().as_array().unwrap().len(), 2);
    assert!(
        listed
            .data()
            .as_array()
            .unwrap()
            .iter()
            .all(|key| key.as_object().unwrap().len() == 6)
    );
    Caller::new(house.addr, &secret).get("/orders").await.data();
    // Nothing is required, so nothing need be sent.
    assert_eq!(house.a.act("/keys").await.data()["label"], json!(null));
    house
        .a
        .post("/keys", &json!({ "label": 7 }))
        .await
        .wrong(422, "invalid_field", "label");
}

async fn one_key_is_primary_and_the_newest_remaining_inherits(house: House) {
    let first = primary(&house.a).await;
    assert_eq!(first.len(), 1);
    let (mut ids, mut holders) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        house.advance(std::time::Duration::from_secs(1));
        let made = house.a.act("/keys").await.data();
        ids.push(made["id"].clone());
        holders.push(Caller::new(house.addr, made["apiKey"].as_str().unwrap()));
    }
    let chosen = format!("/keys/{}", ids[0].as_str().unwrap());
    let made = house.a.act(&format!("{chosen}/primary")).await.data();
    assert_eq!((&made["id"], &made["isPrimary"]), (&ids[0], &json!(true)));
    assert_eq!(primary(&house.a).await, [ids[0].clone()]);
    holders[0].delete(&chosen).await.done();
    assert_eq!(primary(&house.a).await, [ids[2].clone()]);
    house.a.delete(&chosen).await.refused(404, "key_not_found");
    holders[2]
        .act(&format!("{chosen}/primary"))
        .await
        .refused(404, "key_not_found");
    assert_eq!(primary(&house.a).await, [ids[2].clone()]);
    house
        .a
        .delete(&format!("/keys/{}", ids[1].as_str().unwrap()))
        .await
        .done();
    assert_eq!(primary(&house.a).await, [ids[2].clone()]);
}

async fn the_last_key_cannot_be_revoked(house: House) {
    let keys = house.a.get("/keys").await.data();
    let only = keys[0]["id"].as_str().unwrap();
    house
        .a
        .delete(&format!("/keys/{only}"))
        .await
        .refused(409, "last_key");
    assert_eq!(primary(&house.a).await, [json!(only)]);
}

async fn a_revoked_key_stops_at_once(house: House) {
    let made = house.a.act("/keys").await.data();
    let other = Caller::new(house.addr, made["apiKey"].as_str().unwrap());
    other.get("/orders").await.data();
    house
        .a
        .delete(&format!("/keys/{}", made["id"].as_str().unwrap()))
        .await
        .done();
    other.get("/orders").await.refused(401, "unauthorized");
    // A key may also revoke itself.
    let made = house.a.act("/keys").await.data();
    let own = Caller::new(house.addr, made["apiKey"].as_str().unwrap());
    own.delete(&format!("/keys/{}", made["id"].as_str().unwrap()))
        .await
        .done();
    own.get("/orders").await.refused(401, "unauthorized");
    house.a.get("/orders").await.data();
}

async fn the_use_of_a_key_is_noted(house: House) {
    crate::support::until("the use is noted", async || {
        house.a.get("/keys").await.data()[0]["lastUsedAt"] == json!("2026-03-01T09:00:00.000Z")
    })
    .await;
}

async fn a_new_key_is_shown_again_only_to_the_key_that_asked_for_it(house: House) {
    let other = house.a.act("/keys").await.data();
    let other = Caller::new(house.addr, other["apiKey"].as_str().unwrap());
    let made = house.a.keyed("once", "/keys", "{}").await.data();
    assert_eq!(house.a.keyed("once", "/keys", "{}").await.data(), made);
    other
        .keyed("once", "/keys", "{}")
        .await
        .refused(409, "idempotency_key_reused");
    // Anything else is the same request whichever key sends it.
    let body = json!({ "name": "r" }).to_string();
    let restaurant = house.a.keyed("twice", "/restaurants", &body).await.data();
    assert_eq!(
        other.keyed("twice", "/restaurants", &body).await.data(),
        restaurant
    );
}
