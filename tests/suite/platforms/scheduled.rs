//! Scheduled orders.

use super::expected_calls::answered;
use crate::support::{Backend, PlatformOrder, PlatformWorld};
use garson_sim::Platform::{Getir, Yemeksepeti};
use garson_sim::views::{Courier, OrderRequest};
use serde_json::{Value, json};

on_both! {
    getirs_scheduled_order_is_approved_twice
    getirs_scheduled_order_is_cancelled_while_it_waits
    yemeksepetis_scheduled_order_is_accepted_once
}

async fn place(world: &PlatformWorld, platform: garson_sim::Platform, courier: Courier) -> PlatformOrder {
    let request = OrderRequest {
        courier: Some(courier),
        scheduled_in_minutes: Some(180),
        ..OrderRequest::new(platform)
    };
    world.place(request).await
}

async fn getirs_scheduled_order_is_approved_twice(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for courier in [Courier::Platform, Courier::Restaurant] {
        let placed = place(&world, Getir, courier).await;
        let order = world.wait_for_status(&placed, 325).await;
        assert!(order["scheduledFor"].is_string(), "{order:#}");
        assert_eq!(order["acceptBy"], Value::Null, "{order:#}");
        assert_eq!(world.verify(&placed).await.data()["status"], json!(350));
        world.wait_for_platform_state(&placed, "350").await;
        assert_eq!(world.verify(&placed).await.data()["status"], json!(350));
        let error = world.advance(&placed).await.refused(409, "not_due");
        assert!(error["details"].to_string().contains("scheduledFor"), "{error}");
        world.poll().await;
        assert_eq!(world.sent(&placed).await, answered(&["verify-scheduled"]));

        world.control.due(Getir, &placed.id).await.unwrap();
        world.wait_for_status(&placed, 500).await;
        world.wait_for_platform_state(&placed, "500").await;
        world.wait_for_sync(&placed, "done").await;
        assert_eq!(
            world.sent(&placed).await,
            answered(&["verify-scheduled", "verify"])
        );
        let story = [
            "created 325",
            "325>350 account",
            "350>400 platform",
            "400>500 system",
        ];
        assert_eq!(world.event_summary(&placed).await, story);
    }
}

async fn getirs_scheduled_order_is_cancelled_while_it_waits(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let placed = place(&world, Getir, Courier::Restaurant).await;
    world.wait_for_status(&placed, 325).await;
    world.verify(&placed).await.data();
    assert_eq!(
        world.cancel(&placed, json!({})).await.data()["status"],
        json!(1600)
    );
    world.wait_for_platform_state(&placed, "1600").await;
    let story = ["created 325", "325>350 account", "cancelled 1600 account"];
    assert_eq!(world.event_summary(&placed).await, story);

    let placed = place(&world, Getir, Courier::Restaurant).await;
    world.wait_for_status(&placed, 325).await;
    world.cancel_on_platform(&placed, "customer").await;
    world.wait_for_status(&placed, 1500).await;
    assert_eq!(
        world.event_summary(&placed).await,
        ["created 325", "cancelled 1500 platform"]
    );
    assert!(world.sent(&placed).await.is_empty());
}

async fn yemeksepetis_scheduled_order_is_accepted_once(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for courier in [Courier::Platform, Courier::Restaurant, Courier::Pickup] {
        let placed = place(&world, Yemeksepeti, courier).await;
        let order = world.wait_for_status(&placed, 400).await;
        assert!(order["scheduledFor"].is_string(), "{order:#}");
        world.wait_for_platform_state(&placed, "RECEIVED").await;
        assert_eq!(world.verify(&placed).await.data()["status"], json!(500));
        world.wait_for_platform_state(&placed, "ACCEPTED").await;
        assert_eq!(world.sent(&placed).await, answered(&["order_accepted"]));
        assert_eq!(
            world.event_summary(&placed).await,
            ["created 400", "400>500 account"]
        );
    }
}
