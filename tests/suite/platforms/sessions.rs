//! Sessions run out, limits are kept, and what was asked a moment ago is not asked again.

use super::road::{ROADS, own_couriers};
use crate::support::{Kind, Town, credentials};
use garson_sim::Platform::{Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{Courier, Fault, OrderRequest};
use serde_json::{Value, json};

on_both! {
    a_session_that_runs_out_is_begun_again_once
    a_session_is_shared_by_all_calls
    wrong_credentials_are_not_tried_again_and_again
    reasons_are_asked_once_for_several_questions
    reasons_that_cannot_be_had_leave_the_choice_to_the_platform
    getirs_limit_for_reasons_is_kept
    menus_are_asked_once_for_several_questions
    a_platform_without_a_menu_says_so
    platforms_say_what_they_can
}

async fn a_session_that_runs_out_is_begun_again_once(kind: Kind) {
    let town = Town::open(kind).await;
    for road in ROADS
        .iter()
        .filter(|road| [Getir, Yemeksepeti].contains(&road.platform))
    {
        // A session is there.
        town.verified(road.platform, road.courier).await;
        let meal = town.order(road.platform, road.courier).await;
        let verify = road.verify.call.unwrap();
        town.fault(road.platform, verify, Fault::ExpiredToken, Some(1))
            .await;
        assert_eq!(town.verify(&meal).await.data()["status"], json!(500), "{road:?}");
        assert_eq!(
            town.sent(&meal).await,
            [format!("{verify} 401"), format!("{verify} 200")]
        );
        assert_eq!(town.calls(&meal, "login").await, 1, "{road:?}");
        assert_eq!(town.story(&meal).await, ["created 400", "400>500 account"]);

        // In the middle of its way, too, where nobody waits.
        let call = road.ready.call.or(road.on_the_way.call).unwrap();
        town.fault(road.platform, call, Fault::ExpiredToken, Some(1))
            .await;
        town.advance(&meal).await.data();
        town.synced(&meal, "done").await;
        assert_eq!(town.calls(&meal, "login").await, 2, "{road:?}");
        assert_eq!(town.calls(&meal, call).await, 2, "{road:?}");
        assert_eq!(town.view(&meal).await.state_text(), road.on_the_way.state);
    }
}

async fn a_session_is_shared_by_all_calls(kind: Kind) {
    let town = Town::open(kind).await;
    let first = town.order(Getir, Courier::Restaurant).await;
    for _ in 0..3 {
        let meal = town.verified(Getir, Courier::Restaurant).await;
        town.reasons(&meal).await;
        town.advance(&meal).await.data();
        town.advance(&meal).await.data();
        town.synced(&meal, "done").await;
        town.poll().await;
    }
    // One from the first poll in the beginning, before or after the first order.
    assert!(town.calls(&first, "login").await <= 1);
    let all = town.control.journal(Some(Getir), 0).await.unwrap();
    assert_eq!(all.iter().filter(|line| line.operation == "login").count(), 1);
}

async fn wrong_credentials_are_not_tried_again_and_again(kind: Kind) {
    let town = Town::open(kind).await;
    for platform in [Getir, Yemeksepeti] {
        let mut wrong = credentials(platform);
        match platform {
            Getir => wrong["restaurantSecretKey"] = json!("somebody-elses"),
            _ => wrong["password"] = json!("somebody-elses"),
        }
        town.connect(platform, &wrong).await.data();
        let meal = town.order(platform, Courier::Restaurant).await;
        for _ in 0..3 {
            let error = town.verify(&meal).await.refused(502, "provider_unreachable");
            assert!(error["message"].as_str().unwrap().contains("log-in"), "{error}");
        }
        // The background's first poll may have tried as well.
        assert!(town.calls(&meal, "login").await <= 1, "{platform}");
        // Mended, it works at once.
        town.connect(platform, &credentials(platform)).await.data();
        town.verify(&meal).await.data();
        assert_eq!(town.story(&meal).await, ["created 400", "400>500 account"]);
    }
}

async fn reasons_are_asked_once_for_several_questions(kind: Kind) {
    let town = Town::open(kind).await;
    for (platform, call) in [(Getir, "cancel-options"), (Migros, "reasons")] {
        let meal = town.order(platform, Courier::Restaurant).await;
        let reasons = town.reasons(&meal).await;
        for _ in 0..4 {
            assert_eq!(town.reasons(&meal).await, reasons);
        }
        town.cancel(&meal, json!({ "reason": reasons[1] })).await.data();
        assert_eq!(town.calls(&meal, call).await, 1, "{platform}");
    }
    for platform in [Yemeksepeti, Trendyol] {
        let meal = town.order(platform, Courier::Restaurant).await;
        assert!(!town.reasons(&meal).await.is_empty());
        assert!(town.journal(&meal).await.is_empty(), "its list is fixed");
    }
}

async fn reasons_that_cannot_be_had_leave_the_choice_to_the_platform(kind: Kind) {
    let town = Town::open(kind).await;
    for (platform, call, reason) in [
        (Getir, "cancel-options", "5f05b13f2765e85c5d0432d3"),
        (Migros, "reasons", "103"),
    ] {
        let meal = town.order(platform, Courier::Restaurant).await;
        town.fault(platform, call, Fault::RateLimited, None).await;
        let path = format!("/orders/reasons/{}", meal.id);
        town.a.get(&path).await.refused(502, "provider_unreachable");
        // A wrong one is refused by the platform itself.
        let wrong = town.cancel(&meal, json!({ "reason": "99" })).await;
        wrong.refused(409, "provider_refused");
        let body = json!({ "reason": reason });
        assert_eq!(town.cancel(&meal, body).await.data()["status"], json!(1600));
        let there = town.view(&meal).await;
        assert_eq!(there.cancelled_by.as_deref(), Some("restaurant"));
        town.control.clear_faults().await.unwrap();
    }
}

/// Getir lets reasons be asked for 40 times in ten minutes, and blocks whoever asks more often.
async fn getirs_limit_for_reasons_is_kept(kind: Kind) {
    let town = Town::open(kind).await;
    let request = OrderRequest {
        count: 43,
        ..OrderRequest::new(Getir)
    };
    let meals = town.place_many(request).await;
    for (number, meal) in meals.iter().enumerate() {
        town.reaches(meal, 400).await;
        let reply = town.a.get(&format!("/orders/reasons/{}", meal.id)).await;
        match number {
            0..40 => drop(reply.data()),
            _ => drop(reply.refused(502, "provider_unreachable")),
        }
    }
    let lines = town.control.journal(Some(Getir), 0).await.unwrap();
    let asked: Vec<_> = lines
        .iter()
        .filter(|line| line.operation == "cancel-options")
        .collect();
    assert_eq!(asked.len(), 40);
    assert!(asked.iter().all(|line| line.status == Some(200)), "{asked:?}");
    // Without the list an order can be cancelled all the same.
    let body = json!({ "reason": "5f05b13f2765e85c5d0432d3" });
    assert_eq!(town.cancel(&meals[42], body).await.data()["status"], json!(1600));
}

async fn menus_are_asked_once_for_several_questions(kind: Kind) {
    let town = Town::open(kind).await;
    for (platform, call) in [(Getir, "menu"), (Trendyol, "products"), (Migros, "menu")] {
        let path = format!("/providers/{platform}/menus?restaurantId={}", town.restaurant);
        let menu = town.a.get(&path).await.data();
        assert_eq!(menu["provider"], json!(platform.to_string()));
        assert_eq!(menu["restaurantId"], json!(town.restaurant));
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
            assert_eq!(town.a.get(&path).await.data(), menu);
        }
        let lines = town.control.journal(Some(platform), 0).await.unwrap();
        let asked = lines.iter().filter(|line| line.operation == call).count();
        assert_eq!(asked, 1, "{platform} is asked once");
    }
}

async fn a_platform_without_a_menu_says_so(kind: Kind) {
    let town = Town::open(kind).await;
    let path = format!("/providers/yemeksepeti/menus?restaurantId={}", town.restaurant);
    town.a.get(&path).await.refused(409, "not_supported");
    // One that fails says so, and is asked again.
    let path = format!("/providers/getir/menus?restaurantId={}", town.restaurant);
    let down = Fault::Status {
        status: 500,
        body: None,
    };
    town.fault(Getir, "menu", down, Some(1)).await;
    let reply = town.a.get(&path).await;
    assert!([502, 504].contains(&reply.status), "{}", reply.text());
    town.a.get(&path).await.data();
}

async fn platforms_say_what_they_can(kind: Kind) {
    let town = Town::open(kind).await;
    let shown = town.a.get("/providers").await.data();
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
    for road in own_couriers() {
        let provider = of(&road.platform.to_string());
        assert_eq!(provider["asks"], json!(true));
        assert_eq!(provider["cancelAfterAccept"], json!(true));
        assert_eq!(provider["menu"], json!(road.platform != Yemeksepeti));
        let live = [Getir, Migros].contains(&road.platform);
        assert_eq!(provider["liveReasons"], json!(live), "{provider:#}");
        let known = credentials(road.platform);
        let mut known: Vec<&String> = known.as_object().unwrap().keys().collect();
        let mut wanted = names(provider);
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
