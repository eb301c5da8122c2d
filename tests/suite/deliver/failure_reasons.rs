//! Every kind of failure has a reason and an explanation.

use crate::support::{Backend, CannedResponse, Receiver, TestService, wait_until};
use garson::net::Client;
use garson::net::guard::Policy;
use garson::net::resolve::{Resolve, Resolving};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

on_both! {
    every_failure_has_a_reason
}

/// Knows a till in this machine, one inside of another network, and nothing else.
struct Names;

impl Resolve for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        let found = match name {
            "till.example.com" => Ok(vec!["127.0.0.1".parse().unwrap()]),
            "inside.example.com" => Ok(vec!["10.1.2.3".parse().unwrap()]),
            _ => Err(std::io::Error::other("no such name")),
        };
        Box::pin(async move { found })
    }
}

/// A closed port.
async fn closed() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap()
}

/// Says something at once that is not TLS.
async fn not_tls() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            // The client may have closed already.
            let _ = stream.write_all(b"HTTP/1.1 400 This is not TLS\r\n\r\n").await;
        }
    });
    addr
}

/// One attempt at the address; answers its reason and the attempt.
async fn tried(service: &TestService, id: &str, url: &str) -> (Value, Value) {
    service.a.put("/webhook", &json!({ "url": url })).await.data();
    let body = crate::support::order_body("s", id, 100).to_string();
    let headers = [("x-api-key", "inbound-s"), ("content-type", "application/json")];
    let request = crate::support::request("POST", "/hooks/direct/orders", &headers, body.as_bytes());
    crate::support::send(service.addr, &request).await.data();
    let path = format!("/webhook/deliveries?orderId={id}");
    wait_until(&format!("{id} is tried"), async || {
        service.a.get(&path).await.data()[0]["attempts"] != json!([])
    })
    .await;
    let record = service.a.get(&path).await.data()[0].clone();
    assert_eq!(record["state"], json!("pending"));
    assert!(record["nextAttemptAt"].is_string());
    assert_eq!(record["attempts"].as_array().unwrap().len(), 1);
    (record["reason"].clone(), record["attempts"][0].clone())
}

async fn every_failure_has_a_reason(backend: Backend) {
    let receiver = Receiver::start().await;
    let (closed, not_tls) = (closed().await, not_tls().await);
    let policy = Policy {
        allow_targets: [receiver.addr, closed, not_tls]
            .iter()
            .map(|addr| addr.to_string().parse().unwrap())
            .collect(),
        ..Policy::default()
    };
    let net = Client::with_resolver(policy, Arc::new(Names)).unwrap();
    let service = TestService::open_with(
        backend,
        |settings| settings.webhook.attempt_seconds = 1,
        Some(net),
    )
    .await;
    service.shop(&service.a, "s").await;
    let cut = b"HTTP/1.1 200 OK\r\ncontent-le".to_vec();
    let till = format!("http://till.example.com:{}/", receiver.addr.port());
    for (id, reason, url, answer, took) in [
        (
            "name",
            "name_not_resolved",
            "http://nowhere.example.com/".to_owned(),
            None,
            0,
        ),
        (
            "guard",
            "target_not_allowed",
            "http://inside.example.com/".to_owned(),
            None,
            0,
        ),
        ("connect", "cannot_connect", format!("http://{closed}/"), None, 0),
        ("tls", "tls_failed", format!("https://{not_tls}/"), None, 0),
        (
            "broken",
            "connection_broken",
            till.clone(),
            Some(CannedResponse::HangUp),
            0,
        ),
        (
            "cut",
            "connection_broken",
            till.clone(),
            Some(CannedResponse::Bytes(cut.clone())),
            0,
        ),
        (
            "silent",
            "timed_out",
            till.clone(),
            Some(CannedResponse::Silence),
            1_000,
        ),
        (
            "stalled",
            "timed_out",
            till.clone(),
            Some(CannedResponse::Stalled(cut)),
            1_000,
        ),
    ] {
        let is_asked = answer.is_some();
        if let Some(answer) = answer {
            receiver.next(answer);
        }
        let before = receiver.count();
        let (found, attempt) = tried(&service, id, &url).await;
        assert_eq!(found, json!(reason), "{attempt}");
        assert_eq!(
            (&attempt["url"], &attempt["statusCode"]),
            (&json!(url), &Value::Null)
        );
        let words = attempt["explanation"].as_str().unwrap();
        assert!(words.contains(' ') && !words.contains("10.1.2.3"), "{words}");
        // The deadline is that of the whole attempt.
        let millis = attempt["durationMs"].as_i64().unwrap();
        assert!(
            (took..took + 3_000).contains(&millis),
            "{reason} took {millis} ms"
        );
        assert_eq!(receiver.count() - before, usize::from(is_asked));
        let timing = &attempt["timing"];
        assert_eq!(
            timing["connectMs"].is_f64(),
            is_asked || id == "tls",
            "{id}: {timing}"
        );
        assert_eq!(
            timing["dnsMs"].is_f64(),
            is_asked || id == "guard",
            "{id}: {timing}"
        );
        assert!(timing["firstByteMs"].is_null(), "{timing}");
    }
    // Under the same name it works as soon as the receiver does.
    service.a.put("/webhook", &json!({ "url": till })).await.data();
    service.advance(std::time::Duration::from_secs(12));
    wait_until("everything is delivered", async || {
        service.count("events WHERE state = 'delivered'") == 8
    })
    .await;
}
