//! Invalid request bodies get a clear error and change nothing.

use crate::support::TestService;
use serde_json::json;

cases! {
    nul_characters_are_refused
    invalid_utf8_is_refused
    ; sqlite_only:
    invalid_json_is_refused
    wrong_types_are_refused
    non_object_body_is_refused
    deeply_nested_body_is_refused
    duplicate_keys_are_refused
    unsupported_media_types_are_refused
    empty_bodies_are_refused
    invalid_numbers_are_refused
}

pub async fn nothing_changed(service: &TestService) {
    assert_eq!(service.a.get("/businesses").await.data(), json!([]));
    assert_eq!(service.a.get("/restaurants").await.data(), json!([]));
    assert_eq!(service.a.get("/events").await.data(), json!([]));
}

async fn invalid_json_is_refused(service: TestService) {
    for body in [
        "{",
        "{\"name\":\"x\"",
        "{\"name\":\"x\"}}",
        "{'name':'x'}",
        "name=x",
        "{\"name\":}",
        "\u{feff}{\"name\":\"x\"}",
        "{\"name\":\"x\",}",
        "\"",
        "nul",
        "{\"name\":\"\u{1}\"}",
    ] {
        service
            .a
            .json("POST", "/businesses", body)
            .await
            .refused(400, "broken_json");
        service
            .a
            .json("POST", "/restaurants", body)
            .await
            .refused(400, "broken_json");
    }
    nothing_changed(&service).await;
}

async fn wrong_types_are_refused(service: TestService) {
    for value in [
        json!(7),
        json!(true),
        json!(null),
        json!([]),
        json!({}),
        json!(1.5),
    ] {
        service
            .a
            .post("/businesses", &json!({ "name": value }))
            .await
            .wrong(422, "invalid_field", "name");
        service
            .a
            .post("/orders/reports/mark", &json!({ "providerOrderId": value }))
            .await
            .wrong(422, "invalid_field", "providerOrderId");
    }
    let body = json!({ "webhookOrderId": "x", "url": 5, "headers": {} });
    service
        .a
        .post("/orders/retry-webhook", &body)
        .await
        .wrong(422, "invalid_field", "url");
    let body = json!({ "webhookOrderId": "x", "url": "https://example.com", "headers": { "a": 1 } });
    service
        .a
        .post("/orders/retry-webhook", &body)
        .await
        .wrong(422, "invalid_field", "headers");
    let body = json!({ "webhookOrderId": "x", "url": "https://example.com" });
    service
        .a
        .post("/orders/retry-webhook", &body)
        .await
        .wrong(422, "invalid_field", "headers");
    nothing_changed(&service).await;
}

async fn non_object_body_is_refused(service: TestService) {
    for body in ["[]", "7", "\"x\"", "null", "true", "[{\"name\":\"x\"}]"] {
        let reply = service.a.json("POST", "/businesses", body).await;
        assert_eq!(reply.status, 422, "{body}: {}", reply.text());
        reply.refused(422, "invalid_field");
    }
    nothing_changed(&service).await;
}

async fn nul_characters_are_refused(service: TestService) {
    service
        .a
        .json("POST", "/businesses", r#"{"name":"a\u0000b"}"#)
        .await
        .wrong(422, "invalid_field", "name");
    service
        .a
        .json("POST", "/businesses", r#"{"name":"x","extra":{"a":["\u0000"]}}"#)
        .await
        .refused(422, "invalid_field");
    service
        .a
        .json("POST", "/businesses", "{\"name\":\"a\0b\"}")
        .await
        .refused(400, "broken_json");
    service
        .a
        .json("POST", "/restaurants", r#"{"name":"r","config":{"a\u0000":1}}"#)
        .await
        .refused(422, "invalid_field");
    nothing_changed(&service).await;
}

async fn deeply_nested_body_is_refused(service: TestService) {
    for depth in [100, 1_000, 100_000] {
        let arrays = format!(
            "{{\"name\":\"x\",\"a\":{}{}}}",
            "[".repeat(depth),
            "]".repeat(depth)
        );
        service
            .a
            .json("POST", "/businesses", &arrays)
            .await
            .refused(400, "broken_json");
        let objects = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        service
            .a
            .json("POST", "/businesses", &objects)
            .await
            .refused(400, "broken_json");
        let open = "[".repeat(depth);
        service
            .a
            .json("POST", "/businesses", &open)
            .await
            .refused(400, "broken_json");
        let config = format!(
            "{{\"name\":\"x\",\"config\":{{\"a\":{}{}}}}}",
            "[".repeat(depth),
            "]".repeat(depth)
        );
        service
            .a
            .json("POST", "/restaurants", &config)
            .await
            .refused(400, "broken_json");
    }
    nothing_changed(&service).await;
}

async fn duplicate_keys_are_refused(service: TestService) {
    for (body, field) in [
        (r#"{"name":"x","name":"y"}"#, "name"),
        (r#"{"name":"x","na\u006de":"y"}"#, "name"),
        (r#"{"name":"x","extra":{"a":1,"a":1}}"#, "extra.a"),
    ] {
        service
            .a
            .json("POST", "/businesses", body)
            .await
            .wrong(400, "repeated_key", field);
    }
    nothing_changed(&service).await;
}

async fn unsupported_media_types_are_refused(service: TestService) {
    let body = br#"{"name":"x"}"#;
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
        "json",
        "application/xml",
    ] {
        let reply = service
            .a
            .call("POST", "/businesses", &[("content-type", kind)], body)
            .await;
        reply.refused(415, "unsupported_media_type");
    }
    service
        .a
        .call("POST", "/businesses", &[], body)
        .await
        .refused(415, "unsupported_media_type");
    nothing_changed(&service).await;
    for kind in [
        "application/json",
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
        "application/merge-patch+json",
    ] {
        service
            .a
            .call("POST", "/businesses", &[("content-type", kind)], body)
            .await
            .data();
    }
}

async fn empty_bodies_are_refused(service: TestService) {
    for path in ["/businesses", "/restaurants"] {
        service.a.act(path).await.wrong(422, "invalid_field", "name");
        service
            .a
            .json("POST", path, "")
            .await
            .wrong(422, "invalid_field", "name");
    }
    nothing_changed(&service).await;
    service.a.act("/keys").await.data();
    let shop = service.shop(&service.a, "s").await;
    // Without a type and with one, also one that would be wrong if there were anything.
    for (id, kind) in [
        ("1", None),
        ("2", Some("application/json")),
        ("3", Some("text/plain")),
    ] {
        shop.order(id).await;
        let headers: Vec<_> = kind.map(|kind| ("content-type", kind)).into_iter().collect();
        for act in ["verify", "change-status", "ready", "cancel"] {
            let reply = service
                .a
                .call("POST", &format!("/orders/{act}/{id}"), &headers, b"")
                .await;
            reply.data();
        }
    }
}

async fn invalid_utf8_is_refused(service: TestService) {
    for name in [
        &b"\xff"[..],
        b"\xc3\x28",
        b"\xed\xa0\x80",
        b"\xf8\x88\x80\x80\x80",
    ] {
        let body = [b"{\"name\":\"", name, b"\"}"].concat();
        let kind = [("content-type", "application/json")];
        service
            .a
            .call("POST", "/businesses", &kind, &body)
            .await
            .refused(400, "broken_json");
    }
    // A lone surrogate is no character either.
    service
        .a
        .json("POST", "/businesses", r#"{"name":"\ud800"}"#)
        .await
        .refused(400, "broken_json");
    nothing_changed(&service).await;
}

async fn invalid_numbers_are_refused(service: TestService) {
    for number in [
        "NaN",
        "Infinity",
        "-Infinity",
        "1e999",
        "0x10",
        "01",
        "1.",
        ".5",
        "+1",
    ] {
        let reply = service
            .a
            .json(
                "POST",
                "/restaurants",
                &format!("{{\"name\":\"x\",\"lat\":{number}}}"),
            )
            .await;
        assert!(matches!(reply.status, 400 | 422), "{number}: {}", reply.text());
        reply.refused(
            reply.status,
            if reply.status == 400 {
                "broken_json"
            } else {
                "invalid_field"
            },
        );
    }
    nothing_changed(&service).await;
}
