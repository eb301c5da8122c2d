//! Cancellations: by us with an accepted reason, by the customer, on the tablet.

use super::expected_calls::{EXPECTED_CALLS, ExpectedCalls};
use crate::support::{Backend, PlatformOrder, PlatformWorld};
use garson_sim::Platform;
use serde_json::{Value, json};

on_both! {
    a_new_order_is_cancelled_with_a_reason
    an_accepted_order_is_cancelled_with_a_reason
    default_reason_is_used_when_none_is_given
    customer_cancellation_is_applied
    platform_cancellation_is_applied
    restaurant_tablet_cancels
    an_order_that_was_delivered_cannot_be_cancelled
}

/// The call that cancels.
fn call(expected: &ExpectedCalls, is_accepted: bool) -> &'static str {
    match (expected.platform, is_accepted) {
        (Platform::Getir, _) => "cancel",
        (Platform::Yemeksepeti, _) => "order_rejected",
        (Platform::Trendyol, _) => "unsupplied",
        (Platform::Migros, false) => "update-status",
        (Platform::Migros, true) => "cancel-order",
    }
}

/// The state on the platform after the restaurant has cancelled an order.
fn end(expected: &ExpectedCalls, is_accepted: bool) -> &'static str {
    match (expected.platform, is_accepted) {
        (Platform::Getir, _) => "1600",
        (Platform::Trendyol, _) => "UnSupplied",
        (_, false) => "REJECTED",
        (_, true) => "CANCELLED",
    }
}

async fn is_cancelled_with_a_reason(backend: Backend, is_accepted: bool) {
    let world = PlatformWorld::open(backend).await;
    for expected in EXPECTED_CALLS {
        let placed = if is_accepted {
            world.verified(expected.platform, expected.courier).await
        } else {
            world.order(expected.platform, expected.courier).await
        };
        let mut calls: Vec<String> = is_accepted
            .then(|| format!("{} 200", expected.verify.call.unwrap()))
            .into_iter()
            .collect();
        let reasons = world.reasons(&placed).await;
        assert!(reasons.len() > 1, "{expected:?}: {reasons:?}");

        let wrong = world.cancel(&placed, json!({ "reason": "because" })).await;
        let error = wrong.refused(422, "reason_not_accepted");
        for reason in &reasons {
            assert!(
                error["details"].to_string().contains(reason),
                "{reason} is not in {error}"
            );
        }
        assert_eq!(world.sent(&placed).await, calls, "{expected:?}");

        let reason = reasons.last().unwrap();
        let body = json!({ "reason": reason, "note": "Fırın bozuldu" });
        let cancelled = world.cancel(&placed, body.clone()).await.data();
        assert_eq!(cancelled["status"], json!(1600), "{expected:?}");
        calls.push(format!("{} 200", call(&expected, is_accepted)));
        let there = world.view(&placed).await;
        assert_eq!(there.state_text(), end(&expected, is_accepted), "{expected:?}");
        assert_eq!(there.cancelled_by.as_deref(), Some("restaurant"), "{expected:?}");
        let here = world.find_order(&placed).await.unwrap();
        assert_eq!(
            here["cancellation"]["reason"]["id"],
            json!(reason),
            "{expected:?}"
        );
        assert_eq!(
            here["cancellation"]["note"],
            json!("Fırın bozuldu"),
            "{expected:?}"
        );

        // Repeated with any reason: the same response, and nothing else happens.
        for again in [body, json!({}), json!({ "reason": "because" })] {
            assert_eq!(world.cancel(&placed, again).await.data()["status"], json!(1600));
        }
        world.verify(&placed).await.refused(409, "order_cancelled");
        world.poll().await;
        assert_eq!(world.sent(&placed).await, calls, "{expected:?}");
        let from = is_accepted.then(|| "400>500 account".to_owned());
        let story = ["created 400".to_owned()]
            .into_iter()
            .chain(from)
            .chain(["cancelled 1600 account".to_owned()]);
        assert_eq!(
            world.event_summary(&placed).await,
            story.collect::<Vec<_>>(),
            "{expected:?}"
        );
    }
}

async fn a_new_order_is_cancelled_with_a_reason(backend: Backend) {
    is_cancelled_with_a_reason(backend, false).await;
}

async fn an_accepted_order_is_cancelled_with_a_reason(backend: Backend) {
    is_cancelled_with_a_reason(backend, true).await;
}

async fn default_reason_is_used_when_none_is_given(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for expected in super::expected_calls::own_couriers() {
        let (platform, courier) = (expected.platform, expected.courier);
        let first = world.order(platform, courier).await;
        let reasons = world.reasons(&first).await;
        world.cancel(&first, json!({})).await.data();
        let given = world.find_order(&first).await.unwrap()["cancellation"]["reason"]["id"].clone();
        assert_eq!(given, json!(reasons[0]), "{expected:?}");

        let path = format!("/restaurants/{}/integrations/{platform}", world.restaurant);
        let usual = json!({ "defaultCancelReason": reasons[1] });
        world.a.put(&path, &usual).await.data();
        let second = world.order(platform, courier).await;
        world.cancel(&second, json!({})).await.data();
        let given = world.find_order(&second).await.unwrap()["cancellation"]["reason"]["id"].clone();
        assert_eq!(given, json!(reasons[1]), "{expected:?}");
        let there = world.view(&second).await;
        assert_eq!(there.cancelled_by.as_deref(), Some("restaurant"));
        assert_eq!(world.calls(&second, call(&expected, false)).await, 1);
    }
}

/// Another party cancels: the order ends, and we send nothing.
async fn others_cancel(
    world: &PlatformWorld,
    placed: &PlatformOrder,
    by: &str,
    wanted: (i64, &str),
    before: &[&str],
) {
    let sent = world.sent(placed).await;
    world.cancel_on_platform(placed, by).await;
    let order = world.wait_for_status(placed, wanted.0).await;
    assert_eq!(order["cancellation"]["by"], json!(wanted.1), "{order:#}");
    assert_eq!(world.sent(placed).await, sent);
    let last = format!("cancelled {} {}", wanted.0, wanted.1);
    let mut story: Vec<&str> = before.to_vec();
    story.push(&last);
    assert_eq!(world.event_summary(placed).await, story);
    world.verify(placed).await.refused(409, "order_cancelled");
    world.advance(placed).await.refused(409, "no_next_status");
    // It stays whose it is.
    assert_eq!(
        world.cancel(placed, json!({})).await.data()["status"],
        json!(wanted.0)
    );
    assert_eq!(world.sent(placed).await, sent);
}

async fn customer_cancellation_is_applied(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for expected in EXPECTED_CALLS {
        // Getir and Migros do not say that it was the customer.
        let by = match expected.platform {
            Platform::Getir | Platform::Migros => "platform",
            Platform::Yemeksepeti | Platform::Trendyol => "customer",
        };
        let placed = world.order(expected.platform, expected.courier).await;
        others_cancel(&world, &placed, "customer", (1500, by), &["created 400"]).await;
        let placed = world.verified(expected.platform, expected.courier).await;
        let before = ["created 400", "400>500 account"];
        others_cancel(&world, &placed, "customer", (1500, by), &before).await;
    }
}

async fn platform_cancellation_is_applied(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for expected in EXPECTED_CALLS {
        let placed = world.verified(expected.platform, expected.courier).await;
        let before = ["created 400", "400>500 account"];
        others_cancel(&world, &placed, "platform", (1500, "platform"), &before).await;
    }
}

async fn restaurant_tablet_cancels(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for expected in EXPECTED_CALLS {
        // The short message of Migros does not say by whom.
        let wanted = match expected.platform {
            Platform::Migros => (1500, "platform"),
            _ => (1600, "account"),
        };
        let placed = world.verified(expected.platform, expected.courier).await;
        let before = ["created 400", "400>500 account"];
        others_cancel(&world, &placed, "restaurant", wanted, &before).await;
    }
}

async fn an_order_that_was_delivered_cannot_be_cancelled(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for expected in EXPECTED_CALLS
        .iter()
        .filter(|expected| expected.delivered.call.is_some())
    {
        let placed = world.verified(expected.platform, expected.courier).await;
        world.advance(&placed).await.data();
        world.advance(&placed).await.data();
        world.wait_for_sync(&placed, "done").await;
        let refused = world.cancel(&placed, json!({})).await;
        let error = refused.refused(409, "provider_refused");
        assert!(error["message"].as_str().unwrap().len() > 10, "{error}");
        let order = world.find_order(&placed).await.unwrap();
        assert_eq!(
            (&order["status"], &order["cancellation"]),
            (&json!(900), &Value::Null)
        );
        assert_eq!(
            world.calls(&placed, call(expected, true)).await,
            1,
            "{expected:?}"
        );
        assert_eq!(world.event_summary(&placed).await.len(), 4);
    }
}
