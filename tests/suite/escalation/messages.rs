//! How messages are sent: contents, retries, isolation, and what happens to those that were being sent.

use super::setup::{
    gateway, mail_channel, message_states, message_step, private, seconds, set_steps, timeline,
    wait_for_line, with_mail,
};
use crate::net::test_client::flipping;
use crate::support::{Backend, CannedResponse, Receiver, SmtpMood, SmtpSink, TestService, wait_until};
use serde_json::json;
use std::sync::atomic::Ordering;

on_both! {
    message_is_sent_by_a_gateway
    message_is_sent_by_e_mail
    failed_message_is_repeated_a_few_times
    hanging_gateway_holds_up_nobody_else
    hanging_mail_server_holds_up_no_gateway
    message_that_was_being_sent_is_not_sent_again
    gateway_that_has_become_private_is_not_called
}

async fn message_is_sent_by_a_gateway(backend: Backend) {
    let service = private(backend).await;
    let receiver = Receiver::start().await;
    let shop = service.shop(&service.a, "Köfteci \"Ali\" & Oğlu").await;
    let channel = gateway(&service.a, &receiver, "Manager").await;
    set_steps(&service.a, &shop, json!([message_step(&channel, 120)])).await;
    let order = shop.order("A/7 1").await;
    service.advance(seconds(121));
    let seen = receiver.wait_for(1).await;
    let request = &seen[0];
    assert_eq!(request.path(), "/sms?to=1&c=A%2F7%201");
    assert_eq!(request.header("authorization"), Some("Bearer s3cret-token"));
    assert_eq!(request.header("content-type"), Some("application/json"));
    let body = request.json();
    assert_eq!(
        (&body["r"], &body["n"]),
        (&json!("Köfteci \"Ali\" & Oğlu"), &json!(2))
    );
    wait_for_line(&service.a, &order, "message sent by Manager").await;
    assert_eq!(message_states(&service.a).await, ["sent"]);
    assert!(message_states(&service.b).await.is_empty());
}

async fn message_is_sent_by_e_mail(backend: Backend) {
    let sink = SmtpSink::start(SmtpMood::Accepts, None).await;
    let service = with_mail(backend, &sink).await;
    let shop = service.shop(&service.a, "Deniz").await;
    let channel = mail_channel(&service.a, "Müdür", "mudur@example.com").await;
    set_steps(&service.a, &shop, json!([message_step(&channel, 60)])).await;
    let order = shop.order("1").await;
    service.advance(seconds(61));
    wait_for_line(&service.a, &order, "message sent by Müdür").await;
    let mails = sink.mails();
    assert_eq!(mails.len(), 1);
    assert!(mails[0].contains("To: mudur@example.com"), "{}", mails[0]);
    assert!(mails[0].contains("garson@example.com"), "{}", mails[0]);
}

async fn failed_message_is_repeated_a_few_times(backend: Backend) {
    let service = private(backend).await;
    let receiver = Receiver::start().await;
    receiver.set_default_response(CannedResponse::Status(503));
    let shop = service.shop(&service.a, "s").await;
    let channel = gateway(&service.a, &receiver, "Manager").await;
    set_steps(&service.a, &shop, json!([message_step(&channel, 30)])).await;
    let order = shop.order("1").await;
    service.advance(seconds(31));
    for (count, pause) in [(1, 16), (2, 61)] {
        receiver.wait_for(count).await;
        wait_until("it waits again", async || {
            message_states(&service.a).await == ["open"]
        })
        .await;
        service.advance(seconds(pause));
    }
    receiver.wait_for(3).await;
    wait_for_line(&service.a, &order, "could not be sent").await;
    assert_eq!(message_states(&service.a).await, ["failed"]);
    let message = &service.a.get("/messages").await.data()[0];
    assert!(message["problem"].as_str().unwrap().contains("503"), "{message}");
    assert_eq!(message["attempts"], json!(3));
}

async fn hanging_gateway_holds_up_nobody_else(backend: Backend) {
    let service = private(backend).await;
    let (hanging, healthy) = (Receiver::start().await, Receiver::start().await);
    hanging.set_default_response(CannedResponse::Silence);
    let (one, two) = (
        service.shop(&service.a, "one").await,
        service.shop(&service.b, "two").await,
    );
    let slow = gateway(&service.a, &hanging, "Slow").await;
    let fast = gateway(&service.b, &healthy, "Fast").await;
    set_steps(&service.a, &one, json!([message_step(&slow, 30)])).await;
    set_steps(&service.b, &two, json!([message_step(&fast, 30)])).await;
    for number in 0..20 {
        one.order(&number.to_string()).await;
    }
    service.advance(seconds(31));
    hanging.wait_for(2).await;
    let order = two.order("1").await;
    service.advance(seconds(31));
    healthy.wait_for(1).await;
    wait_for_line(&service.b, &order, "message sent by Fast").await;
    assert!(hanging.most_open() <= 2, "a channel has two slots");
}

async fn hanging_mail_server_holds_up_no_gateway(backend: Backend) {
    let sink = SmtpSink::start(SmtpMood::Hangs, None).await;
    let service = with_mail(backend, &sink).await;
    let receiver = Receiver::start().await;
    let shop = service.shop(&service.a, "s").await;
    let mail = mail_channel(&service.a, "Mail", "a@example.com").await;
    let sms = gateway(&service.a, &receiver, "SMS").await;
    set_steps(
        &service.a,
        &shop,
        json!([message_step(&mail, 30), message_step(&sms, 31)]),
    )
    .await;
    let order = shop.order("1").await;
    service.advance(seconds(32));
    receiver.wait_for(1).await;
    wait_for_line(&service.a, &order, "message sent by SMS").await;
    assert!(sink.mails().is_empty());
}

/// As after a kill -9 in the middle: the row says that a node was sending, and that node is gone.
async fn message_that_was_being_sent_is_not_sent_again(backend: Backend) {
    let service = private(backend).await;
    let receiver = Receiver::start().await;
    receiver.set_default_response(CannedResponse::Status(503));
    let shop = service.shop(&service.a, "s").await;
    let channel = gateway(&service.a, &receiver, "Manager").await;
    set_steps(&service.a, &shop, json!([message_step(&channel, 30)])).await;
    let order = shop.order("1").await;
    service.advance(seconds(31));
    wait_until("it waits again", async || {
        receiver.count() == 1 && message_states(&service.a).await == ["open"]
    })
    .await;
    service.execute_sql("UPDATE messages SET state = 'sending', node = order_id");
    wait_for_line(&service.a, &order, "not known whether the message").await;
    service.advance(seconds(600));
    assert_eq!(message_states(&service.a).await, ["unclear"]);
    assert_eq!(receiver.count(), 1);
    let lines = timeline(&service.a, &order).await;
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.contains("not known whether"))
            .count(),
        1
    );
}

/// The name was public when the channel was saved; when the message is sent, it resolves to this machine.
async fn gateway_that_has_become_private_is_not_called(backend: Backend) {
    let receiver = Receiver::start().await;
    let (net, asked) = flipping(&[&["127.0.0.1"]], &[]);
    let service = TestService::open_with(backend, |_| {}, Some(net)).await;
    let shop = service.shop(&service.a, "s").await;
    let url = format!("http://sms.example.com:{}/send", receiver.addr.port());
    let body = json!({ "name": "SMS", "kind": "http", "url": url, "language": "en" });
    let made = service.a.post("/channels", &body).await.data();
    let channel = made["id"].as_str().unwrap();
    set_steps(&service.a, &shop, json!([message_step(channel, 30)])).await;
    let order = shop.order("1").await;
    service.advance(seconds(31));
    wait_for_line(&service.a, &order, "message by SMS could not be sent").await;
    let test = service.a.act(&format!("/channels/{channel}/test")).await.data();
    assert_eq!(test["isSent"], json!(false));
    // The private address must not be disclosed.
    let messages = service.a.get("/messages").await.text();
    assert!(!messages.contains("127.0.0.1") && !test.to_string().contains("127.0.0.1"));
    assert_eq!(
        message_states(&service.a).await,
        ["failed"],
        "it is not tried again"
    );
    assert!(
        asked.load(Ordering::SeqCst) >= 2,
        "the name is resolved for each attempt"
    );
    assert_eq!(receiver.connections(), 0);
}
