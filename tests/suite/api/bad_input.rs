//! Bodies that no honest client sends: a clear refusal each, and nothing changes.

use crate::support::House;
use serde_json::json;

cases! {
    broken_json
    wrong_types
    a_body_that_is_not_an_object
    nul_characters
    nesting_without_end
    repeated_keys
    other_media_types
    empty_bodies
    invalid_utf8
    numbers_that_are_none
}

pub async fn nothing_changed(house: &House) {
    assert_eq!(house.a.get("/businesses").await.data(), json!([]));
    assert_eq!(house.a.get("/restaurants").await.data(), json!([]));
    assert_eq!(house.a.get("/events").await.data(), json!([]));
}

async fn broken_json(house: House) {
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
        house
            .a
            .json("POST", "/businesses", body)
            .await
            .refused(400, "broken_json");
        house
            .a
            .json("POST", "/restaurants", body)
            .await
            .refused(400, "broken_json");
    }
    nothing_changed(&house).await;
}

async fn wrong_types(house: House) {
    for value in [
        json!(7),
        json!(true),
        json!(null),
        json!([]),
        json!({}),
        json!(1.5),
    ] {
        house
            .a
            .post("/businesses", &json!({ "name": value }))
            .await
            .wrong(422, "invalid_field", "name");
        house
            .a
            .post("/orders/reports/mark", &json!({ "providerOrderId": value }))
            .await
            .wrong(422, "invalid_field", "providerOrderId");
    }
    let body = json!({ "webhookOrderId": "x", "url": 5, "headers": {} });
    house
        .a
        .post("/orders/retry-webhook", &body)
        .await
        .wrong(422, "invalid_field", "url");
    let body = json!({ "webhookOrderId": "x", "url": "https://example.com", "headers": { "a": 1 } });
    house
        .a
        .post("/orders/retry-webhook", &body)
        .await
        .wrong(422, "invalid_field", "headers");
    let body = json!({ "webhookOrderId": "x", "url": "https://example.com" });
    house
        .a
        .post("/orders/retry-webhook", &body)
        .await
        .wrong(422, "invalid_field", "headers");
    nothing_changed(&house).await;
}

async fn a_body_that_is_not_an_object(house: House) {
    for body in ["[]", "7", "\"x\"", "null", "true", "[{\"name\":\"x\"}]"] {
        let reply = house.a.json("POST", "/businesses", body).await;
        assert_eq!(reply.status, 422, "{body}: {}", reply.text());
        reply.refused(422, "invalid_field");
    }
    nothing_changed(&house).await;
}

async fn nul_characters(house: House) {
    house
        .a
        .json("POST", "/businesses", r#"{"name":"a\u0000b"}"#)
        .await
        .wrong(422, "invalid_field", "name");
    house
        .a
        .json("POST", "/businesses", r#"{"name":"x","extra":{"a":["\u0000"]}}"#)
        .await
        .refused(422, "invalid_field");
    house
        .a
        .json("POST", "/businesses", "{\"name\":\"a\0b\"}")
        .await
        .refused(400, "broken_json");
    house
        .a
        .json("POST", "/restaurants", r#"{"name":"r","config":{"a\u0000":1}}"#)
        .await
        .refused(422, "invalid_field");
    nothing_changed(&house).await;
}

async fn nesting_without_end(house: House) {
    for depth in [100, 1_000, 100_000] {
        let arrays = format!(
            "{{\"name\":\"x\",\"a\":{}{}}}",
            "[".repeat(depth),
            "]".repeat(depth)
        );
        house
            .a
            .json("POST", "/businesses", &arrays)
            .await
            .refused(400, "broken_json");
        let objects = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        house
            .a
            .json("POST", "/businesses", &objects)
            .await
            .refused(400, "broken_json");
        let open = "[".repeat(depth);
        house
            .a
            .json("POST", "/businesses", &open)
            .await
            .refused(400, "broken_json");
        let config = format!(
            "{{\"name\":\"x\",\"config\":{{\"a\":{}{}}}}}",
            "[".repeat(depth),
            "]".repeat(depth)
        );
        house
            .a
            .json("POST", "/restaurants", &config)
            .await
            .refused(400, "broken_json");
    }
    nothing_changed(&house).await;
}

async fn repeated_keys(house: House) {
    for (body, field) in [
        (r#"{"name":"x","name":"y"}"#, "name"),
        (r#"{"name":"x","na\u006de":"y"}"#, "name"),
        (r#"{"name":"x","extra":{"a":1,"a":1}}"#, "extra.a"),
    ] {
        house
            .a
            .json("POST", "/businesses", body)
            .await
            .wrong(400, "repeated_key", field);
    }
    nothing_changed(&house).await;
}

async fn other_media_types(house: House) {
    let body = br#"{"name":"x"}"#;
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
        "json",
        "application/xml",
    ] {
        let reply = house
            .a
            .call("POST", "/businesses", &[("content-type", kind)], body)
            .await;
        reply.refused(415, "unsupported_media_type");
    }
    house
        .a
        .call("POST", "/businesses", &[], body)
        .await
        .refused(415, "unsupported_media_type");
    nothing_changed(&house).await;
    for kind in [
        "application/json",
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
        "application/merge-patch+json",
    ] {
        house
            .a
            .call("POST", "/businesses", &[("content-type", kind)], body)
            .await
            .data();
    }
}

async fn empty_bodies(house: House) {
    for path in ["/businesses", "/restaurants"] {
        house.a.act(path).await.wrong(422, "invalid_field", "name");
        house
            .a
            .json("POST", path, "")
            .await
            .wrong(422, "invalid_field", "name");
    }
    nothing_changed(&house).await;
    house.a.act("/keys").await.data();
    let shop = house.shop(&house.a, "s").await;
    // Without a type and with one, also one that would be wrong if there were anything.
    for (id, kind) in [
        ("1", None),
        ("2", Some("application/json")),
        ("3", Some("text/plain")),
    ] {
        shop.order(id).await;
        let headers: Vec<_> = kind.map(|kind| ("content-type", kind)).into_iter().collect();
        for act in ["verify", "change-status", "ready", "cancel"] {
            let reply = house
                .a
                .call("POST", &format!("/orders/{act}/{id}"), &headers, b"")
                .await;
            reply.data();
        }
    }
}

async fn invalid_utf8(house: House) {
    for name in [
        &b"\xff"[..],
        b"\xc3\x28",
        b"\xed\xa0\x80",
        b"\xf8\x88\x80\x80\x80",
    ] {
        let body = [b"{\"name\":\"", name, b"\"}"].concat();
        let kind = [("content-type", "application/json")];
        house
            .a
            .call("POST", "/businesses", &kind, &body)
            .await
            .refused(400, "broken_json");
    }
    // A lone surrogate is no character either.
    house
        .a
        .json("POST", "/businesses", r#"{"name":"\ud800"}"#)
        .await
        .refused(400, "broken_json");
    nothing_changed(&house).await;
}

async fn numbers_that_are_none(house: House) {
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
        let reply = house
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
    nothing_changed(&house).await;
}
