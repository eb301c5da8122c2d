//! Bodies that are too large or never complete.

use super::invalid_bodies::nothing_changed;
use crate::support::{TestService, request, send};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

cases! {
    ; sqlite_only:
    ten_declared_megabytes_are_refused
    ten_chunked_megabytes_are_refused
    truncated_body_is_refused
    ten_megabytes_at_a_hook_are_refused
    slow_body_times_out
}

fn large() -> Vec<u8> {
    let filler = "x".repeat(10 * 1024 * 1024);
    json!({ "name": "x", "description": filler })
        .to_string()
        .into_bytes()
}

async fn ten_declared_megabytes_are_refused(service: TestService) {
    let body = large();
    let kind = [("content-type", "application/json")];
    service
        .a
        .call("POST", "/businesses", &kind, &body)
        .await
        .refused(413, "body_too_large");
    let headers = [("content-type", "application/json"), ("idempotency-key", "k")];
    service
        .a
        .call("POST", "/businesses", &headers, &body)
        .await
        .refused(413, "body_too_large");
    // Exactly one MiB is not too large, just wrong.
    let mut most = br#"{"name":"x","description":""#.to_vec();
    most.resize(1024 * 1024 - 2, b'y');
    most.extend_from_slice(b"\"}");
    service
        .a
        .call("POST", "/businesses", &kind, &most)
        .await
        .wrong(422, "invalid_field", "description");
    most.push(b' ');
    service
        .a
        .call("POST", "/businesses", &kind, &most)
        .await
        .refused(413, "body_too_large");
    nothing_changed(&service).await;
}

/// A request whose body comes in chunks, so that its length is not known before.
fn chunked(path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut all: Vec<(&str, &str)> = headers.to_vec();
    all.extend([
        ("content-type", "application/json"),
        ("transfer-encoding", "chunked"),
    ]);
    let mut bytes = request("POST", path, &all, b"");
    for chunk in body.chunks(64 * 1024) {
        bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

async fn ten_chunked_megabytes_are_refused(service: TestService) {
    let bearer = format!("Bearer {}", service.a.key);
    let key = [("authorization", bearer.as_str())];
    let reply = send(service.addr, &chunked("/web-api/v1/businesses", &key, &large())).await;
    reply.refused(413, "body_too_large");
    nothing_changed(&service).await;
    let small = json!({ "name": "x" }).to_string();
    send(
        service.addr,
        &chunked("/web-api/v1/businesses", &key, small.as_bytes()),
    )
    .await
    .data();
}

async fn truncated_body_is_refused(service: TestService) {
    let bearer = format!("Bearer {}", service.a.key);
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("content-length", "100"),
    ];
    let mut bytes = request("POST", "/web-api/v1/businesses", &headers, b"");
    bytes.extend_from_slice(b"{\"name\":\"x\"}");
    let stream = tokio::net::TcpStream::connect(service.addr).await.unwrap();
    let (from, mut to) = stream.into_split();
    tokio::io::AsyncWriteExt::write_all(&mut to, &bytes)
        .await
        .unwrap();
    to.shutdown().await.unwrap();
    drop((from, to));
    nothing_changed(&service).await;
}

async fn ten_megabytes_at_a_hook_are_refused(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let before: Value = service.a.get("/events").await.data();
    shop.post(&large()).await.refused(413, "body_too_large");
    let reply = send(
        service.addr,
        &chunked("/hooks/direct/orders", &[("x-api-key", &shop.key)], &large()),
    )
    .await;
    reply.refused(413, "body_too_large");
    assert_eq!(service.a.get("/orders").await.data(), json!([]));
    assert_eq!(service.a.get("/events").await.data(), before);
    assert_eq!(service.open_messages().await.len(), 0);
}

async fn slow_body_times_out(service: TestService) {
    let bearer = format!("Bearer {}", service.a.key);
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("content-length", "1000"),
    ];
    let head = request("POST", "/web-api/v1/businesses", &headers, b"");
    let stream = tokio::net::TcpStream::connect(service.addr).await.unwrap();
    let (mut from, mut to) = stream.into_split();
    to.write_all(&head).await.unwrap();
    let trickle = tokio::spawn(async move {
        while to.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    });
    let mut answer = Vec::new();
    let reading = tokio::time::timeout(Duration::from_secs(40), from.read_to_end(&mut answer));
    // The connection may be reset.
    let _ = reading.await.expect("the body was waited for without end");
    trickle.abort();
    let text = String::from_utf8_lossy(&answer);
    assert!(
        text.starts_with("HTTP/1.1 408") && text.contains("request_timeout"),
        "{text}"
    );
    nothing_changed(&service).await;
}
