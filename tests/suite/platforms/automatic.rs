//! What the service does by itself: verify, go on asking, and say that the food is ready.

use super::road::{ROADS, answered, own_couriers};
use crate::support::{Kind, Meal, Town, quick, until};
use garson_sim::Platform::{self, Yemeksepeti};
use garson_sim::SimSettings;
use garson_sim::views::{Courier, Fault, OrderRequest};
use serde_json::json;

on_both! {
    an_order_is_verified_by_itself
    one_refusal_does_not_end_the_automatic_verification
    a_client_hears_of_a_conflict_at_once
    yemeksepeti_is_asked_every_ten_seconds_while_it_is_not_ready
    yemeksepeti_is_not_asked_for_ever
    a_platform_that_is_away_is_asked_again
    nobody_verifies_what_was_cancelled
    the_food_is_ready_after_the_usual_time
    ready_by_hand_is_not_said_again
}

async fn placed(town: &Town, platform: Platform, courier: Courier) -> Meal {
    let request = OrderRequest {
        courier: Some(courier),
        ..OrderRequest::new(platform)
    };
    town.place(request).await
}

async fn an_order_is_verified_by_itself(kind: Kind) {
    let town = Town::open(kind).await;
    town.configure(json!({ "autoVerify": true })).await;
    for road in ROADS {
        let meal = placed(&town, road.platform, road.courier).await;
        if road.platform == Yemeksepeti {
            // It may not have heard our answer to its message before it is asked.
            town.pushed(&meal, "order", 200, 1).await;
            until("it is accepted", async || {
                town.pass(10).await;
                town.view(&meal).await.state_text() == "ACCEPTED"
            })
            .await;
        }
        town.reaches(&meal, 500).await;
        town.synced(&meal, "done").await;
        assert_eq!(town.view(&meal).await.state_text(), road.verify.state, "{road:?}");
        let done = format!("{} 200", road.verify.call.unwrap());
        let sent = town.sent(&meal).await;
        assert_eq!(
            sent.iter().filter(|line| **line == done).count(),
            1,
            "{road:?} {sent:?}"
        );
        if road.platform != Yemeksepeti {
            assert_eq!(sent.len(), 1, "{road:?} {sent:?}");
        }
        assert_eq!(
            town.story(&meal).await,
            ["created 400", "400>500 system"],
            "{road:?}"
        );
        // Somebody who verifies it all the same hears that it is done.
        assert_eq!(town.verify(&meal).await.data()["status"], json!(500));
    }
}

async fn not_ready(kind: Kind, seconds: u64) -> Town {
    let sim = SimSettings {
        not_ready_seconds: seconds,
        ..quick()
    };
    let town = Town::open_with(kind, sim, |_| {}).await;
    town.configure(json!({ "autoVerify": true })).await;
    town
}

/// Lets ten seconds go by after each try until the order stands otherwise; says what was sent.
async fn asked(town: &Town, meal: &Meal) -> Vec<String> {
    for tries in 1.. {
        until(&format!("{meal:?} is asked {tries} times"), async || {
            town.sent(meal).await.len() >= tries
        })
        .await;
        let order = town
            .shows(meal, "has been asked", |order| {
                order["providerSync"]["state"] != json!("pending")
                    || order["providerSync"]["dueAt"].as_str() > Some(&town.house.app.now().to_string())
            })
            .await;
        if order["providerSync"]["state"] != json!("pending") {
            break;
        }
        town.pass(10).await;
    }
    town.sent(meal).await
}

/// A gateway refuses for a moment, or another change of the order is in progress.
async fn one_refusal_does_not_end_the_automatic_verification(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    town.configure(json!({ "autoVerify": true })).await;
    for road in own_couriers() {
        let verify = road.verify.call.unwrap();
        for status in [401, 403, 404, 409] {
            let fault = Fault::Status { status, body: None };
            town.fault(road.platform, verify, fault, Some(1)).await;
            let meal = placed(&town, road.platform, road.courier).await;
            let what = format!("{} is verified after {status}", road.platform);
            until(&what, async || {
                town.pass(5).await;
                let order = town.shown(&meal).await.unwrap_or_default();
                order["status"] == json!(500) && order["providerSync"]["state"] == json!("done")
            })
            .await;
            assert_eq!(town.view(&meal).await.state_text(), road.verify.state, "{what}");
            let sent = town.sent(&meal).await;
            assert!(sent.contains(&format!("{verify} {status}")), "{what}: {sent:?}");
            assert_eq!(
                town.story(&meal).await,
                ["created 400", "400>500 system"],
                "{what}"
            );
        }
    }
}

async fn a_client_hears_of_a_conflict_at_once(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for road in own_couriers() {
        let fault = || Fault::Status {
            status: 409,
            body: None,
        };
        let (platform, verify) = (road.platform, road.verify.call.unwrap());
        let meal = town.order(platform, road.courier).await;
        town.fault(platform, verify, fault(), Some(1)).await;
        town.verify(&meal).await.refused(409, "provider_refused");
        assert_eq!(town.sent(&meal).await, [format!("{verify} 409")], "{road:?}");
        let order = town.shown(&meal).await.unwrap();
        assert_eq!(order["status"], json!(400), "{road:?}");
        assert_eq!(order["providerSync"]["state"], json!("not_needed"), "{road:?}");
        assert_eq!(town.verify(&meal).await.data()["status"], json!(500), "{road:?}");
        let cancel = match platform {
            Platform::Getir => "cancel",
            Yemeksepeti => "order_rejected",
            Platform::Trendyol => "unsupplied",
            Platform::Migros => "cancel-order",
        };
        town.fault(platform, cancel, fault(), Some(1)).await;
        town.cancel(&meal, json!({}))
            .await
            .refused(409, "provider_refused");
        assert_eq!(town.calls(&meal, cancel).await, 1, "{road:?}");
        assert_eq!(town.cancel(&meal, json!({})).await.data()["status"], json!(1600));
    }
}

async fn yemeksepeti_is_asked_every_ten_seconds_while_it_is_not_ready(kind: Kind) {
    let town = not_ready(kind, 25).await;
    for courier in [Courier::Platform, Courier::Restaurant, Courier::Pickup] {
        let meal = placed(&town, Yemeksepeti, courier).await;
        town.pushed(&meal, "order", 200, 1).await;
        let sent = asked(&town, &meal).await;
        let early = "order_accepted 409";
        assert_eq!(sent, [early, early, early, "order_accepted 200"]);
        town.reaches(&meal, 500).await;
        assert_eq!(town.view(&meal).await.state_text(), "ACCEPTED");
        assert_eq!(town.story(&meal).await, ["created 400", "400>500 system"]);
    }
}

async fn yemeksepeti_is_not_asked_for_ever(kind: Kind) {
    let town = not_ready(kind, 3_600).await;
    let meal = placed(&town, Yemeksepeti, Courier::Platform).await;
    town.pushed(&meal, "order", 200, 1).await;
    let sent = asked(&town, &meal).await;
    assert!(
        (30..=32).contains(&sent.len()),
        "five minutes, every ten seconds: {}",
        sent.len()
    );
    assert!(sent.iter().all(|line| line == "order_accepted 409"));
    let order = town.synced(&meal, "failed").await;
    let said = order["providerSync"]["message"].as_str().unwrap();
    assert!(said.contains("WAITING_FOR_ACKNOWLEDGEMENT"), "{said}");
    assert_eq!(order["status"], json!(400));
    assert_eq!(town.story(&meal).await, ["created 400"]);
    // Nor is that a refusal for somebody who asks by hand.
    town.verify(&meal).await.refused(504, "provider_timeout");
    assert_eq!(town.shown(&meal).await.unwrap()["status"], json!(400));
}

async fn a_platform_that_is_away_is_asked_again(kind: Kind) {
    let town = Town::open(kind).await;
    town.configure(json!({ "autoVerify": true })).await;
    let down = Fault::Status {
        status: 503,
        body: None,
    };
    for road in own_couriers() {
        let verify = road.verify.call.unwrap();
        town.fault(road.platform, verify, down.clone(), Some(2)).await;
        let meal = placed(&town, road.platform, road.courier).await;
        if road.platform == Yemeksepeti {
            town.stands_at(&meal, "RECEIVED").await;
        }
        until(&format!("{meal:?} is verified"), async || {
            town.pass(5).await;
            town.shown(&meal)
                .await
                .is_some_and(|order| order["status"] == json!(500))
        })
        .await;
        let sent = town.sent(&meal).await;
        assert_eq!(
            sent.last().unwrap(),
            &format!("{verify} 200"),
            "{road:?} {sent:?}"
        );
        assert_eq!(sent.iter().filter(|line| line.ends_with("503")).count(), 2);
        town.synced(&meal, "done").await;
        assert_eq!(
            town.story(&meal).await,
            ["created 400", "400>500 system"],
            "{road:?}"
        );
    }
}

async fn nobody_verifies_what_was_cancelled(kind: Kind) {
    let town = Town::open(kind).await;
    town.configure(json!({ "autoVerify": true })).await;
    let down = Fault::Status {
        status: 503,
        body: None,
    };
    for road in own_couriers() {
        let verify = road.verify.call.unwrap();
        town.fault(road.platform, verify, down.clone(), None).await;
        let meal = placed(&town, road.platform, road.courier).await;
        town.reaches(&meal, 400).await;
        until("it was tried", async || town.calls(&meal, verify).await > 0).await;
        if road.platform == Yemeksepeti {
            town.stands_at(&meal, "RECEIVED").await;
        }
        town.they_cancel(&meal, "customer").await;
        town.reaches(&meal, 1500).await;
        town.control.clear_faults().await.unwrap();
        let tried = town.calls(&meal, verify).await;
        town.pass(400).await;
        town.poll().await;
        // One may have been on its way.
        assert!(town.calls(&meal, verify).await <= tried + 1, "{road:?}");
        assert!(
            !town.sent(&meal).await.contains(&format!("{verify} 200")),
            "{road:?}"
        );
        let story = town.story(&meal).await;
        assert_eq!(story.len(), 2, "{road:?} {story:?}");
        let order = town.shown(&meal).await.unwrap();
        assert_ne!(order["providerSync"]["state"], json!("pending"), "{road:?}");
    }
}

async fn the_food_is_ready_after_the_usual_time(kind: Kind) {
    let town = Town::open(kind).await;
    town.configure(json!({ "preparationMinutes": 15 })).await;
    for road in ROADS {
        let meal = town.verified(road.platform, road.courier).await;
        let mut calls = vec![road.verify.call.unwrap()];
        // What is planned for later keeps nobody waiting.
        town.synced(&meal, "done").await;
        town.pass(14 * 60).await;
        town.poll().await;
        assert_eq!(town.sent(&meal).await, answered(&calls), "{road:?}");
        town.pass(61).await;
        calls.extend(road.ready.call);
        town.stands_at(&meal, road.ready.state).await;
        let is_ready = road.ready.call.is_some();
        let order = town
            .shows(&meal, "is ready", |order| {
                order["readyAt"].is_string() == is_ready
            })
            .await;
        assert_eq!(order["status"], json!(500), "{road:?}");
        assert_eq!(order["providerSync"]["state"], json!("done"), "{road:?}");
        assert_eq!(town.sent(&meal).await, answered(&calls), "{road:?}");
        // It is not said again with the next step.
        town.advance(&meal).await.data();
        calls.extend(road.on_the_way.call);
        town.synced(&meal, road.on_the_way.sync()).await;
        assert_eq!(town.sent(&meal).await, answered(&calls), "{road:?}");
        assert_eq!(
            town.story(&meal).await,
            ["created 400", "400>500 account", "500>600 account"]
        );
    }
}

async fn ready_by_hand_is_not_said_again(kind: Kind) {
    let town = Town::open(kind).await;
    town.configure(json!({ "preparationMinutes": 15 })).await;
    for road in ROADS.iter().filter(|road| road.ready.call.is_some()) {
        let meal = town.verified(road.platform, road.courier).await;
        town.pass(5 * 60).await;
        town.ready(&meal).await.data();
        town.stands_at(&meal, road.ready.state).await;
        town.synced(&meal, "done").await;
        town.pass(20 * 60).await;
        town.poll().await;
        let calls = [road.verify.call.unwrap(), road.ready.call.unwrap()];
        assert_eq!(town.sent(&meal).await, answered(&calls), "{road:?}");
    }
}
