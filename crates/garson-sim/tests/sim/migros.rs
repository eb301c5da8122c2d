//! Migros: keys, encryption both ways, states in order, lists, webhooks.

use aes::{
    Aes256,
    cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit, consts::U16},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use garson_sim::{
    Platform,
    views::{Courier, Replies, Step},
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{Answer, Stage, get, post, quick};

const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";
const HEADERS: [(&str, &str); 2] = [("XApiKey", "branch-key"), ("content-type", "application/json")];

/// Written again here, so that both sides do not share one mistake.
fn encrypt(body: &Value, key: &[u8]) -> String {
    let cipher = Aes256::new_from_slice(key).unwrap();
    let mut bytes = body.to_string().into_bytes();
    let padding = 16 - bytes.len() % 16;
    bytes.extend(std::iter::repeat_n(padding as u8, padding));
    let mut sealed = Vec::new();
    for chunk in bytes.chunks(16) {
        let mut block: Array<u8, U16> = Array::try_from(chunk).unwrap();
        cipher.encrypt_block(&mut block);
        sealed.extend_from_slice(&block);
    }
    json!({"value": BASE64_STANDARD.encode(sealed)}).to_string()
}

fn decrypt(text: &str) -> Value {
    let cipher = Aes256::new_from_slice(SECRET).unwrap();
    let mut plain = Vec::new();
    for chunk in BASE64_STANDARD.decode(text).unwrap().chunks(16) {
        let mut block: Array<u8, U16> = Array::try_from(chunk).unwrap();
        cipher.decrypt_block(&mut block);
        plain.extend_from_slice(&block);
    }
    plain.truncate(plain.len() - usize::from(*plain.last().unwrap()));
    serde_json::from_slice(&plain).unwrap()
}

async fn stage() -> Stage {
    Stage::new(Platform::Migros, "4411").await
}

async fn send(stage: &Stage, path: &str, body: Value) -> Answer {
    post(&stage.url(path), &HEADERS, encrypt(&body, SECRET)).await
}

async fn update(stage: &Stage, id: &str, status: &str) -> Answer {
    let id: u64 = id.parse().unwrap();
    let body = json!({"orderId": id, "storeId": 4411, "orderStatus": status, "cancelReasonId": 101});
    send(stage, "/Order/v2/UpdateOrderStatus", body).await
}

async fn updated(stage: &Stage, id: &str, status: &str, state: &str) {
    let answer = update(stage, id, status).await;
    assert_eq!(
        (answer.status, &answer.body["success"]),
        (200, &json!(true)),
        "{status}: {answer:?}"
    );
    assert_eq!(stage.state(id).await, state);
}

async fn refused(stage: &Stage, id: &str, status: &str, code: u16) {
    let answer = update(stage, id, status).await;
    assert_eq!(
        (answer.status, &answer.body["success"]),
        (code, &json!(false)),
        "{status}: {answer:?}"
    );
    assert!(answer.body["errorMessage"]["errorDetail"].is_string());
}

#[tokio::test]
async fn migros_delivers() {
    let stage = stage().await;
    let id = stage
        .place(stage.request(Courier::Platform))
        .await
        .provider_order_id;
    let pushed = stage.receiver.next().await;
    assert_eq!(pushed.path, "/hooks/migros/order-created");
    let basic = BASE64_STANDARD.encode("migros:kapı");
    assert_eq!(pushed.header("authorization"), format!("Basic {basic}"));
    assert_eq!(
        (pushed.body["id"].to_string(), &pushed.body["store"]["id"]),
        (id.clone(), &json!(4411))
    );
    assert_eq!(
        (&pushed.body["status"], &pushed.body["deliveryProvider"]),
        (&json!("NEW_PENDING"), &json!("MIGROS"))
    );
    assert!(pushed.body["log"]["createdAsMs"].is_i64());

    refused(&stage, &id, "Prepared", 409).await;
    updated(&stage, &id, "Approved", "APPROVED").await;
    refused(&stage, &id, "Approved", 409).await;
    refused(&stage, &id, "Rejected", 409).await;
    updated(&stage, &id, "Prepared", "PREPARED").await;
    refused(&stage, &id, "Delivery", 400).await;
    refused(&stage, &id, "Completed", 400).await;
    for (step, told, state) in [
        (Step::Assigned, "ASSIGNED_FOR_DELIVERY", "PREPARED"),
        (Step::Arrived, "COURIER_ARRIVED", "PREPARED"),
        (Step::PickedUp, "IN_DELIVERY", "DELIVERY"),
        (Step::Delivered, "DELIVERED", "COMPLETED"),
    ] {
        stage.control.courier(Platform::Migros, &id, step).await.unwrap();
        let pushed = stage.receiver.next().await;
        assert_eq!(pushed.path, "/hooks/migros/delivery-status");
        assert_eq!(
            (&pushed.body["deliveryStatus"], &pushed.body["status"]),
            (&json!(told), &json!(state))
        );
        assert_eq!(pushed.body["orderId"].to_string(), id);
    }
}

#[tokio::test]
async fn the_restaurant_delivers_itself() {
    let stage = stage().await;
    let id = stage.quiet_order(Courier::Restaurant).await.provider_order_id;
    refused(&stage, &id, "Completed", 409).await;
    for (status, state) in [
        ("Approved", "APPROVED"),
        ("Prepared", "PREPARED"),
        ("Delivery", "DELIVERY"),
        ("Completed", "COMPLETED"),
    ] {
        updated(&stage, &id, status, state).await;
    }
    refused(&stage, &id, "Completed", 409).await;
    refused(&stage, &id, "Flown", 400).await;
    assert!(
        stage
            .control
            .courier(Platform::Migros, &id, Step::Delivered)
            .await
            .is_err()
    );
    let line = stage.control.journal(None, 0).await.unwrap().pop().unwrap();
    assert_eq!(
        (line.operation.as_str(), line.order_id),
        ("update-status", Some(id))
    );
}

#[tokio::test]
async fn rejecting_and_cancelling_need_a_listed_reason() {
    let stage = stage().await;
    let reasons = get(&stage.url("/Mapping/v2/GetCancelReasons"), &HEADERS)
        .await
        .body;
    let reason = reasons["data"][1]["reasonId"].as_u64().unwrap();
    let id = stage.quiet_order(Courier::Platform).await.provider_order_id;
    let number: u64 = id.parse().unwrap();
    let body = json!({"orderId": number, "storeId": 4411, "orderStatus": "Rejected"});
    assert_eq!(
        send(&stage, "/Order/v2/UpdateOrderStatus", body).await.status,
        400
    );
    updated(&stage, &id, "Rejected", "REJECTED").await;
    refused(&stage, &id, "Approved", 409).await;

    let id = stage.quiet_order(Courier::Platform).await.provider_order_id;
    updated(&stage, &id, "Approved", "APPROVED").await;
    let url = stage.url(&format!("/Order/v2/GetOrderDetail?orderId={id}&storeId=4411"));
    let user = get(&url, &HEADERS).await.body["data"]["customer"]["id"].clone();
    let cancel = async |user: &Value, reason: u64| {
        let number: u64 = id.parse().unwrap();
        let body = json!({
            "orderId": number, "storeId": 4411, "userId": user, "notifyUser": true, "cancelReasonId": reason,
        });
        send(&stage, "/Order/v2/CancelOrder", body).await.status
    };
    assert_eq!(cancel(&json!(1), reason).await, 400);
    assert_eq!(cancel(&user, 999).await, 400);
    assert_eq!(cancel(&user, reason).await, 200);
    assert_eq!(stage.order(&id).await.cancel_reason, Some(reason.to_string()));
    assert_eq!(cancel(&user, reason).await, 409);
    assert!(stage.receiver.is_quiet().await);
}

#[tokio::test]
async fn customers_cancel() {
    let stage = stage().await;
    let id = stage.quiet_order(Courier::Platform).await.provider_order_id;
    stage
        .control
        .cancel(Platform::Migros, &id, "customer")
        .await
        .unwrap();
    let pushed = stage.receiver.next().await;
    assert_eq!(pushed.path, "/hooks/migros/order-cancelled");
    assert_eq!(
        (pushed.body["OrderId"].to_string(), &pushed.body["StoreId"]),
        (id.clone(), &json!(4411))
    );
    assert!(pushed.body["UserId"].is_u64());
    refused(&stage, &id, "Approved", 409).await;
}

#[tokio::test]
async fn lists_show_what_waits_and_what_goes_on() {
    let stage = stage().await;
    let new = stage.quiet_order(Courier::Platform).await.provider_order_id;
    let approved = stage.quiet_order(Courier::Platform).await.provider_order_id;
    updated(&stage, &approved, "Approved", "APPROVED").await;
    let list = async |path: &str, stores: Value| {
        send(
            &stage,
            &format!("/Order/{path}"),
            json!({"storeIds": stores, "limit": 10, "offset": 0}),
        )
        .await
    };
    let pending = list("PendingOrdersWithStores", json!([4411])).await.body;
    assert_eq!(
        (
            pending["data"][0]["id"].to_string(),
            pending["data"].as_array().unwrap().len()
        ),
        (new, 1)
    );
    let active = list("ActiveOrdersWithStores", json!([4411])).await.body;
    assert_eq!(
        (
            active["data"][0]["id"].to_string(),
            active["data"].as_array().unwrap().len()
        ),
        (approved, 1)
    );
    assert_eq!(list("PendingOrdersWithStores", json!([4412])).await.status, 400);
    assert_eq!(
        send(
            &stage,
            "/Order/PendingOrdersWithStores",
            json!({"storeIds": [4411]})
        )
        .await
        .status,
        400
    );
}

#[tokio::test]
async fn keys_and_encryption_are_checked() {
    let stage = stage().await;
    let id = stage.quiet_order(Courier::Platform).await.provider_order_id;
    let number: u64 = id.parse().unwrap();
    let url = stage.url("/Order/v2/UpdateOrderStatus");
    let body = json!({"orderId": number, "storeId": 4411, "orderStatus": "Approved"});
    assert_eq!(
        post(&url, &HEADERS[1..], encrypt(&body, SECRET)).await.status,
        401
    );
    assert_eq!(
        post(&url, &[("XApiKey", "x"), HEADERS[1]], encrypt(&body, SECRET))
            .await
            .status,
        401
    );
    assert_eq!(
        post(&url, &HEADERS, body.to_string()).await.status,
        400,
        "in plain"
    );
    assert_eq!(
        post(&url, &HEADERS, encrypt(&body, &[7; 32])).await.status,
        400,
        "another secret"
    );
    assert_eq!(
        post(&url, &HEADERS[..1], encrypt(&body, SECRET)).await.status,
        400,
        "no type"
    );
    let wrong_store = json!({"orderId": number, "storeId": 1, "orderStatus": "Approved"});
    assert_eq!(
        post(&url, &HEADERS, encrypt(&wrong_store, SECRET)).await.status,
        400
    );
    let as_text = json!({"orderId": id, "storeId": 4411, "orderStatus": "Approved"});
    assert_eq!(post(&url, &HEADERS, encrypt(&as_text, SECRET)).await.status, 400);
    let unknown = json!({"orderId": 1, "storeId": 4411, "orderStatus": "Approved"});
    assert_eq!(post(&url, &HEADERS, encrypt(&unknown, SECRET)).await.status, 404);
    assert_eq!(get(&stage.url("/Nothing"), &HEADERS).await.status, 404);
    assert_eq!(stage.state(&id).await, "NEW_PENDING");
    let keys = stage.url("/Store/GetDefinedActiveRestaurantApiKeys");
    let secret = json!({"secretKey": std::str::from_utf8(SECRET).unwrap()}).to_string();
    assert_eq!(
        post(&keys, &HEADERS[1..], secret).await.body["data"][0]["apiKey"],
        "branch-key"
    );
}

#[tokio::test]
async fn the_key_may_be_a_hash_and_answers_may_be_encrypted() {
    for replies in [Replies::Text, Replies::Value] {
        let stage = Stage::with(Platform::Migros, "4411", quick(), |store| {
            store.quirks.replies = replies
        })
        .await;
        let data = get(&stage.url("/Mapping/v2/GetCancelReasons"), &HEADERS)
            .await
            .body["data"]
            .clone();
        let text = if replies == Replies::Text {
            &data
        } else {
            &data["value"]
        };
        assert!(decrypt(text.as_str().unwrap())[0]["reasonId"].is_u64());
    }
    let stage = Stage::with(Platform::Migros, "4411", quick(), |store| {
        store.credentials["keyDerivation"] = json!("sha256");
        store.credentials["secretKey"] = json!("any length");
    })
    .await;
    let key = Sha256::digest(b"any length");
    let store = get(&stage.url("/Store/GetStoreDetail"), &HEADERS).await.body;
    assert_eq!(store["data"]["id"], 4411);
    let group = &store["data"]["storeGroupId"];
    let body = encrypt(&json!({"storeId": 4411, "storeGroupId": group}), &key);
    let menu = post(
        &stage.url("/Menu/GetMenuDetailsByStoreAndStoreGroupId"),
        &HEADERS,
        body,
    )
    .await
    .body;
    let item = &menu["data"]["menuHeaderInfos"][0]["foodMenuItemDetailsDTOs"][0];
    assert!(item["defaultPrimaryPrice"].is_i64() && item["productName"].is_string());
}
