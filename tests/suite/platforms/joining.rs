//! Several want something of one order at the same time: the platform is called once, and one after the other.

use super::road::{ROADS, answered, own_couriers};
use crate::support::{Kind, Town};
use garson_sim::views::Fault;
use serde_json::json;

on_both! {
    two_who_verify_share_one_call
    two_who_cancel_share_one_call
    whoever_cancels_waits_for_a_verification
    a_customer_who_cancels_meanwhile_wins
}

const HELD: Fault = Fault::Latency { ms: 150 };

async fn two_who_verify_share_one_call(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for road in ROADS {
        let meal = town.order(road.platform, road.courier).await;
        let verify = road.verify.call.unwrap();
        town.fault(road.platform, verify, HELD, Some(1)).await;
        let (first, second, third) =
            tokio::join!(town.verify(&meal), town.verify(&meal), town.advance(&meal));
        assert_eq!(first.data()["status"], json!(500), "{road:?}");
        assert_eq!(second.data()["status"], json!(500), "{road:?}");
        // The first step is the same question; one that came after its end is the next step.
        let third = third.data();
        assert_eq!(
            (&third["oldStatus"], &third["newStatus"]),
            (&json!(400), &json!(500)),
            "{road:?}"
        );
        assert_eq!(town.sent(&meal).await, answered(&[verify]), "{road:?}");
        assert_eq!(
            town.story(&meal).await,
            ["created 400", "400>500 account"],
            "{road:?}"
        );
    }
}

async fn two_who_cancel_share_one_call(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for road in own_couriers() {
        let meal = town.verified(road.platform, road.courier).await;
        town.reasons(&meal).await;
        let before = town.sent(&meal).await.len();
        town.fault(road.platform, "*", HELD, Some(2)).await;
        let (first, second) = tokio::join!(town.cancel(&meal, json!({})), town.cancel(&meal, json!({})));
        assert_eq!(first.data()["status"], json!(1600), "{road:?}");
        assert_eq!(second.data()["status"], json!(1600), "{road:?}");
        assert_eq!(town.sent(&meal).await.len(), before + 1, "{road:?}");
        let story = ["created 400", "400>500 account", "cancelled 1600 account"];
        assert_eq!(town.story(&meal).await, story, "{road:?}");
        town.control.clear_faults().await.unwrap();
    }
}

async fn whoever_cancels_waits_for_a_verification(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for road in own_couriers() {
        let meal = town.order(road.platform, road.courier).await;
        let reason = town.reasons(&meal).await.remove(0);
        let verify = road.verify.call.unwrap();
        town.fault(road.platform, verify, HELD, Some(1)).await;
        let later = async {
            crate::support::until("the verification is written down", async || {
                town.house.count("calls WHERE state = 'open'") > 0
            })
            .await;
            town.cancel(&meal, json!({ "reason": reason })).await
        };
        let (verified, cancelled) = tokio::join!(town.verify(&meal), later);
        verified.data();
        assert_eq!(cancelled.data()["status"], json!(1600), "{road:?}");
        let there = town.view(&meal).await;
        assert_eq!(there.cancelled_by.as_deref(), Some("restaurant"), "{road:?}");
        let sent = town.sent(&meal).await;
        assert_eq!(sent.len(), 2, "{road:?} {sent:?}");
        assert!(
            sent.iter().all(|line| line.ends_with(" 200")),
            "{road:?} {sent:?}"
        );
        let story = ["created 400", "400>500 account", "cancelled 1600 account"];
        assert_eq!(town.story(&meal).await, story, "{road:?}");
    }
}

async fn a_customer_who_cancels_meanwhile_wins(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for road in own_couriers() {
        let meal = town.order(road.platform, road.courier).await;
        let verify = road.verify.call.unwrap();
        town.fault(road.platform, verify, HELD, Some(1)).await;
        let meanwhile = async {
            crate::support::until("the verification is written down", async || {
                town.house.count("calls WHERE state = 'open'") > 0
            })
            .await;
            town.they_cancel(&meal, "customer").await;
            town.reaches(&meal, 1500).await;
        };
        let (verified, ()) = tokio::join!(town.verify(&meal), meanwhile);
        assert_eq!(verified.status, 409, "{road:?} {}", verified.text());
        let story = town.story(&meal).await;
        assert_eq!(story.len(), 2, "{road:?} {story:?}");
        assert!(story[1].starts_with("cancelled 1500"), "{road:?} {story:?}");
        assert_eq!(town.calls(&meal, verify).await, 1, "{road:?}");
    }
}
