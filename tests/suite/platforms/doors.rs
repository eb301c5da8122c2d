//! Who may knock: every platform's own secret, or the operator's where an integration has none.

use super::road::own_couriers;
use crate::support::{Kind, Meal, Town, credentials, quick, quiet, request, send, store, until};
use garson_core::secret::Secret;
use garson_sim::Platform::{Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{Courier, OrderRequest};
use serde_json::json;

on_both! {
    a_wrong_secret_is_refused_and_nothing_is_kept
    the_operators_secrets_stand_in_for_an_integrations
    an_integrations_own_secret_wins_over_the_operators
    messages_about_no_order_are_noted_whoever_sends_them
}

async fn a_wrong_secret_is_refused_and_nothing_is_kept(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    let hooks = format!("http://{}", town.house.addr);
    for road in own_couriers() {
        let mut stranger = store(road.platform, &hooks);
        match road.platform {
            Getir => stranger.credentials["inboundKey"] = json!("a-guess-at-it"),
            Yemeksepeti => stranger.credentials["pluginSecret"] = json!("a-guess-at-it"),
            Trendyol => stranger.credentials["inboundHeaders"] = json!({ "x-api-key": "a-guess-at-it" }),
            Migros => stranger.credentials["inboundPassword"] = json!("a-guess-at-it"),
        }
        town.control.put_store(&stranger).await.unwrap();
        let meal = town.place(OrderRequest::new(road.platform)).await;
        until("it knocks", async || !town.view(&meal).await.pushes.is_empty()).await;
        town.they_cancel(&meal, "customer").await;
        let pushes = town.view(&meal).await.pushes;
        assert_eq!(pushes[0].status, Some(401), "{road:?}");
        // What names no order of ours is not even sent.
        assert!(
            pushes
                .iter()
                .all(|push| push.status.is_none_or(|status| status == 401)),
            "{road:?} {pushes:?}"
        );
        assert!(town.shown(&meal).await.is_none(), "{road:?}");
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
        let reply = send(town.house.addr, &request(method, path, &[], b"{}")).await;
        assert_eq!(reply.status, 401, "{path} {}", reply.text());
    }
    assert!(town.house.kept().await.is_empty());
    assert_eq!(town.house.count("inbox"), 0);
}

/// A town where the operator has one key for all restaurants.
async fn with_operator(kind: Kind) -> Town {
    Town::open_with(kind, quick(), |settings| {
        quiet(settings);
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

async fn from_operators_side(town: &Town) -> Meal {
    let mut known = store(Getir, &format!("http://{}", town.house.addr));
    known.credentials["inboundKey"] = json!("operator-knocks");
    town.control.put_store(&known).await.unwrap();
    let request = OrderRequest {
        courier: Some(Courier::Restaurant),
        ..OrderRequest::new(Getir)
    };
    town.place(request).await
}

async fn the_operators_secrets_stand_in_for_an_integrations(kind: Kind) {
    let town = with_operator(kind).await;
    let path = format!("/restaurants/{}/integrations/getir", town.restaurant);
    assert_eq!(town.a.delete(&path).await.status, 200);
    let own = json!({ "restaurantSecretKey": "restaurant-secret" });
    town.connect(Getir, &own).await.data();
    until("the branch is proven", async || {
        town.a.get(&path).await.data()["branch"] == json!("proven")
    })
    .await;
    let meal = from_operators_side(&town).await;
    town.reaches(&meal, 400).await;
    assert_eq!(town.verify(&meal).await.data()["status"], json!(500));
    town.stands_at(&meal, "500").await;
    town.they_cancel(&meal, "customer").await;
    town.reaches(&meal, 1500).await;
}

async fn an_integrations_own_secret_wins_over_the_operators(kind: Kind) {
    let town = with_operator(kind).await;
    let meal = from_operators_side(&town).await;
    until("it knocks", async || town.view(&meal).await.pushes.len() >= 4).await;
    let pushes = town.view(&meal).await.pushes;
    assert!(pushes.iter().all(|push| push.status != Some(200)), "{pushes:?}");
    assert!(town.shown(&meal).await.is_none());
    // Its own is the one that counts.
    let own = store(Getir, &format!("http://{}", town.house.addr));
    assert_eq!(own.credentials, credentials(Getir));
    town.control.put_store(&own).await.unwrap();
    let meal = town.order(Getir, Courier::Restaurant).await;
    assert_eq!(town.story(&meal).await, ["created 400"]);
}

async fn messages_about_no_order_are_noted_whoever_sends_them(kind: Kind) {
    let town = with_operator(kind).await;
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
            let reply = send(town.house.addr, &request("POST", path, &headers, body.as_bytes())).await;
            assert_eq!(reply.status, 200, "{path} {key} {}", reply.text());
            sent += 1;
        }
        let reply = send(
            town.house.addr,
            &request("POST", path, &[("x-api-key", "a-guess")], b"{}"),
        )
        .await;
        assert_eq!(reply.status, 401, "{path}");
    }
    assert_eq!(town.house.count("inbox"), sent);
}
