//! Names that resolve to a private address, or to another one the second time.

use super::test_client::flipping;
use crate::support::{Backend, Receiver, TestService, block_on};
use serde_json::json;
use std::sync::atomic::Ordering;

/// A name with these addresses is refused, and nothing is called.
fn refused(answers: &[&[&str]]) {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        block_on(async {
            let ledger = Receiver::start().await;
            let (net, asked) = flipping(answers, &[]);
            let service = TestService::open_with(
                backend,
                |settings| settings.webhook.attempt_seconds = 2,
                Some(net),
            )
            .await;
            let shop = service.shop(&service.a, "s").await;
            shop.order("1").await;
            let url = format!("http://shop.example.com:{}/", ledger.addr.port());
            let body = json!({ "webhookOrderId": "1", "url": url, "headers": {} });
            let error = service
                .a
                .post("/orders/retry-webhook", &body)
                .await
                .refused(422, "target_not_allowed");
            // The private address must not be disclosed.
            assert!(!error.to_string().contains("127.0.0.1") && !error.to_string().contains("10.1.2.3"));
            assert_eq!(asked.load(Ordering::SeqCst), 1);
            assert_eq!(ledger.connections(), 0);
        });
    }
}

#[test]
fn name_resolving_to_a_private_address_is_refused() {
    refused(&[&["127.0.0.1"]]);
    refused(&[&["::ffff:127.0.0.1"]]);
    refused(&[&["10.1.2.3"]]);
}

#[test]
fn one_private_address_among_public_ones_is_refused() {
    refused(&[&["192.0.32.10", "127.0.0.1"]]);
    refused(&[&["127.0.0.1", "192.0.32.10"]]);
}

#[test]
fn name_rebound_after_the_check_is_refused() {
    // Allowed when it is checked, private when asked again: it is not asked again, and what was checked is called.
    for backend in [Backend::Sqlite, Backend::Postgres] {
        block_on(async {
            let ledger = Receiver::start().await;
            let allowed = Receiver::start_at(format!("127.0.0.2:{}", ledger.addr.port())).await;
            let (net, asked) = flipping(&[&["127.0.0.2"], &["127.0.0.1"]], &[allowed.addr.to_string()]);
            let service = TestService::open_with(backend, |_| {}, Some(net)).await;
            let shop = service.shop(&service.a, "s").await;
            shop.order("1").await;
            let url = format!("http://shop.example.com:{}/", ledger.addr.port());
            let body = json!({ "webhookOrderId": "1", "url": url, "headers": {} });
            let sent = service.a.post("/orders/retry-webhook", &body).await.data();
            assert_eq!(sent["statusCode"], json!(200));
            assert_eq!(asked.load(Ordering::SeqCst), 1);
            assert_eq!((ledger.connections(), allowed.connections()), (0, 1));
            // Asked again for another attempt it is private, and refused.
            let reply = service.a.post("/orders/retry-webhook", &body).await;
            reply.refused(422, "target_not_allowed");
            assert_eq!((ledger.connections(), allowed.connections()), (0, 1));
        });
    }
}
