//! However an order comes, and however often: it is one order.

use super::road::{ROADS, Road, answered, own_couriers};
use crate::support::{Kind, Meal, Town, credentials, until};
use garson_sim::Platform::{self, Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{Courier, Fault, OrderRequest, Step};
use serde_json::json;

on_both! {
    a_message_that_comes_twice_is_one_order
    an_order_that_is_pushed_and_polled_is_one_order
    an_order_that_was_never_pushed_is_polled
    what_has_changed_during_a_long_pause_is_found
    a_lost_message_is_made_good_by_asking
    a_lost_cancellation_is_made_good_by_asking
    lost_steps_of_the_courier_are_made_good_by_asking
    a_cancellation_that_overtakes_its_order_wins
    a_message_after_the_end_changes_nothing
}

/// The message that brings a new order.
fn created(platform: Platform) -> &'static str {
    match platform {
        Getir => "new-order",
        Yemeksepeti => "order",
        Trendyol => "created",
        Migros => "order-created",
    }
}

/// The message that ends one.
fn cancelled(platform: Platform) -> &'static str {
    match platform {
        Getir => "cancel-order",
        Yemeksepeti => "ORDER_CANCELLED",
        Trendyol => "cancelled",
        Migros => "order-cancelled",
    }
}

/// Those that can be asked for orders.
fn asked() -> impl Iterator<Item = Road> {
    ROADS.into_iter().filter(|road| road.platform != Yemeksepeti)
}

async fn placed(town: &Town, road: &Road, push: bool) -> Meal {
    let request = OrderRequest {
        courier: Some(road.courier),
        push,
        ..OrderRequest::new(road.platform)
    };
    town.place(request).await
}

async fn a_message_that_comes_twice_is_one_order(kind: Kind) {
    let town = Town::open(kind).await;
    for (number, road) in ROADS.iter().enumerate() {
        town.fault(road.platform, "push", Fault::Duplicate, Some(1)).await;
        let meal = placed(&town, road, true).await;
        town.pushed(&meal, created(road.platform), 200, 2).await;
        town.control.push(road.platform, &meal.id).await.unwrap();
        town.pushed(&meal, created(road.platform), 200, 3).await;
        let order = town.reaches(&meal, 400).await;
        assert_eq!(town.orders().await.len(), number + 1, "{road:?}");
        assert_eq!(town.story(&meal).await, ["created 400"], "{road:?}");
        if road.platform == Yemeksepeti {
            let known = town.view(&meal).await.remote_order_id;
            assert_eq!(json!(known), order["id"], "every answer names the same order");
        }
        // The same message once more, when the order has moved on.
        town.verify(&meal).await.data();
        town.control.push(road.platform, &meal.id).await.unwrap();
        town.pushed(&meal, created(road.platform), 200, 4).await;
        assert_eq!(
            town.story(&meal).await,
            ["created 400", "400>500 account"],
            "{road:?}"
        );
        assert_eq!(town.sent(&meal).await, answered(&[road.verify.call.unwrap()]));
    }
}

async fn an_order_that_is_pushed_and_polled_is_one_order(kind: Kind) {
    let town = Town::open(kind).await;
    for road in asked() {
        let meal = town.order(road.platform, road.courier).await;
        town.poll().await;
        town.poll().await;
        assert_eq!(town.story(&meal).await, ["created 400"], "{road:?}");
        town.verify(&meal).await.data();
        town.poll().await;
        assert_eq!(
            town.story(&meal).await,
            ["created 400", "400>500 account"],
            "{road:?}"
        );
    }
    assert_eq!(town.orders().await.len(), asked().count());
    assert!(town.house.kept().await.is_empty());
}

async fn an_order_that_was_never_pushed_is_polled(kind: Kind) {
    let town = Town::open(kind).await;
    for road in asked() {
        let meal = placed(&town, &road, false).await;
        town.poll().await;
        let order = town.shown(&meal).await.expect("it should have been found");
        assert_eq!(order["status"], json!(400), "{road:?}");
        assert_eq!(order["amount"]["total"], json!(town.view(&meal).await.total));
        // The message comes after all.
        town.control.push(road.platform, &meal.id).await.unwrap();
        town.pushed(&meal, created(road.platform), 200, 1).await;
        assert_eq!(town.story(&meal).await, ["created 400"], "{road:?}");
        // It can be dealt with like any other.
        town.verify(&meal).await.data();
        assert_eq!(town.view(&meal).await.state_text(), road.verify.state);
    }
    assert_eq!(town.orders().await.len(), asked().count());
}

/// Trendyol is asked for what has changed since it was asked last, however long that is ago.
async fn what_has_changed_during_a_long_pause_is_found(kind: Kind) {
    let town = Town::open(kind).await;
    until("Trendyol has been asked once", async || {
        let lines = town.control.journal(Some(Trendyol), 0).await.unwrap();
        lines.iter().any(|line| line.operation == "packages")
    })
    .await;
    // Whoever looks up the integrations writes down how far they were asked.
    until("that is written down", async || {
        town.connect(Trendyol, &credentials(Trendyol)).await.data();
        town.house.count("integrations WHERE polled_at > 0") > 0
    })
    .await;
    let mut meals = Vec::new();
    for road in ROADS.iter().filter(|road| road.platform == Trendyol) {
        meals.push(placed(&town, road, false).await);
    }
    let taken = town.order(Trendyol, Courier::Restaurant).await;
    town.fault(Trendyol, "push", Fault::Drop, Some(1)).await;
    town.they_cancel(&taken, "customer").await;
    town.pass(3 * 3_600).await;
    town.poll().await;
    for meal in &meals {
        assert_eq!(town.story(meal).await, ["created 400"]);
    }
    assert_eq!(
        town.story(&taken).await,
        ["created 400", "cancelled 1500 customer"]
    );
    // Windows overlap; nothing is told twice.
    town.poll().await;
    town.pass(30).await;
    town.poll().await;
    assert_eq!(town.orders().await.len(), 4);
    assert_eq!(town.story(&taken).await.len(), 2);
}

async fn a_lost_message_is_made_good_by_asking(kind: Kind) {
    let town = Town::open(kind).await;
    for road in asked() {
        town.fault(road.platform, "push", Fault::Drop, Some(1)).await;
        let meal = placed(&town, &road, true).await;
        until("the message is lost", async || {
            town.view(&meal)
                .await
                .pushes
                .iter()
                .any(|push| push.note == "fault: drop")
        })
        .await;
        town.poll().await;
        town.reaches(&meal, 400).await;
        assert_eq!(town.story(&meal).await, ["created 400"], "{road:?}");
    }
}

async fn a_lost_cancellation_is_made_good_by_asking(kind: Kind) {
    let town = Town::open(kind).await;
    for road in asked() {
        let meal = town.verified(road.platform, road.courier).await;
        // Long enough ago to be missed on a list.
        town.pass(30).await;
        town.fault(road.platform, "push", Fault::Drop, Some(1)).await;
        town.they_cancel(&meal, "customer").await;
        until("the message is lost", async || {
            town.view(&meal)
                .await
                .pushes
                .iter()
                .any(|push| push.note == "fault: drop")
        })
        .await;
        assert_eq!(town.shown(&meal).await.unwrap()["status"], json!(500));
        town.poll().await;
        town.reaches(&meal, 1500).await;
        let story = town.story(&meal).await;
        assert_eq!(story.len(), 3, "{road:?} {story:?}");
        assert!(story[2].starts_with("cancelled 1500 "), "{road:?} {story:?}");
    }
}

async fn lost_steps_of_the_courier_are_made_good_by_asking(kind: Kind) {
    let town = Town::open(kind).await;
    for road in own_couriers().filter(|road| road.platform != Yemeksepeti) {
        let meal = town.verified(road.platform, road.courier).await;
        town.ready(&meal).await.data();
        town.synced(&meal, "done").await;
        town.pass(30).await;
        town.fault(road.platform, "push", Fault::Drop, None).await;
        town.courier(&meal, Step::PickedUp).await;
        town.poll().await;
        town.reaches(&meal, 600).await;
        town.courier(&meal, Step::Delivered).await;
        town.poll().await;
        town.reaches(&meal, 900).await;
        let story = [
            "created 400",
            "400>500 account",
            "500>600 platform",
            "600>900 platform",
        ];
        assert_eq!(town.story(&meal).await, story, "{road:?}");
        town.control.clear_faults().await.unwrap();
    }
}

async fn a_cancellation_that_overtakes_its_order_wins(kind: Kind) {
    let town = Town::open(kind).await;
    // Yemeksepeti names an order by our id, which it does not have before its first message is answered.
    for road in asked() {
        town.fault(road.platform, "push", Fault::Reorder, Some(1)).await;
        let meal = placed(&town, &road, true).await;
        until("the first message is held back", async || {
            !town.view(&meal).await.pushes.is_empty()
        })
        .await;
        town.they_cancel(&meal, "customer").await;
        town.pushed(&meal, created(road.platform), 200, 1).await;
        town.reaches(&meal, 1500).await;
        town.poll().await;
        let story = town.story(&meal).await;
        assert_eq!(story.len(), 2, "{road:?} {story:?}");
        assert_eq!(story[0], "created 400", "{road:?}");
        assert!(story[1].starts_with("cancelled 1500 "), "{road:?} {story:?}");
        assert!(town.sent(&meal).await.is_empty(), "{road:?}");
    }
    assert!(
        town.house.kept().await.is_empty(),
        "{:?}",
        town.house.kept().await
    );
}

async fn a_message_after_the_end_changes_nothing(kind: Kind) {
    let town = Town::open(kind).await;
    for road in own_couriers() {
        let meal = town.order(road.platform, Courier::Platform).await;
        town.they_cancel(&meal, "customer").await;
        town.reaches(&meal, 1500).await;
        town.control.push(road.platform, &meal.id).await.unwrap();
        town.pushed(&meal, cancelled(road.platform), 200, 2).await;
        town.poll().await;
        assert_eq!(town.story(&meal).await.len(), 2, "{road:?}");
    }
}
