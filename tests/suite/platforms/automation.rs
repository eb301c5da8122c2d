//! Automatic verification, retries and ready messages.

use super::expected_calls::{EXPECTED_CALLS, answered, own_couriers};
use crate::support::{Backend, PlatformOrder, PlatformWorld, fast_sim_settings, wait_until};
use garson_sim::Platform::{self, Yemeksepeti};
use garson_sim::SimSettings;
use garson_sim::views::{Courier, Fault, OrderRequest};
use serde_json::json;

on_both! {
    order_is_verified_automatically
    automatic_verification_continues_after_one_refusal
    client_gets_a_conflict_immediately
    yemeksepeti_is_called_every_ten_seconds_while_not_ready
    yemeksepeti_calls_end_eventually
    unavailable_platform_is_called_again
    cancelled_order_is_not_verified_automatically
    ready_is_sent_after_the_preparation_time
    manual_ready_is_not_repeated
}

async fn place(world: &PlatformWorld, platform: Platform, courier: Courier) -> PlatformOrder {
    let request = OrderRequest {
        courier: Some(courier),
        ..OrderRequest::new(platform)
    };
    world.place(request).await
}

async fn order_is_verified_automatically(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    world.configure(json!({ "autoVerify": true })).await;
    for expected in EXPECTED_CALLS {
        let placed = place(&world, expected.platform, expected.courier).await;
        if expected.platform == Yemeksepeti {
            // It may not have received our reply to its message before the call.
            world.wait_for_pushes(&placed, "order", 200, 1).await;
            wait_until("it is accepted", async || {
                world.advance_clock(10).await;
                world.view(&placed).await.state_text() == "ACCEPTED"
            })
            .await;
        }
        world.wait_for_status(&placed, 500).await;
        world.wait_for_sync(&placed, "done").await;
        assert_eq!(
            world.view(&placed).await.state_text(),
            expected.verify.state,
            "{expected:?}"
        );
        let done = format!("{} 200", expected.verify.call.unwrap());
        let sent = world.sent(&placed).await;
        assert_eq!(
            sent.iter().filter(|line| **line == done).count(),
            1,
            "{expected:?} {sent:?}"
        );
        if expected.platform != Yemeksepeti {
            assert_eq!(sent.len(), 1, "{expected:?} {sent:?}");
        }
        assert_eq!(
            world.event_summary(&placed).await,
            ["created 400", "400>500 system"],
            "{expected:?}"
        );
        // A manual verify reports success.
        assert_eq!(world.verify(&placed).await.data()["status"], json!(500));
    }
}

async fn not_ready(backend: Backend, seconds: u64) -> PlatformWorld {
    let sim = SimSettings {
        not_ready_seconds: seconds,
        ..fast_sim_settings()
    };
    let world = PlatformWorld::open_with(backend, sim, |_| {}).await;
    world.configure(json!({ "autoVerify": true })).await;
    world
}

/// Advances ten seconds after each attempt until the status changes; returns what was sent.
async fn asked(world: &PlatformWorld, placed: &PlatformOrder) -> Vec<String> {
    for tries in 1.. {
        wait_until(&format!("{placed:?} is asked {tries} times"), async || {
            world.sent(placed).await.len() >= tries
        })
        .await;
        let order = world
            .wait_for_order(placed, "has been asked", |order| {
                order["providerSync"]["state"] != json!("pending")
                    || order["providerSync"]["dueAt"].as_str() > Some(&world.service.app.now().to_string())
            })
            .await;
        if order["providerSync"]["state"] != json!("pending") {
            break;
        }
        world.advance_clock(10).await;
    }
    world.sent(placed).await
}

/// A gateway refuses temporarily, or another change of the order is in progress.
async fn automatic_verification_continues_after_one_refusal(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    world.configure(json!({ "autoVerify": true })).await;
    for expected in own_couriers() {
        let verify = expected.verify.call.unwrap();
        for status in [401, 403, 404, 409] {
            let fault = Fault::Status { status, body: None };
            world.fault(expected.platform, verify, fault, Some(1)).await;
            let placed = place(&world, expected.platform, expected.courier).await;
            let what = format!("{} is verified after {status}", expected.platform);
            wait_until(&what, async || {
                world.advance_clock(5).await;
                let order = world.find_order(&placed).await.unwrap_or_default();
                order["status"] == json!(500) && order["providerSync"]["state"] == json!("done")
            })
            .await;
            assert_eq!(
                world.view(&placed).await.state_text(),
                expected.verify.state,
                "{what}"
            );
            let sent = world.sent(&placed).await;
            assert!(sent.contains(&format!("{verify} {status}")), "{what}: {sent:?}");
            assert_eq!(
                world.event_summary(&placed).await,
                ["created 400", "400>500 system"],
                "{what}"
            );
        }
    }
}

async fn client_gets_a_conflict_immediately(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for expected in own_couriers() {
        let fault = || Fault::Status {
            status: 409,
            body: None,
        };
        let (platform, verify) = (expected.platform, expected.verify.call.unwrap());
        let placed = world.order(platform, expected.courier).await;
        world.fault(platform, verify, fault(), Some(1)).await;
        world.verify(&placed).await.refused(409, "provider_refused");
        assert_eq!(
            world.sent(&placed).await,
            [format!("{verify} 409")],
            "{expected:?}"
        );
        let order = world.find_order(&placed).await.unwrap();
        assert_eq!(order["status"], json!(400), "{expected:?}");
        assert_eq!(
            order["providerSync"]["state"],
            json!("not_needed"),
            "{expected:?}"
        );
        assert_eq!(
            world.verify(&placed).await.data()["status"],
            json!(500),
            "{expected:?}"
        );
        let cancel = match platform {
            Platform::Getir => "cancel",
            Yemeksepeti => "order_rejected",
            Platform::Trendyol => "unsupplied",
            Platform::Migros => "cancel-order",
        };
        world.fault(platform, cancel, fault(), Some(1)).await;
        world
            .cancel(&placed, json!({}))
            .await
            .refused(409, "provider_refused");
        assert_eq!(world.calls(&placed, cancel).await, 1, "{expected:?}");
        assert_eq!(
            world.cancel(&placed, json!({})).await.data()["status"],
            json!(1600)
        );
    }
}

async fn yemeksepeti_is_called_every_ten_seconds_while_not_ready(backend: Backend) {
    let world = not_ready(backend, 25).await;
    for courier in [Courier::Platform, Courier::Restaurant, Courier::Pickup] {
        let placed = place(&world, Yemeksepeti, courier).await;
        world.wait_for_pushes(&placed, "order", 200, 1).await;
        let sent = asked(&world, &placed).await;
        let early = "order_accepted 409";
        assert_eq!(sent, [early, early, early, "order_accepted 200"]);
        world.wait_for_status(&placed, 500).await;
        assert_eq!(world.view(&placed).await.state_text(), "ACCEPTED");
        assert_eq!(
            world.event_summary(&placed).await,
            ["created 400", "400>500 system"]
        );
    }
}

async fn yemeksepeti_calls_end_eventually(backend: Backend) {
    let world = not_ready(backend, 3_600).await;
    let placed = place(&world, Yemeksepeti, Courier::Platform).await;
    world.wait_for_pushes(&placed, "order", 200, 1).await;
    let sent = asked(&world, &placed).await;
    assert!(
        (30..=32).contains(&sent.len()),
        "five minutes, every ten seconds: {}",
        sent.len()
    );
    assert!(sent.iter().all(|line| line == "order_accepted 409"));
    let order = world.wait_for_sync(&placed, "failed").await;
    let said = order["providerSync"]["message"].as_str().unwrap();
    assert!(said.contains("WAITING_FOR_ACKNOWLEDGEMENT"), "{said}");
    assert_eq!(order["status"], json!(400));
    assert_eq!(world.event_summary(&placed).await, ["created 400"]);
    // A manual request is not refused for it either.
    world.verify(&placed).await.refused(504, "provider_timeout");
    assert_eq!(world.find_order(&placed).await.unwrap()["status"], json!(400));
}

async fn unavailable_platform_is_called_again(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    world.configure(json!({ "autoVerify": true })).await;
    let down = Fault::Status {
        status: 503,
        body: None,
    };
    for expected in own_couriers() {
        let verify = expected.verify.call.unwrap();
        world
            .fault(expected.platform, verify, down.clone(), Some(2))
            .await;
        let placed = place(&world, expected.platform, expected.courier).await;
        if expected.platform == Yemeksepeti {
            world.wait_for_platform_state(&placed, "RECEIVED").await;
        }
        wait_until(&format!("{placed:?} is verified"), async || {
            world.advance_clock(5).await;
            world
                .find_order(&placed)
                .await
                .is_some_and(|order| order["status"] == json!(500))
        })
        .await;
        let sent = world.sent(&placed).await;
        assert_eq!(
            sent.last().unwrap(),
            &format!("{verify} 200"),
            "{expected:?} {sent:?}"
        );
        assert_eq!(sent.iter().filter(|line| line.ends_with("503")).count(), 2);
        world.wait_for_sync(&placed, "done").await;
        assert_eq!(
            world.event_summary(&placed).await,
            ["created 400", "400>500 system"],
            "{expected:?}"
        );
    }
}

async fn cancelled_order_is_not_verified_automatically(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    world.configure(json!({ "autoVerify": true })).await;
    let down = Fault::Status {
        status: 503,
        body: None,
    };
    for expected in own_couriers() {
        let verify = expected.verify.call.unwrap();
        world.fault(expected.platform, verify, down.clone(), None).await;
        let placed = place(&world, expected.platform, expected.courier).await;
        world.wait_for_status(&placed, 400).await;
        wait_until("it was tried", async || world.calls(&placed, verify).await > 0).await;
        if expected.platform == Yemeksepeti {
            world.wait_for_platform_state(&placed, "RECEIVED").await;
        }
        world.cancel_on_platform(&placed, "customer").await;
        world.wait_for_status(&placed, 1500).await;
        world.control.clear_faults().await.unwrap();
        let tried = world.calls(&placed, verify).await;
        world.advance_clock(400).await;
        world.poll().await;
        // One may have been in flight.
        assert!(world.calls(&placed, verify).await <= tried + 1, "{expected:?}");
        assert!(
            !world.sent(&placed).await.contains(&format!("{verify} 200")),
            "{expected:?}"
        );
        let story = world.event_summary(&placed).await;
        assert_eq!(story.len(), 2, "{expected:?} {story:?}");
        let order = world.find_order(&placed).await.unwrap();
        assert_ne!(order["providerSync"]["state"], json!("pending"), "{expected:?}");
    }
}

async fn ready_is_sent_after_the_preparation_time(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    world.configure(json!({ "preparationMinutes": 15 })).await;
    for expected in EXPECTED_CALLS {
        let placed = world.verified(expected.platform, expected.courier).await;
        let mut calls = vec![expected.verify.call.unwrap()];
        // Calls that are planned for later do not block requests.
        world.wait_for_sync(&placed, "done").await;
        world.advance_clock(14 * 60).await;
        world.poll().await;
        assert_eq!(world.sent(&placed).await, answered(&calls), "{expected:?}");
        world.advance_clock(61).await;
        calls.extend(expected.ready.call);
        world.wait_for_platform_state(&placed, expected.ready.state).await;
        let is_ready = expected.ready.call.is_some();
        let order = world
            .wait_for_order(&placed, "is ready", |order| {
                order["readyAt"].is_string() == is_ready
            })
            .await;
        assert_eq!(order["status"], json!(500), "{expected:?}");
        assert_eq!(order["providerSync"]["state"], json!("done"), "{expected:?}");
        assert_eq!(world.sent(&placed).await, answered(&calls), "{expected:?}");
        // It is not said again with the next step.
        world.advance(&placed).await.data();
        calls.extend(expected.on_the_way.call);
        world.wait_for_sync(&placed, expected.on_the_way.sync()).await;
        assert_eq!(world.sent(&placed).await, answered(&calls), "{expected:?}");
        assert_eq!(
            world.event_summary(&placed).await,
            ["created 400", "400>500 account", "500>600 account"]
        );
    }
}

async fn manual_ready_is_not_repeated(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    world.configure(json!({ "preparationMinutes": 15 })).await;
    for expected in EXPECTED_CALLS
        .iter()
        .filter(|expected| expected.ready.call.is_some())
    {
        let placed = world.verified(expected.platform, expected.courier).await;
        world.advance_clock(5 * 60).await;
        world.ready(&placed).await.data();
        world.wait_for_platform_state(&placed, expected.ready.state).await;
        world.wait_for_sync(&placed, "done").await;
        world.advance_clock(20 * 60).await;
        world.poll().await;
        let calls = [expected.verify.call.unwrap(), expected.ready.call.unwrap()];
        assert_eq!(world.sent(&placed).await, answered(&calls), "{expected:?}");
    }
}
