//! A manual resend of an event that is also being retried.

use super::setup::Setup;
use crate::support::{Backend, CannedResponse, Gate, Receiver, Reply};
use serde_json::{Value, json};
use tokio::task::JoinSet;

on_both! {
    manual_resend_to_the_registered_url_delivers_and_releases_the_successor
    manual_resend_delivers_a_failed_event
    manual_resends_per_account_are_limited
    manual_resend_to_another_url_is_only_recorded
    failed_manual_resend_is_only_recorded
    manual_resend_stays_delivered_when_a_concurrent_retry_fails
    manual_resend_with_a_concurrent_successful_retry_is_delivered
    manual_send_of_a_held_event_lets_no_later_one_overtake
}

async fn by_hand(setup: &Setup, id: &Value, url: String) -> Reply {
    let body = json!({ "webhookOrderId": id, "url": url, "headers": {} });
    setup.service.a.post("/orders/retry-webhook", &body).await
}

/// An order that was tried once in vain, and is verified since.
async fn tried(backend: Backend) -> (Setup, Value) {
    let setup = Setup::open(backend).await;
    setup.receiver.next(CannedResponse::Status(500));
    setup.shop.order("1").await;
    setup
        .wait_for_records("1", &[("pending", json!("bad_status"), 1)])
        .await;
    setup.verify("1").await;
    let id = setup.records("1").await[0]["id"].clone();
    (setup, id)
}

async fn explanations(setup: &Setup) -> Vec<String> {
    let record = setup.records("1").await[0].clone();
    let attempts = record["attempts"].as_array().unwrap();
    let said = |attempt: &Value| attempt["explanation"].as_str().unwrap().to_owned();
    attempts.iter().map(said).collect()
}

const FAILED: &str = "answered 500, only 2xx is success";

async fn manual_resend_to_the_registered_url_delivers_and_releases_the_successor(backend: Backend) {
    let (setup, id) = tried(backend).await;
    by_hand(&setup, &id, setup.receiver.url("/olay")).await.data();
    // The clock stands still.
    let delivered = |attempts| ("delivered", Value::Null, attempts);
    setup.wait_for_records("1", &[delivered(2), delivered(1)]).await;
    assert_eq!(explanations(&setup).await, [FAILED, "sent by hand: answered 200"]);
    assert_eq!(setup.records("1").await[0]["nextAttemptAt"], Value::Null);
    setup.advance_clock(3600);
    setup.probe().await;
    assert_eq!((setup.arrivals("1", 1), setup.arrivals("1", 2)), (2, 1));
}

async fn manual_resend_delivers_a_failed_event(backend: Backend) {
    let setup = Setup::open_with(backend, |settings| settings.webhook.retry_seconds = Vec::new()).await;
    setup.receiver.next(CannedResponse::Status(500));
    setup.shop.order("1").await;
    setup
        .wait_for_records("1", &[("failed", json!("bad_status"), 1)])
        .await;
    let id = setup.records("1").await[0]["id"].clone();
    by_hand(&setup, &id, setup.receiver.url("/olay")).await.data();
    setup.wait_until_delivered("1", 2).await;
    // Also one that was delivered before can be sent again, and stays so whatever comes of it.
    setup.receiver.next(CannedResponse::Status(500));
    by_hand(&setup, &id, setup.receiver.url("/olay")).await.data();
    setup.wait_until_delivered("1", 3).await;
}

async fn manual_resends_per_account_are_limited(backend: Backend) {
    let setup = Setup::open(backend).await;
    setup.shop.order("1").await;
    setup.wait_until_delivered("1", 1).await;
    let id = setup.records("1").await[0]["id"].clone();
    let (slow, gate) = (Receiver::start().await, Gate::closed());
    slow.set_default_response(CannedResponse::Behind(gate.clone(), 200));
    let mut sending = JoinSet::new();
    for n in 0..4 {
        let body = json!({ "webhookOrderId": id, "url": slow.url(&format!("/{n}")), "headers": {} });
        let client = setup.service.a.clone();
        sending.spawn(async move { client.post("/orders/retry-webhook", &body).await });
    }
    slow.wait_for(4).await;
    by_hand(&setup, &id, slow.url("/5"))
        .await
        .refused(429, "too_many_sends");
    let tested = setup.service.a.post("/webhook/test", &json!({})).await;
    let refused = tested.refused(429, "too_many_sends");
    assert!(!refused["message"].as_str().unwrap_or_default().is_empty());
    // Another account is not concerned.
    let url = json!({ "url": setup.receiver.url("/b") });
    setup.service.b.put("/webhook", &url).await.data();
    setup.service.b.post("/webhook/test", &json!({})).await.data();
    gate.open();
    for sent in sending.join_all().await {
        sent.data();
    }
    by_hand(&setup, &id, slow.url("/6")).await.data();
}

async fn manual_resend_to_another_url_is_only_recorded(backend: Backend) {
    let (setup, id) = tried(backend).await;
    let other = Receiver::start().await;
    by_hand(&setup, &id, other.url("/olay")).await.data();
    setup
        .wait_for_records(
            "1",
            &[
                ("pending", json!("bad_status"), 2),
                ("pending", json!("earlier_event"), 0),
            ],
        )
        .await;
    assert_eq!(explanations(&setup).await, [FAILED, "sent by hand: answered 200"]);
    assert_eq!(other.seen()[0].body, setup.receiver.seen()[0].body);
    setup.probe().await;
    assert_eq!(setup.arrivals("1", 2), 0);
    setup.advance_clock(12);
    let delivered = |attempts| ("delivered", Value::Null, attempts);
    setup.wait_for_records("1", &[delivered(3), delivered(1)]).await;
}

async fn failed_manual_resend_is_only_recorded(backend: Backend) {
    let (setup, id) = tried(backend).await;
    setup.receiver.next(CannedResponse::Status(500));
    by_hand(&setup, &id, setup.receiver.url("/olay")).await.data();
    // It is no second failure: the successor still waits, and three retries are still to come.
    setup
        .wait_for_records(
            "1",
            &[
                ("pending", json!("bad_status"), 2),
                ("pending", json!("earlier_event"), 0),
            ],
        )
        .await;
    setup.probe().await;
    assert_eq!(setup.arrivals("1", 2), 0);
    setup.receiver.set_default_response(CannedResponse::Status(500));
    for (seconds, attempts) in [(12, 3), (72, 4)] {
        setup.advance_clock(seconds);
        setup.wait_for_arrivals("1", 1, attempts).await;
        setup.wait_until_idle().await;
    }
    setup.advance_clock(288);
    setup.wait_for_arrivals("1", 1, 5).await;
    setup.wait_until_idle().await;
    assert_eq!(
        setup.states("1").await[0],
        ("failed".to_owned(), json!("bad_status"), 5)
    );
}

/// A due retry is under way and is answered with that status after the same event was resent manually, or not.
async fn raced(backend: Backend, by_itself: u16, manual: u16) -> Setup {
    let (setup, id) = tried(backend).await;
    let gate = Gate::closed();
    setup
        .receiver
        .next(CannedResponse::Behind(gate.clone(), by_itself));
    setup.receiver.next(CannedResponse::Status(manual));
    setup.advance_clock(12);
    setup.wait_for_arrivals("1", 1, 2).await;
    by_hand(&setup, &id, setup.receiver.url("/olay")).await.data();
    gate.open();
    setup
}

async fn manual_resend_stays_delivered_when_a_concurrent_retry_fails(backend: Backend) {
    let setup = raced(backend, 500, 200).await;
    let delivered = |attempts| ("delivered", Value::Null, attempts);
    setup.wait_for_records("1", &[delivered(3), delivered(1)]).await;
    assert_eq!(
        explanations(&setup).await,
        [FAILED, "sent by hand: answered 200", FAILED]
    );
    assert_eq!(setup.records("1").await[0]["nextAttemptAt"], Value::Null);
    setup.advance_clock(3600);
    setup.probe().await;
    assert_eq!((setup.arrivals("1", 1), setup.arrivals("1", 2)), (3, 1));
}

async fn manual_resend_with_a_concurrent_successful_retry_is_delivered(backend: Backend) {
    let setup = raced(backend, 200, 500).await;
    let delivered = |attempts| ("delivered", Value::Null, attempts);
    setup.wait_for_records("1", &[delivered(3), delivered(1)]).await;
    let by_hand = format!("sent by hand: {FAILED}");
    assert_eq!(explanations(&setup).await, [FAILED, &by_hand, "answered 200"]);
}

async fn manual_send_of_a_held_event_lets_no_later_one_overtake(backend: Backend) {
    let (setup, _) = tried(backend).await;
    let (waiting, held) = (
        ("pending", json!("bad_status"), 1),
        ("pending", json!("earlier_event"), 0),
    );
    let delivered = |attempts| ("delivered", Value::Null, attempts);
    setup
        .wait_for_records("1", &[waiting.clone(), held.clone()])
        .await;
    let second = setup.records("1").await[1]["id"].clone();
    // A third event before and a fourth after the second is sent by hand: both still wait for the first.
    setup.service.a.act("/orders/change-status/1").await.data();
    by_hand(&setup, &second, setup.receiver.url("/olay")).await.data();
    setup.service.a.act("/orders/change-status/1").await.data();
    setup
        .wait_for_records("1", &[waiting, delivered(1), held.clone(), held])
        .await;
    setup.probe().await;
    assert_eq!((setup.arrivals("1", 3), setup.arrivals("1", 4)), (0, 0));
    setup.advance_clock(12);
    setup
        .wait_for_records("1", &[delivered(2), delivered(1), delivered(1), delivered(1)])
        .await;
    let arrived = setup.receiver.seen();
    let of_order = arrived
        .iter()
        .filter(|seen| seen.json()["veri"]["pid"] == json!("1"));
    let sequences: Vec<i64> = of_order
        .filter_map(|seen| seen.json()["veri"]["sequence"].as_i64())
        .collect();
    assert_eq!(sequences, [1, 2, 1, 3, 4]);
}
