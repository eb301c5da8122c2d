//! Targets that take their time: every call has one deadline for all of it.

use crate::support::{Answer, House, Kind, Receiver, block_on};
use serde_json::json;
use std::time::{Duration, Instant};

async fn resend_to(answer: Answer) -> (crate::support::Reply, Duration) {
    let change = |settings: &mut garson::config::Settings| {
        settings.allow_private_targets = true;
        settings.webhook.attempt_seconds = 2;
    };
    let house = House::open_with(Kind::Sqlite, change, None).await;
    let shop = house.shop(&house.a, "s").await;
    shop.order("1").await;
    let receiver = Receiver::start().await;
    receiver.usually(answer);
    let body = json!({ "webhookOrderId": "1", "url": receiver.url("/"), "headers": {} });
    let began = Instant::now();
    let reply = house.a.post("/orders/retry-webhook", &body).await;
    (reply, began.elapsed())
}

#[test]
fn an_endless_body_is_not_read_to_its_end() {
    block_on(async {
        let (reply, took) = resend_to(Answer::Endless).await;
        assert_eq!(reply.data()["statusCode"], json!(200));
        assert!(took < Duration::from_secs(10), "{took:?}");
    });
}

#[test]
fn a_body_of_a_byte_a_second_ends_with_the_deadline() {
    block_on(async {
        let (reply, took) = resend_to(Answer::Trickle).await;
        // The status has been said; a body that never ends does not unsay it.
        assert_eq!(reply.data()["statusCode"], serde_json::json!(200));
        assert!(took < Duration::from_secs(10), "{took:?}");
    });
}

#[test]
fn silence_ends_with_the_deadline() {
    block_on(async {
        let (reply, took) = resend_to(Answer::Silence).await;
        reply.refused(502, "target_unreachable");
        assert!(
            took >= Duration::from_secs(1) && took < Duration::from_secs(10),
            "{took:?}"
        );
    });
}
