//! A platform is unavailable, refuses, or asks to wait.

use super::expected_calls::{EXPECTED_CALLS, answered, own_couriers};
use crate::support::{Backend, PlatformOrder, PlatformWorld};
use garson_sim::Platform::{self, Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{Courier, Fault};
use serde_json::json;

on_both! {
    platform_outage_is_shown
    failed_call_changes_nothing
    calls_wait_until_the_platform_recovers
    refusal_is_returned_in_the_platforms_words
    order_cancelled_on_the_platform_is_not_verified
    finally_refused_step_is_shown_on_the_order
    rate_limited_calls_are_retried_later
}

/// Nothing has happened to a new order.
async fn is_untouched(world: &PlatformWorld, placed: &PlatformOrder) {
    let order = world.find_order(placed).await.unwrap();
    assert_eq!(order["status"], json!(400));
    assert_eq!(order["providerSync"]["state"], json!("not_needed"), "{order:#}");
    assert_eq!(world.event_summary(placed).await, ["created 400"]);
}

async fn platform_outage_is_shown(backend: Backend) {
    let mut world = PlatformWorld::open(backend).await;
    let mut placed_orders = Vec::new();
    for expected in EXPECTED_CALLS {
        placed_orders.push((expected, world.order(expected.platform, expected.courier).await));
    }
    // The platforms' port is closed.
    let real = world.url.clone();
    let service = &mut world.service;
    service
        .restart_with(|settings| {
            for platform in Platform::ALL {
                let terms = settings.platforms.get_mut(&platform.to_string()).unwrap();
                terms.base_url = format!("http://127.0.0.1:9/{platform}");
            }
        })
        .await;
    for (expected, placed) in &placed_orders {
        let verify = format!("/orders/verify/{}", placed.id);
        let error = service.a.act(&verify).await.refused(502, "provider_unreachable");
        assert!(
            error["message"].as_str().unwrap().contains("nothing has changed"),
            "{error}"
        );
        let cancel = format!("/orders/cancel/{}", placed.id);
        service.a.act(&cancel).await.refused(502, "provider_unreachable");
        let order = service.a.get(&format!("/orders/{}", placed.id)).await.data();
        assert_eq!(order["status"], json!(400), "{expected:?}");
        assert_eq!(order["timeline"].as_array().unwrap().len(), 1);
    }
    service
        .restart_with(|settings| {
            for platform in Platform::ALL {
                let terms = settings.platforms.get_mut(&platform.to_string()).unwrap();
                terms.base_url = format!("{real}/{platform}");
            }
        })
        .await;
    for (expected, placed) in &placed_orders {
        let verify = format!("/orders/verify/{}", placed.id);
        let verified = service.a.act(&verify).await.data();
        assert_eq!(verified["status"], json!(500), "{expected:?}");
    }
}

async fn failed_call_changes_nothing(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let down = Fault::Status {
        status: 503,
        body: None,
    };
    for expected in own_couriers() {
        for fault in [down.clone(), Fault::Drop] {
            let placed = world.order(expected.platform, expected.courier).await;
            let verify = expected.verify.call.unwrap();
            world
                .fault(expected.platform, verify, fault.clone(), Some(1))
                .await;
            let error = world.verify(&placed).await.refused(502, "provider_unreachable");
            assert!(!error["message"].as_str().unwrap().is_empty());
            is_untouched(&world, &placed).await;
            // Asked again, it is back.
            world.verify(&placed).await.data();
            assert_eq!(world.calls(&placed, verify).await, 2, "{expected:?} {fault:?}");
            assert_eq!(
                world.event_summary(&placed).await,
                ["created 400", "400>500 account"]
            );
        }
    }
}

async fn calls_wait_until_the_platform_recovers(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let down = Fault::Status {
        status: 503,
        body: None,
    };
    for expected in EXPECTED_CALLS {
        let placed = world.verified(expected.platform, expected.courier).await;
        world.fault(expected.platform, "*", down.clone(), None).await;
        let calls = [
            expected.ready.call,
            expected.on_the_way.call,
            expected.delivered.call,
        ];
        world.ready(&placed).await.data();
        world.advance(&placed).await.data();
        world.advance(&placed).await.data();
        world.wait_for_status(&placed, 900).await;
        // Some tries, with growing pauses.
        for seconds in [2, 5, 20] {
            world.advance_clock(seconds).await;
        }
        world.wait_for_sync(&placed, "pending").await;
        assert_eq!(
            world.view(&placed).await.state_text(),
            expected.verify.state,
            "{expected:?}"
        );
        world.control.clear_faults().await.unwrap();
        for _ in 0..20 {
            if world.find_order(&placed).await.unwrap()["providerSync"]["state"] == json!("done") {
                break;
            }
            // Whatever is due is made before more time goes by.
            world.advance_clock(400).await;
        }
        world.wait_for_sync(&placed, "done").await;
        assert_eq!(
            world.view(&placed).await.state_text(),
            expected.delivered.state,
            "{expected:?}"
        );
        // Each was done once, in its order.
        let done: Vec<String> = world.sent(&placed).await;
        let done: Vec<&String> = done.iter().filter(|line| line.ends_with("200")).collect();
        let wanted: Vec<&str> = [expected.verify.call]
            .into_iter()
            .chain(calls)
            .flatten()
            .collect();
        assert_eq!(done, answered(&wanted).iter().collect::<Vec<_>>(), "{expected:?}");
        let story = [
            "created 400",
            "400>500 account",
            "500>600 account",
            "600>900 account",
        ];
        assert_eq!(world.event_summary(&placed).await, story);
    }
}

async fn refusal_is_returned_in_the_platforms_words(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for expected in own_couriers() {
        let verify = expected.verify.call.unwrap();
        let body = match expected.platform {
            Getir => json!({ "code": 38, "error": "RestaurantIsNotOpen", "message": "restoran kapalı" }),
            Yemeksepeti => json!({ "code": "INVALID_REQUEST", "message": "restoran kapalı" }),
            Trendyol => json!({ "exception": "Closed", "errors": [{ "message": "restoran kapalı" }] }),
            Migros => json!({ "success": false, "data": null, "errorMessage": "restoran kapalı" }),
        };
        let no = Fault::Status {
            status: 400,
            body: Some(body),
        };
        let placed = world.order(expected.platform, expected.courier).await;
        world.fault(expected.platform, verify, no, Some(1)).await;
        let error = world.verify(&placed).await.refused(409, "provider_refused");
        assert!(
            error["message"].as_str().unwrap().contains("restoran kapalı"),
            "{expected:?} {error}"
        );
        is_untouched(&world, &placed).await;
        assert_eq!(world.sent(&placed).await, [format!("{verify} 400")]);
        world.verify(&placed).await.data();
    }
}

/// An order ends on its platform, and the message is lost: the next call detects it, and the order ends here too.
async fn order_cancelled_on_the_platform_is_not_verified(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for expected in own_couriers() {
        for (by, is_ours) in [("customer", false), ("restaurant", expected.platform != Migros)] {
            let verify = expected.verify.call.unwrap();
            let placed = world.order(expected.platform, expected.courier).await;
            world.fault(expected.platform, "push", Fault::Drop, Some(1)).await;
            world.cancel_on_platform(&placed, by).await;
            let error = world.verify(&placed).await.refused(409, "provider_refused");
            let said = error["message"].as_str().unwrap().to_lowercase();
            assert!(
                said.contains("cancel") || said.contains("unsupplied"),
                "{expected:?} {said}"
            );
            let status = if is_ours { 1600 } else { 1500 };
            assert_eq!(
                world.find_order(&placed).await.unwrap()["status"],
                json!(status),
                "{expected:?} {by}"
            );
            let story = world.event_summary(&placed).await;
            assert_eq!(story.len(), 2, "{expected:?} {story:?}");
            assert_eq!(world.calls(&placed, verify).await, 1);
            world.verify(&placed).await.refused(409, "order_cancelled");
            assert_eq!(world.calls(&placed, verify).await, 1);
        }
    }
}

async fn finally_refused_step_is_shown_on_the_order(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for expected in EXPECTED_CALLS
        .iter()
        .filter(|expected| expected.on_the_way.call.is_some())
    {
        let placed = world.verified(expected.platform, expected.courier).await;
        world.ready(&placed).await.data();
        world.wait_for_sync(&placed, expected.ready.sync()).await;
        let body = match expected.platform {
            Getir => json!({ "code": 3, "error": "FoodOrderStatusInvalid", "message": "olmaz" }),
            Yemeksepeti => json!({ "code": "INVALID_REQUEST", "message": "olmaz" }),
            Trendyol => json!({ "errors": [{ "message": "olmaz" }] }),
            Migros => json!({ "success": false, "data": null, "errorMessage": "olmaz" }),
        };
        let no = Fault::Status {
            status: 400,
            body: Some(body),
        };
        let call = expected.on_the_way.call.unwrap();
        let before = world.calls(&placed, call).await;
        world.fault(expected.platform, call, no, None).await;
        world.advance(&placed).await.data();
        let order = world.wait_for_sync(&placed, "failed").await;
        let said = order["providerSync"]["message"].as_str().unwrap();
        assert!(said.contains("olmaz"), "{expected:?} {said}");
        // The order has advanced anyway, and there are no more attempts.
        assert_eq!(order["status"], json!(600));
        world.advance_clock(600).await;
        world.poll().await;
        assert_eq!(world.calls(&placed, call).await, before + 1, "{expected:?}");
        world.control.clear_faults().await.unwrap();
    }
}

async fn rate_limited_calls_are_retried_later(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for expected in EXPECTED_CALLS
        .iter()
        .filter(|expected| expected.courier != Courier::Pickup)
    {
        let placed = world.verified(expected.platform, expected.courier).await;
        let call = expected.ready.call.or(expected.on_the_way.call).unwrap();
        let before = world.calls(&placed, call).await;
        world
            .fault(expected.platform, call, Fault::RateLimited, Some(1))
            .await;
        world.advance(&placed).await.data();
        world
            .wait_for_order(&placed, "is put off", |order| {
                order["providerSync"]["dueAt"] != order["updatedAt"]
            })
            .await;
        assert_eq!(world.calls(&placed, call).await, before + 1, "{expected:?}");
        world.advance_clock(90).await;
        world.wait_for_sync(&placed, "done").await;
        let line = format!("{call} 429");
        let sent = world.sent(&placed).await;
        assert_eq!(
            sent.iter().filter(|sent| **sent == line).count(),
            1,
            "{expected:?} {sent:?}"
        );
        assert_eq!(
            world.view(&placed).await.state_text(),
            expected.on_the_way.state,
            "{expected:?}"
        );
    }
    // A call that needs consent is not postponed: the client gets the error.
    for expected in own_couriers() {
        let placed = world.order(expected.platform, expected.courier).await;
        let verify = expected.verify.call.unwrap();
        world
            .fault(expected.platform, verify, Fault::RateLimited, Some(1))
            .await;
        world.verify(&placed).await.refused(502, "provider_unreachable");
        is_untouched(&world, &placed).await;
        world.verify(&placed).await.data();
    }
}
