//! Orders arrive, are accepted and go their way, told to the platform step by step.

use super::road::{ROADS, answered};
use crate::support::{Kind, Town};
use garson_sim::views::{Courier, Step};
use serde_json::json;

on_both! {
    an_order_is_accepted
    an_order_goes_its_way_step_by_step
    ready_goes_out_at_the_latest_with_the_step_to_on_the_way
    the_platforms_courier_moves_the_order
}

async fn an_order_is_accepted(kind: Kind) {
    let town = Town::open(kind).await;
    for road in ROADS {
        let meal = town.order(road.platform, road.courier).await;
        let there = town.view(&meal).await;
        let here = town.shown(&meal).await.unwrap();
        assert_eq!(here["provider"], json!(road.platform.to_string()));
        assert_eq!(here["amount"]["total"], json!(there.total), "{here:#}");
        assert_eq!(here["amount"]["currency"], json!("TRY"));
        let (fulfilment, courier) = match road.courier {
            Courier::Platform => ("delivery", "platform"),
            Courier::Restaurant => ("delivery", "restaurant"),
            Courier::Pickup => ("pickup", "none"),
        };
        assert_eq!(here["fulfilment"]["type"], json!(fulfilment), "{road:?}");
        assert_eq!(here["fulfilment"]["courier"], json!(courier), "{road:?}");
        assert!(!here["items"].as_array().unwrap().is_empty());
        assert_eq!(here["providerSync"]["state"], json!("not_needed"));

        let verified = town.verify(&meal).await.data();
        assert_eq!(verified["status"], json!(500));
        assert_eq!(verified["providerOrder"], json!(meal.id));
        assert_eq!(town.view(&meal).await.state_text(), road.verify.state);
        // A client whose network failed may repeat it.
        assert_eq!(town.verify(&meal).await.data()["status"], json!(500));
        assert_eq!(town.sent(&meal).await, answered(&[road.verify.call.unwrap()]));
        assert_eq!(town.story(&meal).await, ["created 400", "400>500 account"]);
        town.synced(&meal, "done").await;
    }
    assert_eq!(town.orders().await.len(), ROADS.len());
}

async fn an_order_goes_its_way_step_by_step(kind: Kind) {
    let town = Town::open(kind).await;
    for road in ROADS {
        let meal = town.verified(road.platform, road.courier).await;
        let mut calls = vec![road.verify.call.unwrap()];

        let ready = town.ready(&meal).await.data();
        assert_eq!(
            (&ready["oldStatus"], &ready["newStatus"]),
            (&json!(500), &json!(500))
        );
        calls.extend(road.ready.call);
        town.synced(&meal, road.ready.sync()).await;
        assert_eq!(town.view(&meal).await.state_text(), road.ready.state, "{road:?}");
        assert_eq!(town.sent(&meal).await, answered(&calls), "{road:?}");

        let left = town.advance(&meal).await.data();
        assert_eq!(
            (&left["oldStatus"], &left["newStatus"]),
            (&json!(500), &json!(600))
        );
        calls.extend(road.on_the_way.call);
        town.synced(&meal, road.on_the_way.sync()).await;
        assert_eq!(
            town.view(&meal).await.state_text(),
            road.on_the_way.state,
            "{road:?}"
        );
        assert_eq!(town.sent(&meal).await, answered(&calls), "{road:?}");

        let ended = town.advance(&meal).await.data();
        assert_eq!(
            (&ended["oldStatus"], &ended["newStatus"]),
            (&json!(600), &json!(900))
        );
        calls.extend(road.delivered.call);
        town.synced(&meal, road.delivered.sync()).await;
        assert_eq!(
            town.view(&meal).await.state_text(),
            road.delivered.state,
            "{road:?}"
        );
        assert_eq!(town.sent(&meal).await, answered(&calls), "{road:?}");

        town.advance(&meal).await.refused(409, "no_next_status");
        let story = [
            "created 400",
            "400>500 account",
            "500>600 account",
            "600>900 account",
        ];
        assert_eq!(town.story(&meal).await, story, "{road:?}");
    }
}

async fn ready_goes_out_at_the_latest_with_the_step_to_on_the_way(kind: Kind) {
    let town = Town::open(kind).await;
    for road in ROADS {
        let meal = town.verified(road.platform, road.courier).await;
        let left = town.advance(&meal).await.data();
        let wanted: Vec<_> = [road.ready.call, road.on_the_way.call]
            .into_iter()
            .flatten()
            .collect();
        assert_eq!(left["providerSync"]["state"], json!("pending"), "{road:?}");
        town.synced(&meal, "done").await;
        let calls = [vec![road.verify.call.unwrap()], wanted].concat();
        assert_eq!(town.sent(&meal).await, answered(&calls), "{road:?}");
        assert_eq!(
            town.view(&meal).await.state_text(),
            road.on_the_way.state,
            "{road:?}"
        );
        assert_eq!(
            town.story(&meal).await,
            ["created 400", "400>500 account", "500>600 account"]
        );
    }
}

async fn the_platforms_courier_moves_the_order(kind: Kind) {
    use garson_sim::Platform::{Getir, Yemeksepeti};
    let town = Town::open(kind).await;
    for road in super::road::own_couriers() {
        let meal = town.verified(road.platform, road.courier).await;
        town.ready(&meal).await.data();
        town.synced(&meal, "done").await;
        for step in [Step::Assigned, Step::Arrived, Step::PickedUp] {
            town.courier(&meal, step).await;
        }
        if road.platform == Getir {
            // Getir tells of none of its courier's steps.
            town.poll().await;
        }
        town.reaches(&meal, 600).await;
        town.courier(&meal, Step::Delivered).await;
        match road.platform {
            Getir => {
                // What is delivered is on no list any more; it is looked at.
                town.pass(30).await;
                town.poll().await;
            }
            // Nobody tells of it: the restaurant does.
            Yemeksepeti => {
                let told = town.advance(&meal).await.data();
                assert_eq!(told["providerSync"]["state"], json!("not_needed"));
            }
            _ => {}
        }
        town.reaches(&meal, 900).await;
        let by = if road.platform == Yemeksepeti {
            "account"
        } else {
            "platform"
        };
        let story = [
            "created 400",
            "400>500 account",
            "500>600 platform",
            &format!("600>900 {by}"),
        ];
        assert_eq!(town.story(&meal).await, story, "{road:?}");
        let calls = [road.verify.call.unwrap(), road.ready.call.unwrap()];
        assert_eq!(town.sent(&meal).await, answered(&calls), "{road:?}");
    }
}
