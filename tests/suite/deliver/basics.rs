//! The first attempt, the retries, and what is written down of them.

use super::scene::{Scene, pid};
use crate::support::{Answer, Gate, Kind, Receiver, until};
use garson_core::time::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;

on_both! {
    the_first_attempt_is_made_at_once_in_the_events_own_bytes
    the_key_goes_along_bare_when_the_account_wants_it_so
    events_of_integrations_are_delivered_as_well
    an_event_under_way_is_waiting_and_its_successor_waits_for_it
    retries_come_in_their_time_and_end_after_the_third
    only_2xx_is_success_and_redirects_are_not_followed
}

async fn the_first_attempt_is_made_at_once_in_the_events_own_bytes(kind: Kind) {
    let scene = Scene::open(kind).await;
    let order = scene.shop.order("1").await;
    scene.is_delivered("1", 1).await;
    let seen = scene.receiver.seen();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].line, "POST /olay HTTP/1.1");
    let bearer = format!("Bearer {}", scene.house.a.key);
    assert_eq!(seen[0].header("authorization"), Some(bearer.as_str()));
    assert_eq!(seen[0].header("content-type"), Some("application/json"));
    let signs = ["signature", "hmac", "digest", "sign"];
    let signed = |(name, _): &&(String, String)| signs.iter().any(|sign| name.contains(sign));
    assert_eq!(seen[0].headers.iter().find(signed), None);
    let events = scene.house.a.get("/events").await;
    assert!(events.text().contains(&seen[0].body), "other bytes than told");
    let record = &scene.records("1").await[0];
    let attempt = &record["attempts"][0];
    assert_eq!(record["orderId"], json!(order));
    assert_eq!(record["nextAttemptAt"], Value::Null);
    let wanted = json!({
        "number": 1, "at": "2026-03-01T09:00:00.000Z", "url": scene.receiver.url("/olay"), "statusCode": 200,
        "durationMs": attempt["durationMs"], "timing": attempt["timing"], "explanation": "answered 200",
    });
    assert_eq!(attempt, &wanted);
    let timing = &attempt["timing"];
    assert!(timing["connectMs"].as_f64().unwrap() > 0.0, "{timing}");
    assert!(timing["firstByteMs"].as_f64().unwrap() > 0.0, "{timing}");
    assert!(timing["dnsMs"].is_null() && timing["tlsMs"].is_null(), "{timing}");
    assert!(attempt["durationMs"].as_i64().unwrap() < 10_000);
}

async fn the_key_goes_along_bare_when_the_account_wants_it_so(kind: Kind) {
    let scene = Scene::open(kind).await;
    let bare = json!({ "authorization": "bare" });
    scene.house.a.put("/webhook", &bare).await.data();
    scene.shop.order("1").await;
    scene.is_delivered("1", 1).await;
    let seen = scene.receiver.seen();
    assert_eq!(seen[0].header("authorization"), Some(scene.house.a.key.as_str()));
}

async fn events_of_integrations_are_delivered_as_well(kind: Kind) {
    let scene = Scene::open(kind).await;
    let path = format!("/restaurants/{}/integrations/direct", scene.shop.restaurant);
    for is_active in [false, true] {
        let body = json!({ "isActive": is_active });
        scene.house.a.put(&path, &body).await.data();
    }
    let seen = scene.receiver.wait_for(2).await;
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
    until("they are delivered", async || scene.pending() == 0).await;
    let listed = scene.house.a.get("/webhook/deliveries").await.data();
    let states: Vec<&Value> = (0..3).map(|n| &listed[n]["state"]).collect();
    assert_eq!(states, ["delivered", "delivered", "skipped"]);
    assert_eq!(listed[2]["reason"], json!("no_url"));
}

async fn an_event_under_way_is_waiting_and_its_successor_waits_for_it(kind: Kind) {
    let scene = Scene::open(kind).await;
    let gate = Gate::closed();
    scene.receiver.next(Answer::Behind(gate.clone(), 200));
    scene.shop.order("1").await;
    scene.receiver.wait_for(1).await;
    scene.verify("1").await;
    scene
        .stand(
            "1",
            &[
                ("pending", json!("waiting"), 0),
                ("pending", json!("earlier_event"), 0),
            ],
        )
        .await;
    scene.probe().await;
    assert_eq!(scene.arrivals("1", 2), 0);
    gate.open();
    let delivered = ("delivered", Value::Null, 1);
    scene.stand("1", &[delivered.clone(), delivered]).await;
    assert_eq!((scene.arrivals("1", 1), scene.arrivals("1", 2)), (1, 1));
}

async fn retries_come_in_their_time_and_end_after_the_third(kind: Kind) {
    let mut scene = Scene::open(kind).await;
    scene.receiver.judges(|seen| match pid(seen).as_str() {
        "1" => Answer::Status(500),
        _ => Answer::Status(200),
    });
    scene.shop.order("1").await;
    let bad = json!("bad_status");
    for (tried, pause) in [(1, 10), (2, 60), (3, 240)] {
        scene.stand("1", &[("pending", bad.clone(), tried)]).await;
        let next = scene.records("1").await[0]["nextAttemptAt"].clone();
        let next: Timestamp = next.as_str().unwrap().parse().unwrap();
        let wait = next.since(scene.house.app.now());
        let pause = Duration::from_secs(pause);
        assert!(
            wait >= pause && wait <= pause * 6 / 5,
            "{wait:?} instead of {pause:?}"
        );
        if tried < 3 {
            // The moment was drawn once.
            scene.restart().await;
            let kept = &scene.records("1").await[0]["nextAttemptAt"];
            assert_eq!(kept, &json!(next.to_string()));
        }
        scene.house.advance(wait - Duration::from_millis(1));
        scene.probe().await;
        assert_eq!(scene.arrivals("1", 1), tried, "before its time");
        scene.house.advance(Duration::from_millis(1));
        scene.arrived("1", 1, tried + 1).await;
    }
    scene.stand("1", &[("failed", bad, 4)]).await;
    let record = &scene.records("1").await[0];
    assert_eq!(record["nextAttemptAt"], Value::Null);
    for (n, attempt) in record["attempts"].as_array().unwrap().iter().enumerate() {
        assert_eq!(attempt["number"], json!(n + 1));
        assert_eq!(attempt["statusCode"], json!(500));
        assert_eq!(attempt["explanation"], json!("answered 500, only 2xx is success"));
    }
    scene.pass(3600);
    scene.probe().await;
    assert_eq!(scene.arrivals("1", 1), 4, "more than three retries");
    let bodies: Vec<String> = scene.receiver.seen().into_iter().map(|seen| seen.body).collect();
    let first = bodies[0].clone();
    assert_eq!(bodies.iter().filter(|body| **body == first).count(), 4);
}

async fn only_2xx_is_success_and_redirects_are_not_followed(kind: Kind) {
    let scene = Scene::open(kind).await;
    let elsewhere = Receiver::start().await;
    let location = elsewhere.url("/");
    scene
        .receiver
        .judges(move |seen| match pid(seen).parse().unwrap() {
            302 => Answer::Redirect(location.clone()),
            status => Answer::Status(status),
        });
    let good = [200, 201, 202, 204, 226, 299];
    let moved = [300, 301, 302, 304, 307, 308];
    let bad = [400, 401, 404, 410, 429, 500, 503, 599];
    for status in good.iter().chain(&moved).chain(&bad) {
        scene.shop.order(&status.to_string()).await;
    }
    for status in good {
        scene.is_delivered(&status.to_string(), 1).await;
    }
    for (statuses, reason) in [(&moved[..], "redirect"), (&bad[..], "bad_status")] {
        for status in statuses {
            let id = status.to_string();
            scene.stand(&id, &[("pending", json!(reason), 1)]).await;
            let attempt = &scene.records(&id).await[0]["attempts"][0];
            assert_eq!(attempt["statusCode"], json!(status));
            let said = attempt["explanation"].as_str().unwrap();
            assert!(said.starts_with(&format!("answered {status}, ")), "{said}");
        }
    }
    assert_eq!(scene.receiver.count(), 20);
    assert_eq!(elsewhere.connections(), 0);
}
