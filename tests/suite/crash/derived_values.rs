//! Kills under mixed load: derived values are right after each kill and at the end.

use crate::support::{
    ApiClient, Backend, CannedResponse, Program, Receiver, TestStorage, block_on, request, wait_until,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const SETTINGS: [(&str, &str); 4] = [
    ("GARSON_RATE_LIMIT", "off"),
    ("GARSON_ALLOW_PRIVATE_TARGETS", "true"),
    ("GARSON_WEBHOOK__RETRY_SECONDS", "1,1,1"),
    ("GARSON_LOG__LEVEL", "warn"),
];
/// Orders that are acknowledged before a kill.
const EACH_ROUND: usize = 150;
const WORKERS: usize = 8;

/// A number below another one; any is as good as another.
fn below(limit: usize) -> usize {
    let (_, random) = uuid::Uuid::now_v7().as_u64_pair();
    usize::try_from(random % limit as u64).unwrap()
}

fn pick<T: Copy>(from: &[T]) -> T {
    from[below(from.len())]
}

/// The orders that were acknowledged, by their records, each with its restaurant.
type Ledger = Arc<Mutex<BTreeMap<String, String>>>;

/// A connected restaurant and the key of its account.
#[derive(Clone)]
struct Branch {
    store: String,
    restaurant: String,
    api_key: String,
}

/// Sends a request; nothing when the server is gone.
async fn try_send(addr: SocketAddr, bytes: Vec<u8>) -> Option<(bool, Value)> {
    let mut stream = TcpStream::connect(addr).await.ok()?;
    stream.write_all(&bytes).await.ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.ok()?;
    let text = String::from_utf8(answer).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    Some((
        head.starts_with("HTTP/1.1 200"),
        serde_json::from_str(body).unwrap_or(Value::Null),
    ))
}

fn an_order(store: &str, id: &str, revision: usize) -> Value {
    let total = 100 * i64::try_from(1 + below(500)).unwrap();
    json!({
        "storeId": store,
        "providerOrderId": id,
        "revision": revision,
        "customer": { "name": pick(&["Ayşe Yılmaz", "İpek Çağlar-Öz", "Ali"]), "phone": "+90 532 000 00 01" },
        "items": [{ "name": "Lahmacun", "quantity": 1, "unitPrice": total }],
        "amount": { "total": total, "currency": pick(&["TRY", "EUR"]) },
        "payment": { "type": pick(&["cash", "credit_card", "online"]) },
    })
}

/// Takes orders of any branch and moves them on, until the server is gone. What was acknowledged is noted.
async fn work(addr: SocketAddr, name: String, branches: Vec<Branch>, acknowledged: Ledger) {
    for n in 0.. {
        let branch = &branches[below(branches.len())];
        let id = format!("{name}-{n}");
        let key = format!("inbound-{}", branch.store);
        let headers = [("x-api-key", key.as_str()), ("content-type", "application/json")];
        let body = an_order(&branch.store, &id, 1).to_string();
        let taken = try_send(
            addr,
            request("POST", "/hooks/direct/orders", &headers, body.as_bytes()),
        )
        .await;
        let Some((is_taken, answer)) = taken else { return };
        let Some(record) = answer["data"]["orderId"].as_str().filter(|_| is_taken) else {
            // Its restaurant is deleted.
            continue;
        };
        let of = branch.restaurant.clone();
        acknowledged.lock().unwrap().insert(record.to_owned(), of);
        let bearer = format!("Bearer {}", branch.api_key);
        let by_key = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        for _ in 0..below(5) {
            let cancel = json!({ "storeId": branch.store }).to_string();
            let bytes = match below(8) {
                0 => {
                    let path = format!("/hooks/direct/orders/{id}/cancel");
                    request("POST", &path, &headers, cancel.as_bytes())
                }
                1 => {
                    let path = format!("/web-api/v1/orders/cancel/{record}");
                    request("POST", &path, &by_key, b"{}")
                }
                // Later versions of it come in any order.
                2 | 3 => {
                    let later = an_order(&branch.store, &id, 2 + below(5)).to_string();
                    request("POST", "/hooks/direct/orders", &headers, later.as_bytes())
                }
                4 | 5 => {
                    let path = format!("/web-api/v1/orders/verify/{record}");
                    request("POST", &path, &by_key, b"")
                }
                _ => {
                    let path = format!("/web-api/v1/orders/change-status/{record}");
                    request("POST", &path, &by_key, b"")
                }
            };
            if try_send(addr, bytes).await.is_none() {
                return;
            }
        }
    }
}

/// Two accounts whose events go to the receiver, with two restaurants each; one of these has a callback URL, too.
async fn connect(addr: SocketAddr, keys: &[String], receiver: &Receiver) -> Vec<Branch> {
    let mut branches = Vec::new();
    for (number, key) in keys.iter().enumerate() {
        let client = ApiClient::new(addr, key);
        // One of the accounts has opted in to revision events.
        let url = json!({ "url": receiver.url(&format!("/events/{number}")), "orderUpdates": number == 1 });
        client.put("/webhook", &url).await.data();
        for n in 0..2 {
            let store = format!("store-{number}-{n}");
            let made = client
                .post("/restaurants", &json!({ "name": store }))
                .await
                .data();
            let restaurant = made["id"].as_str().unwrap().to_owned();
            let mut credentials = json!({ "inboundKey": format!("inbound-{store}") });
            if n == 1 {
                credentials["callbackUrl"] = json!(receiver.url("/status"));
            }
            let body = json!({ "isActive": true, "remoteId": store, "credentials": credentials });
            let path = format!("/restaurants/{restaurant}/integrations/direct");
            client.put(&path, &body).await.data();
            branches.push(Branch {
                store,
                restaurant,
                api_key: key.clone(),
            });
        }
    }
    branches
}

async fn record_ids(client: &ApiClient) -> BTreeSet<String> {
    super::all(client, "/orders")
        .await
        .iter()
        .map(|order| order["id"].as_str().unwrap().to_owned())
        .collect()
}

fn kill_and_recompute(backend: Backend, rounds: usize) {
    block_on(async {
        let storage = TestStorage::new(backend);
        let keys = ["one@example.com", "two@example.com"].map(|email| storage.create_account(email));
        let receiver = Receiver::start().await;
        receiver.respond_with(|_| match below(10) {
            0 => CannedResponse::HangUp,
            1..=3 => CannedResponse::Status(500),
            n => CannedResponse::After(Duration::from_millis(n as u64), 200),
        });
        let mut program = Program::serve(&storage, &SETTINGS);
        let mut addr = program.address().await;
        let branches = connect(addr, &keys, &receiver).await;
        let acknowledged = Ledger::default();
        for round in 0..rounds {
            let before = acknowledged.lock().unwrap().len();
            let mut workers = JoinSet::new();
            for worker in 0..WORKERS {
                let name = format!("{round}-{worker}");
                workers.spawn(work(addr, name, branches.clone(), Arc::clone(&acknowledged)));
            }
            wait_until("some orders are acknowledged", async || {
                acknowledged.lock().unwrap().len() > before + EACH_ROUND
            })
            .await;
            if round == 1 {
                // It is killed while the restaurant's rows are being removed, or soon after.
                let gone = format!("/restaurants/{}", branches[0].restaurant);
                ApiClient::new(addr, &keys[0]).delete(&gone).await.done();
            }
            tokio::time::sleep(Duration::from_millis(below(50) as u64)).await;
            program.kill();
            while let Some(ended) = workers.join_next().await {
                ended.unwrap();
            }
            storage.assert_derived_values().await;
            program = Program::serve(&storage, &SETTINGS);
            addr = program.address().await;
        }
        let mut there = BTreeSet::new();
        for key in &keys {
            let client = ApiClient::new(addr, key);
            wait_until("everything is delivered or given up", async || {
                let open = client.get("/webhook/deliveries?state=pending&limit=1").await;
                open.data() == json!([])
            })
            .await;
            there.extend(record_ids(&client).await);
        }
        let acknowledged = acknowledged.lock().unwrap().clone();
        let lost: Vec<_> = acknowledged
            .iter()
            .filter(|(record, of)| **of != branches[0].restaurant && !there.contains(*record))
            .collect();
        assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
        program.terminate();
        assert!(program.ended().await, "{}", program.printed());
        storage.assert_derived_values().await;
    });
}

#[test]
fn derived_values_survive_kills_on_sqlite() {
    kill_and_recompute(Backend::Sqlite, 5);
}

#[test]
fn derived_values_survive_kills_on_postgres() {
    kill_and_recompute(Backend::Postgres, 4);
}
