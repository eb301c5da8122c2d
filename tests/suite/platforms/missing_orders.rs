//! Orders whose message was lost, and orders that the platform no longer knows.

use crate::support::{Backend, PlatformOrder, PlatformWorld};
use garson_sim::Platform::{Getir, Yemeksepeti};
use garson_sim::views::{Courier, Fault};
use serde_json::{Value, json};

on_both! {
    cancellation_with_a_lost_message_is_found_by_polling
    order_unknown_to_the_platform_is_flagged
    order_listed_as_cancelled_loses_its_flag
    unreadable_order_listed_as_cancelled_is_cancelled
}

async fn cancellation_with_a_lost_message_is_found_by_polling(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let kept = world.verified(Yemeksepeti, Courier::Restaurant).await;
    let lost = world.verified(Yemeksepeti, Courier::Restaurant).await;
    world.fault(Yemeksepeti, "push", Fault::Drop, None).await;
    world.cancel_on_platform(&lost, "customer").await;
    world.poll().await;
    let shown = world.wait_for_status(&lost, 1500).await;
    assert_eq!(
        shown["cancellation"]["by"].as_str().map(|by| by != "account"),
        Some(true)
    );
    assert_eq!(world.find_order(&kept).await.unwrap()["status"], json!(500));
    // Neither is looked at again: one has ended, the other was not in the list.
    let looks = world.calls(&lost, "order").await;
    world.poll().await;
    assert_eq!(world.calls(&lost, "order").await, looks);
    assert_eq!(world.calls(&kept, "order").await, 0);
}

async fn order_unknown_to_the_platform_is_flagged(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let placed = world.verified(Getir, Courier::Restaurant).await;
    let nothing = || Fault::Status {
        status: 200,
        body: Some(json!([])),
    };
    world.fault(Getir, "active", nothing(), None).await;
    world.fault(Getir, "cancelled", nothing(), None).await;
    let unknown = Fault::Status {
        status: 404,
        body: Some(json!({ "code": 1, "error": "FoodOrderNotFound", "message": "no such order" })),
    };
    world.fault(Getir, "order", unknown, None).await;
    let flag = |shown: Option<Value>| shown.unwrap()["flag"].clone();
    // Half an hour, polled every half minute.
    for _ in 0..60 {
        world.advance_clock(30).await;
        world.poll().await;
        let looks = world.calls(&placed, "order").await;
        assert_eq!(
            flag(world.find_order(&placed).await).is_null(),
            looks < 8,
            "{looks}"
        );
    }
    assert_eq!(world.calls(&placed, "order").await, 8);
    assert_eq!(
        flag(world.find_order(&placed).await),
        json!("unknown_to_platform")
    );
    assert_eq!(world.find_order(&placed).await.unwrap()["status"], json!(500));
    let lines = notes(&world, &placed).await;
    assert_eq!(lines, ["the platform has no such order"]);
    // It is there again.
    world.control.clear_faults().await.unwrap();
    world.poll().await;
    assert!(flag(world.find_order(&placed).await).is_null());
    assert_eq!(world.calls(&placed, "order").await, 8);
    let lines = [
        "the platform has no such order",
        "the platform knows the order again",
    ];
    assert_eq!(notes(&world, &placed).await, lines);
    // It goes its way after that.
    world.advance(&placed).await.data();
    let order = world.wait_for_sync(&placed, "done").await;
    assert_eq!(order["timeline"].as_array().unwrap().len(), 5, "{order:#}");
    assert_eq!(order["timeline"][4]["to"], json!(600), "{order:#}");
}

/// What the timeline says at moments at which the status stayed as it was.
async fn notes(world: &PlatformWorld, placed: &PlatformOrder) -> Vec<String> {
    let order = world.find_order(placed).await.unwrap();
    let lines = order["timeline"].as_array().unwrap().iter();
    let stayed = lines.filter(|line| line["from"] == line["to"]);
    stayed
        .map(|line| {
            assert_eq!(line["by"], json!("system"), "{line}");
            line["why"].as_str().unwrap().to_owned()
        })
        .collect()
}

/// A verified order whose customer has cancelled, of which no message came.
async fn cancelled_unheard(world: &PlatformWorld) -> PlatformOrder {
    let placed = world.verified(Yemeksepeti, Courier::Restaurant).await;
    world.fault(Yemeksepeti, "push", Fault::Drop, None).await;
    world.cancel_on_platform(&placed, "customer").await;
    placed
}

async fn order_listed_as_cancelled_loses_its_flag(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let placed = cancelled_unheard(&world).await;
    let id = &placed.id;
    world.service.execute_sql(&format!(
        "UPDATE orders SET flag = 'unknown_to_platform' WHERE provider_order_id = '{id}'"
    ));
    world.poll().await;
    let order = world.wait_for_status(&placed, 1500).await;
    assert_eq!(order["flag"], Value::Null, "{order:#}");
    assert_eq!(
        notes(&world, &placed).await,
        ["the platform knows the order again"]
    );
}

async fn unreadable_order_listed_as_cancelled_is_cancelled(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let placed = cancelled_unheard(&world).await;
    let unknown = Fault::Status {
        status: 404,
        body: Some(json!({ "code": "NOT_FOUND", "message": "no such order" })),
    };
    world.fault(Yemeksepeti, "order", unknown, None).await;
    // Half an hour, polled every half minute.
    for _ in 0..60 {
        world.advance_clock(30).await;
        world.poll().await;
        let looks = world.calls(&placed, "order").await;
        let order = world.find_order(&placed).await.unwrap();
        assert_eq!(order["status"] == json!(500), looks < 8, "{looks} {order:#}");
        assert_eq!(order["flag"], Value::Null, "{order:#}");
    }
    let order = world.wait_for_status(&placed, 1500).await;
    assert_eq!(order["cancellation"]["by"], json!("platform"), "{order:#}");
    assert_eq!(world.calls(&placed, "order").await, 8);
}
