//! The real program with accounts whose events go to a receiver; it can be killed and restarted at the same address.

use crate::support::{ApiClient, Backend, Program, Receiver, TestStorage, order_body, request, wait_until};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;

pub struct RunningProgram {
    program: Program,
    addr: SocketAddr,
    pub clients: Vec<ApiClient>,
    // Last, so that the database goes after everything that uses it.
    storage: TestStorage,
}

const MORE: [(&str, &str); 3] = [
    ("GARSON_RATE_LIMIT", "off"),
    ("GARSON_ALLOW_PRIVATE_TARGETS", "true"),
    ("GARSON_LOG__LEVEL", "warn"),
];

impl RunningProgram {
    pub async fn open(backend: Backend, accounts: usize, receiver: &Receiver) -> Self {
        let storage = TestStorage::new(backend);
        let keys: Vec<String> = (0..accounts)
            .map(|n| storage.create_account(&format!("{n}@example.com")))
            .collect();
        let port = {
            let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            free.local_addr().unwrap().port()
        };
        let mut program = Program::serve_at(&storage, port, &MORE);
        let addr = program.address().await;
        let mut clients = Vec::new();
        for (n, key) in keys.iter().enumerate() {
            let client = ApiClient::new(addr, key);
            let made = client.post("/restaurants", &json!({ "name": "r" })).await.data();
            let path = format!(
                "/restaurants/{}/integrations/direct",
                made["id"].as_str().unwrap()
            );
            let credentials = json!({ "inboundKey": format!("inbound-{n}") });
            let body = json!({ "isActive": true, "remoteId": format!("s{n}"), "credentials": credentials });
            client.put(&path, &body).await.data();
            let url = json!({ "url": receiver.url(&format!("/{n}")) });
            client.put("/webhook", &url).await.data();
            clients.push(client);
        }
        Self {
            program,
            addr,
            clients,
            storage,
        }
    }

    pub fn kill(&mut self) {
        self.program.kill();
    }

    pub fn terminate(&self) {
        self.program.terminate();
    }

    pub fn start(&mut self) {
        self.program = Program::serve_at(&self.storage, self.addr.port(), &MORE);
    }

    pub async fn wait_until_listening(&mut self) {
        assert_eq!(self.program.address().await, self.addr);
    }

    pub async fn wait_until_ended(&mut self) {
        assert!(self.program.ended().await, "{}", self.program.printed());
    }

    pub async fn ends(mut self) {
        self.terminate();
        self.wait_until_ended().await;
    }

    pub async fn order(&self, account: usize, id: &str) {
        let acknowledged = post_order(self.addr, account, id).await;
        assert!(acknowledged.is_some(), "{id} is not taken");
    }

    /// Waits until no account has anything that is not delivered.
    pub async fn wait_until_delivered(&self) {
        for client in &self.clients {
            wait_until("everything is delivered", async || {
                let open = client.get("/webhook/deliveries?state=pending&limit=1").await;
                open.data() == json!([])
            })
            .await;
        }
    }

    /// Orders and verifications from this many workers with pauses between them, also while the service is down.
    pub fn submit_orders(&self, workers: usize, pause: Duration) -> OrderLoad {
        let order_load = OrderLoad {
            workers: JoinSet::new(),
            is_over: Arc::default(),
            acknowledged: Arc::default(),
        };
        let mut order_load = order_load;
        for worker in 0..workers {
            let client = self.clients[0].clone();
            let (is_over, acknowledged) = (
                Arc::clone(&order_load.is_over),
                Arc::clone(&order_load.acknowledged),
            );
            order_load.workers.spawn(async move {
                for n in 0.. {
                    if is_over.load(Ordering::SeqCst) {
                        return;
                    }
                    let id = format!("{worker}-{n}");
                    if post_order(client.addr, 0, &id).await.is_some() {
                        acknowledged.lock().unwrap().insert((id.clone(), 1));
                        if post_verify(&client, &id).await.is_some() {
                            acknowledged.lock().unwrap().insert((id, 2));
                        }
                    }
                    tokio::time::sleep(pause).await;
                }
            });
        }
        order_load
    }
}

/// A load of orders until [`OrderLoad::finish`].
pub struct OrderLoad {
    workers: JoinSet<()>,
    is_over: Arc<AtomicBool>,
    acknowledged: Arc<Mutex<BTreeSet<(String, i64)>>>,
}

impl OrderLoad {
    /// How many events have been acknowledged so far.
    pub fn count(&self) -> usize {
        self.acknowledged.lock().unwrap().len()
    }

    /// Ends it; answers what was acknowledged: the shop's order and the number of the event that it made.
    pub async fn finish(self) -> BTreeSet<(String, i64)> {
        self.is_over.store(true, Ordering::SeqCst);
        self.workers.join_all().await;
        self.acknowledged.lock().unwrap().clone()
    }
}

async fn post_order(addr: SocketAddr, account: usize, id: &str) -> Option<Value> {
    let body = order_body(&format!("s{account}"), id, 100).to_string();
    let key = format!("inbound-{account}");
    let headers = [("x-api-key", key.as_str()), ("content-type", "application/json")];
    let bytes = request("POST", "/hooks/direct/orders", &headers, body.as_bytes());
    acknowledged(addr, &bytes).await
}

async fn post_verify(client: &ApiClient, id: &str) -> Option<Value> {
    let bearer = format!("Bearer {}", client.key);
    let path = format!("/web-api/v1/orders/verify/{id}");
    let bytes = request("POST", &path, &[("authorization", bearer.as_str())], &[]);
    acknowledged(client.addr, &bytes).await
}

/// The answer, if it is a whole 200: nothing else is an acknowledgement.
async fn acknowledged(addr: SocketAddr, bytes: &[u8]) -> Option<Value> {
    let mut stream = tokio::net::TcpStream::connect(addr).await.ok()?;
    stream.write_all(bytes).await.ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.ok()?;
    let text = String::from_utf8(answer).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    head.starts_with("HTTP/1.1 200").then_some(())?;
    serde_json::from_str(body).ok()
}
