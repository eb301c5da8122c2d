//! What the cases of this folder share.

use crate::support::{ApiClient, Backend, Receiver, Shop, SmtpSink, TestService, wait_until};
use serde_json::{Value, json};
use std::time::Duration;

/// A service that may call private addresses.
pub async fn private(backend: Backend) -> TestService {
    TestService::open_private(backend).await
}

/// The same, with a mail server.
pub async fn with_mail(backend: Backend, sink: &SmtpSink) -> TestService {
    let port = sink.addr.port();
    let change = move |settings: &mut garson::config::Settings| {
        settings.allow_private_targets = true;
        settings.smtp.host = "127.0.0.1".to_owned();
        settings.smtp.port = port;
        settings.smtp.tls = "none".to_owned();
        settings.smtp.from = "Garson <garson@example.com>".to_owned();
    };
    TestService::open_with(backend, change, None).await
}

pub fn step(action: &str, seconds: u32) -> Value {
    json!({ "when": "age", "seconds": seconds, "action": action })
}

pub async fn set_steps(client: &ApiClient, shop: &Shop, steps: Value) {
    let path = format!("/restaurants/{}/escalation", shop.restaurant);
    client.put(&path, &json!({ "steps": steps })).await.data();
}

/// A channel that posts JSON to a receiver; returns its id.
pub async fn gateway(client: &ApiClient, receiver: &Receiver, name: &str) -> String {
    gateway_at(client, receiver, name, "/sms?to=1&c={code}").await
}

/// The same, with another path.
pub async fn gateway_at(client: &ApiClient, receiver: &Receiver, name: &str, path: &str) -> String {
    let body = json!({
        "name": name, "kind": "http", "language": "en", "method": "POST", "url": receiver.url(path),
        "headers": { "authorization": "Bearer {secret.token}" }, "secrets": { "token": "s3cret-token" },
        "body": "{\"m\":\"{text}\",\"r\":\"{restaurant}\",\"n\":{minutes}}",
    });
    let made = client.post("/channels", &body).await.data();
    made["id"].as_str().unwrap().to_owned()
}

pub async fn mail_channel(client: &ApiClient, name: &str, to: &str) -> String {
    let body = json!({ "name": name, "kind": "email", "recipients": [to] });
    let made = client.post("/channels", &body).await.data();
    made["id"].as_str().unwrap().to_owned()
}

pub fn message_step(channel: &str, seconds: u32) -> Value {
    json!({ "when": "age", "seconds": seconds, "action": "message", "channelId": channel })
}

/// The reasons of an order's timeline.
pub async fn timeline(client: &ApiClient, order: &str) -> Vec<String> {
    let order = client.get(&format!("/orders/{order}")).await.data();
    let lines = order["timeline"].as_array().unwrap();
    lines
        .iter()
        .filter_map(|line| line["reason"].as_str().or(line["why"].as_str()))
        .map(str::to_owned)
        .collect()
}

pub async fn wait_for_line(client: &ApiClient, order: &str, text: &str) {
    wait_until(&format!("the timeline has {text}"), async || {
        timeline(client, order)
            .await
            .iter()
            .any(|line| line.contains(text))
    })
    .await;
}

pub async fn status(client: &ApiClient, order: &str) -> Value {
    client.get(&format!("/orders/{order}")).await.data()["status"].clone()
}

/// The states of the account's messages, newest first.
pub async fn message_states(client: &ApiClient) -> Vec<String> {
    let messages = client.get("/messages").await.data();
    let states = messages.as_array().unwrap().iter();
    states
        .map(|it| it["state"].as_str().unwrap().to_owned())
        .collect()
}

pub fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}
