//! What `providerSync` promises: `done` is what the platform shows, and a step that it lacks is sent before the next one.

use super::road::{ROADS, Road, own_couriers};
use crate::support::{Kind, Meal, Town, until};
use garson_sim::Platform::{self, Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{Courier, Fault, OrderRequest};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

on_both! {
    an_answer_that_it_was_so_already_is_confirmed
    a_later_step_does_not_hide_a_failure
    a_missing_step_is_sent_before_the_next
    a_departure_that_was_refused_is_told_with_the_delivery
    a_refusal_of_access_is_final_after_minutes_and_shows_on_the_integration
    a_verification_that_comes_too_early_is_repeated
    a_verification_that_stays_too_early_changes_nothing
    a_failed_step_can_be_repeated
    nothing_is_cancelled_without_a_reason_while_the_list_cannot_be_had
    the_last_known_list_serves_while_there_is_no_newer_one
    a_refusal_that_cannot_be_read_back_is_not_final
    an_order_that_was_cancelled_shows_no_failure
}

fn status(status: u16) -> Fault {
    Fault::Status { status, body: None }
}

fn road(platform: Platform, courier: Courier) -> Road {
    let is_it = |road: &Road| road.platform == platform && road.courier == courier;
    ROADS.into_iter().find(is_it).unwrap()
}

/// Lets time go by until the platform knows of everything.
async fn told(town: &Town, meal: &Meal) -> Value {
    until(&format!("{meal:?} is told"), async || {
        town.pass(5).await;
        let order = town.shown(meal).await.unwrap();
        assert_ne!(order["providerSync"]["state"], json!("failed"), "{order:#}");
        order["providerSync"]["state"] == json!("done")
    })
    .await;
    town.shown(meal).await.unwrap()
}

/// A conflict is answered although nothing was done.
async fn an_answer_that_it_was_so_already_is_confirmed(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for road in ROADS.iter().filter(|road| road.ready.call.is_some()) {
        let meal = town.verified(road.platform, road.courier).await;
        let call = road.ready.call.unwrap();
        town.fault(road.platform, call, status(409), Some(1)).await;
        town.ready(&meal).await.data();
        until("it was answered", async || {
            let sent = town.sent(&meal).await;
            sent.contains(&format!("{call} 409"))
        })
        .await;
        told(&town, &meal).await;
        assert_eq!(town.view(&meal).await.state_text(), road.ready.state, "{road:?}");
    }
}

async fn a_later_step_does_not_hide_a_failure(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    // What comes after it is not told: the platform's own courier does it.
    for road in [road(Migros, Courier::Platform), road(Trendyol, Courier::Platform)] {
        let meal = town.verified(road.platform, road.courier).await;
        let call = road.ready.call.unwrap();
        town.fault(road.platform, call, status(400), None).await;
        town.ready(&meal).await.data();
        town.synced(&meal, "failed").await;
        for status in [600, 900] {
            town.advance(&meal).await.data();
            let order = town.reaches(&meal, status).await;
            assert_ne!(
                order["providerSync"]["state"],
                json!("not_needed"),
                "{road:?} {order:#}"
            );
            let order = town.synced(&meal, "failed").await;
            assert!(
                order["providerSync"]["message"].as_str().unwrap().contains("400"),
                "{order:#}"
            );
        }
        assert_eq!(town.view(&meal).await.state_text(), road.verify.state, "{road:?}");
        town.control.clear_faults().await.unwrap();
    }
}

async fn a_missing_step_is_sent_before_the_next(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for road in [
        road(Getir, Courier::Restaurant),
        road(Getir, Courier::Platform),
        road(Trendyol, Courier::Restaurant),
        road(Trendyol, Courier::Pickup),
        road(Migros, Courier::Restaurant),
    ] {
        let meal = town.verified(road.platform, road.courier).await;
        // The steps between are refused as often as they are sent by themselves.
        let calls: Vec<_> = [road.ready.call, road.on_the_way.call]
            .into_iter()
            .flatten()
            .collect();
        for call in &calls[..calls.len().min(1)] {
            town.fault_of(&meal, call, status(400), Some(2)).await;
        }
        if road.ready.call.is_some() {
            town.ready(&meal).await.data();
            town.synced(&meal, "failed").await;
        }
        town.advance(&meal).await.data();
        let (_, state) = match road.delivered.call {
            Some(_) => {
                until("the step has ended", async || !is_pending(&town, &meal).await).await;
                town.control.clear_faults().await.unwrap();
                town.advance(&meal).await.data();
                (900, road.delivered.state)
            }
            None => (600, road.on_the_way.state),
        };
        told(&town, &meal).await;
        assert_eq!(town.view(&meal).await.state_text(), state, "{road:?}");
        town.control.clear_faults().await.unwrap();
    }
}

async fn a_departure_that_was_refused_is_told_with_the_delivery(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for platform in [Trendyol, Getir, Migros] {
        let road = road(platform, Courier::Restaurant);
        let (left, delivered) = (road.on_the_way.call.unwrap(), road.delivered.call.unwrap());
        let meal = town.verified(platform, road.courier).await;
        town.ready(&meal).await.data();
        town.synced(&meal, road.ready.sync()).await;
        town.fault_of(&meal, left, status(400), Some(1)).await;
        town.advance(&meal).await.data();
        town.synced(&meal, "failed").await;
        assert_eq!(town.view(&meal).await.state_text(), road.ready.state, "{road:?}");
        town.advance(&meal).await.data();
        told(&town, &meal).await;
        assert_eq!(
            town.view(&meal).await.state_text(),
            road.delivered.state,
            "{road:?}"
        );
        let sent = town.sent(&meal).await;
        let tail = [format!("{left} 200"), format!("{delivered} 200")];
        assert!(sent.ends_with(&tail), "{road:?}: {sent:?}");
    }
}

async fn is_pending(town: &Town, meal: &Meal) -> bool {
    town.shown(meal).await.unwrap()["providerSync"]["state"] == json!("pending")
}

async fn a_refusal_of_access_is_final_after_minutes_and_shows_on_the_integration(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for platform in [Trendyol, Migros] {
        let road = road(platform, Courier::Restaurant);
        let meal = town.verified(platform, road.courier).await;
        let call = road.ready.call.unwrap();
        town.fault(platform, call, status(401), None).await;
        town.ready(&meal).await.data();
        for seconds in [2, 10, 60, 120] {
            town.pass(seconds).await;
            assert!(is_pending(&town, &meal).await, "{platform}");
        }
        let path = format!("/restaurants/{}/integrations/{platform}", town.restaurant);
        let shown = town.a.get(&path).await.data();
        assert!(shown.to_string().contains("401"), "{shown:#}");
        until("it is final", async || {
            town.pass(120).await;
            !is_pending(&town, &meal).await
        })
        .await;
        let order = town.synced(&meal, "failed").await;
        assert!(
            order["providerSync"]["message"].as_str().unwrap().contains("401"),
            "{order:#}"
        );
        town.control.clear_faults().await.unwrap();
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

async fn a_verification_that_comes_too_early_is_repeated(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for platform in [Getir, Yemeksepeti] {
        let road = road(platform, Courier::Platform);
        let meal = town.order(platform, road.courier).await;
        let call = road.verify.call.unwrap();
        town.fault(platform, call, not_yet(platform), Some(1)).await;
        assert_eq!(
            town.verify(&meal).await.data()["status"],
            json!(500),
            "{platform}"
        );
        assert_eq!(town.calls(&meal, call).await, 2, "{platform}");
        assert_eq!(town.view(&meal).await.state_text(), road.verify.state);
    }
}

async fn a_verification_that_stays_too_early_changes_nothing(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    let mut meals = Vec::new();
    for platform in [Getir, Yemeksepeti] {
        let road = road(platform, Courier::Platform);
        meals.push((road, town.order(platform, road.courier).await));
        town.fault(platform, road.verify.call.unwrap(), not_yet(platform), None)
            .await;
    }
    let (first, second) = tokio::join!(town.verify(&meals[0].1), town.verify(&meals[1].1));
    first.refused(504, "provider_timeout");
    second.refused(504, "provider_timeout");
    town.control.clear_faults().await.unwrap();
    for (road, meal) in &meals {
        let order = town.shown(meal).await.unwrap();
        assert_eq!(order["status"], json!(400), "{road:?}");
        assert_eq!(order["providerSync"]["state"], json!("not_needed"), "{road:?}");
        assert_eq!(town.verify(meal).await.data()["status"], json!(500), "{road:?}");
    }
}

async fn a_failed_step_can_be_repeated(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    let mut visitor = town.house.visitor().await;
    for road in own_couriers() {
        let meal = town.verified(road.platform, road.courier).await;
        let call = road.ready.call.unwrap();
        town.fault(road.platform, call, status(400), Some(1)).await;
        town.ready(&meal).await.data();
        town.synced(&meal, "failed").await;
        // The client says it again.
        let answer = town.ready(&meal).await.data();
        assert_eq!(answer["providerSync"]["state"], json!("pending"), "{road:?}");
        town.synced(&meal, "done").await;
        assert_eq!(town.view(&meal).await.state_text(), road.ready.state, "{road:?}");
        let events = town.story(&meal).await;
        assert_eq!(events, ["created 400", "400>500 account"], "{road:?}");
    }
    // The last step, which no next one brings along: by the API, and from the order's page.
    for by_panel in [false, true] {
        let road = road(Migros, Courier::Restaurant);
        let meal = town.verified(road.platform, road.courier).await;
        town.advance(&meal).await.data();
        town.synced(&meal, "done").await;
        town.fault(road.platform, road.delivered.call.unwrap(), status(400), Some(1))
            .await;
        town.advance(&meal).await.data();
        let order = town.synced(&meal, "failed").await;
        match by_panel {
            false => {
                let path = format!("/orders/retry-sync/{}", meal.id);
                let answer = town.a.act(&path).await.data();
                assert_eq!(answer["providerSync"]["state"], json!("pending"));
            }
            true => {
                let path = format!("/orders/{}", order["id"].as_str().unwrap());
                let form = visitor.open(&path).await.form(&format!("{path}/retry-sync"));
                let page = visitor.submit(&form, &[]).await;
                assert!(page.has("Platforma yeniden gönderiliyor"), "{}", page.text());
            }
        }
        town.synced(&meal, "done").await;
        assert_eq!(town.view(&meal).await.state_text(), road.delivered.state);
        // There is nothing to repeat any more.
        let path = format!("/orders/retry-sync/{}", meal.id);
        let answer = town.a.act(&path).await.data();
        assert_eq!(answer["providerSync"]["state"], json!("done"));
    }
}

async fn nothing_is_cancelled_without_a_reason_while_the_list_cannot_be_had(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for (platform, list) in [(Getir, "cancel-options"), (Migros, "reasons")] {
        for fault in [status(503), status(401), Fault::RateLimited, Fault::Drop] {
            let meal = town.order(platform, Courier::Restaurant).await;
            town.fault(platform, list, fault.clone(), None).await;
            let reply = town.cancel(&meal, json!({})).await;
            assert!(
                [502, 504].contains(&reply.status),
                "{platform} {fault:?}: {}",
                reply.text()
            );
            assert_eq!(town.sent(&meal).await, [""; 0], "{platform} {fault:?}");
            assert_eq!(town.shown(&meal).await.unwrap()["status"], json!(400));
            town.control.clear_faults().await.unwrap();
            assert_eq!(town.cancel(&meal, json!({})).await.data()["status"], json!(1600));
        }
    }
}

async fn the_last_known_list_serves_while_there_is_no_newer_one(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for (platform, list) in [(Getir, "cancel-options"), (Migros, "reasons")] {
        for is_given in [false, true] {
            let meal = town.order(platform, Courier::Restaurant).await;
            let reasons = town.reasons(&meal).await;
            // It was had some minutes ago.
            let id = town.shown(&meal).await.unwrap()["id"]
                .as_str()
                .unwrap()
                .parse()
                .unwrap();
            let kept = &town.house.app.reasons;
            let had = kept.get(&id, Duration::from_secs(600)).unwrap();
            let then = Instant::now().checked_sub(Duration::from_secs(300)).unwrap();
            kept.put_at(id, had, then);
            town.fault(platform, list, status(503), None).await;
            let (body, wanted) = match is_given {
                false => (json!({}), &reasons[0]),
                true => (json!({ "reason": reasons[1] }), &reasons[1]),
            };
            assert_eq!(
                town.cancel(&meal, body).await.data()["status"],
                json!(1600),
                "{platform}"
            );
            assert!(town.calls(&meal, list).await >= 2, "the list was asked for again");
            let order = town.shown(&meal).await.unwrap();
            assert_eq!(order["cancellation"]["reason"]["id"], json!(wanted), "{platform}");
            town.control.clear_faults().await.unwrap();
        }
    }
}

/// The platform's ways not to show an order for a moment: it is away, or it has failed behind an answer of 200.
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

async fn a_refusal_that_cannot_be_read_back_is_not_final(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for (platform, look) in [(Trendyol, "package"), (Migros, "detail"), (Getir, "order")] {
        for fault in not_shown(platform) {
            let road = road(platform, Courier::Platform);
            let meal = town.verified(platform, road.courier).await;
            town.fault(platform, road.ready.call.unwrap(), status(400), Some(1))
                .await;
            town.fault(platform, look, fault, Some(1)).await;
            town.ready(&meal).await.data();
            told(&town, &meal).await;
            assert_eq!(
                town.view(&meal).await.state_text(),
                road.ready.state,
                "{platform}"
            );
        }
    }
}

/// The customer cancels, and the message is lost; then the service verifies by itself.
async fn an_order_that_was_cancelled_shows_no_failure(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    town.configure(json!({ "autoVerify": true })).await;
    for road in own_couriers() {
        let verify = road.verify.call.unwrap();
        town.fault(road.platform, verify, status(503), Some(1)).await;
        let request = OrderRequest {
            courier: Some(road.courier),
            ..OrderRequest::new(road.platform)
        };
        let meal = town.place(request).await;
        until("a try is over", async || town.calls(&meal, verify).await > 0).await;
        town.fault(road.platform, "push", Fault::Drop, Some(1)).await;
        town.they_cancel(&meal, "customer").await;
        until("it is known", async || {
            town.pass(5).await;
            town.shown(&meal).await.unwrap()["status"] == json!(1500)
        })
        .await;
        let order = town.shown(&meal).await.unwrap();
        assert_eq!(
            order["providerSync"]["state"],
            json!("not_needed"),
            "{road:?} {order:#}"
        );
    }
}
