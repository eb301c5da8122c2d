//! The address or the key changes while events are on their way.

use super::scene::Scene;
use crate::support::{Answer, Gate, Kind, Receiver, until};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

on_both! {
    a_changed_address_gets_the_next_attempt
    a_changed_address_gets_what_waits_in_memory
    a_changed_address_gets_what_hangs_at_the_old_one
    what_hangs_when_the_address_is_removed_is_skipped_at_once
    what_waits_when_the_address_is_removed_is_skipped
    a_retry_is_skipped_when_the_address_was_removed
    an_address_that_is_registered_again_gets_what_comes_then
    the_next_attempt_carries_the_new_key
    the_next_attempt_carries_the_key_in_the_new_form
}

/// Only one attempt at a time, so that the rest waits in memory.
async fn narrow(kind: Kind) -> Scene {
    Scene::open_with(kind, |settings| settings.webhook.max_per_endpoint = 1).await
}

async fn a_changed_address_gets_the_next_attempt(kind: Kind) {
    let scene = Scene::open(kind).await;
    let other = Receiver::start().await;
    scene.receiver.usually(Answer::Status(500));
    scene.shop.order("1").await;
    scene.stand("1", &[("pending", json!("bad_status"), 1)]).await;
    scene.register(&other.url("/new")).await;
    scene.pass(12);
    scene.is_delivered("1", 2).await;
    let (old, new) = (scene.receiver.seen(), other.seen());
    assert_eq!((old.len(), new.len()), (1, 1));
    assert_eq!(old[0].body, new[0].body);
    let record = &scene.records("1").await[0];
    assert_eq!(record["attempts"][0]["url"], json!(scene.receiver.url("/olay")));
    assert_eq!(record["attempts"][1]["url"], json!(other.url("/new")));
}

async fn a_changed_address_gets_what_waits_in_memory(kind: Kind) {
    let scene = narrow(kind).await;
    let (other, gate) = (Receiver::start().await, Gate::closed());
    scene.receiver.usually(Answer::Behind(gate.clone(), 200));
    scene.pour("m", 5, false).await;
    scene.receiver.wait_for(1).await;
    scene.register(&other.url("/")).await;
    // The one that was under way does not go on at the old address.
    until("all are delivered", async || scene.pending() == 0).await;
    gate.open();
    assert_eq!((scene.receiver.count(), other.count()), (1, 5));
}

async fn a_changed_address_gets_what_hangs_at_the_old_one(kind: Kind) {
    let scene = Scene::open_with(kind, |settings| settings.webhook.attempt_seconds = 60).await;
    let other = Receiver::start().await;
    scene.receiver.usually(Answer::Silence);
    scene.pour("h", 16, false).await;
    scene.receiver.wait_for(16).await;
    let start = Instant::now();
    scene.register(&other.url("/new")).await;
    until("all are delivered", async || scene.pending() == 0).await;
    let took = start.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
    assert_eq!((scene.receiver.count(), other.count()), (16, 16));
    until("no attempt is left at the old one", async || {
        scene.receiver.open() == 0
    })
    .await;
    // What was cut off there is no attempt.
    scene.is_delivered("h0", 1).await;
}

async fn what_hangs_when_the_address_is_removed_is_skipped_at_once(kind: Kind) {
    let scene = Scene::open_with(kind, |settings| settings.webhook.attempt_seconds = 60).await;
    scene.receiver.usually(Answer::Silence);
    scene.shop.order("1").await;
    scene.verify("1").await;
    scene.receiver.wait_for(1).await;
    let start = Instant::now();
    scene.house.a.delete("/webhook").await.done();
    let removed = || ("skipped", json!("url_removed"), 0);
    scene.stand("1", &[removed(), removed()]).await;
    let took = start.elapsed();
    assert!(took < Duration::from_secs(30), "{took:?}");
}

async fn what_waits_when_the_address_is_removed_is_skipped(kind: Kind) {
    let scene = narrow(kind).await;
    let gate = Gate::closed();
    scene.receiver.usually(Answer::Behind(gate.clone(), 200));
    scene.shop.order("1").await;
    scene.verify("1").await;
    scene.receiver.wait_for(1).await;
    scene.shop.order("2").await;
    scene.house.a.delete("/webhook").await.done();
    scene.shop.order("3").await;
    let removed = || ("skipped", json!("url_removed"), 0);
    scene.stand("1", &[removed(), removed()]).await;
    scene.stand("2", &[removed()]).await;
    scene.stand("3", &[("skipped", json!("no_url"), 0)]).await;
    gate.open();
    assert_eq!(scene.receiver.count(), 1);
    for order in ["1", "2", "3"] {
        for record in scene.records(order).await {
            assert_eq!(record["nextAttemptAt"], Value::Null);
        }
    }
}

async fn a_retry_is_skipped_when_the_address_was_removed(kind: Kind) {
    let scene = Scene::open(kind).await;
    scene.receiver.usually(Answer::Status(500));
    scene.shop.order("1").await;
    scene.verify("1").await;
    scene
        .stand(
            "1",
            &[
                ("pending", json!("bad_status"), 1),
                ("pending", json!("earlier_event"), 0),
            ],
        )
        .await;
    scene.house.a.delete("/webhook").await.done();
    scene.pass(12);
    scene
        .stand(
            "1",
            &[
                ("skipped", json!("url_removed"), 1),
                ("skipped", json!("url_removed"), 0),
            ],
        )
        .await;
    assert_eq!(scene.receiver.count(), 1);
}

async fn an_address_that_is_registered_again_gets_what_comes_then(kind: Kind) {
    let scene = Scene::open(kind).await;
    scene.shop.order("1").await;
    scene.is_delivered("1", 1).await;
    scene.house.a.delete("/webhook").await.done();
    scene.shop.order("2").await;
    scene.stand("2", &[("skipped", json!("no_url"), 0)]).await;
    scene.register(&scene.receiver.url("/again")).await;
    scene.shop.order("3").await;
    // Its predecessor was skipped: there is nothing to wait for.
    scene.verify("2").await;
    scene.is_delivered("3", 1).await;
    let skipped = ("skipped", json!("no_url"), 0);
    scene.stand("2", &[skipped, ("delivered", Value::Null, 1)]).await;
    let paths: Vec<String> = scene
        .receiver
        .seen()
        .iter()
        .map(|seen| seen.path().to_owned())
        .collect();
    assert_eq!(paths, ["/olay", "/again", "/again"]);
}

async fn the_next_attempt_carries_the_new_key(kind: Kind) {
    let scene = narrow(kind).await;
    let old = scene.house.a.key.clone();
    let gate = Gate::closed();
    scene.receiver.next(Answer::Behind(gate.clone(), 500));
    scene.shop.order("1").await;
    scene.receiver.wait_for(1).await;
    scene.shop.order("2").await;
    let made = scene.house.a.act("/keys").await.data();
    let new = made["apiKey"].as_str().unwrap().to_owned();
    let path = format!("/keys/{}/primary", made["id"].as_str().unwrap());
    scene.house.a.act(&path).await.data();
    gate.open();
    // What waited in memory carries it, and so does the retry.
    scene.is_delivered("2", 1).await;
    scene.pass(12);
    scene.is_delivered("1", 2).await;
    let sent = |scene: &Scene| -> Vec<String> {
        let key = |seen: &crate::support::Seen| seen.header("authorization").unwrap().to_owned();
        scene.receiver.seen().iter().map(key).collect()
    };
    let (old, new) = (format!("Bearer {old}"), format!("Bearer {new}"));
    assert_eq!(sent(&scene), [old.clone(), new.clone(), new.clone()]);
    // A primary key that is revoked leaves it to another one.
    scene.receiver.next(Answer::Status(500));
    scene.shop.order("3").await;
    scene.stand("3", &[("pending", json!("bad_status"), 1)]).await;
    let path = format!("/keys/{}", made["id"].as_str().unwrap());
    let holder = crate::support::Caller::new(scene.house.addr, made["apiKey"].as_str().unwrap());
    holder.delete(&path).await.done();
    scene.pass(12);
    scene.is_delivered("3", 2).await;
    assert_eq!(sent(&scene)[3..], [new, old]);
}

async fn the_next_attempt_carries_the_key_in_the_new_form(kind: Kind) {
    let scene = Scene::open(kind).await;
    scene.receiver.next(Answer::Status(500));
    scene.shop.order("1").await;
    scene.stand("1", &[("pending", json!("bad_status"), 1)]).await;
    let bare = json!({ "authorization": "bare" });
    scene.house.a.put("/webhook", &bare).await.data();
    scene.pass(12);
    scene.is_delivered("1", 2).await;
    let seen = scene.receiver.seen();
    let key = scene.house.a.key.as_str();
    assert_eq!(
        seen[0].header("authorization"),
        Some(format!("Bearer {key}").as_str())
    );
    assert_eq!(seen[1].header("authorization"), Some(key));
}
