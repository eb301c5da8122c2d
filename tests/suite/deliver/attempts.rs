//! The first attempt, retries, and their records.

use super::setup::{Setup, pid};
use crate::support::{Backend, CannedResponse, Gate, Receiver, wait_until};
use garson_core::time::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;

on_both! {
    first_attempt_is_immediate_and_sends_the_event_bytes
    bare_key_is_sent_when_configured
    integration_events_are_delivered
    in_flight_event_is_pending_and_blocks_its_successor
    retries_follow_the_schedule_and_end_after_the_third
    only_2xx_is_success_and_redirects_are_not_followed
}

async fn first_attempt_is_immediate_and_sends_the_event_bytes(backend: Backend) {
    let setup = Setup::open(backend).await;
    let order = setup.shop.order("1").await;
    setup.wait_until_delivered("1", 1).await;
    let seen = setup.receiver.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].line, "POST /olay HTTP/1.1");
    let bearer = format!("Bearer {}", setup.service.a.key);
    assert_eq!(seen[0].header("authorization"), Some(bearer.as_str()));
    assert_eq!(seen[0].header("content-type"), Some("application/json"));
    let signs = ["signature", "hmac", "digest", "sign"];
    let signed = |(name, _): &&(String, String)| signs.iter().any(|sign| name.contains(sign));
    assert_eq!(seen[0].headers.iter().find(signed), None);
    let events = setup.service.a.get("/events").await;
    assert!(events.text().contains(&seen[0].body), "other bytes than told");
    let record = &setup.records("1").await[0];
    let attempt = &record["attempts"][0];
    assert_eq!(record["orderId"], json!(order));
    assert_eq!(record["nextAttemptAt"], Value::Null);
    let wanted = json!({
        "number": 1, "at": "2026-03-01T09:00:00.000Z", "url": setup.receiver.url("/olay"), "statusCode": 200,
        "durationMs": attempt["durationMs"], "timing": attempt["timing"], "explanation": "answered 200",
        "response": "content-length: 0\nconnection: close\n\n",
    });
    assert_eq!(attempt, &wanted);
    let timing = &attempt["timing"];
    assert!(timing["connectMs"].as_f64().unwrap() > 0.0, "{timing}");
    assert!(timing["firstByteMs"].as_f64().unwrap() > 0.0, "{timing}");
    assert!(timing["dnsMs"].is_null() && timing["tlsMs"].is_null(), "{timing}");
    assert!(attempt["durationMs"].as_i64().unwrap() < 10_000);
}

async fn bare_key_is_sent_when_configured(backend: Backend) {
    let setup = Setup::open(backend).await;
    let bare = json!({ "authorization": "bare" });
    setup.service.a.put("/webhook", &bare).await.data();
    setup.shop.order("1").await;
    setup.wait_until_delivered("1", 1).await;
    let seen = setup.receiver.seen();
    assert_eq!(
        seen[0].header("authorization"),
        Some(setup.service.a.key.as_str())
    );
}

async fn integration_events_are_delivered(backend: Backend) {
    let setup = Setup::open(backend).await;
    let path = format!("/restaurants/{}/integrations/direct", setup.shop.restaurant);
    for is_active in [false, true] {
        let body = json!({ "isActive": is_active });
        setup.service.a.put(&path, &body).await.data();
    }
    let seen = setup.receiver.wait_for(2).await;
    let mut told: Vec<(Value, Value)> = seen
        .iter()
        .map(|seen| {
            (
                seen.json()["olay"].clone(),
                seen.json()["veri"]["isActive"].clone(),
            )
        })
        .collect();
    // They belong to no order, so each goes by itself.
    told.sort_by_key(|(_, is_active)| is_active.as_bool());
    let olay = json!("entegrasyon.durum_degisti");
    assert_eq!(told, [(olay.clone(), json!(false)), (olay, json!(true))]);
    wait_until("they are delivered", async || setup.pending() == 0).await;
    let listed = setup.service.a.get("/webhook/deliveries").await.data();
    let states: Vec<&Value> = (0..3).map(|n| &listed[n]["state"]).collect();
    assert_eq!(states, ["delivered", "delivered", "skipped"]);
    assert_eq!(listed[2]["reason"], json!("no_url"));
}

async fn in_flight_event_is_pending_and_blocks_its_successor(backend: Backend) {
    let setup = Setup::open(backend).await;
    let gate = Gate::closed();
    setup.receiver.next(CannedResponse::Behind(gate.clone(), 200));
    setup.shop.order("1").await;
    setup.receiver.wait_for(1).await;
    setup.verify("1").await;
    setup
        .wait_for_records(
            "1",
            &[
                ("pending", json!("waiting"), 0),
                ("pending", json!("earlier_event"), 0),
            ],
        )
        .await;
    setup.probe().await;
    assert_eq!(setup.arrivals("1", 2), 0);
    gate.open();
    let delivered = ("delivered", Value::Null, 1);
    setup.wait_for_records("1", &[delivered.clone(), delivered]).await;
    assert_eq!((setup.arrivals("1", 1), setup.arrivals("1", 2)), (1, 1));
}

async fn retries_follow_the_schedule_and_end_after_the_third(backend: Backend) {
    let mut setup = Setup::open(backend).await;
    setup.receiver.respond_with(|seen| match pid(seen).as_str() {
        "1" => CannedResponse::Status(500),
        _ => CannedResponse::Status(200),
    });
    setup.shop.order("1").await;
    let bad = json!("bad_status");
    for (tried, pause) in [(1, 10), (2, 60), (3, 240)] {
        setup
            .wait_for_records("1", &[("pending", bad.clone(), tried)])
            .await;
        let next = setup.records("1").await[0]["nextAttemptAt"].clone();
        let next: Timestamp = next.as_str().unwrap().parse().unwrap();
        let wait = next.since(setup.service.app.now());
        let pause = Duration::from_secs(pause);
        assert!(
            wait >= pause && wait <= pause * 6 / 5,
            "{wait:?} instead of {pause:?}"
        );
        if tried < 3 {
            // The moment was drawn once.
            setup.restart().await;
            let kept = &setup.records("1").await[0]["nextAttemptAt"];
            assert_eq!(kept, &json!(next.to_string()));
        }
        setup.service.advance(wait - Duration::from_millis(1));
        setup.probe().await;
        assert_eq!(setup.arrivals("1", 1), tried, "before its time");
        setup.service.advance(Duration::from_millis(1));
        setup.wait_for_arrivals("1", 1, tried + 1).await;
    }
    setup.wait_for_records("1", &[("failed", bad, 4)]).await;
    let record = &setup.records("1").await[0];
    assert_eq!(record["nextAttemptAt"], Value::Null);
    for (n, attempt) in record["attempts"].as_array().unwrap().iter().enumerate() {
        assert_eq!(attempt["number"], json!(n + 1));
        assert_eq!(attempt["statusCode"], json!(500));
        assert_eq!(attempt["explanation"], json!("answered 500, only 2xx is success"));
    }
    setup.advance_clock(3600);
    setup.probe().await;
    assert_eq!(setup.arrivals("1", 1), 4, "more than three retries");
    let bodies: Vec<String> = setup.receiver.seen().into_iter().map(|seen| seen.body).collect();
    let first = bodies[0].clone();
    assert_eq!(bodies.iter().filter(|body| **body == first).count(), 4);
}

async fn only_2xx_is_success_and_redirects_are_not_followed(backend: Backend) {
    let setup = Setup::open(backend).await;
    let elsewhere = Receiver::start().await;
    let location = elsewhere.url("/");
    setup
        .receiver
        .respond_with(move |seen| match pid(seen).parse().unwrap() {
            302 => CannedResponse::Redirect(location.clone()),
            status => CannedResponse::Status(status),
        });
    let good = [200, 201, 202, 204, 226, 299];
    let moved = [300, 301, 302, 304, 307, 308];
    let bad = [400, 401, 404, 410, 429, 500, 503, 599];
    for status in good.iter().chain(&moved).chain(&bad) {
        setup.shop.order(&status.to_string()).await;
    }
    for status in good {
        setup.wait_until_delivered(&status.to_string(), 1).await;
    }
    for (statuses, reason) in [(&moved[..], "redirect"), (&bad[..], "bad_status")] {
        for status in statuses {
            let id = status.to_string();
            setup
                .wait_for_records(&id, &[("pending", json!(reason), 1)])
                .await;
            let attempt = &setup.records(&id).await[0]["attempts"][0];
            assert_eq!(attempt["statusCode"], json!(status));
            let said = attempt["explanation"].as_str().unwrap();
            assert!(said.starts_with(&format!("answered {status}, ")), "{said}");
        }
    }
    assert_eq!(setup.receiver.count(), 20);
    assert_eq!(elsewhere.connections(), 0);
}
