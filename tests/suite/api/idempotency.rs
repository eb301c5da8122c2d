//! `Idempotency-Key`: a repeated request gets the first response for a day.

use crate::support::{Backend, CannedResponse, Receiver, TestService, block_on, request};
use garson::flow::By;
use garson::flow::order_actions::act;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::idempotency::{KeyedRequest, Run};
use garson_store::tables::{idempotency, orders};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;

cases! {
    repeated_request_gets_the_same_bytes_and_creates_nothing
    different_request_with_the_same_key_is_refused
    final_refusal_is_stored
    not_found_is_not_stored
    idempotency_keys_are_separated_by_account
    response_is_stored_for_a_day
    of_32_concurrent_requests_one_creates_a_record
    repeated_key_creation_issues_one_key
    invalid_idempotency_keys_are_refused
    only_post_accepts_an_idempotency_key
    repeated_hook_needs_no_key
    disconnected_client_finds_its_response
    step_is_taken_once_despite_a_crash_before_the_response
    key_is_released_when_its_process_dies
    key_is_released_when_its_request_fails
}

async fn repeated_request_gets_the_same_bytes_and_creates_nothing(service: TestService) {
    let body = r#"{"name":"Bir"}"#;
    let first = service.a.keyed("k1", "/businesses", body).await;
    first.data();
    service.advance(Duration::from_secs(60));
    let again = service.a.keyed("k1", "/businesses", body).await;
    assert_eq!((again.status, &again.body), (first.status, &first.body));
    assert_eq!(again.header("content-type"), Some("application/json"));
    assert_eq!(
        service
            .a
            .get("/businesses")
            .await
            .data()
            .as_array()
            .unwrap()
            .len(),
        1
    );
    // Without a key every POST is a new request.
    service.a.json("POST", "/businesses", body).await.data();
    assert_eq!(
        service
            .a
            .get("/businesses")
            .await
            .data()
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

async fn different_request_with_the_same_key_is_refused(service: TestService) {
    service
        .a
        .keyed("k", "/businesses", r#"{"name":"Bir"}"#)
        .await
        .data();
    service
        .a
        .keyed("k", "/businesses", r#"{"name":"İki"}"#)
        .await
        .refused(409, "idempotency_key_reused");
    service
        .a
        .keyed("k", "/restaurants", r#"{"name":"Bir"}"#)
        .await
        .refused(409, "idempotency_key_reused");
    assert_eq!(
        service
            .a
            .get("/businesses")
            .await
            .data()
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(service.a.get("/restaurants").await.data(), json!([]));
}

async fn final_refusal_is_stored(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("W-1").await;
    service.a.act("/orders/cancel/W-1").await.data();
    let first = service.a.keyed("k", "/orders/verify/W-1", "").await;
    first.refused(409, "order_cancelled");
    let again = service.a.keyed("k", "/orders/verify/W-1", "").await;
    assert_eq!(
        (again.status, &again.body),
        (409, &first.body),
        "with the id of the first request"
    );
}

async fn not_found_is_not_stored(service: TestService) {
    let first = service.a.keyed("k", "/orders/verify/W-1", "").await;
    first.refused(404, "order_not_found");
    let shop = service.shop(&service.a, "s").await;
    shop.order("W-1").await;
    let again = service.a.keyed("k", "/orders/verify/W-1", "").await;
    assert_eq!(again.data()["status"], json!(500));
    let repeat = service.a.keyed("k", "/orders/verify/W-1", "").await;
    assert_eq!((repeat.status, &repeat.body), (200, &again.body));
}

async fn idempotency_keys_are_separated_by_account(service: TestService) {
    let body = r#"{"name":"Bir"}"#;
    let ours = service.a.keyed("k", "/businesses", body).await.data();
    let theirs = service.b.keyed("k", "/businesses", body).await.data();
    assert_ne!(ours["id"], theirs["id"]);
}

async fn response_is_stored_for_a_day(service: TestService) {
    let body = r#"{"name":"Bir"}"#;
    let first = service.a.keyed("k", "/businesses", body).await.data();
    service.advance(Duration::from_secs(24 * 3600 - 1));
    service.sweep().await;
    assert_eq!(
        service.a.keyed("k", "/businesses", body).await.data()["id"],
        first["id"]
    );
    service.advance(Duration::from_secs(2));
    let second = service.a.keyed("k", "/businesses", body).await.data();
    assert_ne!(second["id"], first["id"]);
    service.advance(Duration::from_secs(25 * 3600));
    service.sweep().await;
    service
        .a
        .keyed("k", "/businesses", r#"{"name":"İki"}"#)
        .await
        .data();
    assert_eq!(
        service
            .a
            .get("/businesses")
            .await
            .data()
            .as_array()
            .unwrap()
            .len(),
        3
    );
}

async fn of_32_concurrent_requests_one_creates_a_record(service: TestService) {
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let client = service.a.clone();
        running.spawn(async move { client.keyed("k", "/restaurants", r#"{"name":"Bir"}"#).await });
    }
    let replies = running.join_all().await;
    let done: Vec<_> = replies.iter().filter(|reply| reply.status == 200).collect();
    assert!(!done.is_empty());
    assert!(done.iter().all(|reply| reply.body == done[0].body));
    for reply in replies.iter().filter(|reply| reply.status != 200) {
        reply.refused(409, "idempotency_key_in_use");
    }
    assert_eq!(
        service
            .a
            .get("/restaurants")
            .await
            .data()
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(
        service
            .a
            .keyed("k", "/restaurants", r#"{"name":"Bir"}"#)
            .await
            .body,
        done[0].body
    );
}

async fn repeated_key_creation_issues_one_key(service: TestService) {
    let first = service.a.keyed("k", "/keys", r#"{"label":"x"}"#).await;
    let again = service.a.keyed("k", "/keys", r#"{"label":"x"}"#).await;
    assert_eq!(first.data()["apiKey"], again.data()["apiKey"]);
    assert_eq!(first.body, again.body);
    assert_eq!(service.a.get("/keys").await.data().as_array().unwrap().len(), 2);
}

async fn invalid_idempotency_keys_are_refused(service: TestService) {
    let body = r#"{"name":"x"}"#;
    let reply = service.a.keyed(&"x".repeat(201), "/businesses", body).await;
    reply.wrong(422, "invalid_parameter", "Idempotency-Key");
    assert_eq!(service.a.get("/businesses").await.data(), json!([]));
    service
        .a
        .keyed(&"x".repeat(200), "/businesses", body)
        .await
        .data();
    // An empty one is none.
    service.a.keyed("", "/businesses", body).await.data();
    service.a.keyed("", "/businesses", body).await.data();
    assert_eq!(
        service
            .a
            .get("/businesses")
            .await
            .data()
            .as_array()
            .unwrap()
            .len(),
        3
    );
}

async fn only_post_accepts_an_idempotency_key(service: TestService) {
    let made = service
        .a
        .post("/businesses", &json!({ "name": "x" }))
        .await
        .data();
    let path = format!("/businesses/{}", made["id"].as_str().unwrap());
    let headers = [("content-type", "application/json"), ("idempotency-key", "k")];
    service
        .a
        .call("PUT", &path, &headers, br#"{"name":"y"}"#)
        .await
        .data();
    service
        .a
        .call("PUT", &path, &headers, br#"{"name":"z"}"#)
        .await
        .data();
    assert_eq!(
        service.a.call("GET", &path, &headers, b"").await.data()["name"],
        json!("z")
    );
}

async fn repeated_hook_needs_no_key(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    assert_eq!(shop.order("1").await, shop.order("1").await);
}

#[test]
fn retryable_response_is_not_stored() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        block_on(async {
            let service = TestService::open_private(backend).await;
            let shop = service.shop(&service.a, "s").await;
            shop.order("1").await;
            let target = Receiver::start().await;
            target.next(CannedResponse::HangUp);
            target.next(CannedResponse::Status(204));
            let body = json!({ "webhookOrderId": "1", "url": target.url("/"), "headers": {} }).to_string();
            service
                .a
                .keyed("k", "/orders/retry-webhook", &body)
                .await
                .refused(502, "target_unreachable");
            let sent = service.a.keyed("k", "/orders/retry-webhook", &body).await;
            assert_eq!(sent.data()["statusCode"], json!(204));
            // Now it is stored, and the platform is not called again.
            assert_eq!(
                service.a.keyed("k", "/orders/retry-webhook", &body).await.body,
                sent.body
            );
            assert_eq!(target.seen().len(), 2);
        });
    }
}

/// The request goes out whole, and its client is gone before an answer can come.
async fn disconnected_client_finds_its_response(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    for n in 0..10 {
        let id = shop.order(&n.to_string()).await;
        let path = format!("/web-api/v1/orders/change-status/{id}");
        let bearer = format!("Bearer {}", service.a.key);
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Idempotency-Key", id.as_str()),
        ];
        let mut gone = tokio::net::TcpStream::connect(service.addr).await.unwrap();
        gone.write_all(&request("POST", &path, &headers, b""))
            .await
            .unwrap();
        drop(gone);
        // The one that was left may still be running, or may never have been read: both are fine, a second step is not.
        let reply = loop {
            let reply = service
                .a
                .keyed(&id, &format!("/orders/change-status/{id}"), "")
                .await;
            if reply.status == 200 {
                break reply.data();
            }
            reply.refused(409, "idempotency_key_in_use");
        };
        assert_eq!(
            (&reply["oldStatus"], &reply["newStatus"]),
            (&json!(400), &json!(500))
        );
        assert_eq!(
            service.a.get(&format!("/orders/{id}")).await.data()["status"],
            json!(500)
        );
    }
}

async fn step_is_taken_once_despite_a_crash_before_the_response(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("1").await;
    let account = {
        let order = id.parse().unwrap();
        service
            .app
            .store
            .read(move |tx| orders::by_id(tx, order))
            .await
            .unwrap()
            .unwrap()
            .account_id
    };
    let keyed = Arc::new(KeyedRequest {
        account,
        key_hash: [1; 32],
        request_hash: [2; 32],
    });
    let (reserved, now) = (Arc::clone(&keyed), service.app.now());
    let run = Run {
        id: uuid::Uuid::nil(),
        node: None,
        now,
        leased_until: now,
        fresh_id: uuid::Uuid::nil(),
    };
    let reserve =
        move |tx: &mut Tx<'_>| idempotency::reserve(tx, &reserved, &run, Timestamp::default(), &|_| false);
    service.app.store.write(account, reserve).await.unwrap();
    // The first run takes the step and dies; the second sees that it was taken.
    for _ in 0..2 {
        let step = act::advance(
            &service.app,
            By::system(account),
            id.clone(),
            Some(Arc::clone(&keyed)),
        )
        .await
        .unwrap();
        assert_eq!((step.before.code(), step.after.status.code()), (400, 500));
    }
}

/// As a process leaves a key that ends in the middle of a request: reserved, and without an answer.
const UNANSWERED: &str = "UPDATE idempotency SET status = NULL, body = NULL";

async fn key_is_released_when_its_process_dies(mut service: TestService) {
    let body = r#"{"name":"Bir"}"#;
    let first = service.a.keyed("k", "/businesses", body).await.data();
    service.execute_sql(UNANSWERED);
    service.restart().await;
    let again = service.a.keyed("k", "/businesses", body).await;
    assert_eq!(
        again.data()["id"],
        first["id"],
        "what the first run made is found"
    );
    assert_eq!(
        service
            .a
            .get("/businesses")
            .await
            .data()
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

async fn key_is_released_when_its_request_fails(service: TestService) {
    let body = r#"{"name":"Bir"}"#;
    service.a.keyed("k", "/businesses", body).await.data();
    // The run has ended here, and this process knows.
    service.execute_sql(UNANSWERED);
    service.a.keyed("k", "/businesses", body).await.data();
    assert_eq!(
        service
            .a
            .get("/businesses")
            .await
            .data()
            .as_array()
            .unwrap()
            .len(),
        1
    );
    // Its table is missing while the request runs: the key cannot be released at once, but is as soon as possible.
    service.execute_sql("ALTER TABLE businesses RENAME TO elsewhere");
    assert_eq!(service.a.keyed("other", "/businesses", body).await.status, 500);
    service.execute_sql("ALTER TABLE elsewhere RENAME TO businesses");
    service.a.keyed("other", "/businesses", body).await.data();
}
