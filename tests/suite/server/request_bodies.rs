//! Bodies that are announced and never sent do not delay orders.

use crate::support::{TestService, request, send};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

cases! {
    announced_bodies_delay_no_order
    anonymous_forms_are_limited_in_size
    compressed_bodies_are_refused_as_such
    refusal_arrives_although_the_body_is_still_sent
}

/// Sends a head that announces a body, and some of the body.
async fn announce(service: &TestService, path: &str, more: &str, length: usize, sent: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(service.addr).await.unwrap();
    let head = format!("POST {path} HTTP/1.1\r\nhost: a\r\n{more}content-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(sent).await.unwrap();
    stream
}

async fn announced_bodies_delay_no_order(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let json = "content-type: application/json\r\n";
    let key = format!("authorization: Bearer {}\r\n{json}", service.b.key);
    let mut held = Vec::new();
    // More than the limit of all bodies together, if announced lengths were counted.
    for _ in 0..130 {
        held.push(announce(&service, "/web-api/v1/businesses", &key, 1024 * 1024, b"{").await);
    }
    for _ in 0..300 {
        held.push(announce(&service, "/sign-in", "", 16 * 1024, b"csrf=").await);
    }
    let began = Instant::now();
    shop.order("W-1").await;
    service
        .a
        .post("/businesses", &json!({ "name": "A.Ş." }))
        .await
        .data();
    let took = began.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?}");
    drop(held);
}

async fn anonymous_forms_are_limited_in_size(service: TestService) {
    for path in ["/sign-in", "/language"] {
        let mut stream = announce(&service, path, "", 16 * 1024 + 1, b"").await;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 413", "{path}");
    }
    let kind = ("content-type", "application/x-www-form-urlencoded");
    let long = format!("csrf={}", "x".repeat(20_000));
    // Without a length as well.
    let chunked = format!(
        "POST /sign-in HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{long}\r\n0\r\n\r\n",
        long.len()
    );
    assert_eq!(send(service.addr, chunked.as_bytes()).await.status, 413);
    let small = request("POST", "/sign-in", &[kind], b"csrf=x");
    assert_ne!(send(service.addr, &small).await.status, 413);
}

/// A proxy takes a reset for a failure of the node, and lets other clients pay for it.
async fn refusal_arrives_although_the_body_is_still_sent(service: TestService) {
    for (path, length, status) in [
        ("/web-api/v1/businesses", 900_000, "401"),
        ("/hooks/direct/orders", 900_000, "401"),
        ("/sign-in", 200_000, "413"),
        ("/web-api/v1/nothing", 900_000, "404"),
    ] {
        for _ in 0..20 {
            let mut stream = announce(&service, path, "", length, b"").await;
            let (mut from, mut to) = stream.split();
            let sending = async {
                for _ in 0..length / 1000 {
                    to.write_all(&[b'x'; 1000]).await?;
                }
                Ok::<_, std::io::Error>(())
            };
            let mut answer = Vec::new();
            let (sent, read) = tokio::join!(sending, from.read_to_end(&mut answer));
            let answer = String::from_utf8_lossy(&answer);
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status} ")),
                "{path}: {answer}"
            );
            sent.unwrap();
            read.unwrap();
        }
    }
}

async fn compressed_bodies_are_refused_as_such(service: TestService) {
    let headers = [("content-type", "application/json"), ("content-encoding", "gzip")];
    let reply = service
        .a
        .call("POST", "/businesses", &headers, b"\x1f\x8b\x08")
        .await;
    reply.refused(415, "unsupported_media_type");
    let headers = [
        ("content-type", "application/json"),
        ("content-encoding", "identity"),
    ];
    let reply = service
        .a
        .call("POST", "/businesses", &headers, br#"{"name":"A"}"#)
        .await;
    reply.data();
}
