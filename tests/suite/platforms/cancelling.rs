//! Orders are cancelled: by us with a reason that the platform accepts, by the customer, on the tablet.

use super::road::{ROADS, Road};
use crate::support::{Kind, Meal, Town};
use garson_sim::Platform;
use serde_json::{Value, json};

on_both! {
    a_new_order_is_cancelled_with_a_reason
    an_accepted_order_is_cancelled_with_a_reason
    without_a_reason_the_usual_one_counts
    the_customer_cancels
    the_platform_cancels
    the_restaurants_tablet_cancels
    an_order_that_was_delivered_cannot_be_cancelled
}

/// The call that cancels.
fn call(road: &Road, is_accepted: bool) -> &'static str {
    match (road.platform, is_accepted) {
        (Platform::Getir, _) => "cancel",
        (Platform::Yemeksepeti, _) => "order_rejected",
        (Platform::Trendyol, _) => "unsupplied",
        (Platform::Migros, false) => "update-status",
        (Platform::Migros, true) => "cancel-order",
    }
}

/// Where an order stands on its platform when the restaurant has cancelled it.
fn end(road: &Road, is_accepted: bool) -> &'static str {
    match (road.platform, is_accepted) {
        (Platform::Getir, _) => "1600",
        (Platform::Trendyol, _) => "UnSupplied",
        (_, false) => "REJECTED",
        (_, true) => "CANCELLED",
    }
}

async fn is_cancelled_with_a_reason(kind: Kind, is_accepted: bool) {
    let town = Town::open(kind).await;
    for road in ROADS {
        let meal = match is_accepted {
            false => town.order(road.platform, road.courier).await,
            true => town.verified(road.platform, road.courier).await,
        };
        let mut calls: Vec<String> = is_accepted
            .then(|| format!("{} 200", road.verify.call.unwrap()))
            .into_iter()
            .collect();
        let reasons = town.reasons(&meal).await;
        assert!(reasons.len() > 1, "{road:?}: {reasons:?}");

        let wrong = town.cancel(&meal, json!({ "reason": "because" })).await;
        let error = wrong.refused(422, "reason_not_accepted");
        for reason in &reasons {
            assert!(
                error["details"].to_string().contains(reason),
                "{reason} is not in {error}"
            );
        }
        assert_eq!(town.sent(&meal).await, calls, "{road:?}");

        let reason = reasons.last().unwrap();
        let body = json!({ "reason": reason, "note": "Fırın bozuldu" });
        let cancelled = town.cancel(&meal, body.clone()).await.data();
        assert_eq!(cancelled["status"], json!(1600), "{road:?}");
        calls.push(format!("{} 200", call(&road, is_accepted)));
        let there = town.view(&meal).await;
        assert_eq!(there.state_text(), end(&road, is_accepted), "{road:?}");
        assert_eq!(there.cancelled_by.as_deref(), Some("restaurant"), "{road:?}");
        let here = town.shown(&meal).await.unwrap();
        assert_eq!(here["cancellation"]["reason"]["id"], json!(reason), "{road:?}");
        assert_eq!(here["cancellation"]["note"], json!("Fırın bozuldu"), "{road:?}");

        // Repeated: the same answer, and nothing else happens, whatever the reason.
        for again in [body, json!({}), json!({ "reason": "because" })] {
            assert_eq!(town.cancel(&meal, again).await.data()["status"], json!(1600));
        }
        town.verify(&meal).await.refused(409, "order_cancelled");
        town.poll().await;
        assert_eq!(town.sent(&meal).await, calls, "{road:?}");
        let from = is_accepted.then(|| "400>500 account".to_owned());
        let story = ["created 400".to_owned()]
            .into_iter()
            .chain(from)
            .chain(["cancelled 1600 account".to_owned()]);
        assert_eq!(town.story(&meal).await, story.collect::<Vec<_>>(), "{road:?}");
    }
}

async fn a_new_order_is_cancelled_with_a_reason(kind: Kind) {
    is_cancelled_with_a_reason(kind, false).await;
}

async fn an_accepted_order_is_cancelled_with_a_reason(kind: Kind) {
    is_cancelled_with_a_reason(kind, true).await;
}

async fn without_a_reason_the_usual_one_counts(kind: Kind) {
    let town = Town::open(kind).await;
    for road in super::road::own_couriers() {
        let (platform, courier) = (road.platform, road.courier);
        let first = town.order(platform, courier).await;
        let reasons = town.reasons(&first).await;
        town.cancel(&first, json!({})).await.data();
        let given = town.shown(&first).await.unwrap()["cancellation"]["reason"]["id"].clone();
        assert_eq!(given, json!(reasons[0]), "{road:?}");

        let path = format!("/restaurants/{}/integrations/{platform}", town.restaurant);
        let usual = json!({ "defaultCancelReason": reasons[1] });
        town.a.put(&path, &usual).await.data();
        let second = town.order(platform, courier).await;
        town.cancel(&second, json!({})).await.data();
        let given = town.shown(&second).await.unwrap()["cancellation"]["reason"]["id"].clone();
        assert_eq!(given, json!(reasons[1]), "{road:?}");
        let there = town.view(&second).await;
        assert_eq!(there.cancelled_by.as_deref(), Some("restaurant"));
        assert_eq!(town.calls(&second, call(&road, false)).await, 1);
    }
}

/// Somebody else cancels; the order's end, and nothing that we send.
async fn others_cancel(town: &Town, meal: &Meal, by: &str, wanted: (i64, &str), before: &[&str]) {
    let sent = town.sent(meal).await;
    town.they_cancel(meal, by).await;
    let order = town.reaches(meal, wanted.0).await;
    assert_eq!(order["cancellation"]["by"], json!(wanted.1), "{order:#}");
    assert_eq!(town.sent(meal).await, sent);
    let last = format!("cancelled {} {}", wanted.0, wanted.1);
    let mut story: Vec<&str> = before.to_vec();
    story.push(&last);
    assert_eq!(town.story(meal).await, story);
    town.verify(meal).await.refused(409, "order_cancelled");
    town.advance(meal).await.refused(409, "no_next_status");
    // It stays whose it is.
    assert_eq!(
        town.cancel(meal, json!({})).await.data()["status"],
        json!(wanted.0)
    );
    assert_eq!(town.sent(meal).await, sent);
}

async fn the_customer_cancels(kind: Kind) {
    let town = Town::open(kind).await;
    for road in ROADS {
        // Getir and Migros do not say that it was the customer.
        let by = match road.platform {
            Platform::Getir | Platform::Migros => "platform",
            Platform::Yemeksepeti | Platform::Trendyol => "customer",
        };
        let meal = town.order(road.platform, road.courier).await;
        others_cancel(&town, &meal, "customer", (1500, by), &["created 400"]).await;
        let meal = town.verified(road.platform, road.courier).await;
        let before = ["created 400", "400>500 account"];
        others_cancel(&town, &meal, "customer", (1500, by), &before).await;
    }
}

async fn the_platform_cancels(kind: Kind) {
    let town = Town::open(kind).await;
    for road in ROADS {
        let meal = town.verified(road.platform, road.courier).await;
        let before = ["created 400", "400>500 account"];
        others_cancel(&town, &meal, "platform", (1500, "platform"), &before).await;
    }
}

async fn the_restaurants_tablet_cancels(kind: Kind) {
    let town = Town::open(kind).await;
    for road in ROADS {
        // The short message of Migros does not say by whom.
        let wanted = match road.platform {
            Platform::Migros => (1500, "platform"),
            _ => (1600, "account"),
        };
        let meal = town.verified(road.platform, road.courier).await;
        let before = ["created 400", "400>500 account"];
        others_cancel(&town, &meal, "restaurant", wanted, &before).await;
    }
}

async fn an_order_that_was_delivered_cannot_be_cancelled(kind: Kind) {
    let town = Town::open(kind).await;
    for road in ROADS.iter().filter(|road| road.delivered.call.is_some()) {
        let meal = town.verified(road.platform, road.courier).await;
        town.advance(&meal).await.data();
        town.advance(&meal).await.data();
        town.synced(&meal, "done").await;
        let refused = town.cancel(&meal, json!({})).await;
        let error = refused.refused(409, "provider_refused");
        assert!(error["message"].as_str().unwrap().len() > 10, "{error}");
        let order = town.shown(&meal).await.unwrap();
        assert_eq!(
            (&order["status"], &order["cancellation"]),
            (&json!(900), &Value::Null)
        );
        assert_eq!(town.calls(&meal, call(road, true)).await, 1, "{road:?}");
        assert_eq!(town.story(&meal).await.len(), 4);
    }
}
