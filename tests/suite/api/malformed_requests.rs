//! Requests with malformed paths, queries or heads, and clients that never finish.

use crate::support::{StealAwareInstant, TestService, raw, request, send};
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

cases! {
    nul_and_invalid_utf8_in_path_are_refused
    nul_and_duplicates_in_query_are_refused
    ; sqlite_only:
    oversized_request_heads_are_refused
    non_http_requests_are_refused
    incomplete_request_head_times_out
}

async fn nul_and_invalid_utf8_in_path_are_refused(service: TestService) {
    for id in ["%00", "a%00b", "%FF", "%C3%28", "%ED%A0%80", "%", "%2", "%zz"] {
        for path in ["/orders/", "/businesses/", "/restaurants/", "/orders/reasons/"] {
            let reply = service.a.get(&format!("{path}{id}")).await;
            assert_eq!(reply.status, 404, "{path}{id}: {}", reply.text());
            reply.refused(404, "not_found");
        }
        service
            .a
            .act(&format!("/orders/verify/{id}"))
            .await
            .refused(404, "not_found");
        let path = format!("/hooks/direct/orders/{id}/cancel");
        send(service.addr, &request("POST", &path, &[], &[]))
            .await
            .refused(404, "not_found");
    }
}

async fn nul_and_duplicates_in_query_are_refused(service: TestService) {
    for (path, field) in [
        ("/orders?restaurantId=%00", "restaurantId"),
        ("/orders?cursor=%00", "cursor"),
        ("/orders/reports/pending?status=400%00", "status"),
        ("/orders/reports/pending?from=2026-03-01%00", "from"),
        ("/webhook/deliveries?state=%00", "state"),
        ("/webhook/deliveries?orderId=a%00", "orderId"),
        ("/providers/direct/menus?restaurantId=%00", "restaurantId"),
        ("/orders?limit=1&limit=1", "limit"),
        ("/orders?dir=next&dir=prev", "dir"),
    ] {
        service.a.get(path).await.wrong(422, "invalid_parameter", field);
    }
    // What is not UTF-8 is at most unknown, never a fault of ours.
    for path in ["/orders?restaurantId=%FF", "/webhook/deliveries?orderId=%FF"] {
        assert_eq!(service.a.get(path).await.status, 404, "{path}");
    }
    assert_eq!(service.a.get("/orders?%FF=%FF&&&=&a").await.status, 200);
}

async fn oversized_request_heads_are_refused(service: TestService) {
    let long = "x".repeat(1024 * 1024);
    let answers = [
        raw(
            service.addr,
            &request("GET", "/healthz", &[("x-long", &long)], &[]),
        )
        .await,
        raw(service.addr, &request("GET", &format!("/{long}"), &[], &[])).await,
    ];
    for answer in answers {
        let text = String::from_utf8_lossy(&answer);
        let line = text.lines().next().unwrap_or("");
        assert!(
            line.is_empty() || line.contains("431") || line.contains("414") || line.contains("400"),
            "{line}"
        );
    }
    let many: Vec<(String, String)> = (0..1_000).map(|n| (format!("x-{n}"), "v".to_owned())).collect();
    let many: Vec<(&str, &str)> = many
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let answer = raw(service.addr, &request("GET", "/healthz", &many, &[])).await;
    let text = String::from_utf8_lossy(&answer);
    assert!(
        text.is_empty() || text.contains("431") || text.contains("400"),
        "{text}"
    );
    // Few enough to be read at once, so that the answer is not lost with what was not read.
    let reply = send(service.addr, &request("GET", "/healthz", &many[..150], &[])).await;
    reply.refused(431, "broken_request");
    assert!(reply.header("x-request-id").is_some());
    // The service is none the worse for it.
    service.a.get("/orders").await.data();
}

async fn non_http_requests_are_refused(service: TestService) {
    for head in [
        "GET /healthz HTTP/1.1\r\nno colon\r\n\r\n",
        "G(T /healthz HTTP/1.1\r\n\r\n",
    ] {
        send(service.addr, head.as_bytes())
            .await
            .refused(400, "broken_request");
    }

    for bytes in [
        &b"\r\n\r\n\r\n\r\nhello\r\n\r\n"[..],
        b"GET\r\n\r\n",
        b"GET /healthz HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /healthz HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello",
        b"GET /\x00 HTTP/1.1\r\nhost: a\r\n\r\n",
    ] {
        let mut stream = tokio::net::TcpStream::connect(service.addr).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let reading = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await;
        assert!(
            reading.is_ok(),
            "{:?} is not answered",
            String::from_utf8_lossy(bytes)
        );
        let text = String::from_utf8_lossy(&answer);
        assert!(
            !text.starts_with("HTTP/1.1 2") && !text.starts_with("HTTP/1.1 5"),
            "{text}"
        );
    }
    service.a.get("/orders").await.data();
}

async fn incomplete_request_head_times_out(service: TestService) {
    let stream = tokio::net::TcpStream::connect(service.addr).await.unwrap();
    let (mut from, mut to) = stream.into_split();
    to.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n")
        .await
        .unwrap();
    let trickle = tokio::spawn(async move {
        let mut n = 0;
        while to.write_all(format!("x-{n}: y\r\n").as_bytes()).await.is_ok() {
            n += 1;
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    });
    let began = StealAwareInstant::now();
    let mut answer = Vec::new();
    // The connection may be reset.
    let _ = tokio::time::timeout(Duration::from_secs(20), from.read_to_end(&mut answer))
        .await
        .expect("the head was waited for without end");
    assert!(began.elapsed() < Duration::from_secs(20));
    trickle.abort();
    assert!(!String::from_utf8_lossy(&answer).contains("200"));
    assert_eq!(service.a.get("/orders").await.data(), json!([]));
}
