//! An erasure goes on after kill -9, and others do not wait for it.

use super::setup::{PHONE, order_of_zeynep};
use crate::support::{ApiClient, Backend, Program, TestStorage, request, send, wait_until};
use serde_json::json;
use std::net::SocketAddr;

on_both! {
    erasure_continues_after_a_kill
}

const ORDERS: usize = 150;

async fn place(addr: SocketAddr, id: &str) -> String {
    let body = order_of_zeynep("s", id, 5_000).to_string();
    let headers = [("x-api-key", "inbound-s"), ("content-type", "application/json")];
    let reply = send(
        addr,
        &request("POST", "/hooks/direct/orders", &headers, body.as_bytes()),
    )
    .await;
    reply.data()["orderId"].as_str().unwrap().to_owned()
}

async fn erasure_continues_after_a_kill(backend: Backend) {
    let storage = TestStorage::new(backend);
    let key = storage.create_account("one@example.com");
    let more = [("GARSON_RATE_LIMIT", "off")];
    let mut server = Program::serve(&storage, &more);
    let mut client = ApiClient::new(server.address().await, &key);
    let made = client.post("/restaurants", &json!({ "name": "r" })).await.data();
    let path = format!(
        "/restaurants/{}/integrations/direct",
        made["id"].as_str().unwrap()
    );
    let body = json!({ "isActive": true, "remoteId": "s", "credentials": { "inboundKey": "inbound-s" } });
    client.put(&path, &body).await.data();
    for number in 0..ORDERS {
        let order = place(client.addr, &number.to_string()).await;
        client
            .post(
                &format!("/orders/cancel/{order}"),
                &json!({ "note": "Zeynep vazgeçti" }),
            )
            .await
            .data();
    }
    let sums = client.get("/orders/grouped-payments").await.data();
    let started = client
        .post("/privacy/erasures", &json!({ "phone": PHONE }))
        .await
        .data();
    let path = format!("/privacy/erasures/{}", started["id"].as_str().unwrap());
    wait_until("a part is erased", async || {
        client.get(&path).await.data()["erased"].as_i64().unwrap() > 0
    })
    .await;
    server.kill();
    server = Program::serve(&storage, &more);
    client.addr = server.address().await;
    wait_until("the erasure is finished", async || {
        !client.get(&path).await.data()["finishedAt"].is_null()
    })
    .await;
    assert_eq!(client.get(&path).await.data()["erased"], json!(ORDERS));
    let found = client
        .post("/privacy/search", &json!({ "email": "zeynep@example.org" }))
        .await
        .data();
    assert_eq!(found["orders"], json!([]));
    assert_eq!(client.get("/orders/grouped-payments").await.data(), sums);
    server.terminate();
    assert!(server.ended().await);
}
