//! Platforms and menus.

use crate::support::House;
use serde_json::json;

cases! {
    every_platform_says_what_it_can
    a_menu_that_cannot_be_had_is_refused_by_name
}

async fn every_platform_says_what_it_can(house: House) {
    let wanted = json!([{
        "key": "direct", "name": "Own channels", "asks": false, "cancelAfterAccept": true, "liveReasons": false,
        "menu": false, "storeToggle": false, "couriers": ["restaurant", "none"], "secondsBetweenMoves": 0,
        "acceptWithinSeconds": null,
        "credentials": [{ "name": "inboundKey", "required": true }, { "name": "callbackUrl", "required": false }],
    }]);
    let shown = house.a.get("/providers").await.data();
    let direct = shown
        .as_array()
        .unwrap()
        .iter()
        .find(|p| p["key"] == json!("direct"))
        .unwrap();
    assert_eq!(direct, &wanted[0]);
}

async fn a_menu_that_cannot_be_had_is_refused_by_name(house: House) {
    let made = house.a.post("/restaurants", &json!({ "name": "r" })).await.data();
    let id = made["id"].as_str().unwrap();
    house
        .a
        .get(&format!("/providers/pigeon/menus?restaurantId={id}"))
        .await
        .refused(404, "unknown_provider");
    house
        .a
        .get("/providers/direct/menus")
        .await
        .wrong(422, "invalid_parameter", "restaurantId");
    house
        .a
        .get("/providers/direct/menus?restaurantId=x")
        .await
        .refused(404, "restaurant_not_found");
    let path = format!("/providers/direct/menus?restaurantId={id}");
    house.a.get(&path).await.refused(409, "not_connected");
    house.connect(&house.a, id, "s", json!({})).await;
    house.a.get(&path).await.refused(409, "not_supported");
}
