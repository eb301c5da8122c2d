//! `Idempotency-Key`: the first answer again, for a day.

use crate::support::{Answer, House, Kind, Receiver, block_on, request};
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
    a_repeat_gets_the_same_bytes_and_makes_nothing
    another_request_under_the_same_key_is_refused
    a_final_refusal_is_kept_too
    what_is_not_there_yet_is_looked_for_again
    keys_of_accounts_are_apart
    an_answer_is_kept_for_a_day
    of_32_at_once_one_makes_a_record
    an_issued_key_is_issued_once
    bad_keys_are_refused
    only_posts_take_a_key
    a_hook_repeat_needs_no_key
    a_client_that_leaves_finds_its_answer
    a_step_is_taken_once_whoever_died_before_the_answer
    a_key_is_free_as_soon_as_its_process_is_gone
    a_key_is_free_as_soon_as_its_request_has_failed
}

async fn a_repeat_gets_the_same_bytes_and_makes_nothing(house: House) {
    let body = r#"{"name":"Bir"}"#;
    let first = house.a.keyed("k1", "/businesses", body).await;
    first.data();
    house.advance(Duration::from_secs(60));
    let again = house.a.keyed("k1", "/businesses", body).await;
    assert_eq!((again.status, &again.body), (first.status, &first.body));
    assert_eq!(again.header("content-type"), Some("application/json"));
    assert_eq!(
        house.a.get("/businesses").await.data().as_array().unwrap().len(),
        1
    );
    // Without a key every POST stands for itself.
    house.a.json("POST", "/businesses", body).await.data();
    assert_eq!(
        house.a.get("/businesses").await.data().as_array().unwrap().len(),
        2
    );
}

async fn another_request_under_the_same_key_is_refused(house: House) {
    house
        .a
        .keyed("k", "/businesses", r#"{"name":"Bir"}"#)
        .await
        .data();
    house
        .a
        .keyed("k", "/businesses", r#"{"name":"İki"}"#)
        .await
        .refused(409, "idempotency_key_reused");
    house
        .a
        .keyed("k", "/restaurants", r#"{"name":"Bir"}"#)
        .await
        .refused(409, "idempotency_key_reused");
    assert_eq!(
        house.a.get("/businesses").await.data().as_array().unwrap().len(),
        1
    );
    assert_eq!(house.a.get("/restaurants").await.data(), json!([]));
}

async fn a_final_refusal_is_kept_too(house: House) {
    let shop = house.shop(&house.a, "s").await;
    shop.order("W-1").await;
    house.a.act("/orders/cancel/W-1").await.data();
    let first = house.a.keyed("k", "/orders/verify/W-1", "").await;
    first.refused(409, "order_cancelled");
    let again = house.a.keyed("k", "/orders/verify/W-1", "").await;
    assert_eq!(
        (again.status, &again.body),
        (409, &first.body),
        "with the id of the first request"
    );
}

async fn what_is_not_there_yet_is_looked_for_again(house: House) {
    let first = house.a.keyed("k", "/orders/verify/W-1", "").await;
    first.refused(404, "order_not_found");
    let shop = house.shop(&house.a, "s").await;
    shop.order("W-1").await;
    let again = house.a.keyed("k", "/orders/verify/W-1", "").await;
    assert_eq!(again.data()["status"], json!(500));
    let repeat = house.a.keyed("k", "/orders/verify/W-1", "").await;
    assert_eq!((repeat.status, &repeat.body), (200, &again.body));
}

async fn keys_of_accounts_are_apart(house: House) {
    let body = r#"{"name":"Bir"}"#;
    let ours = house.a.keyed("k", "/businesses", body).await.data();
    let theirs = house.b.keyed("k", "/businesses", body).await.data();
    assert_ne!(ours["id"], theirs["id"]);
}

async fn an_answer_is_kept_for_a_day(house: House) {
    let body = r#"{"name":"Bir"}"#;
    let first = house.a.keyed("k", "/businesses", body).await.data();
    house.advance(Duration::from_secs(24 * 3600 - 1));
    house.sweep().await;
    assert_eq!(
        house.a.keyed("k", "/businesses", body).await.data()["id"],
        first["id"]
    );
    house.advance(Duration::from_secs(2));
    let second = house.a.keyed("k", "/businesses", body).await.data();
    assert_ne!(second["id"], first["id"]);
    house.advance(Duration::from_secs(25 * 3600));
    house.sweep().await;
    house
        .a
        .keyed("k", "/businesses", r#"{"name":"İki"}"#)
        .await
        .data();
    assert_eq!(
        house.a.get("/businesses").await.data().as_array().unwrap().len(),
        3
    );
}

async fn of_32_at_once_one_makes_a_record(house: House) {
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let caller = house.a.clone();
        running.spawn(async move { caller.keyed("k", "/restaurants", r#"{"name":"Bir"}"#).await });
    }
    let replies = running.join_all().await;
    let done: Vec<_> = replies.iter().filter(|reply| reply.status == 200).collect();
    assert!(!done.is_empty());
    assert!(done.iter().all(|reply| reply.body == done[0].body));
    for reply in replies.iter().filter(|reply| reply.status != 200) {
        reply.refused(409, "idempotency_key_in_use");
    }
    assert_eq!(
        house.a.get("/restaurants").await.data().as_array().unwrap().len(),
        1
    );
    assert_eq!(
        house.a.keyed("k", "/restaurants", r#"{"name":"Bir"}"#).await.body,
        done[0].body
    );
}

async fn an_issued_key_is_issued_once(house: House) {
    let first = house.a.keyed("k", "/keys", r#"{"label":"x"}"#).await;
    let again = house.a.keyed("k", "/keys", r#"{"label":"x"}"#).await;
    assert_eq!(first.data()["apiKey"], again.data()["apiKey"]);
    assert_eq!(first.body, again.body);
    assert_eq!(house.a.get("/keys").await.data().as_array().unwrap().len(), 2);
}

async fn bad_keys_are_refused(house: House) {
    let body = r#"{"name":"x"}"#;
    let reply = house.a.keyed(&"x".repeat(201), "/businesses", body).await;
    reply.wrong(422, "invalid_parameter", "Idempotency-Key");
    assert_eq!(house.a.get("/businesses").await.data(), json!([]));
    house.a.keyed(&"x".repeat(200), "/businesses", body).await.data();
    // An empty one is none.
    house.a.keyed("", "/businesses", body).await.data();
    house.a.keyed("", "/businesses", body).await.data();
    assert_eq!(
        house.a.get("/businesses").await.data().as_array().unwrap().len(),
        3
    );
}

async fn only_posts_take_a_key(house: House) {
    let made = house.a.post("/businesses", &json!({ "name": "x" })).await.data();
    let path = format!("/businesses/{}", made["id"].as_str().unwrap());
    let headers = [("content-type", "application/json"), ("idempotency-key", "k")];
    house
        .a
        .call("PUT", &path, &headers, br#"{"name":"y"}"#)
        .await
        .data();
    house
        .a
        .call("PUT", &path, &headers, br#"{"name":"z"}"#)
        .await
        .data();
    assert_eq!(
        house.a.call("GET", &path, &headers, b"").await.data()["name"],
        json!("z")
    );
}

async fn a_hook_repeat_needs_no_key(house: House) {
    let shop = house.shop(&house.a, "s").await;
    assert_eq!(shop.order("1").await, shop.order("1").await);
}

#[test]
fn an_answer_that_another_try_may_mend_is_not_kept() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        block_on(async {
            let house = House::open_private(kind).await;
            let shop = house.shop(&house.a, "s").await;
            shop.order("1").await;
            let target = Receiver::start().await;
            target.next(Answer::HangUp);
            target.next(Answer::Status(204));
            let body = json!({ "webhookOrderId": "1", "url": target.url("/"), "headers": {} }).to_string();
            house
                .a
                .keyed("k", "/orders/retry-webhook", &body)
                .await
                .refused(502, "target_unreachable");
            let sent = house.a.keyed("k", "/orders/retry-webhook", &body).await;
            assert_eq!(sent.data()["statusCode"], json!(204));
            // Now it is kept: nobody is called again.
            assert_eq!(
                house.a.keyed("k", "/orders/retry-webhook", &body).await.body,
                sent.body
            );
            assert_eq!(target.seen().len(), 2);
        });
    }
}

/// The request goes out whole, and its client is gone before an answer can come.
async fn a_client_that_leaves_finds_its_answer(house: House) {
    let shop = house.shop(&house.a, "s").await;
    for n in 0..10 {
        let id = shop.order(&n.to_string()).await;
        let path = format!("/web-api/v1/orders/change-status/{id}");
        let bearer = format!("Bearer {}", house.a.key);
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Idempotency-Key", id.as_str()),
        ];
        let mut gone = tokio::net::TcpStream::connect(house.addr).await.unwrap();
        gone.write_all(&request("POST", &path, &headers, b""))
            .await
            .unwrap();
        drop(gone);
        // The one that was left may still be running, or may never have been read: both are fine, a second step is not.
        let reply = loop {
            let reply = house
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
            house.a.get(&format!("/orders/{id}")).await.data()["status"],
            json!(500)
        );
    }
}

async fn a_step_is_taken_once_whoever_died_before_the_answer(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let id = shop.order("1").await;
    let account = {
        let order = id.parse().unwrap();
        house
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
    let (reserved, now) = (Arc::clone(&keyed), house.app.now());
    let run = Run {
        id: uuid::Uuid::nil(),
        node: None,
        now,
        leased_until: now,
        fresh_id: uuid::Uuid::nil(),
    };
    let reserve =
        move |tx: &mut Tx<'_>| idempotency::reserve(tx, &reserved, &run, Timestamp::default(), &|_| false);
    house.app.store.write(account, reserve).await.unwrap();
    // The first run takes the step and dies; the second sees that it was taken.
    for _ in 0..2 {
        let step = act::advance(&house.app, account, id.clone(), Some(Arc::clone(&keyed)))
            .await
            .unwrap();
        assert_eq!((step.before.code(), step.after.status.code()), (400, 500));
    }
}

/// As a process leaves a key that ends in the middle of a request: reserved, and without an answer.
const UNANSWERED: &str = "UPDATE idempotency SET status = NULL, body = NULL";

async fn a_key_is_free_as_soon_as_its_process_is_gone(mut house: House) {
    let body = r#"{"name":"Bir"}"#;
    let first = house.a.keyed("k", "/businesses", body).await.data();
    house.meddle(UNANSWERED);
    house.restart().await;
    let again = house.a.keyed("k", "/businesses", body).await;
    assert_eq!(
        again.data()["id"],
        first["id"],
        "what the first run made is found"
    );
    assert_eq!(
        house.a.get("/businesses").await.data().as_array().unwrap().len(),
        1
    );
}

async fn a_key_is_free_as_soon_as_its_request_has_failed(house: House) {
    let body = r#"{"name":"Bir"}"#;
    house.a.keyed("k", "/businesses", body).await.data();
    // The run has ended here, and this process knows.
    house.meddle(UNANSWERED);
    house.a.keyed("k", "/businesses", body).await.data();
    assert_eq!(
        house.a.get("/businesses").await.data().as_array().unwrap().len(),
        1
    );
    // Its table is away while the request runs: it cannot be given back at once, but is as soon as that is possible.
    house.meddle("ALTER TABLE businesses RENAME TO elsewhere");
    assert_eq!(house.a.keyed("other", "/businesses", body).await.status, 500);
    house.meddle("ALTER TABLE elsewhere RENAME TO businesses");
    house.a.keyed("other", "/businesses", body).await.data();
}
