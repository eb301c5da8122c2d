//! Faults on demand: every kind, on calls and on pushes.

use std::time::Duration;

use garson_sim::{
    Platform,
    views::{Courier, Fault, FaultRequest},
};
use http::Method;
use serde_json::json;

use crate::support::{Stage, call, post};

const JSON: (&str, &str) = ("content-type", "application/json");

async fn stage() -> (Stage, String) {
    let stage = Stage::new(Platform::Getir, "1").await;
    let keys = r#"{"appSecretKey":"app","restaurantSecretKey":"rest"}"#;
    let token = post(&stage.url("/auth/login"), &[JSON], keys).await.body["token"]
        .as_str()
        .unwrap()
        .to_owned();
    (stage, token)
}

async fn order_fault(stage: &Stage, on: &str, fault: Fault) {
    let request = FaultRequest {
        platform: Platform::Getir,
        on: on.to_owned(),
        fault,
        order: None,
        times: Some(1),
    };
    stage.control.order_fault(&request).await.unwrap();
}

/// Verifies a fresh order while the fault waits; what came of both.
async fn verify_with(fault: Fault) -> (Result<crate::support::Answer, String>, String, String) {
    let (stage, token) = stage().await;
    let id = stage.quiet_order(Courier::Platform).await.provider_order_id;
    order_fault(&stage, "verify", fault).await;
    let url = stage.url(&format!("/food-orders/{id}/verify"));
    let answer = call(Method::POST, &url, &[("token", &token)], "").await;
    let note = stage.control.journal(None, 0).await.unwrap().pop().unwrap().note;
    (answer, stage.state(&id).await, note)
}

#[tokio::test]
async fn an_answer_of_ones_choice_and_nothing_done() {
    let (answer, state, note) = verify_with(Fault::Status {
        status: 503,
        body: Some(json!("oops")),
    })
    .await;
    let answer = answer.unwrap();
    assert_eq!(
        (answer.status, answer.text.as_str(), state.as_str()),
        (503, "oops", "400")
    );
    assert!(note.starts_with("fault: status"));
    let (answer, state, _) = verify_with(Fault::Status {
        status: 500,
        body: None,
    })
    .await;
    assert_eq!((answer.unwrap().status, state.as_str()), (500, "400"));
}

#[tokio::test]
async fn a_connection_that_is_closed_before_or_after_the_work() {
    let (answer, state, _) = verify_with(Fault::Drop).await;
    assert!(answer.is_err());
    assert_eq!(state, "400");
    let (answer, state, note) = verify_with(Fault::DropAfterWork).await;
    assert!(answer.is_err());
    assert_eq!(state, "500");
    assert!(note.contains("200"), "{note}");
}

#[tokio::test]
async fn work_without_an_answer() {
    let (stage, token) = stage().await;
    let id = stage.quiet_order(Courier::Platform).await.provider_order_id;
    order_fault(&stage, "verify", Fault::TimeoutAfterWork).await;
    let url = stage.url(&format!("/food-orders/{id}/verify"));
    let headers = [("token", token.as_str())];
    tokio::select! {
        answer = call(Method::POST, &url, &headers, "") => panic!("{answer:?}"),
        _ = stage.until(&id, |order| order.state == 500) => {}
    }
    let line = stage.control.journal(None, 0).await.unwrap().pop().unwrap();
    assert_eq!((line.operation.as_str(), line.status), ("verify", None));
}

#[tokio::test]
async fn half_an_answer_to_the_whole_work() {
    let (answer, state, _) = verify_with(Fault::Malformed).await;
    let answer = answer.unwrap();
    assert_eq!((answer.status, state.as_str()), (200, "500"));
    assert!(serde_json::from_str::<serde_json::Value>(&answer.text).is_err());
}

#[tokio::test]
async fn a_late_answer() {
    let began = std::time::Instant::now();
    let (answer, state, _) = verify_with(Fault::Latency { ms: 200 }).await;
    assert!(began.elapsed() >= Duration::from_millis(200));
    assert_eq!((answer.unwrap().status, state.as_str()), (200, "500"));
}

#[tokio::test]
async fn a_login_that_ends_and_calls_that_are_too_many() {
    let (stage, token) = stage().await;
    let active = stage.url("/food-orders/active");
    order_fault(&stage, "active", Fault::RateLimited).await;
    assert_eq!(post(&active, &[("token", &token)], "").await.status, 429);
    assert_eq!(post(&active, &[("token", &token)], "").await.status, 200);
    order_fault(&stage, "*", Fault::ExpiredToken).await;
    assert_eq!(post(&active, &[("token", &token)], "").await.status, 401);
    assert_eq!(
        post(&active, &[("token", &token)], "").await.status,
        401,
        "it stays ended"
    );
}

#[tokio::test]
async fn pushes_come_twice_or_not_at_all_or_by_halves() {
    let (stage, _) = stage().await;
    order_fault(&stage, "push", Fault::Duplicate).await;
    stage.place(stage.request(Courier::Platform)).await;
    let (one, two) = (stage.receiver.next().await, stage.receiver.next().await);
    assert_eq!(one.text, two.text);

    order_fault(&stage, "push", Fault::Drop).await;
    let lost = stage
        .place(stage.request(Courier::Platform))
        .await
        .provider_order_id;
    stage
        .until(&lost, |order| {
            order.pushes.len() == 1 && order.pushes[0].status.is_none()
        })
        .await;

    order_fault(&stage, "push", Fault::Malformed).await;
    stage.receiver.answer_next(500, json!({}));
    let id = stage
        .place(stage.request(Courier::Platform))
        .await
        .provider_order_id;
    let broken = stage.receiver.next().await;
    assert!(broken.body.is_null() && !broken.text.is_empty());
    assert_eq!(
        stage.receiver.next().await.body["foodOrder"]["id"],
        id.as_str(),
        "whole when repeated"
    );
}

#[tokio::test]
async fn pushes_overtake_each_other() {
    let (stage, _) = stage().await;
    order_fault(&stage, "push", Fault::Reorder).await;
    let first = stage
        .place(stage.request(Courier::Platform))
        .await
        .provider_order_id;
    stage.until(&first, |order| order.pushes.len() == 1).await;
    assert!(stage.receiver.is_quiet().await);
    stage
        .control
        .cancel(Platform::Getir, &first, "customer")
        .await
        .unwrap();
    assert_eq!(stage.receiver.next().await.path, "/hooks/getir/cancel-order");
    assert_eq!(stage.receiver.next().await.path, "/hooks/getir/new-order");

    order_fault(&stage, "push", Fault::Reorder).await;
    let alone = stage
        .place(stage.request(Courier::Platform))
        .await
        .provider_order_id;
    stage.until(&alone, |order| order.pushes.len() == 1).await;
    stage.control.clear_faults().await.unwrap();
    assert_eq!(
        stage.receiver.next().await.body["foodOrder"]["id"],
        alone.as_str()
    );
}

#[tokio::test]
async fn a_push_is_repeated_until_it_is_taken() {
    let (stage, _) = stage().await;
    stage.receiver.answer_next(500, json!({}));
    stage.receiver.answer_next(404, json!({}));
    let id = stage
        .place(stage.request(Courier::Platform))
        .await
        .provider_order_id;
    let order = stage.until(&id, |order| order.pushes.len() == 3).await;
    let statuses: Vec<_> = order.pushes.iter().map(|push| push.status).collect();
    assert_eq!(statuses, [Some(500), Some(404), Some(200)]);

    (0..4).for_each(|_| stage.receiver.answer_next(503, json!({})));
    let id = stage
        .place(stage.request(Courier::Platform))
        .await
        .provider_order_id;
    stage.until(&id, |order| order.pushes.len() == 4).await;
    stage.control.push(Platform::Getir, &id).await.unwrap();
    let order = stage.until(&id, |order| order.pushes.len() == 5).await;
    assert_eq!(
        order.pushes[4].status,
        Some(200),
        "given up after four, then pushed by hand"
    );
}
