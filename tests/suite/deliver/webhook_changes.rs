//! The URL or the key changes while events are in flight.

use super::setup::Setup;
use crate::support::{Backend, CannedResponse, Gate, Receiver, wait_until};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

on_both! {
    changed_url_gets_the_next_attempt
    changed_url_gets_queued_events
    changed_url_gets_attempts_hanging_at_the_old_one
    hanging_attempt_is_skipped_when_the_url_is_removed
    queued_events_are_skipped_when_the_url_is_removed
    retry_is_skipped_when_the_url_was_removed
    reregistered_url_gets_later_events
    next_attempt_uses_the_new_key
    next_attempt_uses_the_new_key_form
}

/// Only one attempt at a time, so that the rest waits in memory.
async fn narrow(backend: Backend) -> Setup {
    Setup::open_with(backend, |settings| settings.webhook.max_per_endpoint = 1).await
}

async fn changed_url_gets_the_next_attempt(backend: Backend) {
    let setup = Setup::open(backend).await;
    let other = Receiver::start().await;
    setup.receiver.set_default_response(CannedResponse::Status(500));
    setup.shop.order("1").await;
    setup
        .wait_for_records("1", &[("pending", json!("bad_status"), 1)])
        .await;
    setup.register(&other.url("/new")).await;
    setup.advance_clock(12);
    setup.wait_until_delivered("1", 2).await;
    let (old, new) = (setup.receiver.seen(), other.seen());
    assert_eq!((old.len(), new.len()), (1, 1));
    assert_eq!(old[0].body, new[0].body);
    let record = &setup.records("1").await[0];
    assert_eq!(record["attempts"][0]["url"], json!(setup.receiver.url("/olay")));
    assert_eq!(record["attempts"][1]["url"], json!(other.url("/new")));
}

async fn changed_url_gets_queued_events(backend: Backend) {
    let setup = narrow(backend).await;
    let (other, gate) = (Receiver::start().await, Gate::closed());
    setup
        .receiver
        .set_default_response(CannedResponse::Behind(gate.clone(), 200));
    setup.submit_orders("m", 5, false).await;
    setup.receiver.wait_for(1).await;
    setup.register(&other.url("/")).await;
    // The one that was under way does not go on at the old address.
    wait_until("all are delivered", async || setup.pending() == 0).await;
    gate.open();
    assert_eq!((setup.receiver.count(), other.count()), (1, 5));
}

async fn changed_url_gets_attempts_hanging_at_the_old_one(backend: Backend) {
    let setup = Setup::open_with(backend, |settings| settings.webhook.attempt_seconds = 60).await;
    let other = Receiver::start().await;
    setup.receiver.set_default_response(CannedResponse::Silence);
    setup.submit_orders("h", 16, false).await;
    setup.receiver.wait_for(16).await;
    let start = Instant::now();
    setup.register(&other.url("/new")).await;
    wait_until("all are delivered", async || setup.pending() == 0).await;
    let took = start.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
    assert_eq!((setup.receiver.count(), other.count()), (16, 16));
    wait_until("no attempt is left at the old one", async || {
        setup.receiver.open() == 0
    })
    .await;
    // What was cut off there is no attempt.
    setup.wait_until_delivered("h0", 1).await;
}

async fn hanging_attempt_is_skipped_when_the_url_is_removed(backend: Backend) {
    let setup = Setup::open_with(backend, |settings| settings.webhook.attempt_seconds = 60).await;
    setup.receiver.set_default_response(CannedResponse::Silence);
    setup.shop.order("1").await;
    setup.verify("1").await;
    setup.receiver.wait_for(1).await;
    let start = Instant::now();
    setup.service.a.delete("/webhook").await.done();
    let removed = || ("skipped", json!("url_removed"), 0);
    setup.wait_for_records("1", &[removed(), removed()]).await;
    let took = start.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
}

async fn queued_events_are_skipped_when_the_url_is_removed(backend: Backend) {
    let setup = narrow(backend).await;
    let gate = Gate::closed();
    setup
        .receiver
        .set_default_response(CannedResponse::Behind(gate.clone(), 200));
    setup.shop.order("1").await;
    setup.verify("1").await;
    setup.receiver.wait_for(1).await;
    setup.shop.order("2").await;
    setup.service.a.delete("/webhook").await.done();
    setup.shop.order("3").await;
    let removed = || ("skipped", json!("url_removed"), 0);
    setup.wait_for_records("1", &[removed(), removed()]).await;
    setup.wait_for_records("2", &[removed()]).await;
    setup
        .wait_for_records("3", &[("skipped", json!("no_url"), 0)])
        .await;
    gate.open();
    assert_eq!(setup.receiver.count(), 1);
    for order in ["1", "2", "3"] {
        for record in setup.records(order).await {
            assert_eq!(record["nextAttemptAt"], Value::Null);
        }
    }
}

async fn retry_is_skipped_when_the_url_was_removed(backend: Backend) {
    let setup = Setup::open(backend).await;
    setup.receiver.set_default_response(CannedResponse::Status(500));
    setup.shop.order("1").await;
    setup.verify("1").await;
    setup
        .wait_for_records(
            "1",
            &[
                ("pending", json!("bad_status"), 1),
                ("pending", json!("earlier_event"), 0),
            ],
        )
        .await;
    setup.service.a.delete("/webhook").await.done();
    setup.advance_clock(12);
    setup
        .wait_for_records(
            "1",
            &[
                ("skipped", json!("url_removed"), 1),
                ("skipped", json!("url_removed"), 0),
            ],
        )
        .await;
    assert_eq!(setup.receiver.count(), 1);
}

async fn reregistered_url_gets_later_events(backend: Backend) {
    let setup = Setup::open(backend).await;
    setup.shop.order("1").await;
    setup.wait_until_delivered("1", 1).await;
    setup.service.a.delete("/webhook").await.done();
    setup.shop.order("2").await;
    setup
        .wait_for_records("2", &[("skipped", json!("no_url"), 0)])
        .await;
    setup.register(&setup.receiver.url("/again")).await;
    setup.shop.order("3").await;
    // Its predecessor was skipped: there is nothing to wait for.
    setup.verify("2").await;
    setup.wait_until_delivered("3", 1).await;
    let skipped = ("skipped", json!("no_url"), 0);
    setup
        .wait_for_records("2", &[skipped, ("delivered", Value::Null, 1)])
        .await;
    let paths: Vec<String> = setup
        .receiver
        .seen()
        .iter()
        .map(|seen| seen.path().to_owned())
        .collect();
    assert_eq!(paths, ["/olay", "/again", "/again"]);
}

async fn next_attempt_uses_the_new_key(backend: Backend) {
    let setup = narrow(backend).await;
    let old = setup.service.a.key.clone();
    let gate = Gate::closed();
    setup.receiver.next(CannedResponse::Behind(gate.clone(), 500));
    setup.shop.order("1").await;
    setup.receiver.wait_for(1).await;
    setup.shop.order("2").await;
    let made = setup.service.a.act("/keys").await.data();
    let new = made["apiKey"].as_str().unwrap().to_owned();
    let path = format!("/keys/{}/primary", made["id"].as_str().unwrap());
    setup.service.a.act(&path).await.data();
    gate.open();
    // What waited in memory carries it, and so does the retry.
    setup.wait_until_delivered("2", 1).await;
    setup.advance_clock(12);
    setup.wait_until_delivered("1", 2).await;
    let sent = |setup: &Setup| -> Vec<String> {
        let key = |seen: &crate::support::ReceivedRequest| seen.header("authorization").unwrap().to_owned();
        setup.receiver.seen().iter().map(key).collect()
    };
    let (old, new) = (format!("Bearer {old}"), format!("Bearer {new}"));
    assert_eq!(sent(&setup), [old.clone(), new.clone(), new.clone()]);
    // A primary key that is revoked leaves it to another one.
    setup.receiver.next(CannedResponse::Status(500));
    setup.shop.order("3").await;
    setup
        .wait_for_records("3", &[("pending", json!("bad_status"), 1)])
        .await;
    let path = format!("/keys/{}", made["id"].as_str().unwrap());
    let holder = crate::support::ApiClient::new(setup.service.addr, made["apiKey"].as_str().unwrap());
    holder.delete(&path).await.done();
    setup.advance_clock(12);
    setup.wait_until_delivered("3", 2).await;
    assert_eq!(sent(&setup)[3..], [new, old]);
}

async fn next_attempt_uses_the_new_key_form(backend: Backend) {
    let setup = Setup::open(backend).await;
    setup.receiver.next(CannedResponse::Status(500));
    setup.shop.order("1").await;
    setup
        .wait_for_records("1", &[("pending", json!("bad_status"), 1)])
        .await;
    let bare = json!({ "authorization": "bare" });
    setup.service.a.put("/webhook", &bare).await.data();
    setup.advance_clock(12);
    setup.wait_until_delivered("1", 2).await;
    let seen = setup.receiver.seen();
    let key = setup.service.a.key.as_str();
    assert_eq!(
        seen[0].header("authorization"),
        Some(format!("Bearer {key}").as_str())
    );
    assert_eq!(seen[1].header("authorization"), Some(key));
}
