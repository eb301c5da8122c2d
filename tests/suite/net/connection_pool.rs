//! Pooled connections are reused only where that is safe.

use super::test_client::{error, flipping, post, private, repeatable, status};
use crate::support::{Backend, CannedResponse, Receiver, TestService, block_on};
use garson::net::{Outgoing, SendError};
use garson_core::platform::Trust;
use serde_json::json;
use std::sync::atomic::Ordering;
use std::time::Duration;

async fn keeping() -> Receiver {
    Receiver::start().await.keeps_connections()
}

#[test]
fn sequential_requests_share_a_connection() {
    for trust in [Trust::Account, Trust::Operator] {
        block_on(async {
            let (receiver, client) = (keeping().await, private());
            let url = receiver.url("/");
            for n in 0..20 {
                receiver.next(match n % 3 {
                    0 => CannedResponse::Status(201),
                    1 => CannedResponse::Body(503, "x".repeat(1024)),
                    _ => CannedResponse::Redirect("/elsewhere".to_owned()),
                });
                let sent = client.send_timed(Outgoing { trust, ..post(&url) }).await;
                assert_eq!(sent.timing.connect.is_some(), n == 0, "{n}");
                assert!(sent.timing.first_byte.is_some() && !sent.repeated);
            }
            assert_eq!((receiver.connections(), receiver.seen().len()), (1, 20));
            // Accounts' connections are not lent to the operator's requests, nor the other way round.
            let other = match trust {
                Trust::Account => Trust::Operator,
                Trust::Operator => Trust::Account,
            };
            client
                .send(Outgoing {
                    trust: other,
                    ..post(&url)
                })
                .await
                .unwrap();
            assert_eq!(receiver.connections(), 2);
        });
    }
}

#[test]
fn concurrent_requests_use_separate_connections_and_a_limited_number_is_pooled() {
    block_on(async {
        let (receiver, client) = (keeping().await, private());
        let url = receiver.url("/");
        let release = std::sync::Arc::new(tokio::sync::Notify::new());
        receiver.set_default_response(CannedResponse::Held(release.clone(), 200));
        let round = async || {
            let before = receiver.seen().len();
            let mut sending = tokio::task::JoinSet::new();
            for _ in 0..20 {
                let (client, outgoing) = (client.clone(), post(&url));
                sending.spawn(async move { client.send(outgoing).await.unwrap().status });
            }
            receiver.wait_for(before + 20).await;
            for _ in 0..20 {
                release.notify_one();
                // One permit is all that a Notify holds.
                sending.join_next().await.unwrap().unwrap();
            }
        };
        round().await;
        assert_eq!(receiver.connections(), 20);
        round().await;
        assert_eq!(receiver.connections(), 20 + 4);
    });
}

#[test]
fn manual_resends_share_a_connection() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        block_on(async {
            let service = TestService::open_private(backend).await;
            let receiver = keeping().await;
            let shop = service.shop(&service.a, "s").await;
            shop.order("1").await;
            let body = json!({ "webhookOrderId": "1", "url": receiver.url("/"), "headers": {} });
            for _ in 0..3 {
                service.a.post("/orders/retry-webhook", &body).await.data();
            }
            assert_eq!((receiver.connections(), receiver.seen().len()), (1, 3));
        });
    }
}

#[test]
fn connection_is_pooled_only_after_a_complete_response() {
    block_on(async {
        let receiver = keeping().await;
        let bytes = |text: &str| CannedResponse::Bytes(text.as_bytes().to_vec());
        for answer in [
            CannedResponse::Body(200, "x".repeat(1025)),
            bytes("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"),
            bytes("HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nolder"),
            bytes("HTTP/1.1 200 OK\r\n\r\nto the end"),
            // More than was announced belongs to no answer.
            bytes("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 500 No\r\n\r\n"),
        ] {
            let (client, before) = (private(), receiver.connections());
            receiver.next(answer);
            for _ in 0..2 {
                let sent = client.send_timed(post(&receiver.url("/"))).await;
                assert!(status(&sent) == 200 && sent.timing.connect.is_some());
            }
            assert_eq!(receiver.connections(), before + 2);
        }
    });
}

/// Two receivers at the same port of different addresses.
async fn twins() -> (Receiver, Receiver) {
    let one = keeping().await;
    let two = Receiver::start_at(format!("127.0.0.2:{}", one.addr.port())).await;
    (one, two.keeps_connections())
}

#[test]
fn name_rebound_to_a_forbidden_address_is_refused_despite_a_pooled_connection() {
    block_on(async {
        let (allowed, forbidden) = twins().await;
        for flipped in [
            &["127.0.0.2"][..],
            &["127.0.0.1", "127.0.0.2"],
            &["127.0.0.1", "10.1.2.3"],
            &[],
        ] {
            let answers = [&["127.0.0.1"][..], &["127.0.0.1"], flipped, &["127.0.0.1"]];
            let (client, asked) = flipping(&answers, &[allowed.addr.to_string()]);
            let url = format!("http://shop.example.com:{}/", allowed.addr.port());
            let (seen, connections) = (allowed.seen().len(), allowed.connections());
            for _ in 0..2 {
                assert_eq!(status(&client.send_timed(post(&url)).await), 200);
            }
            let sent = client.send_timed(post(&url)).await;
            assert!(matches!(error(&sent), SendError::NotAllowed(_)), "{sent:?}");
            assert!(sent.timing.name.is_some() && sent.timing.first_byte.is_none());
            assert_eq!(asked.load(Ordering::SeqCst), 3);
            assert_eq!(
                (allowed.seen().len(), allowed.connections()),
                (seen + 2, connections + 1)
            );
            // When it is back where it was, so is the connection.
            assert_eq!(status(&client.send_timed(post(&url)).await), 200);
            assert_eq!(
                (allowed.connections(), forbidden.connections()),
                (connections + 1, 0)
            );
        }
    });
}

#[test]
fn name_moved_to_another_allowed_address_gets_a_new_connection() {
    block_on(async {
        let (one, two) = twins().await;
        let answers = [
            &["127.0.0.1"][..],
            &["127.0.0.2"],
            &["127.0.0.2"],
            &["127.0.0.1"],
            &["127.0.0.2", "127.0.0.1"],
        ];
        let allow = [one.addr.to_string(), two.addr.to_string()];
        let (client, _) = flipping(&answers, &allow);
        let url = format!("http://shop.example.com:{}/", one.addr.port());
        let mut connections = Vec::new();
        for _ in 0..5 {
            assert_eq!(status(&client.send_timed(post(&url)).await), 200);
            connections.push((one.connections(), two.connections()));
        }
        // The fourth finds only what leads elsewhere, which is closed; the fifth may go to either and uses what is open.
        assert_eq!(connections, [(1, 0), (1, 1), (1, 1), (2, 1), (2, 1)]);
        assert_eq!((one.seen().len(), two.seen().len()), (3, 2));
    });
}

#[test]
fn closed_pooled_connection_is_replaced() {
    block_on(async {
        let (receiver, client) = (keeping().await, private());
        let url = receiver.url("/");
        for n in 1..=5 {
            assert_eq!(status(&client.send_timed(repeatable(&url)).await), 200);
            assert_eq!((receiver.connections(), receiver.seen().len()), (n, n));
            receiver.close_idle_connections();
        }
    });
}

#[test]
fn failure_on_a_pooled_connection_is_retried_once_only_if_allowed() {
    block_on(async {
        let (receiver, client) = (keeping().await, private());
        let url = receiver.url("/");
        let warm = async || assert_eq!(status(&client.send_timed(repeatable(&url)).await), 200);
        warm().await;
        receiver.next(CannedResponse::HangUp);
        let sent = client.send_timed(repeatable(&url)).await;
        assert!(status(&sent) == 200 && sent.repeated, "{sent:?}");
        assert!(sent.timing.connect.is_some());
        assert_eq!((receiver.connections(), receiver.seen().len()), (2, 3));

        receiver.next(CannedResponse::HangUp);
        receiver.next(CannedResponse::HangUp);
        let sent = client.send_timed(repeatable(&url)).await;
        assert!(
            sent.repeated && matches!(error(&sent), SendError::Broken(_)),
            "{sent:?}"
        );
        assert_eq!(receiver.seen().len(), 5);

        warm().await;
        receiver.next(CannedResponse::HangUp);
        let sent = client.send_timed(post(&url)).await;
        assert!(
            !sent.repeated && matches!(error(&sent), SendError::Broken(_)),
            "{sent:?}"
        );
        assert_eq!(
            error(&sent).to_string(),
            "the connection was closed before an answer came"
        );
        assert_eq!(receiver.seen().len(), 7);

        // A new connection cannot have been closed for being idle, so its failure is final.
        receiver.next(CannedResponse::HangUp);
        let sent = client.send_timed(repeatable(&url)).await;
        assert!(
            !sent.repeated && matches!(error(&sent), SendError::Broken(_)),
            "{sent:?}"
        );
        assert_eq!(receiver.seen().len(), 8);
    });
}

#[test]
fn partially_answered_request_is_not_retried() {
    block_on(async {
        let (receiver, client) = (keeping().await, private());
        let url = receiver.url("/");
        client.send(repeatable(&url)).await.unwrap();
        receiver.next(CannedResponse::Bytes(b"HTTP/1.1 20".to_vec()));
        let sent = client.send_timed(repeatable(&url)).await;
        assert!(
            !sent.repeated && matches!(error(&sent), SendError::Broken(_)),
            "{sent:?}"
        );
        assert_eq!(
            error(&sent).to_string(),
            "the connection was closed before the answer's headers were whole"
        );
        assert_eq!(receiver.seen().len(), 2);
    });
}

#[test]
fn retry_respects_the_deadline_and_is_not_reported_unsent() {
    block_on(async {
        let (receiver, client) = (keeping().await, private());
        let url = receiver.url("/");
        client.send(repeatable(&url)).await.unwrap();
        receiver.next(CannedResponse::HangUp);
        receiver.next(CannedResponse::Silence);
        let deadline = Duration::from_secs(1);
        let sent = client
            .send_timed(Outgoing {
                deadline,
                ..repeatable(&url)
            })
            .await;
        assert!(
            sent.repeated && matches!(error(&sent), SendError::TimedOut(_)),
            "{sent:?}"
        );
        assert!(sent.timing.total < Duration::from_secs(5));
    });
}
