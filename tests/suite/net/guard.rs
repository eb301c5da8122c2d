//! Forbidden targets are refused in every spelling, through the real API.

use crate::support::{Receiver, TestService};
use serde_json::json;

cases! {
    private_target_is_refused_in_every_spelling
    headers_that_would_break_the_request_are_refused
    fields_are_validated_before_dns_lookup
}

async fn private_target_is_refused_in_every_spelling(service: TestService) {
    let ledger = Receiver::start().await;
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    let port = ledger.addr.port();
    let mut hosts = vec![
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "127.0.0.1.",
        "0.0.0.0",
        "0",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "sub.localhost",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[fe80::1]",
        "[fc00::1]",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "metadata.google.internal",
        "100.64.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "router",
        "printer.local",
        "１２７.0.0.1",
        "127。0。0。1",
        "ⓛocalhost",
    ];
    hosts.sort_unstable();
    for host in hosts {
        let url = format!("http://{host}:{port}/secret-path");
        let body = json!({ "webhookOrderId": "1", "url": url, "headers": {} });
        let error = service
            .a
            .post("/orders/retry-webhook", &body)
            .await
            .refused(422, "target_not_allowed");
        let message = error["message"].as_str().unwrap();
        // How the service is set up is the operator's business.
        assert!(
            !message.contains("GARSON") && !message.contains("allow_"),
            "{message}"
        );
        assert_eq!(error["details"][0]["field"], json!("url"));
        assert!(!message.contains("secret-path"));
    }
    for url in [
        "",
        "http://",
        "//127.0.0.1/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "http://a@127.0.0.1/",
        "http://example.com@127.0.0.1/",
        "http://127.0.0.1\\@example.com/",
        "http:\\\\127.0.0.1",
        " http://127.0.0.1",
        "http://127.0.0.1 /",
        "http://127.0.0.1\t/",
        "http://[::1",
        "http://example.com:0/",
        "http://example.com:99999/",
    ] {
        let body = json!({ "webhookOrderId": "1", "url": url, "headers": {} });
        service
            .a
            .post("/orders/retry-webhook", &body)
            .await
            .wrong(422, "invalid_field", "url");
    }
    assert_eq!(ledger.connections(), 0);
    // An attempt that never left is no attempt.
    let deliveries = service.a.get("/webhook/deliveries?orderId=1").await.data();
    assert_eq!(deliveries[0]["attempts"], json!([]));
}

async fn headers_that_would_break_the_request_are_refused(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    for (name, value) in [
        ("Host", "evil"),
        ("content-length", "5"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "close"),
        ("Upgrade", "h2c"),
        ("TE", "trailers"),
        ("Proxy-Authorization", "x"),
        ("Expect", "100-continue"),
        ("X-A", "a\r\nX-B: b"),
        ("X-A", "a\nb"),
        ("X-A", "ş"),
        ("X A", "b"),
        ("", "b"),
        ("X-A:", "b"),
        ("X\r\nY", "b"),
    ] {
        let body =
            json!({ "webhookOrderId": "1", "url": "https://example.com/", "headers": { name: value } });
        let error = service
            .a
            .post("/orders/retry-webhook", &body)
            .await
            .refused(422, "invalid_field");
        assert!(
            error["details"][0]["field"]
                .as_str()
                .unwrap()
                .starts_with("headers."),
            "{error}"
        );
    }
    let many: serde_json::Map<_, _> = (0..60).map(|n| (format!("x-{n}"), json!("v"))).collect();
    let body = json!({ "webhookOrderId": "1", "url": "https://example.com/", "headers": many });
    service
        .a
        .post("/orders/retry-webhook", &body)
        .await
        .refused(422, "invalid_field");
    let body = json!({ "webhookOrderId": "1", "url": "https://example.com/", "headers": { "X-A": "a", "x-a": "b" } });
    service
        .a
        .post("/orders/retry-webhook", &body)
        .await
        .refused(422, "invalid_field");
}

async fn fields_are_validated_before_dns_lookup(service: TestService) {
    // The order does not exist, but the fields are wrong first.
    let body = json!({ "webhookOrderId": "none", "url": "http://127.0.0.1/", "headers": {} });
    service
        .a
        .post("/orders/retry-webhook", &body)
        .await
        .refused(422, "target_not_allowed");
    let body = json!({ "webhookOrderId": "none", "url": "https://example.com/", "headers": { "Host": "x" } });
    service
        .a
        .post("/orders/retry-webhook", &body)
        .await
        .refused(422, "invalid_field");
    let body = json!({ "webhookOrderId": "none", "url": "https://example.com/", "headers": {} });
    service
        .a
        .post("/orders/retry-webhook", &body)
        .await
        .refused(404, "webhook_record_not_found");
    service
        .a
        .act("/orders/retry-webhook")
        .await
        .wrong(422, "invalid_field", "webhookOrderId");
}
