//! Misbehaving receivers: the received status counts, and others are not affected.

use super::many_accounts::tenants;
use super::setup::Setup;
use crate::support::{Backend, CannedResponse, Ledger, Receiver, gzip_bomb, wait_until};
use serde_json::{Value, json};

on_both! {
    receiver_that_dies_gets_the_rest_after_recovery
    ; sqlite_only:
    success_status_counts_despite_a_bad_body
    truncated_response_causes_a_retry
}

/// A head that says 200, and more.
fn head(more: &[u8]) -> Vec<u8> {
    [b"HTTP/1.1 200 Said\r\n".as_slice(), more].concat()
}

async fn success_status_counts_despite_a_bad_body(backend: Backend) {
    const DEADLINE: u32 = 3;
    let setup = Setup::open_with(backend, |settings| settings.webhook.attempt_seconds = DEADLINE).await;
    let hostile = [
        CannedResponse::Endless,
        CannedResponse::Trickle,
        CannedResponse::Bytes(gzip_bomb()),
        CannedResponse::Bytes(head(b"x-name: \xff\xfe\xc3\x28\r\ncontent-length: 0\r\n\r\n")),
        CannedResponse::BytesThenReset(head(b"content-length: 5\r\n\r\nhello")),
        CannedResponse::BytesThenReset(head(b"content-length: 100\r\n\r\nhel")),
        CannedResponse::Bytes(head(b"content-length: 100\r\n\r\nhel")),
        CannedResponse::Bytes(head(b"transfer-encoding: chunked\r\n\r\nffffffff\r\nabc")),
        CannedResponse::Bytes(head(b"transfer-encoding: chunked\r\n\r\nnonsense")),
        CannedResponse::Stalled(head(b"content-length: 3\r\n\r\n")),
    ];
    let mut receivers = Vec::new();
    for answer in &hostile {
        let receiver = Receiver::start().await;
        receiver.set_default_response(answer.clone());
        receivers.push(receiver);
    }
    let tenants = tenants(&setup.service, hostile.len(), |n| receivers[n].url("/")).await;
    for tenant in &tenants {
        tenant.order("h").await;
    }
    // Others get theirs while a byte a second still comes from the slowest.
    receivers[1].wait_for(1).await;
    setup.submit_orders("well-", 20, false).await;
    wait_until("a receiver that behaves has everything", async || {
        setup.receiver.count() == 20
    })
    .await;
    for (n, tenant) in tenants.iter().enumerate() {
        let listed = async || tenant.client.get("/webhook/deliveries").await.data()[0].clone();
        wait_until(&format!("{:?} is tried", hostile[n].status()), async || {
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
    setup.probe().await;
}

async fn truncated_response_causes_a_retry(backend: Backend) {
    let setup = Setup::open(backend).await;
    let broken = [
        CannedResponse::Bytes(b"HTTP/1.1 200 OK\r\ncontent-le".to_vec()),
        CannedResponse::BytesThenReset(b"HTTP/1.1 20".to_vec()),
        CannedResponse::BytesThenReset(Vec::new()),
    ];
    setup.shop.order("0").await;
    setup.wait_until_delivered("0", 1).await;
    for answer in broken {
        setup.receiver.next(answer);
    }
    setup.shop.order("1").await;
    for (tried, seconds) in [(1, 12), (2, 72), (3, 288)] {
        let broken = json!("connection_broken");
        setup.wait_for_records("1", &[("pending", broken, tried)]).await;
        setup.advance_clock(seconds);
    }
    setup.wait_until_delivered("1", 4).await;
    let ledger = Ledger::of(&setup.receiver);
    assert_eq!((ledger.0.len(), ledger.repeats()), (5, 3));
}

async fn receiver_that_dies_gets_the_rest_after_recovery(backend: Backend) {
    let mut setup = Setup::open(backend).await;
    let address = setup.receiver.addr;
    setup
        .receiver
        .next(CannedResponse::Bytes(head(b"content-length: 100\r\n\r\nhel")));
    setup.shop.order("1").await;
    setup.wait_until_delivered("1", 1).await;
    setup.receiver.stop_listening().await;
    setup.submit_orders("d", 10, true).await;
    wait_until("it is in trouble", async || {
        setup.service.count("events WHERE failures > 0") >= 3
    })
    .await;
    let before = Ledger::of(&setup.receiver);
    setup.receiver = Receiver::start_at(address.to_string()).await.keeps_connections();
    for _ in 0..2 {
        setup.advance_clock(12);
        setup.wait_until_idle().await;
    }
    wait_until("everything is delivered", async || setup.pending() == 0).await;
    let after = Ledger::of(&setup.receiver);
    after.assert_ordered();
    assert_eq!((before.0.len(), after.0.len(), after.repeats()), (1, 20, 0));
    assert!(after.events().is_disjoint(&before.events()));
}
