//! Sessions expire, rate limits are respected, and responses are cached.

use super::expected_calls::{EXPECTED_CALLS, own_couriers};
use crate::support::{Backend, PlatformWorld, credentials};
use garson_sim::Platform::{Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{Courier, Fault, OrderRequest};
use serde_json::{Value, json};

on_both! {
    expired_session_is_renewed_once
    a_session_is_shared_by_all_calls
    wrong_credentials_are_not_retried
    reasons_are_cached
    unavailable_reasons_leave_the_choice_to_the_platform
    getirs_limit_for_reasons_is_kept
    menus_are_cached
    platform_without_a_menu_is_reported
    platforms_list_their_capabilities
}

async fn expired_session_is_renewed_once(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for expected in EXPECTED_CALLS
        .iter()
        .filter(|expected| [Getir, Yemeksepeti].contains(&expected.platform))
    {
        // A session is there.
        world.verified(expected.platform, expected.courier).await;
        let placed = world.order(expected.platform, expected.courier).await;
        let verify = expected.verify.call.unwrap();
        world
            .fault(expected.platform, verify, Fault::ExpiredToken, Some(1))
            .await;
        assert_eq!(
            world.verify(&placed).await.data()["status"],
            json!(500),
            "{expected:?}"
        );
        assert_eq!(
            world.sent(&placed).await,
            [format!("{verify} 401"), format!("{verify} 200")]
        );
        assert_eq!(world.calls(&placed, "login").await, 1, "{expected:?}");
        assert_eq!(
            world.event_summary(&placed).await,
            ["created 400", "400>500 account"]
        );

        // Also for steps without a waiting client.
        let call = expected.ready.call.or(expected.on_the_way.call).unwrap();
        world
            .fault(expected.platform, call, Fault::ExpiredToken, Some(1))
            .await;
        world.advance(&placed).await.data();
        world.wait_for_sync(&placed, "done").await;
        assert_eq!(world.calls(&placed, "login").await, 2, "{expected:?}");
        assert_eq!(world.calls(&placed, call).await, 2, "{expected:?}");
        assert_eq!(world.view(&placed).await.state_text(), expected.on_the_way.state);
    }
}

async fn a_session_is_shared_by_all_calls(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let first = world.order(Getir, Courier::Restaurant).await;
    for _ in 0..3 {
        let placed = world.verified(Getir, Courier::Restaurant).await;
        world.reasons(&placed).await;
        world.advance(&placed).await.data();
        world.advance(&placed).await.data();
        world.wait_for_sync(&placed, "done").await;
        world.poll().await;
    }
    // One from the first poll in the beginning, before or after the first order.
    assert!(world.calls(&first, "login").await <= 1);
    let all = world.control.journal(Some(Getir), 0).await.unwrap();
    assert_eq!(all.iter().filter(|line| line.operation == "login").count(), 1);
}

async fn wrong_credentials_are_not_retried(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for platform in [Getir, Yemeksepeti] {
        let mut wrong = credentials(platform);
        match platform {
            Getir => wrong["restaurantSecretKey"] = json!("somebody-elses"),
            _ => wrong["password"] = json!("somebody-elses"),
        }
        world.connect(platform, &wrong).await.data();
        let placed = world.order(platform, Courier::Restaurant).await;
        for _ in 0..3 {
            let error = world.verify(&placed).await.refused(502, "provider_unreachable");
            assert!(error["message"].as_str().unwrap().contains("log-in"), "{error}");
        }
        // The background's first poll may have tried as well.
        assert!(world.calls(&placed, "login").await <= 1, "{platform}");
        // Mended, it works at once.
        world.connect(platform, &credentials(platform)).await.data();
        world.verify(&placed).await.data();
        assert_eq!(
            world.event_summary(&placed).await,
            ["created 400", "400>500 account"]
        );
    }
}

async fn reasons_are_cached(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for (platform, call) in [(Getir, "cancel-options"), (Migros, "reasons")] {
        let placed = world.order(platform, Courier::Restaurant).await;
        let reasons = world.reasons(&placed).await;
        for _ in 0..4 {
            assert_eq!(world.reasons(&placed).await, reasons);
        }
        world
            .cancel(&placed, json!({ "reason": reasons[1] }))
            .await
            .data();
        assert_eq!(world.calls(&placed, call).await, 1, "{platform}");
    }
    for platform in [Yemeksepeti, Trendyol] {
        let placed = world.order(platform, Courier::Restaurant).await;
        assert!(!world.reasons(&placed).await.is_empty());
        assert!(world.journal(&placed).await.is_empty(), "its list is fixed");
    }
}

async fn unavailable_reasons_leave_the_choice_to_the_platform(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for (platform, call, reason) in [
        (Getir, "cancel-options", "5f05b13f2765e85c5d0432d3"),
        (Migros, "reasons", "103"),
    ] {
        let placed = world.order(platform, Courier::Restaurant).await;
        world.fault(platform, call, Fault::RateLimited, None).await;
        let path = format!("/orders/reasons/{}", placed.id);
        world.a.get(&path).await.refused(502, "provider_unreachable");
        // A wrong one is refused by the platform itself.
        let wrong = world.cancel(&placed, json!({ "reason": "99" })).await;
        wrong.refused(409, "provider_refused");
        let body = json!({ "reason": reason });
        assert_eq!(world.cancel(&placed, body).await.data()["status"], json!(1600));
        let there = world.view(&placed).await;
        assert_eq!(there.cancelled_by.as_deref(), Some("restaurant"));
        world.control.clear_faults().await.unwrap();
    }
}

/// Getir allows 40 requests for reasons in ten minutes, and blocks clients that send more.
async fn getirs_limit_for_reasons_is_kept(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let request = OrderRequest {
        count: 43,
        ..OrderRequest::new(Getir)
    };
    let placed_orders = world.place_many(request).await;
    for (number, placed) in placed_orders.iter().enumerate() {
        world.wait_for_status(placed, 400).await;
        let reply = world.a.get(&format!("/orders/reasons/{}", placed.id)).await;
        match number {
            0..40 => drop(reply.data()),
            _ => drop(reply.refused(502, "provider_unreachable")),
        }
    }
    let lines = world.control.journal(Some(Getir), 0).await.unwrap();
    let asked: Vec<_> = lines
        .iter()
        .filter(|line| line.operation == "cancel-options")
        .collect();
    assert_eq!(asked.len(), 40);
    assert!(asked.iter().all(|line| line.status == Some(200)), "{asked:?}");
    // Without the list an order can be cancelled all the same.
    let body = json!({ "reason": "5f05b13f2765e85c5d0432d3" });
    assert_eq!(
        world.cancel(&placed_orders[42], body).await.data()["status"],
        json!(1600)
    );
}

async fn menus_are_cached(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for (platform, call) in [(Getir, "menu"), (Trendyol, "products"), (Migros, "menu")] {
        let path = format!("/providers/{platform}/menus?restaurantId={}", world.restaurant);
        let menu = world.a.get(&path).await.data();
        assert_eq!(menu["provider"], json!(platform.to_string()));
        assert_eq!(menu["restaurantId"], json!(world.restaurant));
        assert!(menu["fetchedAt"].is_string());
        let categories = menu["categories"].as_array().unwrap();
        assert!(!categories.is_empty(), "{platform}");
        for category in categories {
            assert!(
                category["id"].is_string() && category["name"].is_string(),
                "{category:#}"
            );
            let products = category["products"].as_array().unwrap();
            assert!(!products.is_empty(), "{platform} {category:#}");
            for product in products {
                assert!(product["price"].as_i64().unwrap() > 100, "{platform} {product:#}");
                assert_eq!(product["currency"], json!("TRY"));
                assert!(product["optionGroups"].is_array());
            }
        }
        for _ in 0..4 {
            assert_eq!(world.a.get(&path).await.data(), menu);
        }
        let lines = world.control.journal(Some(platform), 0).await.unwrap();
        let asked = lines.iter().filter(|line| line.operation == call).count();
        assert_eq!(asked, 1, "{platform} is asked once");
    }
}

async fn platform_without_a_menu_is_reported(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let path = format!("/providers/yemeksepeti/menus?restaurantId={}", world.restaurant);
    world.a.get(&path).await.refused(409, "not_supported");
    // One that fails says so, and is asked again.
    let path = format!("/providers/getir/menus?restaurantId={}", world.restaurant);
    let down = Fault::Status {
        status: 500,
        body: None,
    };
    world.fault(Getir, "menu", down, Some(1)).await;
    let reply = world.a.get(&path).await;
    assert!([502, 504].contains(&reply.status), "{}", reply.text());
    world.a.get(&path).await.data();
}

async fn platforms_list_their_capabilities(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let shown = world.a.get("/providers").await.data();
    let shown = shown.as_array().unwrap();
    let keys: Vec<&str> = shown.iter().map(|p| p["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["direct", "getir", "migros", "trendyol", "yemeksepeti"]);
    let of = |key: &str| shown.iter().find(|p| p["key"] == json!(key)).unwrap();
    let names = |provider: &Value| -> Vec<String> {
        let fields = provider["credentials"].as_array().unwrap().iter();
        fields
            .map(|field| field["name"].as_str().unwrap().to_owned())
            .collect()
    };
    for expected in own_couriers() {
        let provider = of(&expected.platform.to_string());
        assert_eq!(provider["asks"], json!(true));
        assert_eq!(provider["cancelAfterAccept"], json!(true));
        assert_eq!(provider["menu"], json!(expected.platform != Yemeksepeti));
        let live = [Getir, Migros].contains(&expected.platform);
        assert_eq!(provider["liveReasons"], json!(live), "{provider:#}");
        let known = credentials(expected.platform);
        let mut known: Vec<&String> = known.as_object().unwrap().keys().collect();
        let mut wanted = names(provider);
        // Only for changes of prices.
        let is_for_prices = |name: &str| match expected.platform {
            Getir => name == "chainMenuId",
            Yemeksepeti => name == "globalEntityId",
            _ => false,
        };
        wanted.retain(|name| !is_for_prices(name));
        wanted.sort();
        known.sort();
        assert_eq!(wanted.iter().collect::<Vec<_>>(), known, "{provider:#}");
    }
    assert_eq!(of("getir")["secondsBetweenMoves"], json!(60));
    assert_eq!(of("getir")["acceptWithinSeconds"], json!(300));
    assert_eq!(of("migros")["couriers"], json!(["platform", "restaurant"]));
    assert_eq!(
        of("trendyol")["couriers"],
        json!(["platform", "restaurant", "none"])
    );
}
