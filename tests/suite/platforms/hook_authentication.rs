//! Authentication of hooks: each platform's own secret, or the operator's if an integration has none.

use super::expected_calls::own_couriers;
use crate::support::{
    Backend, PlatformOrder, PlatformWorld, credentials, disable_polling, fast_sim_settings, request, send,
    store, wait_until,
};
use garson_core::secret::Secret;
use garson_sim::Platform::{Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{Courier, OrderRequest};
use serde_json::json;

on_both! {
    wrong_secret_is_refused_and_nothing_is_stored
    operator_secrets_are_used_when_an_integration_has_none
    integration_secret_overrides_the_operators
    messages_without_an_order_are_recorded
}

async fn wrong_secret_is_refused_and_nothing_is_stored(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let hooks = format!("http://{}", world.service.addr);
    for expected in own_couriers() {
        let mut stranger = store(expected.platform, &hooks);
        match expected.platform {
            Getir => stranger.credentials["inboundKey"] = json!("a-guess-at-it"),
            Yemeksepeti => stranger.credentials["pluginSecret"] = json!("a-guess-at-it"),
            Trendyol => stranger.credentials["inboundHeaders"] = json!({ "x-api-key": "a-guess-at-it" }),
            Migros => stranger.credentials["inboundPassword"] = json!("a-guess-at-it"),
        }
        world.control.put_store(&stranger).await.unwrap();
        let placed = world.place(OrderRequest::new(expected.platform)).await;
        wait_until("it knocks", async || !world.view(&placed).await.pushes.is_empty()).await;
        world.cancel_on_platform(&placed, "customer").await;
        let pushes = world.view(&placed).await.pushes;
        assert_eq!(pushes[0].status, Some(401), "{expected:?}");
        // What names no order of ours is not even sent.
        assert!(
            pushes
                .iter()
                .all(|push| push.status.is_none_or(|status| status == 401)),
            "{expected:?} {pushes:?}"
        );
        assert!(world.find_order(&placed).await.is_none(), "{expected:?}");
    }
    let bare = [
        ("POST", "/hooks/getir/new-order"),
        ("POST", "/hooks/getir/cancel-order"),
        ("POST", "/hooks/yemeksepeti/order/moda-1"),
        ("POST", "/hooks/yemeksepeti/order/unknown"),
        (
            "PUT",
            "/hooks/yemeksepeti/remoteId/moda-1/remoteOrder/01a1de00-2c0e-7157-9e50-121d1d8098c9/posOrderStatus",
        ),
        ("POST", "/hooks/trendyol/created"),
        ("POST", "/hooks/trendyol/cancelled"),
        ("POST", "/hooks/migros/order-created"),
        ("POST", "/hooks/migros/order-cancelled"),
        ("POST", "/hooks/migros/delivery-status"),
    ];
    for (method, path) in bare {
        let reply = send(world.service.addr, &request(method, path, &[], b"{}")).await;
        assert_eq!(reply.status, 401, "{path} {}", reply.text());
    }
    assert!(world.service.open_messages().await.is_empty());
    assert_eq!(world.service.count("inbox"), 0);
}

/// A world where the operator has one key for all restaurants.
async fn with_operator(backend: Backend) -> PlatformWorld {
    PlatformWorld::open_with(backend, fast_sim_settings(), |settings| {
        disable_polling(settings);
        let getir = settings.platforms.get_mut("getir").unwrap();
        for (name, value) in [
            ("app_secret_key", "app-secret"),
            ("inbound_key", "operator-knocks"),
        ] {
            getir
                .credentials
                .insert(name.to_owned(), Secret::new(value.to_owned()));
        }
    })
    .await
}

async fn from_operators_side(world: &PlatformWorld) -> PlatformOrder {
    let mut known = store(Getir, &format!("http://{}", world.service.addr));
    known.credentials["inboundKey"] = json!("operator-knocks");
    world.control.put_store(&known).await.unwrap();
    let request = OrderRequest {
        courier: Some(Courier::Restaurant),
        ..OrderRequest::new(Getir)
    };
    world.place(request).await
}

async fn operator_secrets_are_used_when_an_integration_has_none(backend: Backend) {
    let world = with_operator(backend).await;
    let path = format!("/restaurants/{}/integrations/getir", world.restaurant);
    assert_eq!(world.a.delete(&path).await.status, 200);
    let own = json!({ "restaurantSecretKey": "restaurant-secret" });
    world.connect(Getir, &own).await.data();
    wait_until("the branch is proven", async || {
        world.a.get(&path).await.data()["branch"] == json!("proven")
    })
    .await;
    let placed = from_operators_side(&world).await;
    world.wait_for_status(&placed, 400).await;
    assert_eq!(world.verify(&placed).await.data()["status"], json!(500));
    world.wait_for_platform_state(&placed, "500").await;
    world.cancel_on_platform(&placed, "customer").await;
    world.wait_for_status(&placed, 1500).await;
}

async fn integration_secret_overrides_the_operators(backend: Backend) {
    let world = with_operator(backend).await;
    let placed = from_operators_side(&world).await;
    wait_until("it knocks", async || world.view(&placed).await.pushes.len() >= 4).await;
    let pushes = world.view(&placed).await.pushes;
    assert!(pushes.iter().all(|push| push.status != Some(200)), "{pushes:?}");
    assert!(world.find_order(&placed).await.is_none());
    // Its own is the one that counts.
    let own = store(Getir, &format!("http://{}", world.service.addr));
    assert_eq!(own.credentials, credentials(Getir));
    world.control.put_store(&own).await.unwrap();
    let placed = world.order(Getir, Courier::Restaurant).await;
    assert_eq!(world.event_summary(&placed).await, ["created 400"]);
}

async fn messages_without_an_order_are_recorded(backend: Backend) {
    let world = with_operator(backend).await;
    let own = credentials(Getir)["inboundKey"].as_str().unwrap().to_owned();
    let mut sent = 0;
    for (path, body) in [
        ("/hooks/getir/restaurant-status", r#"{"status":200}"#),
        ("/hooks/getir/courier-arrival", r#"{"foodOrderId":"1"}"#),
        ("/hooks/getir/new-order", r#"{"ping":1}"#),
        ("/hooks/getir/cancel-order", "{}"),
    ] {
        for key in [own.as_str(), "operator-knocks"] {
            let headers = [("x-api-key", key), ("content-type", "application/json")];
            let reply = send(
                world.service.addr,
                &request("POST", path, &headers, body.as_bytes()),
            )
            .await;
            assert_eq!(reply.status, 200, "{path} {key} {}", reply.text());
            sent += 1;
        }
        let reply = send(
            world.service.addr,
            &request("POST", path, &[("x-api-key", "a-guess")], b"{}"),
        )
        .await;
        assert_eq!(reply.status, 401, "{path}");
    }
    assert_eq!(world.service.count("inbox"), sent);
}
