//! `providerSync`: `done` matches the platform, and a missing step is sent before the next one.

use super::expected_calls::{EXPECTED_CALLS, ExpectedCalls, own_couriers};
use crate::support::{Backend, PlatformOrder, PlatformWorld, wait_until};
use garson_sim::Platform::{self, Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{Courier, Fault, OrderRequest};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

on_both! {
    already_done_response_is_confirmed
    a_later_step_does_not_hide_a_failure
    a_missing_step_is_sent_before_the_next
    refused_departure_is_sent_with_the_delivery
    access_refusal_becomes_final_and_is_shown_on_the_integration
    early_verification_is_repeated
    verification_that_stays_too_early_changes_nothing
    a_failed_step_can_be_repeated
    cancel_requires_a_reason_while_the_list_is_unavailable
    last_known_list_is_used_while_no_newer_is_available
    refusal_that_cannot_be_confirmed_is_not_final
    an_order_that_was_cancelled_shows_no_failure
}

fn status(status: u16) -> Fault {
    Fault::Status { status, body: None }
}

fn expected(platform: Platform, courier: Courier) -> ExpectedCalls {
    let is_it = |expected: &ExpectedCalls| expected.platform == platform && expected.courier == courier;
    EXPECTED_CALLS.into_iter().find(is_it).unwrap()
}

/// Lets time go by until the platform knows of everything.
async fn told(world: &PlatformWorld, placed: &PlatformOrder) -> Value {
    wait_until(&format!("{placed:?} is told"), async || {
        world.advance_clock(5).await;
        let order = world.find_order(placed).await.unwrap();
        assert_ne!(order["providerSync"]["state"], json!("failed"), "{order:#}");
        order["providerSync"]["state"] == json!("done")
    })
    .await;
    world.find_order(placed).await.unwrap()
}

/// A conflict is answered although nothing was done.
async fn already_done_response_is_confirmed(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for expected in EXPECTED_CALLS
        .iter()
        .filter(|expected| expected.ready.call.is_some())
    {
        let placed = world.verified(expected.platform, expected.courier).await;
        let call = expected.ready.call.unwrap();
        world.fault(expected.platform, call, status(409), Some(1)).await;
        world.ready(&placed).await.data();
        wait_until("it was answered", async || {
            let sent = world.sent(&placed).await;
            sent.contains(&format!("{call} 409"))
        })
        .await;
        told(&world, &placed).await;
        assert_eq!(
            world.view(&placed).await.state_text(),
            expected.ready.state,
            "{expected:?}"
        );
    }
}

async fn a_later_step_does_not_hide_a_failure(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    // What comes after it is not told: the platform's own courier does it.
    for expected in [
        expected(Migros, Courier::Platform),
        expected(Trendyol, Courier::Platform),
    ] {
        let placed = world.verified(expected.platform, expected.courier).await;
        let call = expected.ready.call.unwrap();
        world.fault(expected.platform, call, status(400), None).await;
        world.ready(&placed).await.data();
        world.wait_for_sync(&placed, "failed").await;
        for status in [600, 900] {
            world.advance(&placed).await.data();
            let order = world.wait_for_status(&placed, status).await;
            assert_ne!(
                order["providerSync"]["state"],
                json!("not_needed"),
                "{expected:?} {order:#}"
            );
            let order = world.wait_for_sync(&placed, "failed").await;
            assert!(
                order["providerSync"]["message"].as_str().unwrap().contains("400"),
                "{order:#}"
            );
        }
        assert_eq!(
            world.view(&placed).await.state_text(),
            expected.verify.state,
            "{expected:?}"
        );
        world.control.clear_faults().await.unwrap();
    }
}

async fn a_missing_step_is_sent_before_the_next(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for expected in [
        expected(Getir, Courier::Restaurant),
        expected(Getir, Courier::Platform),
        expected(Trendyol, Courier::Restaurant),
        expected(Trendyol, Courier::Pickup),
        expected(Migros, Courier::Restaurant),
    ] {
        let placed = world.verified(expected.platform, expected.courier).await;
        // The steps between are refused as often as they are sent by themselves.
        let calls: Vec<_> = [expected.ready.call, expected.on_the_way.call]
            .into_iter()
            .flatten()
            .collect();
        for call in &calls[..calls.len().min(1)] {
            world.fault_of(&placed, call, status(400), Some(2)).await;
        }
        if expected.ready.call.is_some() {
            world.ready(&placed).await.data();
            world.wait_for_sync(&placed, "failed").await;
        }
        world.advance(&placed).await.data();
        let (_, state) = match expected.delivered.call {
            Some(_) => {
                wait_until("the step has ended", async || !is_pending(&world, &placed).await).await;
                world.control.clear_faults().await.unwrap();
                world.advance(&placed).await.data();
                (900, expected.delivered.state)
            }
            None => (600, expected.on_the_way.state),
        };
        told(&world, &placed).await;
        assert_eq!(world.view(&placed).await.state_text(), state, "{expected:?}");
        world.control.clear_faults().await.unwrap();
    }
}

async fn refused_departure_is_sent_with_the_delivery(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for platform in [Trendyol, Getir, Migros] {
        let expected = expected(platform, Courier::Restaurant);
        let (left, delivered) = (
            expected.on_the_way.call.unwrap(),
            expected.delivered.call.unwrap(),
        );
        let placed = world.verified(platform, expected.courier).await;
        world.ready(&placed).await.data();
        world.wait_for_sync(&placed, expected.ready.sync()).await;
        world.fault_of(&placed, left, status(400), Some(1)).await;
        world.advance(&placed).await.data();
        world.wait_for_sync(&placed, "failed").await;
        assert_eq!(
            world.view(&placed).await.state_text(),
            expected.ready.state,
            "{expected:?}"
        );
        world.advance(&placed).await.data();
        told(&world, &placed).await;
        assert_eq!(
            world.view(&placed).await.state_text(),
            expected.delivered.state,
            "{expected:?}"
        );
        let sent = world.sent(&placed).await;
        let tail = [format!("{left} 200"), format!("{delivered} 200")];
        assert!(sent.ends_with(&tail), "{expected:?}: {sent:?}");
    }
}

async fn is_pending(world: &PlatformWorld, placed: &PlatformOrder) -> bool {
    world.find_order(placed).await.unwrap()["providerSync"]["state"] == json!("pending")
}

async fn access_refusal_becomes_final_and_is_shown_on_the_integration(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for platform in [Trendyol, Migros] {
        let expected = expected(platform, Courier::Restaurant);
        let placed = world.verified(platform, expected.courier).await;
        let call = expected.ready.call.unwrap();
        world.fault(platform, call, status(401), None).await;
        world.ready(&placed).await.data();
        for seconds in [2, 10, 60, 120] {
            world.advance_clock(seconds).await;
            assert!(is_pending(&world, &placed).await, "{platform}");
        }
        let path = format!("/restaurants/{}/integrations/{platform}", world.restaurant);
        let shown = world.a.get(&path).await.data();
        assert!(shown.to_string().contains("401"), "{shown:#}");
        wait_until("it is final", async || {
            world.advance_clock(120).await;
            !is_pending(&world, &placed).await
        })
        .await;
        let order = world.wait_for_sync(&placed, "failed").await;
        assert!(
            order["providerSync"]["message"].as_str().unwrap().contains("401"),
            "{order:#}"
        );
        world.control.clear_faults().await.unwrap();
    }
}

/// The platform's way to say "not yet" to a verification.
fn not_yet(platform: Platform) -> Fault {
    let (status, body) = match platform {
        Getir => (
            400,
            json!({ "code": 4, "error": "StatusLock", "message": "locked" }),
        ),
        _ => (
            409,
            json!({ "code": "INVALID_REQUEST", "message": "wait", "currentState": "WAITING_FOR_ACKNOWLEDGEMENT" }),
        ),
    };
    Fault::Status {
        status,
        body: Some(body),
    }
}

async fn early_verification_is_repeated(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for platform in [Getir, Yemeksepeti] {
        let expected = expected(platform, Courier::Platform);
        let placed = world.order(platform, expected.courier).await;
        let call = expected.verify.call.unwrap();
        world.fault(platform, call, not_yet(platform), Some(1)).await;
        assert_eq!(
            world.verify(&placed).await.data()["status"],
            json!(500),
            "{platform}"
        );
        assert_eq!(world.calls(&placed, call).await, 2, "{platform}");
        assert_eq!(world.view(&placed).await.state_text(), expected.verify.state);
    }
}

async fn verification_that_stays_too_early_changes_nothing(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let mut placed_orders = Vec::new();
    for platform in [Getir, Yemeksepeti] {
        let expected = expected(platform, Courier::Platform);
        placed_orders.push((expected, world.order(platform, expected.courier).await));
        world
            .fault(platform, expected.verify.call.unwrap(), not_yet(platform), None)
            .await;
    }
    let (first, second) = tokio::join!(
        world.verify(&placed_orders[0].1),
        world.verify(&placed_orders[1].1)
    );
    first.refused(504, "provider_timeout");
    second.refused(504, "provider_timeout");
    world.control.clear_faults().await.unwrap();
    for (expected, placed) in &placed_orders {
        let order = world.find_order(placed).await.unwrap();
        assert_eq!(order["status"], json!(400), "{expected:?}");
        assert_eq!(
            order["providerSync"]["state"],
            json!("not_needed"),
            "{expected:?}"
        );
        assert_eq!(
            world.verify(placed).await.data()["status"],
            json!(500),
            "{expected:?}"
        );
    }
}

async fn a_failed_step_can_be_repeated(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let mut user = world.service.user().await;
    for expected in own_couriers() {
        let placed = world.verified(expected.platform, expected.courier).await;
        let call = expected.ready.call.unwrap();
        world.fault(expected.platform, call, status(400), Some(1)).await;
        world.ready(&placed).await.data();
        world.wait_for_sync(&placed, "failed").await;
        // The client says it again.
        let answer = world.ready(&placed).await.data();
        assert_eq!(answer["providerSync"]["state"], json!("pending"), "{expected:?}");
        world.wait_for_sync(&placed, "done").await;
        assert_eq!(
            world.view(&placed).await.state_text(),
            expected.ready.state,
            "{expected:?}"
        );
        let events = world.event_summary(&placed).await;
        assert_eq!(events, ["created 400", "400>500 account"], "{expected:?}");
    }
    // The last step, which no next one brings along: by the API, and from the order's page.
    for by_panel in [false, true] {
        let expected = expected(Migros, Courier::Restaurant);
        let placed = world.verified(expected.platform, expected.courier).await;
        world.advance(&placed).await.data();
        world.wait_for_sync(&placed, "done").await;
        world
            .fault(
                expected.platform,
                expected.delivered.call.unwrap(),
                status(400),
                Some(1),
            )
            .await;
        world.advance(&placed).await.data();
        let order = world.wait_for_sync(&placed, "failed").await;
        if by_panel {
            let path = format!("/orders/{}", order["id"].as_str().unwrap());
            let form = user.open(&path).await.form(&format!("{path}/retry-sync"));
            let page = user.submit(&form, &[]).await;
            assert!(page.has("Platforma yeniden gönderiliyor"), "{}", page.text());
        } else {
            let path = format!("/orders/retry-sync/{}", placed.id);
            let answer = world.a.act(&path).await.data();
            assert_eq!(answer["providerSync"]["state"], json!("pending"));
        }
        world.wait_for_sync(&placed, "done").await;
        assert_eq!(world.view(&placed).await.state_text(), expected.delivered.state);
        // There is nothing to repeat any more.
        let path = format!("/orders/retry-sync/{}", placed.id);
        let answer = world.a.act(&path).await.data();
        assert_eq!(answer["providerSync"]["state"], json!("done"));
    }
}

async fn cancel_requires_a_reason_while_the_list_is_unavailable(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for (platform, list) in [(Getir, "cancel-options"), (Migros, "reasons")] {
        for fault in [status(503), status(401), Fault::RateLimited, Fault::Drop] {
            let placed = world.order(platform, Courier::Restaurant).await;
            world.fault(platform, list, fault.clone(), None).await;
            let reply = world.cancel(&placed, json!({})).await;
            assert!(
                [502, 504].contains(&reply.status),
                "{platform} {fault:?}: {}",
                reply.text()
            );
            assert_eq!(world.sent(&placed).await, [""; 0], "{platform} {fault:?}");
            assert_eq!(world.find_order(&placed).await.unwrap()["status"], json!(400));
            world.control.clear_faults().await.unwrap();
            assert_eq!(
                world.cancel(&placed, json!({})).await.data()["status"],
                json!(1600)
            );
        }
    }
}

async fn last_known_list_is_used_while_no_newer_is_available(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for (platform, list) in [(Getir, "cancel-options"), (Migros, "reasons")] {
        for is_given in [false, true] {
            let placed = world.order(platform, Courier::Restaurant).await;
            let reasons = world.reasons(&placed).await;
            // It was had some minutes ago.
            let id = world.find_order(&placed).await.unwrap()["id"]
                .as_str()
                .unwrap()
                .parse()
                .unwrap();
            let kept = &world.service.app.reasons;
            let had = kept.get(&id, Duration::from_secs(600)).unwrap();
            let then = Instant::now().checked_sub(Duration::from_secs(300)).unwrap();
            kept.put_at(id, had, then);
            world.fault(platform, list, status(503), None).await;
            let (body, wanted) = if is_given {
                (json!({ "reason": reasons[1] }), &reasons[1])
            } else {
                (json!({}), &reasons[0])
            };
            assert_eq!(
                world.cancel(&placed, body).await.data()["status"],
                json!(1600),
                "{platform}"
            );
            assert!(
                world.calls(&placed, list).await >= 2,
                "the list was asked for again"
            );
            let order = world.find_order(&placed).await.unwrap();
            assert_eq!(order["cancellation"]["reason"]["id"], json!(wanted), "{platform}");
            world.control.clear_faults().await.unwrap();
        }
    }
}

/// Why the platform may not show an order temporarily: it is unavailable, or it has failed behind a 200.
fn not_shown(platform: Platform) -> Vec<Fault> {
    let body = match platform {
        Getir => json!({ "code": -1, "error": "UnknownError", "message": "?" }),
        Migros => {
            json!({ "success": false, "data": null, "errorMessage": { "errorCode": 500, "errorTitle": "?" } })
        }
        _ => return vec![status(503)],
    };
    let hidden = Fault::Status {
        status: 200,
        body: Some(body),
    };
    vec![status(503), hidden]
}

async fn refusal_that_cannot_be_confirmed_is_not_final(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for (platform, look) in [(Trendyol, "package"), (Migros, "detail"), (Getir, "order")] {
        for fault in not_shown(platform) {
            let expected = expected(platform, Courier::Platform);
            let placed = world.verified(platform, expected.courier).await;
            world
                .fault(platform, expected.ready.call.unwrap(), status(400), Some(1))
                .await;
            world.fault(platform, look, fault, Some(1)).await;
            world.ready(&placed).await.data();
            told(&world, &placed).await;
            assert_eq!(
                world.view(&placed).await.state_text(),
                expected.ready.state,
                "{platform}"
            );
        }
    }
}

/// The customer cancels, and the message is lost; then the service verifies automatically.
async fn an_order_that_was_cancelled_shows_no_failure(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    world.configure(json!({ "autoVerify": true })).await;
    for expected in own_couriers() {
        let verify = expected.verify.call.unwrap();
        world.fault(expected.platform, verify, status(503), Some(1)).await;
        let request = OrderRequest {
            courier: Some(expected.courier),
            ..OrderRequest::new(expected.platform)
        };
        let placed = world.place(request).await;
        wait_until("a try is over", async || world.calls(&placed, verify).await > 0).await;
        world.fault(expected.platform, "push", Fault::Drop, Some(1)).await;
        world.cancel_on_platform(&placed, "customer").await;
        wait_until("it is known", async || {
            world.advance_clock(5).await;
            world.find_order(&placed).await.unwrap()["status"] == json!(1500)
        })
        .await;
        let order = world.find_order(&placed).await.unwrap();
        assert_eq!(
            order["providerSync"]["state"],
            json!("not_needed"),
            "{expected:?} {order:#}"
        );
    }
}
