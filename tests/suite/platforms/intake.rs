//! An order is stored once, however and however often it arrives.

use super::expected_calls::{EXPECTED_CALLS, ExpectedCalls, answered, own_couriers};
use crate::support::{Backend, PlatformOrder, PlatformWorld, credentials, wait_until};
use garson_sim::Platform::{self, Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{Courier, Fault, OrderRequest, Step};
use serde_json::json;

on_both! {
    duplicate_message_creates_one_order
    pushed_and_polled_order_is_one_order
    unpushed_order_is_polled
    changes_during_a_long_pause_are_found
    lost_message_is_recovered_by_polling
    lost_cancellation_is_recovered_by_polling
    lost_courier_steps_are_recovered_by_polling
    cancellation_that_overtakes_its_order_is_applied
    message_after_the_final_status_changes_nothing
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
fn asked() -> impl Iterator<Item = ExpectedCalls> {
    EXPECTED_CALLS
        .into_iter()
        .filter(|expected| expected.platform != Yemeksepeti)
}

async fn place(world: &PlatformWorld, expected: &ExpectedCalls, push: bool) -> PlatformOrder {
    let request = OrderRequest {
        courier: Some(expected.courier),
        push,
        ..OrderRequest::new(expected.platform)
    };
    world.place(request).await
}

async fn duplicate_message_creates_one_order(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for (number, expected) in EXPECTED_CALLS.iter().enumerate() {
        world
            .fault(expected.platform, "push", Fault::Duplicate, Some(1))
            .await;
        let placed = place(&world, expected, true).await;
        world
            .wait_for_pushes(&placed, created(expected.platform), 200, 2)
            .await;
        world.control.push(expected.platform, &placed.id).await.unwrap();
        world
            .wait_for_pushes(&placed, created(expected.platform), 200, 3)
            .await;
        let order = world.wait_for_status(&placed, 400).await;
        assert_eq!(world.orders().await.len(), number + 1, "{expected:?}");
        assert_eq!(
            world.event_summary(&placed).await,
            ["created 400"],
            "{expected:?}"
        );
        if expected.platform == Yemeksepeti {
            let known = world.view(&placed).await.remote_order_id;
            assert_eq!(json!(known), order["id"], "every answer names the same order");
        }
        // The same message once more, when the order has moved on.
        world.verify(&placed).await.data();
        world.control.push(expected.platform, &placed.id).await.unwrap();
        world
            .wait_for_pushes(&placed, created(expected.platform), 200, 4)
            .await;
        assert_eq!(
            world.event_summary(&placed).await,
            ["created 400", "400>500 account"],
            "{expected:?}"
        );
        assert_eq!(
            world.sent(&placed).await,
            answered(&[expected.verify.call.unwrap()])
        );
    }
}

async fn pushed_and_polled_order_is_one_order(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for expected in asked() {
        let placed = world.order(expected.platform, expected.courier).await;
        world.poll().await;
        world.poll().await;
        assert_eq!(
            world.event_summary(&placed).await,
            ["created 400"],
            "{expected:?}"
        );
        world.verify(&placed).await.data();
        world.poll().await;
        assert_eq!(
            world.event_summary(&placed).await,
            ["created 400", "400>500 account"],
            "{expected:?}"
        );
    }
    assert_eq!(world.orders().await.len(), asked().count());
    assert!(world.service.open_messages().await.is_empty());
}

async fn unpushed_order_is_polled(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for expected in asked() {
        let placed = place(&world, &expected, false).await;
        world.poll().await;
        let order = world
            .find_order(&placed)
            .await
            .expect("it should have been found");
        assert_eq!(order["status"], json!(400), "{expected:?}");
        assert_eq!(order["amount"]["total"], json!(world.view(&placed).await.total));
        // The message comes after all.
        world.control.push(expected.platform, &placed.id).await.unwrap();
        world
            .wait_for_pushes(&placed, created(expected.platform), 200, 1)
            .await;
        assert_eq!(
            world.event_summary(&placed).await,
            ["created 400"],
            "{expected:?}"
        );
        // It can be dealt with like any other.
        world.verify(&placed).await.data();
        assert_eq!(world.view(&placed).await.state_text(), expected.verify.state);
    }
    assert_eq!(world.orders().await.len(), asked().count());
}

/// Trendyol is asked for what has changed since it was asked last, however long that is ago.
async fn changes_during_a_long_pause_are_found(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    wait_until("Trendyol has been asked once", async || {
        let lines = world.control.journal(Some(Trendyol), 0).await.unwrap();
        lines.iter().any(|line| line.operation == "packages")
    })
    .await;
    // Reading the integrations shows how far they were polled.
    wait_until("that is written down", async || {
        world.connect(Trendyol, &credentials(Trendyol)).await.data();
        world.service.count("integrations WHERE polled_at > 0") > 0
    })
    .await;
    let mut placed_orders = Vec::new();
    for expected in EXPECTED_CALLS
        .iter()
        .filter(|expected| expected.platform == Trendyol)
    {
        placed_orders.push(place(&world, expected, false).await);
    }
    let taken = world.order(Trendyol, Courier::Restaurant).await;
    world.fault(Trendyol, "push", Fault::Drop, Some(1)).await;
    world.cancel_on_platform(&taken, "customer").await;
    world.advance_clock(3 * 3_600).await;
    world.poll().await;
    for placed in &placed_orders {
        assert_eq!(world.event_summary(placed).await, ["created 400"]);
    }
    assert_eq!(
        world.event_summary(&taken).await,
        ["created 400", "cancelled 1500 customer"]
    );
    // Windows overlap; nothing is reported twice.
    world.poll().await;
    world.advance_clock(30).await;
    world.poll().await;
    assert_eq!(world.orders().await.len(), 4);
    assert_eq!(world.event_summary(&taken).await.len(), 2);
}

async fn lost_message_is_recovered_by_polling(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for expected in asked() {
        world.fault(expected.platform, "push", Fault::Drop, Some(1)).await;
        let placed = place(&world, &expected, true).await;
        wait_until("the message is lost", async || {
            world
                .view(&placed)
                .await
                .pushes
                .iter()
                .any(|push| push.note == "fault: drop")
        })
        .await;
        world.poll().await;
        world.wait_for_status(&placed, 400).await;
        assert_eq!(
            world.event_summary(&placed).await,
            ["created 400"],
            "{expected:?}"
        );
    }
}

async fn lost_cancellation_is_recovered_by_polling(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for expected in asked() {
        let placed = world.verified(expected.platform, expected.courier).await;
        // Long enough ago to be missed on a list.
        world.advance_clock(30).await;
        world.fault(expected.platform, "push", Fault::Drop, Some(1)).await;
        world.cancel_on_platform(&placed, "customer").await;
        wait_until("the message is lost", async || {
            world
                .view(&placed)
                .await
                .pushes
                .iter()
                .any(|push| push.note == "fault: drop")
        })
        .await;
        assert_eq!(world.find_order(&placed).await.unwrap()["status"], json!(500));
        world.poll().await;
        world.wait_for_status(&placed, 1500).await;
        let story = world.event_summary(&placed).await;
        assert_eq!(story.len(), 3, "{expected:?} {story:?}");
        assert!(story[2].starts_with("cancelled 1500 "), "{expected:?} {story:?}");
    }
}

async fn lost_courier_steps_are_recovered_by_polling(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for expected in own_couriers().filter(|expected| expected.platform != Yemeksepeti) {
        let placed = world.verified(expected.platform, expected.courier).await;
        world.ready(&placed).await.data();
        world.wait_for_sync(&placed, "done").await;
        world.advance_clock(30).await;
        world.fault(expected.platform, "push", Fault::Drop, None).await;
        world.courier(&placed, Step::PickedUp).await;
        world.poll().await;
        world.wait_for_status(&placed, 600).await;
        world.courier(&placed, Step::Delivered).await;
        world.poll().await;
        world.wait_for_status(&placed, 900).await;
        let story = [
            "created 400",
            "400>500 account",
            "500>600 platform",
            "600>900 platform",
        ];
        assert_eq!(world.event_summary(&placed).await, story, "{expected:?}");
        world.control.clear_faults().await.unwrap();
    }
}

async fn cancellation_that_overtakes_its_order_is_applied(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    // Yemeksepeti names an order by our id, which it does not have before its first message is answered.
    for expected in asked() {
        world
            .fault(expected.platform, "push", Fault::Reorder, Some(1))
            .await;
        let placed = place(&world, &expected, true).await;
        wait_until("the first message is held back", async || {
            !world.view(&placed).await.pushes.is_empty()
        })
        .await;
        world.cancel_on_platform(&placed, "customer").await;
        world
            .wait_for_pushes(&placed, created(expected.platform), 200, 1)
            .await;
        world.wait_for_status(&placed, 1500).await;
        world.poll().await;
        let story = world.event_summary(&placed).await;
        assert_eq!(story.len(), 2, "{expected:?} {story:?}");
        assert_eq!(story[0], "created 400", "{expected:?}");
        assert!(story[1].starts_with("cancelled 1500 "), "{expected:?} {story:?}");
        assert!(world.sent(&placed).await.is_empty(), "{expected:?}");
    }
    assert!(
        world.service.open_messages().await.is_empty(),
        "{:?}",
        world.service.open_messages().await
    );
}

async fn message_after_the_final_status_changes_nothing(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for expected in own_couriers() {
        let placed = world.order(expected.platform, Courier::Platform).await;
        world.cancel_on_platform(&placed, "customer").await;
        world.wait_for_status(&placed, 1500).await;
        world.control.push(expected.platform, &placed.id).await.unwrap();
        world
            .wait_for_pushes(&placed, cancelled(expected.platform), 200, 2)
            .await;
        world.poll().await;
        assert_eq!(world.event_summary(&placed).await.len(), 2, "{expected:?}");
    }
}
