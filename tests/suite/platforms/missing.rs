//! Orders of which a platform's message was lost, and orders that a platform does not know any more.

use crate::support::{Kind, Town};
use garson_sim::Platform::{Getir, Yemeksepeti};
use garson_sim::views::{Courier, Fault};
use serde_json::{Value, json};

on_both! {
    a_cancellation_whose_message_was_lost_is_found_by_asking
    an_order_that_the_platform_does_not_know_is_flagged_and_left_alone
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
    // It is there again.
    town.control.clear_faults().await.unwrap();
    town.poll().await;
    assert!(flag(town.shown(&meal).await).is_null());
    assert_eq!(town.calls(&meal, "order").await, 8);
}
