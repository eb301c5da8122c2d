//! Rate limits, request ids, paths and methods.

use crate::support::{ApiClient, Backend, TestService, block_on, request, send};
use serde_json::json;

cases! {
    ; sqlite_only:
    every_response_has_a_request_id
    unknown_paths_and_wrong_methods_get_the_standard_error
    head_returns_the_headers_of_get
    public_routes_need_no_key
    api_responses_are_not_cached_or_sniffed
}

#[test]
fn rate_limit_is_shared_by_the_keys_of_an_account() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        block_on(async {
            let change = |settings: &mut garson::config::Settings| {
                settings.rate_limit = "1000/2000".to_owned();
                settings.account_rate_limit = "1/6".to_owned();
            };
            let service = TestService::open_with(backend, change, None).await;
            let made = service
                .a
                .post("/keys", &json!({ "label": "second" }))
                .await
                .data();
            let second = ApiClient::new(service.addr, made["apiKey"].as_str().unwrap());
            let mut refused = None;
            for n in 0..10 {
                let client = if n % 2 == 0 { &service.a } else { &second };
                let reply = client.get("/providers").await;
                if reply.status != 200 {
                    refused = Some(reply);
                    break;
                }
            }
            let reply = refused.expect("ten at once were let through");
            let error = reply.refused(429, "rate_limited");
            assert!(error["message"].as_str().unwrap().contains("account"), "{error}");
            assert!(reply.header("retry-after").is_some());
            service.b.get("/providers").await.data();
        });
    }
}

async fn api_responses_are_not_cached_or_sniffed(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    for reply in [
        service.a.get("/orders").await,
        service.a.get("/orders/none").await,
        service.a.get("/nowhere").await,
        shop.hook("/hooks/direct/orders", None, b"{}").await,
    ] {
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    }
}

#[test]
fn rate_limited_key_gets_retry_after() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        block_on(async {
            let service =
                TestService::open_with(backend, |settings| settings.rate_limit = "1/3".to_owned(), None)
                    .await;
            let mut refused = None;
            for _ in 0..5 {
                let reply = service.a.get("/providers").await;
                if reply.status != 200 {
                    refused = Some(reply);
                    break;
                }
            }
            let reply = refused.expect("five at once were let through");
            reply.refused(429, "rate_limited");
            let wait: u64 = reply.header("retry-after").unwrap().parse().unwrap();
            assert!((1..=2).contains(&wait), "{wait}");
            assert_eq!(
                reply.header("ratelimit"),
                Some(format!("\"default\";r=0;t={wait}").as_str())
            );
            assert_eq!(reply.header("ratelimit-policy"), Some("\"default\";q=3;w=3"));
            // Each key has its own measure.
            service.b.get("/providers").await.data();
            crate::support::wait_until("the key may call again", async || {
                tokio::time::sleep(std::time::Duration::from_millis(300)).await;
                service.a.get("/providers").await.status == 200
            })
            .await;
        });
    }
}

async fn every_response_has_a_request_id(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let bearer = format!("Bearer {}", service.a.key);
    let sane = ["a", "Abc-1_2.3", &"x".repeat(64)];
    for (method, path) in [
        ("GET", "/web-api/v1/orders"),
        ("GET", "/web-api/v1/orders/none"),
        ("POST", "/web-api/v1/businesses"),
        ("GET", "/nowhere"),
        ("POST", "/hooks/direct/orders"),
        ("GET", "/healthz"),
        ("GET", "/openapi.json"),
    ] {
        for id in sane {
            let headers = [("authorization", bearer.as_str()), ("x-request-id", id)];
            let reply = send(service.addr, &request(method, path, &headers, b"")).await;
            assert_eq!(reply.header("x-request-id"), Some(id), "{method} {path}");
        }
        for insane in ["", "has space", "semi;colon", "ş", &"x".repeat(65), "<script>"] {
            let headers = [("authorization", bearer.as_str()), ("x-request-id", insane)];
            let reply = send(service.addr, &request(method, path, &headers, b"")).await;
            let given: uuid::Uuid = reply.header("x-request-id").unwrap().parse().unwrap();
            assert_eq!(given.get_version_num(), 7);
        }
    }
    let reply = shop.hook("/hooks/direct/orders", None, b"{}").await;
    reply.refused(401, "unauthorized");
}

async fn unknown_paths_and_wrong_methods_get_the_standard_error(service: TestService) {
    for path in [
        "/nowhere",
        "/web-api/v1/nowhere",
        "/web-api/v2/orders",
        "/web-api/v1",
        "/hooks/pigeon/orders",
        "//",
        "/web-api/v1/orders/a/b",
    ] {
        send(service.addr, &request("GET", path, &[], &[]))
            .await
            .refused(404, "not_found");
    }
    service.a.get("/nowhere").await.refused(404, "not_found");
    for (method, path) in [
        ("DELETE", "/orders"),
        ("PATCH", "/businesses"),
        ("PUT", "/orders/verify/1"),
        ("GET", "/orders/cancel/1"),
        ("POST", "/providers"),
        ("DELETE", "/restaurants/1/packages"),
    ] {
        service
            .a
            .call(method, path, &[], &[])
            .await
            .refused(405, "method_not_allowed");
    }
    let reply = send(service.addr, &request("GET", "/hooks/direct/orders", &[], &[])).await;
    reply.refused(405, "method_not_allowed");
    let reply = send(service.addr, &request("POST", "/healthz", &[], &[])).await;
    reply.refused(405, "method_not_allowed");
}

async fn head_returns_the_headers_of_get(service: TestService) {
    for path in ["/orders", "/providers"] {
        let (get, head) = (
            service.a.get(path).await,
            service.a.call("HEAD", path, &[], &[]).await,
        );
        assert_eq!((head.status, head.body.len()), (200, 0));
        assert_eq!(head.header("content-type"), get.header("content-type"));
        assert_eq!(head.header("content-length"), get.header("content-length"));
    }
    let missing = service.a.call("HEAD", "/orders/none", &[], &[]).await;
    assert_eq!((missing.status, missing.body.len()), (404, 0));
    let head = send(service.addr, &request("HEAD", "/web-api/v1/orders", &[], &[])).await;
    assert_eq!((head.status, head.body.len()), (401, 0));
}

async fn public_routes_need_no_key(service: TestService) {
    for (path, start) in [
        ("/healthz", "ok"),
        ("/readyz", "ready"),
        ("/metrics", "#"),
        ("/openapi.json", "{"),
        ("/asyncapi.json", "{"),
        ("/docs/", "<"),
        ("/docs/api/", "<"),
    ] {
        let reply = send(service.addr, &request("GET", path, &[], &[])).await;
        assert_eq!(reply.status, 200, "{path}");
        assert!(
            reply.text().trim_start().starts_with(start),
            "{path}: {}",
            reply.text()
        );
    }
    let document = send(service.addr, &request("GET", "/openapi.json", &[], &[]))
        .await
        .json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    assert_ne!(document["components"]["schemas"]["ErrorBody"], json!(null));
    // The page needs nothing from elsewhere.
    let page = send(service.addr, &request("GET", "/docs/", &[], &[]))
        .await
        .text();
    for outside in ["src=\"http", "src=\"//", "<link rel=\"stylesheet\" href=\"http"] {
        assert!(!page.contains(outside), "{outside}: {page}");
    }
}
