//! Requests that are wrong change nothing.

use super::setup::{path, shop};
use crate::support::{Backend, PlatformWorld};
use garson_sim::Platform;
use serde_json::{Value, json};

on_both! {
    ; sqlite_only: wrong_requests_are_refused
}

async fn wrong_requests_are_refused(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let cases = [
        ("store", json!({ "state": "shut" }), "state"),
        ("store", json!({ "state": "open", "minutes": 5 }), "until"),
        ("store", json!({ "state": "closed", "minutes": 0 }), "minutes"),
        (
            "store",
            json!({ "state": "closed", "minutes": 43_201 }),
            "minutes",
        ),
        (
            "store",
            json!({ "state": "closed", "until": "2020-01-01T00:00:00Z" }),
            "until",
        ),
        (
            "store",
            json!({ "state": "closed", "until": "2999-01-01T00:00:00Z" }),
            "until",
        ),
        (
            "store",
            json!({ "state": "closed", "until": "tomorrow" }),
            "until",
        ),
        (
            "store",
            json!({ "state": "closed", "until": "next_opening" }),
            "until",
        ),
        (
            "store",
            json!({ "state": "closed", "until": "2999-01-01T00:00:00Z", "minutes": 5 }),
            "until",
        ),
        (
            "store",
            json!({ "state": "closed", "busyMinutes": 15 }),
            "busyMinutes",
        ),
        (
            "store",
            json!({ "state": "closed", "providers": ["x"] }),
            "providers[0]",
        ),
        (
            "store",
            json!({ "state": "closed", "reason": "x".repeat(201) }),
            "reason",
        ),
        ("throttle", json!({ "enabled": true }), "closeAbove"),
        (
            "throttle",
            json!({ "enabled": true, "busyAbove": 5, "closeAbove": 5 }),
            "closeAbove",
        ),
        (
            "throttle",
            json!({ "enabled": true, "busyAbove": 5, "busyDownTo": 5 }),
            "busyDownTo",
        ),
        (
            "throttle",
            json!({ "enabled": true, "closeAbove": 501 }),
            "closeAbove",
        ),
        (
            "throttle",
            json!({ "enabled": true, "closeAbove": 5, "countBy": "x" }),
            "countBy",
        ),
        (
            "hours",
            json!({ "weekly": [], "timezone": "Mars/Base" }),
            "timezone",
        ),
        (
            "hours",
            json!({ "weekly": [], "special": [{ "date": "2026-02-30" }] }),
            "special[0].date",
        ),
        (
            "hours",
            json!({ "weekly": [], "special": [{ "date": "2026-02-20" }, { "date": "2026-02-20" }] }),
            "special",
        ),
        (
            "hours",
            json!({ "weekly": [
                { "day": "monday", "opens": "10:00", "closes": "12:00" },
                { "day": "monday", "opens": "11:00", "closes": "13:00" }
            ] }),
            "weekly",
        ),
    ];
    for (part, body, field) in cases {
        let reply = world.a.put(&path(&world, part), &body).await;
        assert_eq!(reply.status, 422, "{body}");
        let error = reply.json();
        assert_eq!(
            error["error"]["details"][0]["field"],
            json!(field),
            "{body} {error:#}"
        );
    }
    let direct = world
        .a
        .put(
            &path(&world, "store"),
            &json!({ "state": "closed", "providers": ["direct"] }),
        )
        .await;
    assert!((400..500).contains(&direct.status), "{}", direct.status);
    for platform in Platform::ALL {
        assert!(shop(&world, platform).await.open);
    }
    let history = world.a.get(&path(&world, "history")).await.data();
    assert_eq!(history, Value::Array(Vec::new()));
    for part in ["store", "throttle", "hours", "history"] {
        assert_eq!(
            world.service.b.get(&path(&world, part)).await.status,
            404,
            "{part}"
        );
    }
}
