//! An event that is sent by hand while it is on its way by itself.

use super::scene::Scene;
use crate::support::{Answer, Gate, Kind, Receiver, Reply};
use serde_json::{Value, json};
use tokio::task::JoinSet;

on_both! {
    by_hand_to_the_registered_address_it_is_delivered_and_lets_its_successor_go
    by_hand_a_failed_event_is_delivered
    by_hand_an_account_sends_only_a_few_at_a_time
    by_hand_to_another_address_it_is_only_noted
    by_hand_in_vain_it_is_only_noted
    beside_a_retry_that_fails_it_stays_delivered
    beside_a_retry_that_succeeds_it_is_delivered
}

async fn by_hand(scene: &Scene, id: &Value, url: String) -> Reply {
    let body = json!({ "webhookOrderId": id, "url": url, "headers": {} });
    scene.house.a.post("/orders/retry-webhook", &body).await
}

/// An order that was tried once in vain, and is verified since.
async fn tried(kind: Kind) -> (Scene, Value) {
    let scene = Scene::open(kind).await;
    scene.receiver.next(Answer::Status(500));
    scene.shop.order("1").await;
    scene.stand("1", &[("pending", json!("bad_status"), 1)]).await;
    scene.verify("1").await;
    let id = scene.records("1").await[0]["id"].clone();
    (scene, id)
}

async fn explanations(scene: &Scene) -> Vec<String> {
    let record = scene.records("1").await[0].clone();
    let attempts = record["attempts"].as_array().unwrap();
    let said = |attempt: &Value| attempt["explanation"].as_str().unwrap().to_owned();
    attempts.iter().map(said).collect()
}

const FAILED: &str = "answered 500, only 2xx is success";

async fn by_hand_to_the_registered_address_it_is_delivered_and_lets_its_successor_go(kind: Kind) {
    let (scene, id) = tried(kind).await;
    by_hand(&scene, &id, scene.receiver.url("/olay")).await.data();
    // The clock stands still.
    let delivered = |attempts| ("delivered", Value::Null, attempts);
    scene.stand("1", &[delivered(2), delivered(1)]).await;
    assert_eq!(explanations(&scene).await, [FAILED, "sent by hand: answered 200"]);
    assert_eq!(scene.records("1").await[0]["nextAttemptAt"], Value::Null);
    scene.pass(3600);
    scene.probe().await;
    assert_eq!((scene.arrivals("1", 1), scene.arrivals("1", 2)), (2, 1));
}

async fn by_hand_a_failed_event_is_delivered(kind: Kind) {
    let scene = Scene::open_with(kind, |settings| settings.webhook.retry_seconds = Vec::new()).await;
    scene.receiver.next(Answer::Status(500));
    scene.shop.order("1").await;
    scene.stand("1", &[("failed", json!("bad_status"), 1)]).await;
    let id = scene.records("1").await[0]["id"].clone();
    by_hand(&scene, &id, scene.receiver.url("/olay")).await.data();
    scene.is_delivered("1", 2).await;
    // Also one that was delivered before can be sent again, and stays so whatever comes of it.
    scene.receiver.next(Answer::Status(500));
    by_hand(&scene, &id, scene.receiver.url("/olay")).await.data();
    scene.is_delivered("1", 3).await;
}

async fn by_hand_an_account_sends_only_a_few_at_a_time(kind: Kind) {
    let scene = Scene::open(kind).await;
    scene.shop.order("1").await;
    scene.is_delivered("1", 1).await;
    let id = scene.records("1").await[0]["id"].clone();
    let (slow, gate) = (Receiver::start().await, Gate::closed());
    slow.usually(Answer::Behind(gate.clone(), 200));
    let mut sending = JoinSet::new();
    for n in 0..4 {
        let body = json!({ "webhookOrderId": id, "url": slow.url(&format!("/{n}")), "headers": {} });
        let caller = scene.house.a.clone();
        sending.spawn(async move { caller.post("/orders/retry-webhook", &body).await });
    }
    slow.wait_for(4).await;
    by_hand(&scene, &id, slow.url("/5"))
        .await
        .refused(429, "too_many_sends");
    let tested = scene.house.a.post("/webhook/test", &json!({})).await;
    let refused = tested.refused(429, "too_many_sends");
    assert!(!refused["message"].as_str().unwrap_or_default().is_empty());
    // Another account is not concerned.
    let url = json!({ "url": scene.receiver.url("/b") });
    scene.house.b.put("/webhook", &url).await.data();
    scene.house.b.post("/webhook/test", &json!({})).await.data();
    gate.open();
    for sent in sending.join_all().await {
        sent.data();
    }
    by_hand(&scene, &id, slow.url("/6")).await.data();
}

async fn by_hand_to_another_address_it_is_only_noted(kind: Kind) {
    let (scene, id) = tried(kind).await;
    let other = Receiver::start().await;
    by_hand(&scene, &id, other.url("/olay")).await.data();
    scene
        .stand(
            "1",
            &[
                ("pending", json!("bad_status"), 2),
                ("pending", json!("earlier_event"), 0),
            ],
        )
        .await;
    assert_eq!(explanations(&scene).await, [FAILED, "sent by hand: answered 200"]);
    assert_eq!(other.seen()[0].body, scene.receiver.seen()[0].body);
    scene.probe().await;
    assert_eq!(scene.arrivals("1", 2), 0);
    scene.pass(12);
    let delivered = |attempts| ("delivered", Value::Null, attempts);
    scene.stand("1", &[delivered(3), delivered(1)]).await;
}

async fn by_hand_in_vain_it_is_only_noted(kind: Kind) {
    let (scene, id) = tried(kind).await;
    scene.receiver.next(Answer::Status(500));
    by_hand(&scene, &id, scene.receiver.url("/olay")).await.data();
    // It is no second failure: the successor still waits, and three retries are still to come.
    scene
        .stand(
            "1",
            &[
                ("pending", json!("bad_status"), 2),
                ("pending", json!("earlier_event"), 0),
            ],
        )
        .await;
    scene.probe().await;
    assert_eq!(scene.arrivals("1", 2), 0);
    scene.receiver.usually(Answer::Status(500));
    for (seconds, attempts) in [(12, 3), (72, 4)] {
        scene.pass(seconds);
        scene.arrived("1", 1, attempts).await;
        scene.is_quiet().await;
    }
    scene.pass(288);
    scene.arrived("1", 1, 5).await;
    scene.is_quiet().await;
    assert_eq!(
        scene.states("1").await[0],
        ("failed".to_owned(), json!("bad_status"), 5)
    );
}

/// A due retry is under way and is answered with that status after the same event was taken by hand, or not.
async fn raced(kind: Kind, by_itself: u16, hand: u16) -> Scene {
    let (scene, id) = tried(kind).await;
    let gate = Gate::closed();
    scene.receiver.next(Answer::Behind(gate.clone(), by_itself));
    scene.receiver.next(Answer::Status(hand));
    scene.pass(12);
    scene.arrived("1", 1, 2).await;
    by_hand(&scene, &id, scene.receiver.url("/olay")).await.data();
    gate.open();
    scene
}

async fn beside_a_retry_that_fails_it_stays_delivered(kind: Kind) {
    let scene = raced(kind, 500, 200).await;
    let delivered = |attempts| ("delivered", Value::Null, attempts);
    scene.stand("1", &[delivered(3), delivered(1)]).await;
    assert_eq!(
        explanations(&scene).await,
        [FAILED, "sent by hand: answered 200", FAILED]
    );
    assert_eq!(scene.records("1").await[0]["nextAttemptAt"], Value::Null);
    scene.pass(3600);
    scene.probe().await;
    assert_eq!((scene.arrivals("1", 1), scene.arrivals("1", 2)), (3, 1));
}

async fn beside_a_retry_that_succeeds_it_is_delivered(kind: Kind) {
    let scene = raced(kind, 200, 500).await;
    let delivered = |attempts| ("delivered", Value::Null, attempts);
    scene.stand("1", &[delivered(3), delivered(1)]).await;
    let by_hand = format!("sent by hand: {FAILED}");
    assert_eq!(explanations(&scene).await, [FAILED, &by_hand, "answered 200"]);
}
