//! Slow targets: each call has one deadline for everything.

use crate::support::{Backend, CannedResponse, Receiver, TestService, block_on};
use serde_json::json;
use std::time::{Duration, Instant};

async fn resend_to(answer: CannedResponse) -> (crate::support::Reply, Duration) {
    let change = |settings: &mut garson::config::Settings| {
        settings.allow_private_targets = true;
        settings.webhook.attempt_seconds = 2;
    };
    let service = TestService::open_with(Backend::Sqlite, change, None).await;
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    let receiver = Receiver::start().await;
    receiver.set_default_response(answer);
    let body = json!({ "webhookOrderId": "1", "url": receiver.url("/"), "headers": {} });
    let began = Instant::now();
    let reply = service.a.post("/orders/retry-webhook", &body).await;
    (reply, began.elapsed())
}

#[test]
fn endless_body_is_not_read_completely() {
    block_on(async {
        let (reply, took) = resend_to(CannedResponse::Endless).await;
        assert_eq!(reply.data()["statusCode"], json!(200));
        assert!(took < Duration::from_secs(10), "{took:?}");
    });
}

#[test]
fn trickled_body_ends_with_the_deadline() {
    block_on(async {
        let (reply, took) = resend_to(CannedResponse::Trickle).await;
        // The status has been said; a body that never ends does not unsay it.
        assert_eq!(reply.data()["statusCode"], serde_json::json!(200));
        assert!(took < Duration::from_secs(10), "{took:?}");
    });
}

#[test]
fn missing_response_ends_with_the_deadline() {
    block_on(async {
        let (reply, took) = resend_to(CannedResponse::Silence).await;
        reply.refused(502, "target_unreachable");
        assert!(
            took >= Duration::from_secs(1) && took < Duration::from_secs(10),
            "{took:?}"
        );
    });
}
