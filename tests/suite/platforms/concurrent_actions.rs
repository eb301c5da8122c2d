//! Concurrent actions on one order: the platform is called once, and calls are sequential.

use super::expected_calls::{EXPECTED_CALLS, answered, own_couriers};
use crate::support::{Backend, PlatformWorld};
use garson_sim::views::Fault;
use serde_json::json;

on_both! {
    concurrent_verifies_share_one_call
    concurrent_cancels_share_one_call
    cancel_waits_for_a_running_verify
    concurrent_customer_cancellation_takes_precedence
}

const HELD: Fault = Fault::Latency { ms: 150 };

async fn concurrent_verifies_share_one_call(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for expected in EXPECTED_CALLS {
        let placed = world.order(expected.platform, expected.courier).await;
        let verify = expected.verify.call.unwrap();
        world.fault(expected.platform, verify, HELD, Some(1)).await;
        let (first, second, third) = tokio::join!(
            world.verify(&placed),
            world.verify(&placed),
            world.advance(&placed)
        );
        assert_eq!(first.data()["status"], json!(500), "{expected:?}");
        assert_eq!(second.data()["status"], json!(500), "{expected:?}");
        // The first step is the same question; one that came after its end is the next step.
        let third = third.data();
        assert_eq!(
            (&third["oldStatus"], &third["newStatus"]),
            (&json!(400), &json!(500)),
            "{expected:?}"
        );
        assert_eq!(world.sent(&placed).await, answered(&[verify]), "{expected:?}");
        assert_eq!(
            world.event_summary(&placed).await,
            ["created 400", "400>500 account"],
            "{expected:?}"
        );
    }
}

async fn concurrent_cancels_share_one_call(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for expected in own_couriers() {
        let placed = world.verified(expected.platform, expected.courier).await;
        world.reasons(&placed).await;
        let before = world.sent(&placed).await.len();
        world.fault(expected.platform, "*", HELD, Some(2)).await;
        let (first, second) =
            tokio::join!(world.cancel(&placed, json!({})), world.cancel(&placed, json!({})));
        assert_eq!(first.data()["status"], json!(1600), "{expected:?}");
        assert_eq!(second.data()["status"], json!(1600), "{expected:?}");
        assert_eq!(world.sent(&placed).await.len(), before + 1, "{expected:?}");
        let story = ["created 400", "400>500 account", "cancelled 1600 account"];
        assert_eq!(world.event_summary(&placed).await, story, "{expected:?}");
        world.control.clear_faults().await.unwrap();
    }
}

async fn cancel_waits_for_a_running_verify(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for expected in own_couriers() {
        let placed = world.order(expected.platform, expected.courier).await;
        let reason = world.reasons(&placed).await.remove(0);
        let verify = expected.verify.call.unwrap();
        world.fault(expected.platform, verify, HELD, Some(1)).await;
        let later = async {
            crate::support::wait_until("the verification is written down", async || {
                world.service.count("calls WHERE state = 'open'") > 0
            })
            .await;
            world.cancel(&placed, json!({ "reason": reason })).await
        };
        let (verified, cancelled) = tokio::join!(world.verify(&placed), later);
        verified.data();
        assert_eq!(cancelled.data()["status"], json!(1600), "{expected:?}");
        let there = world.view(&placed).await;
        assert_eq!(there.cancelled_by.as_deref(), Some("restaurant"), "{expected:?}");
        let sent = world.sent(&placed).await;
        assert_eq!(sent.len(), 2, "{expected:?} {sent:?}");
        assert!(
            sent.iter().all(|line| line.ends_with(" 200")),
            "{expected:?} {sent:?}"
        );
        let story = ["created 400", "400>500 account", "cancelled 1600 account"];
        assert_eq!(world.event_summary(&placed).await, story, "{expected:?}");
    }
}

async fn concurrent_customer_cancellation_takes_precedence(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for expected in own_couriers() {
        let placed = world.order(expected.platform, expected.courier).await;
        let verify = expected.verify.call.unwrap();
        world.fault(expected.platform, verify, HELD, Some(1)).await;
        let meanwhile = async {
            crate::support::wait_until("the verification is written down", async || {
                world.service.count("calls WHERE state = 'open'") > 0
            })
            .await;
            world.cancel_on_platform(&placed, "customer").await;
            world.wait_for_status(&placed, 1500).await;
        };
        let (verified, ()) = tokio::join!(world.verify(&placed), meanwhile);
        assert_eq!(verified.status, 409, "{expected:?} {}", verified.text());
        let story = world.event_summary(&placed).await;
        assert_eq!(story.len(), 2, "{expected:?} {story:?}");
        assert!(story[1].starts_with("cancelled 1500"), "{expected:?} {story:?}");
        assert_eq!(world.calls(&placed, verify).await, 1, "{expected:?}");
    }
}
