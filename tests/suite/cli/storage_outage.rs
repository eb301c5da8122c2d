//! The real program during storage outages: a stopped or frozen database server, a full disk.

use crate::support::{
    ApiClient, Backend, Program, Scrape, Server, Shop, StealAwareInstant, TestStorage, block_on,
    command_after, program_run, request, send, wait_until,
};
use serde_json::json;
use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

/// The deadline of the response.
const AT_ONCE: Duration = Duration::from_secs(2);

async fn ready(addr: SocketAddr) -> u16 {
    let began = StealAwareInstant::now();
    let reply = send(addr, &request("GET", "/readyz", &[], &[])).await;
    assert!(began.elapsed() < AT_ONCE, "it took {:?}", began.elapsed());
    reply.status
}

async fn scrape(addr: SocketAddr) -> Scrape {
    let began = StealAwareInstant::now();
    let scrape = Scrape::of(addr).await;
    assert!(began.elapsed() < AT_ONCE, "it took {:?}", began.elapsed());
    scrape
}

async fn is_green(addr: SocketAddr) {
    wait_until("it is ready, and says so in its numbers", async || {
        ready(addr).await == 200 && scrape(addr).await.get("garson_storage_up") == Some(1.0)
    })
    .await;
}

async fn is_red(addr: SocketAddr) {
    assert_eq!(ready(addr).await, 503);
    let scrape = scrape(addr).await;
    assert_eq!(scrape.get("garson_storage_up"), Some(0.0));
    assert!(scrape.get("garson_commits_total").is_some());
}

async fn shop(addr: SocketAddr, key: &str) -> Shop {
    let a = ApiClient::new(addr, key);
    let made = a.post("/restaurants", &json!({ "name": "r" })).await.data();
    let restaurant = made["id"].as_str().unwrap().to_owned();
    let body = json!({ "isActive": true, "remoteId": "s", "credentials": { "inboundKey": "key-of-s" } });
    let path = format!("/restaurants/{restaurant}/integrations/direct");
    a.put(&path, &body).await.data();
    Shop {
        addr,
        restaurant,
        store: "s".to_owned(),
        key: "key-of-s".to_owned(),
    }
}

#[test]
fn postgres_outage_and_recovery_are_detected() {
    block_on(async {
        let server = Server::start();
        let storage = TestStorage::new(Backend::Sqlite);
        let key = "7".repeat(64);
        let settings = [
            ("GARSON_DATABASE_URL", server.url.as_str()),
            ("GARSON_MASTER_KEY", &key),
        ];
        let mut program = Program::serve(&storage, &settings);
        let addr = program.address().await;
        let mut create = crate::support::command();
        create
            .args([
                "account",
                "create",
                "--name",
                "x",
                "--email",
                "a@example.com",
                "--json",
            ])
            .envs(settings);
        let created = program_run(create);
        let created: serde_json::Value = serde_json::from_str(created.out.trim()).expect(&created.err);
        let shop = shop(addr, created["apiKey"].as_str().unwrap()).await;
        shop.order("1").await;
        is_green(addr).await;
        assert_eq!(scrape(addr).await.get("garson_node_lease_valid"), Some(1.0));

        server.crash();
        for _ in 0..3 {
            is_red(addr).await;
        }
        assert_eq!(shop.post(b"{}").await.status, 503);
        wait_until("it begins nothing more", async || {
            scrape(addr).await.get("garson_node_lease_valid") == Some(0.0)
        })
        .await;
        is_red(addr).await;
        server.recover();
        is_green(addr).await;
        wait_until("it may begin something again", async || {
            scrape(addr).await.get("garson_node_lease_valid") == Some(1.0)
        })
        .await;
        shop.order("2").await;

        // A frozen server is worse than a stopped one: connections stay open without responses.
        server.freeze();
        for _ in 0..3 {
            is_red(addr).await;
        }
        server.thaw();
        is_green(addr).await;
        shop.order("3").await;
        let orders = "garson_orders_total{provider=\"direct\",way=\"pushed\"}";
        assert_eq!(scrape(addr).await.get(orders), Some(3.0));
        program.terminate();
        assert!(program.ended().await, "{}", program.printed());
    });
}

/// Files may not grow beyond this, as if the disk were full.
const FULL_AT: &str = "1500000";

#[test]
fn full_disk_and_recovery_are_detected() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let key = storage.create_account("a@example.com");
        // The signal that comes with the limit would end the program; without it, writing fails as on a full disk.
        let limit = format!("trap '' XFSZ; exec prlimit --fsize={FULL_AT}:unlimited \"$@\"");
        let mut limited = command_after(&limit);
        limited
            .current_dir(storage.folder())
            .args(["serve", "--listen", "127.0.0.1:0"])
            .env("GARSON_STORAGE__ANSWER_SECONDS", "30")
            .envs(storage.variables());
        let mut program = Program::start(limited);
        let addr = program.address().await;
        let shop = shop(addr, &key).await;
        is_green(addr).await;
        let mut taken = 0;
        let refused = loop {
            let body = crate::support::order_body("s", &format!("A-{taken}"), 100).to_string();
            let reply = shop.post(body.as_bytes()).await;
            if reply.status != 200 {
                break reply;
            }
            taken += 1;
            assert!(taken < 2_000, "the disk is never full");
        };
        refused.refused(503, "storage_unavailable");
        // There may be room left for something small, which proves nothing. It can be read all the while, which is not enough.
        let client = ApiClient::new(addr, &key);
        for n in 0..20 {
            let made = client
                .post("/restaurants", &json!({ "name": format!("small {n}") }))
                .await;
            assert!([200, 201, 503].contains(&made.status), "{}", made.status);
            is_red(addr).await;
        }
        client.get("/orders").await.data();
        let before = scrape(addr).await;
        assert!(before.count("garson_lost_transactions_total") >= 1.0);
        let raised = Command::new("prlimit")
            .args(["--pid", &program.id().to_string(), "--fsize=unlimited:unlimited"])
            .status()
            .unwrap();
        assert!(raised.success());
        is_green(addr).await;
        shop.order("after").await;
        let orders = "garson_orders_total{provider=\"direct\",way=\"pushed\"}";
        assert_eq!(scrape(addr).await.get(orders), Some(f64::from(taken) + 1.0));
        program.terminate();
        assert!(program.ended().await, "{}", program.printed());
    });
}
