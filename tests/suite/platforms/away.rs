//! A platform is away, says no, or says not now.

use super::road::{ROADS, answered, own_couriers};
use crate::support::{Kind, Meal, Town};
use garson_sim::Platform::{self, Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{Courier, Fault};
use serde_json::json;

on_both! {
    a_platform_that_is_away_is_said_to_be
    a_platform_that_fails_has_done_nothing
    what_is_told_waits_until_the_platform_is_back
    a_refusal_is_handed_on_in_the_platforms_words
    an_order_that_was_cancelled_there_is_not_verified
    a_step_that_is_finally_refused_shows_on_the_order
    too_many_calls_are_tried_again_later
}

/// Nothing has happened to a new order.
async fn is_untouched(town: &Town, meal: &Meal) {
    let order = town.shown(meal).await.unwrap();
    assert_eq!(order["status"], json!(400));
    assert_eq!(order["providerSync"]["state"], json!("not_needed"), "{order:#}");
    assert_eq!(town.story(meal).await, ["created 400"]);
}

async fn a_platform_that_is_away_is_said_to_be(kind: Kind) {
    let mut town = Town::open(kind).await;
    let mut meals = Vec::new();
    for road in ROADS {
        meals.push((road, town.order(road.platform, road.courier).await));
    }
    // Nobody listens where the platforms were.
    let real = town.url.clone();
    let house = &mut town.house;
    house
        .restart_with(|settings| {
            for platform in Platform::ALL {
                let terms = settings.platforms.get_mut(&platform.to_string()).unwrap();
                terms.base_url = format!("http://127.0.0.1:9/{platform}");
            }
        })
        .await;
    for (road, meal) in &meals {
        let verify = format!("/orders/verify/{}", meal.id);
        let error = house.a.act(&verify).await.refused(502, "provider_unreachable");
        assert!(
            error["message"].as_str().unwrap().contains("nothing has changed"),
            "{error}"
        );
        let cancel = format!("/orders/cancel/{}", meal.id);
        house.a.act(&cancel).await.refused(502, "provider_unreachable");
        let order = house.a.get(&format!("/orders/{}", meal.id)).await.data();
        assert_eq!(order["status"], json!(400), "{road:?}");
        assert_eq!(order["timeline"].as_array().unwrap().len(), 1);
    }
    house
        .restart_with(|settings| {
            for platform in Platform::ALL {
                let terms = settings.platforms.get_mut(&platform.to_string()).unwrap();
                terms.base_url = format!("{real}/{platform}");
            }
        })
        .await;
    for (road, meal) in &meals {
        let verify = format!("/orders/verify/{}", meal.id);
        let verified = house.a.act(&verify).await.data();
        assert_eq!(verified["status"], json!(500), "{road:?}");
    }
}

async fn a_platform_that_fails_has_done_nothing(kind: Kind) {
    let town = Town::open(kind).await;
    let down = Fault::Status {
        status: 503,
        body: None,
    };
    for road in own_couriers() {
        for fault in [down.clone(), Fault::Drop] {
            let meal = town.order(road.platform, road.courier).await;
            let verify = road.verify.call.unwrap();
            town.fault(road.platform, verify, fault.clone(), Some(1)).await;
            let error = town.verify(&meal).await.refused(502, "provider_unreachable");
            assert!(!error["message"].as_str().unwrap().is_empty());
            is_untouched(&town, &meal).await;
            // Asked again, it is back.
            town.verify(&meal).await.data();
            assert_eq!(town.calls(&meal, verify).await, 2, "{road:?} {fault:?}");
            assert_eq!(town.story(&meal).await, ["created 400", "400>500 account"]);
        }
    }
}

async fn what_is_told_waits_until_the_platform_is_back(kind: Kind) {
    let town = Town::open(kind).await;
    let down = Fault::Status {
        status: 503,
        body: None,
    };
    for road in ROADS {
        let meal = town.verified(road.platform, road.courier).await;
        town.fault(road.platform, "*", down.clone(), None).await;
        let calls = [road.ready.call, road.on_the_way.call, road.delivered.call];
        town.ready(&meal).await.data();
        town.advance(&meal).await.data();
        town.advance(&meal).await.data();
        town.reaches(&meal, 900).await;
        // Some tries, with growing pauses.
        for seconds in [2, 5, 20] {
            town.pass(seconds).await;
        }
        town.synced(&meal, "pending").await;
        assert_eq!(town.view(&meal).await.state_text(), road.verify.state, "{road:?}");
        town.control.clear_faults().await.unwrap();
        for _ in 0..20 {
            if town.shown(&meal).await.unwrap()["providerSync"]["state"] == json!("done") {
                break;
            }
            // Whatever is due is made before more time goes by.
            town.pass(400).await;
        }
        town.synced(&meal, "done").await;
        assert_eq!(
            town.view(&meal).await.state_text(),
            road.delivered.state,
            "{road:?}"
        );
        // Each was done once, in its order.
        let done: Vec<String> = town.sent(&meal).await;
        let done: Vec<&String> = done.iter().filter(|line| line.ends_with("200")).collect();
        let wanted: Vec<&str> = [road.verify.call].into_iter().chain(calls).flatten().collect();
        assert_eq!(done, answered(&wanted).iter().collect::<Vec<_>>(), "{road:?}");
        let story = [
            "created 400",
            "400>500 account",
            "500>600 account",
            "600>900 account",
        ];
        assert_eq!(town.story(&meal).await, story);
    }
}

async fn a_refusal_is_handed_on_in_the_platforms_words(kind: Kind) {
    let town = Town::open(kind).await;
    for road in own_couriers() {
        let verify = road.verify.call.unwrap();
        let body = match road.platform {
            Getir => json!({ "code": 38, "error": "RestaurantIsNotOpen", "message": "restoran kapalı" }),
            Yemeksepeti => json!({ "code": "INVALID_REQUEST", "message": "restoran kapalı" }),
            Trendyol => json!({ "exception": "Closed", "errors": [{ "message": "restoran kapalı" }] }),
            Migros => json!({ "success": false, "data": null, "errorMessage": "restoran kapalı" }),
        };
        let no = Fault::Status {
            status: 400,
            body: Some(body),
        };
        let meal = town.order(road.platform, road.courier).await;
        town.fault(road.platform, verify, no, Some(1)).await;
        let error = town.verify(&meal).await.refused(409, "provider_refused");
        assert!(
            error["message"].as_str().unwrap().contains("restoran kapalı"),
            "{road:?} {error}"
        );
        is_untouched(&town, &meal).await;
        assert_eq!(town.sent(&meal).await, [format!("{verify} 400")]);
        town.verify(&meal).await.data();
    }
}

/// An order ends on its platform, and the message is lost: whoever asks for it hears of it, and it ends here too.
async fn an_order_that_was_cancelled_there_is_not_verified(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for road in own_couriers() {
        for (by, is_ours) in [("customer", false), ("restaurant", road.platform != Migros)] {
            let verify = road.verify.call.unwrap();
            let meal = town.order(road.platform, road.courier).await;
            town.fault(road.platform, "push", Fault::Drop, Some(1)).await;
            town.they_cancel(&meal, by).await;
            let error = town.verify(&meal).await.refused(409, "provider_refused");
            let said = error["message"].as_str().unwrap().to_lowercase();
            assert!(
                said.contains("cancel") || said.contains("unsupplied"),
                "{road:?} {said}"
            );
            let status = if is_ours { 1600 } else { 1500 };
            assert_eq!(
                town.shown(&meal).await.unwrap()["status"],
                json!(status),
                "{road:?} {by}"
            );
            let story = town.story(&meal).await;
            assert_eq!(story.len(), 2, "{road:?} {story:?}");
            assert_eq!(town.calls(&meal, verify).await, 1);
            town.verify(&meal).await.refused(409, "order_cancelled");
            assert_eq!(town.calls(&meal, verify).await, 1);
        }
    }
}

async fn a_step_that_is_finally_refused_shows_on_the_order(kind: Kind) {
    let town = Town::open(kind).await;
    for road in ROADS.iter().filter(|road| road.on_the_way.call.is_some()) {
        let meal = town.verified(road.platform, road.courier).await;
        town.ready(&meal).await.data();
        town.synced(&meal, road.ready.sync()).await;
        let body = match road.platform {
            Getir => json!({ "code": 3, "error": "FoodOrderStatusInvalid", "message": "olmaz" }),
            Yemeksepeti => json!({ "code": "INVALID_REQUEST", "message": "olmaz" }),
            Trendyol => json!({ "errors": [{ "message": "olmaz" }] }),
            Migros => json!({ "success": false, "data": null, "errorMessage": "olmaz" }),
        };
        let no = Fault::Status {
            status: 400,
            body: Some(body),
        };
        let call = road.on_the_way.call.unwrap();
        let before = town.calls(&meal, call).await;
        town.fault(road.platform, call, no, None).await;
        town.advance(&meal).await.data();
        let order = town.synced(&meal, "failed").await;
        let said = order["providerSync"]["message"].as_str().unwrap();
        assert!(said.contains("olmaz"), "{road:?} {said}");
        // The order has moved all the same, and nobody goes on trying.
        assert_eq!(order["status"], json!(600));
        town.pass(600).await;
        town.poll().await;
        assert_eq!(town.calls(&meal, call).await, before + 1, "{road:?}");
        town.control.clear_faults().await.unwrap();
    }
}

async fn too_many_calls_are_tried_again_later(kind: Kind) {
    let town = Town::open(kind).await;
    for road in ROADS.iter().filter(|road| road.courier != Courier::Pickup) {
        let meal = town.verified(road.platform, road.courier).await;
        let call = road.ready.call.or(road.on_the_way.call).unwrap();
        let before = town.calls(&meal, call).await;
        town.fault(road.platform, call, Fault::RateLimited, Some(1)).await;
        town.advance(&meal).await.data();
        town.shows(&meal, "is put off", |order| {
            order["providerSync"]["dueAt"] != order["updatedAt"]
        })
        .await;
        assert_eq!(town.calls(&meal, call).await, before + 1, "{road:?}");
        town.pass(90).await;
        town.synced(&meal, "done").await;
        let line = format!("{call} 429");
        let sent = town.sent(&meal).await;
        assert_eq!(
            sent.iter().filter(|sent| **sent == line).count(),
            1,
            "{road:?} {sent:?}"
        );
        assert_eq!(
            town.view(&meal).await.state_text(),
            road.on_the_way.state,
            "{road:?}"
        );
    }
    // A question is not put off: the client hears of it.
    for road in own_couriers() {
        let meal = town.order(road.platform, road.courier).await;
        let verify = road.verify.call.unwrap();
        town.fault(road.platform, verify, Fault::RateLimited, Some(1))
            .await;
        town.verify(&meal).await.refused(502, "provider_unreachable");
        is_untouched(&town, &meal).await;
        town.verify(&meal).await.data();
    }
}
