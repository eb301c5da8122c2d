//! Orders arrive, are accepted and advance, with a call to the platform for each step.

use super::expected_calls::{EXPECTED_CALLS, answered};
use crate::support::{Backend, PlatformWorld};
use garson_core::clock::Clock;
use garson_core::time::Timestamp;
use garson_sim::views::{Courier, Step};
use serde_json::{Value, json};
use std::time::Duration;

on_both! {
    an_order_is_accepted
    order_advances_step_by_step
    ready_is_sent_at_the_latest_with_on_the_way
    platform_courier_advances_the_order
    chosen_preparation_time_reaches_the_platform
}

async fn an_order_is_accepted(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for expected in EXPECTED_CALLS {
        let placed = world.order(expected.platform, expected.courier).await;
        let there = world.view(&placed).await;
        let here = world.find_order(&placed).await.unwrap();
        assert_eq!(here["provider"], json!(expected.platform.to_string()));
        assert_eq!(here["amount"]["total"], json!(there.total), "{here:#}");
        assert_eq!(here["amount"]["currency"], json!("TRY"));
        let (fulfilment, courier) = match expected.courier {
            Courier::Platform => ("delivery", "platform"),
            Courier::Restaurant => ("delivery", "restaurant"),
            Courier::Pickup => ("pickup", "none"),
        };
        assert_eq!(here["fulfilment"]["type"], json!(fulfilment), "{expected:?}");
        assert_eq!(here["fulfilment"]["courier"], json!(courier), "{expected:?}");
        assert!(!here["items"].as_array().unwrap().is_empty());
        assert_eq!(here["providerSync"]["state"], json!("not_needed"));

        let verified = world.verify(&placed).await.data();
        assert_eq!(verified["status"], json!(500));
        assert_eq!(verified["providerOrder"], json!(placed.id));
        assert_eq!(world.view(&placed).await.state_text(), expected.verify.state);
        // A client whose network failed may repeat it.
        assert_eq!(world.verify(&placed).await.data()["status"], json!(500));
        assert_eq!(
            world.sent(&placed).await,
            answered(&[expected.verify.call.unwrap()])
        );
        assert_eq!(
            world.event_summary(&placed).await,
            ["created 400", "400>500 account"]
        );
        world.wait_for_sync(&placed, "done").await;
    }
    assert_eq!(world.orders().await.len(), EXPECTED_CALLS.len());
}

async fn order_advances_step_by_step(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for expected in EXPECTED_CALLS {
        let placed = world.verified(expected.platform, expected.courier).await;
        let mut calls = vec![expected.verify.call.unwrap()];

        let ready = world.ready(&placed).await.data();
        assert_eq!(
            (&ready["oldStatus"], &ready["newStatus"]),
            (&json!(500), &json!(500))
        );
        calls.extend(expected.ready.call);
        world.wait_for_sync(&placed, expected.ready.sync()).await;
        assert_eq!(
            world.view(&placed).await.state_text(),
            expected.ready.state,
            "{expected:?}"
        );
        assert_eq!(world.sent(&placed).await, answered(&calls), "{expected:?}");

        let left = world.advance(&placed).await.data();
        assert_eq!(
            (&left["oldStatus"], &left["newStatus"]),
            (&json!(500), &json!(600))
        );
        calls.extend(expected.on_the_way.call);
        world.wait_for_sync(&placed, expected.on_the_way.sync()).await;
        assert_eq!(
            world.view(&placed).await.state_text(),
            expected.on_the_way.state,
            "{expected:?}"
        );
        assert_eq!(world.sent(&placed).await, answered(&calls), "{expected:?}");

        let ended = world.advance(&placed).await.data();
        assert_eq!(
            (&ended["oldStatus"], &ended["newStatus"]),
            (&json!(600), &json!(900))
        );
        calls.extend(expected.delivered.call);
        world.wait_for_sync(&placed, expected.delivered.sync()).await;
        assert_eq!(
            world.view(&placed).await.state_text(),
            expected.delivered.state,
            "{expected:?}"
        );
        assert_eq!(world.sent(&placed).await, answered(&calls), "{expected:?}");

        world.advance(&placed).await.refused(409, "no_next_status");
        let story = [
            "created 400",
            "400>500 account",
            "500>600 account",
            "600>900 account",
        ];
        assert_eq!(world.event_summary(&placed).await, story, "{expected:?}");
    }
}

async fn ready_is_sent_at_the_latest_with_on_the_way(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for expected in EXPECTED_CALLS {
        let placed = world.verified(expected.platform, expected.courier).await;
        let left = world.advance(&placed).await.data();
        let wanted: Vec<_> = [expected.ready.call, expected.on_the_way.call]
            .into_iter()
            .flatten()
            .collect();
        assert_eq!(left["providerSync"]["state"], json!("pending"), "{expected:?}");
        world.wait_for_sync(&placed, "done").await;
        let calls = [vec![expected.verify.call.unwrap()], wanted].concat();
        assert_eq!(world.sent(&placed).await, answered(&calls), "{expected:?}");
        assert_eq!(
            world.view(&placed).await.state_text(),
            expected.on_the_way.state,
            "{expected:?}"
        );
        assert_eq!(
            world.event_summary(&placed).await,
            ["created 400", "400>500 account", "500>600 account"]
        );
    }
}

async fn platform_courier_advances_the_order(backend: Backend) {
    use garson_sim::Platform::{Getir, Yemeksepeti};
    let world = PlatformWorld::open(backend).await;
    for expected in super::expected_calls::own_couriers() {
        let placed = world.verified(expected.platform, expected.courier).await;
        world.ready(&placed).await.data();
        world.wait_for_sync(&placed, "done").await;
        for step in [Step::Assigned, Step::Arrived, Step::PickedUp] {
            world.courier(&placed, step).await;
        }
        if expected.platform == Getir {
            // Getir tells of none of its courier's steps.
            world.poll().await;
        }
        world.wait_for_status(&placed, 600).await;
        world.courier(&placed, Step::Delivered).await;
        match expected.platform {
            Getir => {
                // What is delivered is on no list any more; it is looked at.
                world.advance_clock(30).await;
                world.poll().await;
            }
            // The platform sends no message: the restaurant reports it.
            Yemeksepeti => {
                let told = world.advance(&placed).await.data();
                assert_eq!(told["providerSync"]["state"], json!("not_needed"));
            }
            _ => {}
        }
        world.wait_for_status(&placed, 900).await;
        let by = if expected.platform == Yemeksepeti {
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
        assert_eq!(world.event_summary(&placed).await, story, "{expected:?}");
        let calls = [expected.verify.call.unwrap(), expected.ready.call.unwrap()];
        assert_eq!(world.sent(&placed).await, answered(&calls), "{expected:?}");
    }
}

async fn chosen_preparation_time_reaches_the_platform(backend: Backend) {
    use garson_sim::Platform::{Getir, Migros, Trendyol, Yemeksepeti};
    let world = PlatformWorld::open_without_polling(backend).await;
    // The chosen time wins over the restaurant's usual one.
    world.configure(json!({ "preparationMinutes": 12 })).await;
    for (platform, courier, field) in [
        (Trendyol, Courier::Restaurant, Some("preparationTime")),
        (Trendyol, Courier::Platform, Some("preparationTime")),
        (Yemeksepeti, Courier::Platform, Some("acceptanceTime")),
        (Getir, Courier::Restaurant, None),
        (Migros, Courier::Restaurant, None),
    ] {
        let placed = world.order(platform, courier).await;
        let path = format!("/orders/verify/{}?preparationMinutes=35", placed.id);
        let verified = world.a.act(&path).await.data();
        assert_eq!(verified["status"], json!(500), "{platform}");
        let journal = world.journal(&placed).await;
        let sent = journal
            .iter()
            .filter_map(|line| serde_json::from_str::<Value>(line.body.as_deref()?).ok())
            .find_map(|body| body.get(field?).cloned());
        match field {
            None => {
                let all: String = journal.iter().filter_map(|line| line.body.as_deref()).collect();
                assert!(!all.contains("35"), "{platform}: {all}");
            }
            Some("preparationTime") => assert_eq!(sent, Some(json!(35))),
            Some(_) => {
                let sent: Timestamp = sent.unwrap().as_str().unwrap().parse().unwrap();
                let ready = world.service.clock.now().plus(Duration::from_secs(35 * 60));
                assert!(
                    sent <= ready && ready.since(sent) < Duration::from_secs(60),
                    "{sent}"
                );
            }
        }
    }
}
