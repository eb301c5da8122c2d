//! A server that gets more orders than its database can take refuses some, keeps what it accepted, and serves quiet clients.

use crate::support::{ApiClient, Backend, Reply, Shop, TestService, order_body, request, wait_until};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;
use tokio::task::JoinSet;

on_both! {
    overloaded_server_refuses_the_busiest_clients
}

/// Clients that send as fast as they are answered, at each of three addresses: more than share a commit.
const CLIENTS: usize = 200;
/// What such a client does after a refusal, instead of the second that `Retry-After` asks for.
const PAUSE: Duration = Duration::from_millis(50);

/// Sends an order from an address of this machine.
async fn post_from(from: &str, shop: &Shop, id: &str) -> Reply {
    let body = order_body(&shop.store, id, 10_000).to_string();
    let headers = [("content-type", "application/json"), ("x-api-key", &shop.key)];
    let bytes = request("POST", "/hooks/direct/orders", &headers, body.as_bytes());
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(from.parse().unwrap(), 0)).unwrap();
    let mut stream = socket.connect(shop.addr).await.unwrap();
    stream.write_all(&bytes).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    Reply::parse(&answer)
}

#[derive(Default)]
struct Flood {
    has_ended: AtomicBool,
    accepted: AtomicUsize,
    refused: AtomicUsize,
}

impl Flood {
    /// Sends one order after the other, each until it is accepted; returns how many.
    async fn send(&self, from: &str, shop: &Shop, name: String) {
        for n in 0.. {
            let id = format!("{name}-{n}");
            loop {
                let reply = post_from(from, shop, &id).await;
                if reply.status == 200 {
                    break;
                }
                reply.refused(503, "overloaded");
                assert_eq!(reply.header("retry-after"), Some("1"));
                self.refused.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(PAUSE).await;
            }
            self.accepted.fetch_add(1, Ordering::Relaxed);
            if self.has_ended.load(Ordering::Relaxed) {
                return;
            }
        }
    }
}

async fn overloaded_server_refuses_the_busiest_clients(backend: Backend) {
    let change = |settings: &mut garson::config::Settings| {
        settings.server.max_wait_ms = 100;
        settings.storage.writers = 1;
        // So that the database is slower than the processors.
        settings.storage.commit_delay_ms = 200;
    };
    let service = TestService::open_with(backend, change, None).await;
    let shop = service.shop(&service.a, "s").await;
    let flood = Arc::new(Flood::default());
    let mut clients = JoinSet::new();
    for from in ["127.0.0.2", "127.0.0.3", "127.0.0.4"] {
        for n in 0..CLIENTS {
            let (flood, shop) = (Arc::clone(&flood), shop.clone());
            clients.spawn(async move { flood.send(from, &shop, format!("{from}-{n}")).await });
        }
    }
    wait_until("requests are refused", async || {
        flood.refused.load(Ordering::Relaxed) > 0
    })
    .await;
    for n in 0..10 {
        let reply = post_from("127.0.0.5", &shop, &format!("quiet-{n}")).await;
        reply.success();
    }
    let probe = crate::support::send(service.addr, &request("GET", "/readyz", &[], b"")).await;
    assert_eq!(probe.status, 200);
    flood.has_ended.store(true, Ordering::Relaxed);
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
    let wanted = flood.accepted.load(Ordering::Relaxed) + 10;
    assert_eq!(order_count(&service.a).await, wanted);
}

async fn order_count(client: &ApiClient) -> usize {
    let (mut count, mut path) = (0, "/orders?limit=200".to_owned());
    loop {
        let page = client.get(&path).await.success();
        count += page["data"].as_array().unwrap().len();
        match page["paging"]["next"].as_str() {
            Some(cursor) => path = format!("/orders?limit=200&cursor={cursor}"),
            None => return count,
        }
    }
}
