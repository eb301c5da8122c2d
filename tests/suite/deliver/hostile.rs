//! Receivers that do not behave: what they said counts, what they do costs nobody else anything.

use super::crowd::guests;
use super::scene::Scene;
use crate::support::{Answer, Kind, Ledger, Receiver, gzip_bomb, until};
use serde_json::{Value, json};

on_both! {
    a_2xx_counts_whatever_comes_after_it
    an_answer_that_is_cut_is_none_and_the_same_event_comes_again
    a_receiver_that_takes_one_and_dies_gets_the_rest_when_it_is_back
}

/// A head that says 200, and more.
fn head(more: &[u8]) -> Vec<u8> {
    [b"HTTP/1.1 200 Said\r\n".as_slice(), more].concat()
}

async fn a_2xx_counts_whatever_comes_after_it(kind: Kind) {
    const DEADLINE: u32 = 3;
    let scene = Scene::open_with(kind, |settings| settings.webhook.attempt_seconds = DEADLINE).await;
    let hostile = [
        Answer::Endless,
        Answer::Trickle,
        Answer::Bytes(gzip_bomb()),
        Answer::Bytes(head(b"x-name: \xff\xfe\xc3\x28\r\ncontent-length: 0\r\n\r\n")),
        Answer::BytesThenReset(head(b"content-length: 5\r\n\r\nhello")),
        Answer::BytesThenReset(head(b"content-length: 100\r\n\r\nhel")),
        Answer::Bytes(head(b"content-length: 100\r\n\r\nhel")),
        Answer::Bytes(head(b"transfer-encoding: chunked\r\n\r\nffffffff\r\nabc")),
        Answer::Bytes(head(b"transfer-encoding: chunked\r\n\r\nnonsense")),
        Answer::Stalled(head(b"content-length: 3\r\n\r\n")),
    ];
    let mut receivers = Vec::new();
    for answer in &hostile {
        let receiver = Receiver::start().await;
        receiver.usually(answer.clone());
        receivers.push(receiver);
    }
    let guests = guests(&scene.house, hostile.len(), |n| receivers[n].url("/")).await;
    for guest in &guests {
        guest.order("h").await;
    }
    // Others get theirs while a byte a second still comes from the slowest.
    receivers[1].wait_for(1).await;
    scene.pour("well-", 20, false).await;
    until("a receiver that behaves has everything", async || {
        scene.receiver.count() == 20
    })
    .await;
    for (n, guest) in guests.iter().enumerate() {
        let listed = async || guest.caller.get("/webhook/deliveries").await.data()[0].clone();
        until(&format!("{:?} is tried", hostile[n].status()), async || {
            listed().await["attempts"] != json!([])
        })
        .await;
        let record = listed().await;
        let attempt = &record["attempts"][0];
        assert_eq!(record["state"], json!("delivered"), "{n}: {attempt}");
        assert_eq!(record["reason"], Value::Null);
        assert_eq!(attempt["statusCode"], json!(200));
        let millis = attempt["durationMs"].as_u64().unwrap();
        assert!(
            millis < u64::from(DEADLINE) * 1_000 + 1_000,
            "{n} took {millis} ms"
        );
        assert_eq!(receivers[n].count(), 1);
    }
    scene.probe().await;
}

async fn an_answer_that_is_cut_is_none_and_the_same_event_comes_again(kind: Kind) {
    let scene = Scene::open(kind).await;
    let broken = [
        Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-le".to_vec()),
        Answer::BytesThenReset(b"HTTP/1.1 20".to_vec()),
        Answer::BytesThenReset(Vec::new()),
    ];
    scene.shop.order("0").await;
    scene.is_delivered("0", 1).await;
    for answer in broken {
        scene.receiver.next(answer);
    }
    scene.shop.order("1").await;
    for (tried, seconds) in [(1, 12), (2, 72), (3, 288)] {
        let broken = json!("connection_broken");
        scene.stand("1", &[("pending", broken, tried)]).await;
        scene.pass(seconds);
    }
    scene.is_delivered("1", 4).await;
    let ledger = Ledger::of(&scene.receiver);
    assert_eq!((ledger.0.len(), ledger.repeats()), (5, 3));
}

async fn a_receiver_that_takes_one_and_dies_gets_the_rest_when_it_is_back(kind: Kind) {
    let mut scene = Scene::open(kind).await;
    let address = scene.receiver.addr;
    scene
        .receiver
        .next(Answer::Bytes(head(b"content-length: 100\r\n\r\nhel")));
    scene.shop.order("1").await;
    scene.is_delivered("1", 1).await;
    scene.receiver.stop_listening().await;
    scene.pour("d", 10, true).await;
    until("it is in trouble", async || {
        scene.house.count("events WHERE failures > 0") >= 3
    })
    .await;
    let before = Ledger::of(&scene.receiver);
    scene.receiver = Receiver::start_at(address.to_string()).await.keeps_connections();
    for _ in 0..2 {
        scene.pass(12);
        scene.is_quiet().await;
    }
    until("everything is delivered", async || scene.pending() == 0).await;
    let after = Ledger::of(&scene.receiver);
    after.assert_ordered();
    assert_eq!((before.0.len(), after.0.len(), after.repeats()), (1, 20, 0));
    assert!(after.events().is_disjoint(&before.events()));
}
