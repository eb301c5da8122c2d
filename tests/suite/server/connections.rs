//! The server keeps accepting connections under floods and when the system refuses some.

use crate::support::{
    Backend, Program, Scrape, TestService, TestStorage, block_on, command_after, request, send,
};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;

/// Connections that say nothing. The system takes them in, whether we do or not.
async fn silent(addr: SocketAddr, count: usize) -> Vec<TcpStream> {
    let mut all = Vec::new();
    for _ in 0..count {
        let connecting = TcpStream::connect(addr);
        match tokio::time::timeout(Duration::from_secs(5), connecting).await {
            Ok(Ok(stream)) => all.push(stream),
            // The system's own queue is full: there are enough.
            _ => break,
        }
    }
    all
}

/// Asks until it is answered; a try that is cut off is repeated.
async fn is_healthy(addr: SocketAddr) {
    let began = Instant::now();
    let asking = async {
        let ask = || tokio::spawn(async move { send(addr, &request("GET", "/healthz", &[], &[])).await });
        while !ask().await.is_ok_and(|reply| reply.status == 200) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let answered = tokio::time::timeout(Duration::from_secs(40), asking).await;
    assert!(answered.is_ok(), "no answer for {:?}", began.elapsed());
}

#[test]
fn running_out_of_descriptors_stops_nothing() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        storage.create_account("a@example.com");
        // So few that the connections alone use them up.
        let mut serve = command_after("ulimit -n 56; exec \"$@\"");
        serve
            .current_dir(storage.folder())
            .args(["serve", "--listen", "127.0.0.1:0"])
            .envs(storage.variables());
        let mut program = Program::start(serve);
        let addr = program.address().await;
        is_healthy(addr).await;
        let flood = silent(addr, 200).await;
        // While they are held, and afterwards.
        is_healthy(addr).await;
        drop(flood);
        is_healthy(addr).await;
    });
}

#[test]
fn the_soft_limit_of_descriptors_is_raised() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let mut serve = command_after("ulimit -Sn 64; exec \"$@\"");
        serve
            .current_dir(storage.folder())
            .args(["serve", "--listen", "127.0.0.1:0"])
            .envs(storage.variables());
        let mut program = Program::start(serve);
        program.address().await;
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", program.id())).unwrap();
        let line = limits
            .lines()
            .find(|line| line.starts_with("Max open files"))
            .unwrap();
        let soft: u64 = line.split_whitespace().nth(3).unwrap().parse().unwrap();
        assert!(soft > 64, "{line}");
    });
}

on_both! {
    idle_connections_make_room_for_orders
    one_address_does_not_exhaust_connections
}

async fn idle_connections_make_room_for_orders(backend: Backend) {
    let service =
        TestService::open_with(backend, |settings| settings.server.max_connections = 32, None).await;
    let shop = service.shop(&service.a, "s").await;
    let _flood = silent(service.addr, 200).await;
    let began = Instant::now();
    shop.order("W-1").await;
    service.a.get("/orders").await.data();
    let took = began.elapsed();
    // Each would be closed after 15 seconds; the test does not wait for that.
    assert!(took < Duration::from_secs(10), "{took:?}");
    let counted = Scrape::of(service.addr)
        .await
        .count("garson_refusals_total{kind=\"connection_evicted\"}");
    assert!(counted > 0.0, "{counted}");
}

async fn one_address_does_not_exhaust_connections(backend: Backend) {
    let change = |settings: &mut garson::config::Settings| settings.server.max_connections_per_address = 16;
    let service = TestService::open_with(backend, change, None).await;
    let _flood = silent(service.addr, 100).await;
    // Its own silent ones go first.
    service.a.get("/orders").await.data();
    let counted = Scrape::of(service.addr)
        .await
        .count("garson_refusals_total{kind=\"connection_evicted\"}");
    assert!(counted > 0.0, "{counted}");
}
