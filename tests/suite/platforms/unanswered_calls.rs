//! The platform executes a call whose response is lost: the order is read before the call is repeated.

use super::expected_calls::{EXPECTED_CALLS, ExpectedStep, answered, own_couriers};
use crate::support::{Backend, PlatformOrder, PlatformWorld};
use garson_sim::Platform::{self, Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{Courier, Fault};
use serde_json::json;

on_both! {
    unanswered_verification_is_read_back
    hanging_verification_is_read_back
    verification_is_read_back_later_when_the_platform_fails
    verification_confirmed_by_a_message_before_read_back
    unanswered_cancellation_is_read_back
    cancellation_confirmed_by_a_message_keeps_our_reason
    unanswered_step_is_read_back_and_not_repeated
    undone_step_is_repeated
    truncated_response_counts_as_no_response
}

async fn unanswered_verification_is_read_back(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for expected in EXPECTED_CALLS {
        let placed = world.order(expected.platform, expected.courier).await;
        let verify = expected.verify.call.unwrap();
        world
            .fault(expected.platform, verify, Fault::DropAfterWork, Some(1))
            .await;
        let verified = world.verify(&placed).await.data();
        assert_eq!(verified["status"], json!(500), "{expected:?}");
        assert_eq!(world.sent(&placed).await, [format!("{verify} -")], "{expected:?}");
        assert_eq!(world.view(&placed).await.state_text(), expected.verify.state);
        world.wait_for_sync(&placed, "done").await;
        assert_eq!(
            world.event_summary(&placed).await,
            ["created 400", "400>500 account"],
            "{expected:?}"
        );
    }
}

async fn hanging_verification_is_read_back(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    // All at once: each takes the ten seconds that a client waits.
    let mut placed_orders = Vec::new();
    for expected in own_couriers() {
        let placed = world.order(expected.platform, expected.courier).await;
        let verify = expected.verify.call.unwrap();
        world
            .fault(expected.platform, verify, Fault::TimeoutAfterWork, Some(1))
            .await;
        placed_orders.push((expected, placed));
    }
    let [first, second, third, fourth] = [0, 1, 2, 3].map(|n| world.verify(&placed_orders[n].1));
    let (first, second, third, fourth) = tokio::join!(first, second, third, fourth);
    for reply in [first, second, third, fourth] {
        reply.refused(504, "provider_timeout");
    }
    for (expected, placed) in &placed_orders {
        world.wait_for_status(placed, 500).await;
        world.wait_for_sync(placed, "done").await;
        assert_eq!(
            world.sent(placed).await,
            [format!("{} -", expected.verify.call.unwrap())]
        );
        assert_eq!(
            world.event_summary(placed).await,
            ["created 400", "400>500 account"],
            "{expected:?}"
        );
        // A repeated request gets the same result.
        assert_eq!(world.verify(placed).await.data()["status"], json!(500));
    }
}

/// The call that reads one order.
fn look(platform: Platform) -> &'static str {
    match platform {
        Getir | Yemeksepeti => "order",
        Trendyol => "package",
        Migros => "detail",
    }
}

async fn verification_is_read_back_later_when_the_platform_fails(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for (was_done, fault) in [(true, Fault::DropAfterWork), (false, Fault::Drop)] {
        for expected in own_couriers() {
            let placed = world.order(expected.platform, expected.courier).await;
            let verify = expected.verify.call.unwrap();
            world
                .fault(expected.platform, verify, fault.clone(), Some(1))
                .await;
            world
                .fault(expected.platform, look(expected.platform), Fault::Drop, None)
                .await;
            world.verify(&placed).await.refused(504, "provider_timeout");
            let order = world.find_order(&placed).await.unwrap();
            assert_eq!(order["status"], json!(400), "{expected:?}");
            world.control.clear_faults().await.unwrap();
            let mut lines = vec![format!("{verify} -")];
            if was_done {
                crate::support::wait_until(&format!("{placed:?} is read back"), async || {
                    world.advance_clock(10).await;
                    world.find_order(&placed).await.unwrap()["status"] == json!(500)
                })
                .await;
            } else {
                // Nothing has happened, and it can be called again once that is known.
                crate::support::wait_until(&format!("{placed:?} can be asked again"), async || {
                    world.advance_clock(10).await;
                    world.verify(&placed).await.status == 200
                })
                .await;
                lines.push(format!("{verify} 200"));
            }
            assert_eq!(world.sent(&placed).await, lines, "{expected:?}");
            assert_eq!(
                world.event_summary(&placed).await,
                ["created 400", "400>500 account"],
                "{expected:?}"
            );
        }
    }
}

/// Our question has no answer, and a list shows what has become of it before the order is read.
async fn verification_confirmed_by_a_message_before_read_back(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for expected in own_couriers().filter(|expected| expected.platform != Yemeksepeti) {
        let placed = world.order(expected.platform, expected.courier).await;
        let verify = expected.verify.call.unwrap();
        world
            .fault(expected.platform, verify, Fault::DropAfterWork, Some(1))
            .await;
        world
            .fault(expected.platform, look(expected.platform), Fault::Drop, None)
            .await;
        world.verify(&placed).await.refused(504, "provider_timeout");
        world.poll().await;
        world.wait_for_status(&placed, 500).await;
        world.control.clear_faults().await.unwrap();
        told(&world, &placed).await;
        assert_eq!(world.sent(&placed).await, [format!("{verify} -")], "{expected:?}");
        assert_eq!(world.event_summary(&placed).await.len(), 2, "{expected:?}");
        assert_eq!(world.verify(&placed).await.data()["status"], json!(500));
        // It does not block the next step.
        world.advance(&placed).await.data();
        world.wait_for_sync(&placed, "done").await;
        assert_eq!(
            world.view(&placed).await.state_text(),
            expected.on_the_way.state,
            "{expected:?}"
        );
    }
}

async fn unanswered_cancellation_is_read_back(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for expected in EXPECTED_CALLS {
        for is_accepted in [false, true] {
            let placed = if is_accepted {
                world.verified(expected.platform, expected.courier).await
            } else {
                world.order(expected.platform, expected.courier).await
            };
            let cancel = match (expected.platform, is_accepted) {
                (Getir, _) => "cancel",
                (Yemeksepeti, _) => "order_rejected",
                (Trendyol, _) => "unsupplied",
                (Migros, false) => "update-status",
                (Migros, true) => "cancel-order",
            };
            let before = world.sent(&placed).await;
            let reason = world.reasons(&placed).await.remove(0);
            // The platform's own message about it is lost too.
            world.fault(expected.platform, "push", Fault::Drop, Some(1)).await;
            world
                .fault(expected.platform, cancel, Fault::DropAfterWork, Some(1))
                .await;
            let cancelled = world.cancel(&placed, json!({ "reason": reason })).await.data();
            assert_eq!(cancelled["status"], json!(1600), "{expected:?} {is_accepted}");
            assert_eq!(
                world.sent(&placed).await,
                [before, vec![format!("{cancel} -")]].concat()
            );
            let order = world.find_order(&placed).await.unwrap();
            assert_eq!(
                order["cancellation"]["by"],
                json!("account"),
                "{expected:?} {is_accepted}"
            );
            assert_eq!(
                order["cancellation"]["reason"]["id"],
                json!(reason),
                "{expected:?} {is_accepted}"
            );
            let story = world.event_summary(&placed).await;
            assert_eq!(
                story.last().unwrap(),
                "cancelled 1600 account",
                "{expected:?} {story:?}"
            );
            world.control.clear_faults().await.unwrap();
        }
    }
}

/// Trendyol tells of every cancellation, ours too, and its message may be faster than its answer.
async fn cancellation_confirmed_by_a_message_keeps_our_reason(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let placed = world.verified(Trendyol, Courier::Restaurant).await;
    world
        .fault(Trendyol, "unsupplied", Fault::DropAfterWork, Some(1))
        .await;
    world.fault(Trendyol, "package", Fault::Drop, None).await;
    // Whether the message comes before the client has given up is all the same.
    let body = json!({ "reason": "627", "note": "Karıştı" });
    let reply = world.cancel(&placed, body).await;
    assert!([200, 504].contains(&reply.status), "{}", reply.text());
    let order = world.wait_for_status(&placed, 1600).await;
    assert_eq!(order["cancellation"]["note"], json!("Karıştı"), "{order:#}");
    assert_eq!(order["cancellation"]["reason"]["id"], json!("627"));
    let story = ["created 400", "400>500 account", "cancelled 1600 account"];
    assert_eq!(world.event_summary(&placed).await, story);
    assert_eq!(world.calls(&placed, "unsupplied").await, 1);
}

/// Waits until everything is sent, while the clock advances.
async fn told(world: &PlatformWorld, placed: &PlatformOrder) {
    crate::support::wait_until(&format!("{placed:?} is told"), async || {
        world.advance_clock(5).await;
        let order = world.find_order(placed).await.unwrap();
        assert_ne!(order["providerSync"]["state"], json!("failed"), "{order:#}");
        order["providerSync"]["state"] == json!("done")
    })
    .await;
}

async fn unanswered_step_is_read_back_and_not_repeated(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for expected in EXPECTED_CALLS {
        let placed = world.verified(expected.platform, expected.courier).await;
        let mut lines = answered(&[expected.verify.call.unwrap()]);
        for (number, stop) in [expected.ready, expected.on_the_way, expected.delivered]
            .into_iter()
            .enumerate()
        {
            if let Some(call) = stop.call {
                world
                    .fault(expected.platform, call, Fault::DropAfterWork, Some(1))
                    .await;
            }
            match number {
                0 => world.ready(&placed).await.data(),
                _ => world.advance(&placed).await.data(),
            };
            let ExpectedStep { call: Some(call), .. } = stop else {
                continue;
            };
            told(&world, &placed).await;
            lines.push(format!("{call} -"));
            if (expected.platform, call) == (Yemeksepeti, "prepared") || call == "order_picked_up" {
                // Its report knows accepted orders only; the repeat is answered with "it was so already".
                let sent = world.sent(&placed).await;
                assert!(sent.len() <= lines.len() + 1, "{expected:?} {sent:?}");
                lines.extend(sent.get(lines.len()).cloned());
            }
            assert_eq!(world.sent(&placed).await, lines, "{expected:?} {call}");
            assert_eq!(
                world.view(&placed).await.state_text(),
                stop.state,
                "{expected:?} {call}"
            );
        }
        let story = [
            "created 400",
            "400>500 account",
            "500>600 account",
            "600>900 account",
        ];
        assert_eq!(world.event_summary(&placed).await, story, "{expected:?}");
    }
}

async fn undone_step_is_repeated(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for expected in EXPECTED_CALLS {
        let placed = world.verified(expected.platform, expected.courier).await;
        let mut lines = answered(&[expected.verify.call.unwrap()]);
        for (number, stop) in [expected.ready, expected.on_the_way, expected.delivered]
            .into_iter()
            .enumerate()
        {
            if let Some(call) = stop.call {
                world.fault(expected.platform, call, Fault::Drop, Some(1)).await;
            }
            match number {
                0 => world.ready(&placed).await.data(),
                _ => world.advance(&placed).await.data(),
            };
            let ExpectedStep { call: Some(call), .. } = stop else {
                continue;
            };
            told(&world, &placed).await;
            lines.extend([format!("{call} -"), format!("{call} 200")]);
            assert_eq!(world.sent(&placed).await, lines, "{expected:?}");
            assert_eq!(world.view(&placed).await.state_text(), stop.state, "{expected:?}");
        }
        assert_eq!(world.event_summary(&placed).await.len(), 4, "{expected:?}");
    }
}

async fn truncated_response_counts_as_no_response(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for expected in own_couriers() {
        let placed = world.order(expected.platform, Courier::Platform).await;
        let verify = expected.verify.call.unwrap();
        world
            .fault(expected.platform, verify, Fault::Malformed, Some(1))
            .await;
        // The status says that it is done, or the order does: in any case it is done once.
        assert_eq!(
            world.verify(&placed).await.data()["status"],
            json!(500),
            "{expected:?}"
        );
        assert_eq!(world.calls(&placed, verify).await, 1, "{expected:?}");
        assert_eq!(
            world.event_summary(&placed).await,
            ["created 400", "400>500 account"],
            "{expected:?}"
        );
    }
}
