//! Orders for later.

use super::road::answered;
use crate::support::{Kind, Meal, Town};
use garson_sim::Platform::{Getir, Yemeksepeti};
use garson_sim::views::{Courier, OrderRequest};
use serde_json::{Value, json};

on_both! {
    getirs_scheduled_order_is_approved_twice
    getirs_scheduled_order_is_cancelled_while_it_waits
    yemeksepetis_scheduled_order_is_accepted_once
}

async fn placed(town: &Town, platform: garson_sim::Platform, courier: Courier) -> Meal {
    let request = OrderRequest {
        courier: Some(courier),
        scheduled_in_minutes: Some(180),
        ..OrderRequest::new(platform)
    };
    town.place(request).await
}

async fn getirs_scheduled_order_is_approved_twice(kind: Kind) {
    let town = Town::open(kind).await;
    for courier in [Courier::Platform, Courier::Restaurant] {
        let meal = placed(&town, Getir, courier).await;
        let order = town.reaches(&meal, 325).await;
        assert!(order["scheduledFor"].is_string(), "{order:#}");
        assert_eq!(order["acceptBy"], Value::Null, "{order:#}");
        assert_eq!(town.verify(&meal).await.data()["status"], json!(350));
        town.stands_at(&meal, "350").await;
        assert_eq!(town.verify(&meal).await.data()["status"], json!(350));
        let error = town.advance(&meal).await.refused(409, "not_due");
        assert!(error["details"].to_string().contains("scheduledFor"), "{error}");
        town.poll().await;
        assert_eq!(town.sent(&meal).await, answered(&["verify-scheduled"]));

        town.control.due(Getir, &meal.id).await.unwrap();
        town.reaches(&meal, 500).await;
        town.stands_at(&meal, "500").await;
        town.synced(&meal, "done").await;
        assert_eq!(town.sent(&meal).await, answered(&["verify-scheduled", "verify"]));
        let story = [
            "created 325",
            "325>350 account",
            "350>400 platform",
            "400>500 system",
        ];
        assert_eq!(town.story(&meal).await, story);
    }
}

async fn getirs_scheduled_order_is_cancelled_while_it_waits(kind: Kind) {
    let town = Town::open(kind).await;
    let meal = placed(&town, Getir, Courier::Restaurant).await;
    town.reaches(&meal, 325).await;
    town.verify(&meal).await.data();
    assert_eq!(town.cancel(&meal, json!({})).await.data()["status"], json!(1600));
    town.stands_at(&meal, "1600").await;
    let story = ["created 325", "325>350 account", "cancelled 1600 account"];
    assert_eq!(town.story(&meal).await, story);

    let meal = placed(&town, Getir, Courier::Restaurant).await;
    town.reaches(&meal, 325).await;
    town.they_cancel(&meal, "customer").await;
    town.reaches(&meal, 1500).await;
    assert_eq!(
        town.story(&meal).await,
        ["created 325", "cancelled 1500 platform"]
    );
    assert!(town.sent(&meal).await.is_empty());
}

async fn yemeksepetis_scheduled_order_is_accepted_once(kind: Kind) {
    let town = Town::open(kind).await;
    for courier in [Courier::Platform, Courier::Restaurant, Courier::Pickup] {
        let meal = placed(&town, Yemeksepeti, courier).await;
        let order = town.reaches(&meal, 400).await;
        assert!(order["scheduledFor"].is_string(), "{order:#}");
        town.stands_at(&meal, "RECEIVED").await;
        assert_eq!(town.verify(&meal).await.data()["status"], json!(500));
        town.stands_at(&meal, "ACCEPTED").await;
        assert_eq!(town.sent(&meal).await, answered(&["order_accepted"]));
        assert_eq!(town.story(&meal).await, ["created 400", "400>500 account"]);
    }
}
