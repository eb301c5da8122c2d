//! Bodies that are announced and never sent cost nobody's order a moment.

use crate::support::{House, request, send};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

cases! {
    announced_bodies_delay_no_order
    forms_of_strangers_are_small
    compressed_bodies_are_refused_as_such
}

/// Sends a head that announces a body, and some of the body.
async fn announce(house: &House, path: &str, more: &str, length: usize, sent: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(house.addr).await.unwrap();
    let head = format!("POST {path} HTTP/1.1\r\nhost: a\r\n{more}content-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(sent).await.unwrap();
    stream
}

async fn announced_bodies_delay_no_order(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let json = "content-type: application/json\r\n";
    let key = format!("authorization: Bearer {}\r\n{json}", house.b.key);
    let mut held = Vec::new();
    // More than all bodies together may hold, for whoever counts what was announced.
    for _ in 0..130 {
        held.push(announce(&house, "/web-api/v1/businesses", &key, 1024 * 1024, b"{").await);
    }
    for _ in 0..300 {
        held.push(announce(&house, "/sign-in", "", 16 * 1024, b"csrf=").await);
    }
    let began = Instant::now();
    shop.order("W-1").await;
    house
        .a
        .post("/businesses", &json!({ "name": "A.Ş." }))
        .await
        .data();
    let took = began.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?}");
    drop(held);
}

async fn forms_of_strangers_are_small(house: House) {
    for path in ["/sign-in", "/language"] {
        let mut stream = announce(&house, path, "", 16 * 1024 + 1, b"").await;
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
    assert_eq!(send(house.addr, chunked.as_bytes()).await.status, 413);
    let small = request("POST", "/sign-in", &[kind], b"csrf=x");
    assert_ne!(send(house.addr, &small).await.status, 413);
}

async fn compressed_bodies_are_refused_as_such(house: House) {
    let headers = [("content-type", "application/json"), ("content-encoding", "gzip")];
    let reply = house
        .a
        .call("POST", "/businesses", &headers, b"\x1f\x8b\x08")
        .await;
    reply.refused(415, "unsupported_media_type");
    let headers = [
        ("content-type", "application/json"),
        ("content-encoding", "identity"),
    ];
    let reply = house
        .a
        .call("POST", "/businesses", &headers, br#"{"name":"A"}"#)
        .await;
    reply.data();
}
