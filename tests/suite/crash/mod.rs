//! Kills at random times: every acknowledged order is stored exactly once.

mod concurrent_readers;
mod database_files;
mod derived_values;

use crate::support::{ApiClient, Backend, Program, TestStorage, block_on, order_body, request};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// What was acknowledged: the shop's id and the record id.
type Ledger = Arc<Mutex<BTreeMap<String, String>>>;

async fn post(addr: SocketAddr, id: &str) -> Option<String> {
    let body = order_body("s", id, 100).to_string();
    let headers = [("x-api-key", "inbound-s"), ("content-type", "application/json")];
    let bytes = request("POST", "/hooks/direct/orders", &headers, body.as_bytes());
    let mut stream = tokio::net::TcpStream::connect(addr).await.ok()?;
    stream.write_all(&bytes).await.ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.ok()?;
    let text = String::from_utf8(answer).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    // Only a whole 200 is an acknowledgement.
    head.starts_with("HTTP/1.1 200").then_some(())?;
    let body: Value = serde_json::from_str(body).ok()?;
    Some(body["data"]["orderId"].as_str()?.to_owned())
}

/// Posts from 16 tasks until the server is gone.
fn pour(addr: SocketAddr, round: usize, ledger: &Ledger) -> tokio::task::JoinSet<()> {
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..16 {
        let ledger = Arc::clone(ledger);
        tasks.spawn(async move {
            for n in 0.. {
                let id = format!("{round}-{task}-{n}");
                let Some(record) = post(addr, &id).await else {
                    return;
                };
                ledger.lock().unwrap().insert(id, record);
            }
        });
    }
    tasks
}

/// All pages of a list.
async fn all(client: &ApiClient, list: &str) -> Vec<Value> {
    let mut items = Vec::new();
    let mut path = format!("{list}?limit=200");
    loop {
        let page = client.get(&path).await.success();
        items.extend(page["data"].as_array().unwrap().iter().cloned());
        let Some(next) = page["paging"]["next"].as_str() else {
            return items;
        };
        path = format!("{list}?limit=200&cursor={next}");
    }
}

async fn check(client: &ApiClient, ledger: &Ledger) {
    let orders = all(client, "/orders").await;
    let mut records = BTreeMap::new();
    for order in &orders {
        let name = order["providerOrderId"].as_str().unwrap().to_owned();
        let twice = records.insert(name, order["id"].as_str().unwrap().to_owned());
        assert_eq!(twice, None, "an order is there twice");
    }
    let told: Vec<String> = all(client, "/events")
        .await
        .iter()
        .filter(|event| event["olay"] == json!("siparis.olusturuldu"))
        .map(|event| event["veri"]["orderId"].as_str().unwrap().to_owned())
        .collect();
    let distinct: BTreeSet<&String> = told.iter().collect();
    assert_eq!(distinct.len(), told.len(), "an order was told twice");
    for (id, record) in ledger.lock().unwrap().iter() {
        assert_eq!(
            records.get(id),
            Some(record),
            "{id} was acknowledged and is not there"
        );
    }
    // An order that is there has its event, acknowledged or not, and counts in the totals.
    assert_eq!(distinct, records.values().collect::<BTreeSet<_>>());
    let sums = client.get("/orders/grouped-payments").await.data();
    assert_eq!(sums["currencies"][0]["count"], json!(orders.len()));
}

fn crash(backend: Backend, rounds: usize) {
    block_on(async {
        let storage = TestStorage::new(backend);
        let key = storage.create_account("one@example.com");
        let ledger = Ledger::default();
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
        for round in 0..rounds {
            let before = ledger.lock().unwrap().len();
            let mut tasks = pour(client.addr, round, &ledger);
            crate::support::wait_until("some orders are acknowledged", async || {
                ledger.lock().unwrap().len() > before + 20
            })
            .await;
            // At a random time.
            let moment = u64::from(uuid::Uuid::now_v7().as_bytes()[15]);
            tokio::time::sleep(Duration::from_micros(moment * 400)).await;
            server.kill();
            while let Some(ended) = tasks.join_next().await {
                ended.unwrap();
            }
            server = Program::serve(&storage, &more);
            client.addr = server.address().await;
            check(&client, &ledger).await;
        }
        // A shop that repeats what it does not know to be taken makes nothing twice.
        let known: Vec<(String, String)> = ledger.lock().unwrap().clone().into_iter().take(50).collect();
        for (id, record) in known {
            assert_eq!(post(client.addr, &id).await, Some(record));
        }
        check(&client, &ledger).await;
        server.terminate();
        assert!(server.ended().await);
    });
}

#[test]
fn acknowledged_orders_survive_ten_kills_on_sqlite() {
    crash(Backend::Sqlite, 10);
}

#[test]
fn acknowledged_orders_survive_two_kills_on_postgres() {
    crash(Backend::Postgres, 2);
}
