//! Orders of which a platform's message was lost, and orders that a platform does not know any more.

use crate::support::{Kind, Meal, Town};
use garson_sim::Platform::{Getir, Yemeksepeti};
use garson_sim::views::{Courier, Fault};
use serde_json::{Value, json};

on_both! {
    a_cancellation_whose_message_was_lost_is_found_by_asking
    an_order_that_the_platform_does_not_know_is_flagged_and_left_alone
    an_order_that_is_listed_as_cancelled_loses_its_flag
    an_order_that_is_listed_as_cancelled_and_cannot_be_read_is_cancelled
}

async fn a_cancellation_whose_message_was_lost_is_found_by_asking(kind: Kind) {
    let town = Town::open(kind).await;
    let kept = town.verified(Yemeksepeti, Courier::Restaurant).await;
    let lost = town.verified(Yemeksepeti, Courier::Restaurant).await;
    town.fault(Yemeksepeti, "push", Fault::Drop, None).await;
    town.they_cancel(&lost, "customer").await;
    town.poll().await;
    let shown = town.reaches(&lost, 1500).await;
    assert_eq!(
        shown["cancellation"]["by"].as_str().map(|by| by != "account"),
        Some(true)
    );
    assert_eq!(town.shown(&kept).await.unwrap()["status"], json!(500));
    // Neither is looked at again: one has ended, the other was not in the list.
    let looks = town.calls(&lost, "order").await;
    town.poll().await;
    assert_eq!(town.calls(&lost, "order").await, looks);
    assert_eq!(town.calls(&kept, "order").await, 0);
}

async fn an_order_that_the_platform_does_not_know_is_flagged_and_left_alone(kind: Kind) {
    let town = Town::open(kind).await;
    let meal = town.verified(Getir, Courier::Restaurant).await;
    let nothing = || Fault::Status {
        status: 200,
        body: Some(json!([])),
    };
    town.fault(Getir, "active", nothing(), None).await;
    town.fault(Getir, "cancelled", nothing(), None).await;
    let unknown = Fault::Status {
        status: 404,
        body: Some(json!({ "code": 1, "error": "FoodOrderNotFound", "message": "no such order" })),
    };
    town.fault(Getir, "order", unknown, None).await;
    let flag = |shown: Option<Value>| shown.unwrap()["flag"].clone();
    // Half an hour, polled every half minute.
    for _ in 0..60 {
        town.pass(30).await;
        town.poll().await;
        let looks = town.calls(&meal, "order").await;
        assert_eq!(flag(town.shown(&meal).await).is_null(), looks < 8, "{looks}");
    }
    assert_eq!(town.calls(&meal, "order").await, 8);
    assert_eq!(flag(town.shown(&meal).await), json!("unknown_to_platform"));
    assert_eq!(town.shown(&meal).await.unwrap()["status"], json!(500));
    let lines = notes(&town, &meal).await;
    assert_eq!(lines, ["the platform has no such order"]);
    // It is there again.
    town.control.clear_faults().await.unwrap();
    town.poll().await;
    assert!(flag(town.shown(&meal).await).is_null());
    assert_eq!(town.calls(&meal, "order").await, 8);
    let lines = [
        "the platform has no such order",
        "the platform knows the order again",
    ];
    assert_eq!(notes(&town, &meal).await, lines);
    // It goes its way after that.
    town.advance(&meal).await.data();
    let order = town.synced(&meal, "done").await;
    assert_eq!(order["timeline"].as_array().unwrap().len(), 5, "{order:#}");
    assert_eq!(order["timeline"][4]["to"], json!(600), "{order:#}");
}

/// What the timeline says at moments at which the status stayed as it was.
async fn notes(town: &Town, meal: &Meal) -> Vec<String> {
    let order = town.shown(meal).await.unwrap();
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
async fn cancelled_unheard(town: &Town) -> Meal {
    let meal = town.verified(Yemeksepeti, Courier::Restaurant).await;
    town.fault(Yemeksepeti, "push", Fault::Drop, None).await;
    town.they_cancel(&meal, "customer").await;
    meal
}

async fn an_order_that_is_listed_as_cancelled_loses_its_flag(kind: Kind) {
    let town = Town::open(kind).await;
    let meal = cancelled_unheard(&town).await;
    let id = &meal.id;
    town.house.meddle(&format!(
        "UPDATE orders SET flag = 'unknown_to_platform' WHERE provider_order_id = '{id}'"
    ));
    town.poll().await;
    let order = town.reaches(&meal, 1500).await;
    assert_eq!(order["flag"], Value::Null, "{order:#}");
    assert_eq!(notes(&town, &meal).await, ["the platform knows the order again"]);
}

async fn an_order_that_is_listed_as_cancelled_and_cannot_be_read_is_cancelled(kind: Kind) {
    let town = Town::open(kind).await;
    let meal = cancelled_unheard(&town).await;
    let unknown = Fault::Status {
        status: 404,
        body: Some(json!({ "code": "NOT_FOUND", "message": "no such order" })),
    };
    town.fault(Yemeksepeti, "order", unknown, None).await;
    // Half an hour, polled every half minute.
    for _ in 0..60 {
        town.pass(30).await;
        town.poll().await;
        let looks = town.calls(&meal, "order").await;
        let order = town.shown(&meal).await.unwrap();
        assert_eq!(order["status"] == json!(500), looks < 8, "{looks} {order:#}");
        assert_eq!(order["flag"], Value::Null, "{order:#}");
    }
    let order = town.reaches(&meal, 1500).await;
    assert_eq!(order["cancellation"]["by"], json!("platform"), "{order:#}");
    assert_eq!(town.calls(&meal, "order").await, 8);
}
