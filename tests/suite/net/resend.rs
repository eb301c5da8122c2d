//! `retry-webhook` and `webhook/test` with a real receiver.

use crate::support::{ApiClient, Backend, CannedResponse, Receiver, TestService, block_on};
use serde_json::{Value, json};

/// Runs a case on both engines, with a receiver and an order.
fn both(case: impl AsyncFn(TestService, Receiver)) {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        block_on(async {
            let service = TestService::open_private(backend).await;
            let shop = service.shop(&service.a, "s").await;
            shop.order("1").await;
            case(service, Receiver::start().await).await;
        });
    }
}

fn resend(id: &str, url: String, headers: &Value) -> Value {
    json!({ "webhookOrderId": id, "url": url, "headers": headers })
}

#[test]
fn event_is_resent_with_identical_bytes() {
    both(async |service, receiver| {
        service.a.act("/orders/verify/1").await.data();
        let events = service.a.get("/events").await.data();
        let (newest, first) = (&events[0], &events[1]);
        let record = first["veri"]["id"].as_str().unwrap();
        let order = first["veri"]["orderId"].as_str().unwrap();
        let headers = json!({ "X-Branch": "Kadikoy" });
        let sent = service
            .a
            .post(
                "/orders/retry-webhook",
                &resend(record, receiver.url("/olay?x=1"), &headers),
            )
            .await
            .data();
        assert_eq!(
            sent,
            json!({ "message": "The target has taken it.", "statusCode": 200 })
        );
        let seen = receiver.seen();
        assert_eq!(seen[0].line, "POST /olay?x=1 HTTP/1.1");
        assert_eq!(seen[0].header("host"), Some(receiver.addr.to_string().as_str()));
        assert_eq!(seen[0].header("content-type"), Some("application/json"));
        assert_eq!(seen[0].header("x-branch"), Some("Kadikoy"));
        assert_eq!(
            seen[0].header("authorization"),
            Some(format!("Bearer {}", service.a.key).as_str())
        );
        assert_eq!(&seen[0].json(), first);
        // An order's id, in either form, means its newest event.
        for id in [order, "1"] {
            service
                .a
                .post(
                    "/orders/retry-webhook",
                    &resend(id, receiver.url("/"), &json!({})),
                )
                .await
                .data();
            assert_eq!(&receiver.seen().last().unwrap().json(), newest);
        }
        assert!(
            service
                .a
                .get("/events")
                .await
                .text()
                .contains(&receiver.seen()[0].body)
        );
    });
}

#[test]
fn receiver_status_is_returned_unchanged() {
    both(async |service, receiver| {
        for status in [201, 204, 301, 400, 404, 418, 500, 503] {
            receiver.next(CannedResponse::Status(status));
            let sent = service
                .a
                .post(
                    "/orders/retry-webhook",
                    &resend("1", receiver.url("/"), &json!({})),
                )
                .await
                .data();
            assert_eq!(sent["statusCode"], json!(status));
            assert!(sent["message"].is_string());
        }
        assert_eq!(receiver.seen().len(), 8);
    });
}

#[test]
fn redirect_is_returned_and_not_followed() {
    both(async |service, receiver| {
        let elsewhere = Receiver::start().await;
        receiver.next(CannedResponse::Redirect(elsewhere.url("/")));
        let sent = service
            .a
            .post(
                "/orders/retry-webhook",
                &resend("1", receiver.url("/"), &json!({})),
            )
            .await
            .data();
        assert_eq!(sent["statusCode"], json!(302));
        assert_eq!((receiver.connections(), elsewhere.connections()), (1, 0));
    });
}

#[test]
fn key_is_sent_in_the_configured_form() {
    both(async |service, receiver| {
        let url = receiver.url("/");
        let own = json!({ "authorization": "Basic own" });
        service
            .a
            .post("/orders/retry-webhook", &resend("1", url.clone(), &own))
            .await
            .data();
        assert_eq!(receiver.seen()[0].header("authorization"), Some("Basic own"));
        service
            .a
            .put("/webhook", &json!({ "url": url, "authorization": "bare" }))
            .await
            .data();
        service
            .a
            .post("/orders/retry-webhook", &resend("1", url.clone(), &json!({})))
            .await
            .data();
        assert_eq!(
            receiver.seen()[1].header("authorization"),
            Some(service.a.key.as_str())
        );
        // At the registered address it is the primary key, whichever one calls.
        let made = service.a.act("/keys").await.data();
        service
            .a
            .act(&format!("/keys/{}/primary", made["id"].as_str().unwrap()))
            .await
            .data();
        service
            .a
            .post("/orders/retry-webhook", &resend("1", url, &json!({})))
            .await
            .data();
        assert_eq!(
            receiver.seen()[2].header("authorization"),
            made["apiKey"].as_str()
        );
    });
}

#[test]
fn closed_port_is_unreachable() {
    both(async |service, _receiver| {
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", closed.local_addr().unwrap());
        drop(closed);
        service
            .a
            .post("/orders/retry-webhook", &resend("1", url.clone(), &json!({})))
            .await
            .refused(502, "target_unreachable");
        let listed = service.a.get("/webhook/deliveries?orderId=1").await.data();
        let attempt = &listed[0]["attempts"][0];
        assert_eq!(
            (&attempt["statusCode"], &attempt["url"]),
            (&Value::Null, &json!(url))
        );
        assert!(
            attempt["explanation"]
                .as_str()
                .unwrap()
                .contains("cannot connect"),
            "{attempt}"
        );
    });
}

#[test]
fn every_attempt_is_logged_with_the_record() {
    both(async |service, receiver| {
        for status in [500, 200] {
            receiver.next(CannedResponse::Status(status));
            service
                .a
                .post(
                    "/orders/retry-webhook",
                    &resend("1", receiver.url("/x"), &json!({})),
                )
                .await
                .data();
        }
        let listed = service.a.get("/webhook/deliveries?orderId=1").await.data();
        let attempts = listed[0]["attempts"].as_array().unwrap();
        let said = ["answered 500, only 2xx is success", "answered 200"];
        assert_eq!(attempts.len(), said.len());
        for ((number, attempt), said) in (1..).zip(attempts).zip(said) {
            let status = said.split([' ', ',']).nth(1).unwrap().parse::<i64>().unwrap();
            let mut wanted = json!({
                "number": number, "at": "2026-03-01T09:00:00.000Z", "url": receiver.url("/x"), "statusCode": status,
                "durationMs": attempt["durationMs"], "timing": attempt["timing"],
                "explanation": format!("sent by hand: {said}"),
            });
            wanted["response"] = attempt["response"].clone();
            assert!(wanted["response"].is_string(), "{attempt}");
            assert_eq!(attempt, &wanted);
            let timing = &attempt["timing"];
            assert!(
                timing["connectMs"].is_f64() && timing["firstByteMs"].is_f64(),
                "{timing}"
            );
            // There was no name to look up, and nothing to make safe.
            assert!(timing["dnsMs"].is_null() && timing["tlsMs"].is_null(), "{timing}");
        }
    });
}

#[test]
fn test_message_is_marked_as_test() {
    both(async |service, receiver| {
        service
            .a
            .put("/webhook", &json!({ "url": receiver.url("/olay") }))
            .await
            .data();
        let events = service.a.get("/events").await.data();
        receiver.next(CannedResponse::Status(202));
        let sent = service.a.act("/webhook/test").await.data();
        assert_eq!(sent["statusCode"], json!(202));
        let seen = &receiver.seen()[0];
        let body = seen.json();
        assert_eq!(body["olay"], json!("test"));
        assert!(body["veri"]["id"].is_string());
        assert_eq!(body["veri"]["occurredAt"], json!("2026-03-01T09:00:00.000Z"));
        assert_eq!(
            seen.header("authorization"),
            Some(format!("Bearer {}", service.a.key).as_str())
        );
        assert_eq!(service.a.get("/events").await.data(), events);
    });
}

#[test]
fn non_primary_key_cannot_have_the_primary_key_sent() {
    both(async |service, receiver| {
        let thief = Receiver::start().await;
        let made = service.a.act("/keys").await.data();
        let lesser = ApiClient::new(service.addr, made["apiKey"].as_str().unwrap());
        let own = format!("Bearer {}", lesser.key);
        let elsewhere = json!({ "url": thief.url("/") });
        lesser
            .put("/webhook", &elsewhere)
            .await
            .refused(403, "primary_key_required");
        assert_eq!(service.a.get("/webhook").await.data()["url"], json!(null));
        service
            .a
            .put("/webhook", &json!({ "url": receiver.url("/") }))
            .await
            .data();
        lesser
            .put("/webhook", &elsewhere)
            .await
            .refused(403, "primary_key_required");
        // Changes that keep the URL are allowed for every key.
        let form = json!({ "url": receiver.url("/"), "authorization": "bearer" });
        lesser.put("/webhook", &form).await.data();
        // Nor can it take the place of the primary key, have its way, and give the place back.
        let keys = service.a.get("/keys").await.data();
        for key in keys.as_array().unwrap() {
            let path = format!("/keys/{}", key["id"].as_str().unwrap());
            lesser
                .act(&format!("{path}/primary"))
                .await
                .refused(403, "primary_key_required");
            if key["isPrimary"] == json!(true) {
                lesser.delete(&path).await.refused(403, "primary_key_required");
            }
        }
        // What it sends by hand to an address of its choice carries itself.
        lesser
            .post("/orders/retry-webhook", &resend("1", thief.url("/x"), &json!({})))
            .await
            .data();
        let seen = thief.seen();
        assert_eq!(seen.len(), 1);
        assert_eq!(seen[0].header("authorization"), Some(own.as_str()));
        // The registered receiver knows the primary key.
        let primary = format!("Bearer {}", service.a.key);
        lesser
            .post(
                "/orders/retry-webhook",
                &resend("1", receiver.url("/"), &json!({})),
            )
            .await
            .data();
        lesser.act("/webhook/test").await.data();
        service
            .a
            .post(
                "/orders/retry-webhook",
                &resend("1", receiver.url("/y"), &json!({})),
            )
            .await
            .data();
        let seen = receiver.seen();
        assert!(seen.len() >= 3);
        assert!(
            seen.iter()
                .all(|seen| seen.header("authorization") == Some(primary.as_str()))
        );
        // The primary key itself may do all of it.
        let path = format!("/keys/{}", made["id"].as_str().unwrap());
        service.a.act(&format!("{path}/primary")).await.data();
        lesser.put("/webhook", &elsewhere).await.data();
        service
            .a
            .put("/webhook", &form)
            .await
            .refused(403, "primary_key_required");
    });
}
