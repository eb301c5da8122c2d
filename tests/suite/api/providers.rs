//! Platforms and menus.

use crate::support::TestService;
use serde_json::json;

cases! {
    every_platform_lists_its_capabilities
    unavailable_menu_is_refused_by_name
}

async fn every_platform_lists_its_capabilities(service: TestService) {
    let wanted = json!({
        "key": "direct", "name": "Own channels", "asks": false, "cancelAfterAccept": true, "liveReasons": false,
        "menu": false, "storeToggle": false, "couriers": ["restaurant", "none"], "secondsBetweenMoves": 0,
        "acceptWithinSeconds": null, "polled": false,
        "credentials": [
            { "name": "inboundKey", "required": true, "kind": "secret", "choices": [] },
            { "name": "callbackUrl", "required": false, "kind": "address", "choices": [] },
        ],
    });
    let shown = service.a.get("/providers").await.data();
    let shown = shown.as_array().unwrap();
    assert_eq!(shown[0], wanted);
    // What the platforms' own sheets say, in short.
    let facts: Vec<_> = shown
        .iter()
        .map(|p| {
            json!([
                p["key"],
                p["asks"],
                p["liveReasons"],
                p["menu"],
                p["polled"],
                p["secondsBetweenMoves"]
            ])
        })
        .collect();
    let expected = [
        json!(["direct", false, false, false, false, 0]),
        json!(["getir", true, true, true, true, 60]),
        json!(["migros", true, true, true, true, 0]),
        json!(["trendyol", true, false, true, true, 0]),
        json!(["yemeksepeti", true, false, false, false, 0]),
    ];
    assert_eq!(facts, expected);
}

async fn unavailable_menu_is_refused_by_name(service: TestService) {
    let made = service
        .a
        .post("/restaurants", &json!({ "name": "r" }))
        .await
        .data();
    let id = made["id"].as_str().unwrap();
    service
        .a
        .get(&format!("/providers/pigeon/menus?restaurantId={id}"))
        .await
        .refused(404, "unknown_provider");
    service
        .a
        .get("/providers/direct/menus")
        .await
        .wrong(422, "invalid_parameter", "restaurantId");
    service
        .a
        .get("/providers/direct/menus?restaurantId=x")
        .await
        .refused(404, "restaurant_not_found");
    let path = format!("/providers/direct/menus?restaurantId={id}");
    service.a.get(&path).await.refused(409, "not_connected");
    service.connect(&service.a, id, "s", json!({})).await;
    service.a.get(&path).await.refused(409, "not_supported");
}
