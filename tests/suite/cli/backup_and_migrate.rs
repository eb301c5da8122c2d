//! Backups that can be opened, and complete migration to another database.

use crate::support::{ApiClient, Backend, Program, Shop, TestStorage, block_on, order_body, run_command};
use serde_json::{Value, json};
use std::net::SocketAddr;

/// Connects a shop and posts some orders, through the program.
async fn fill(addr: SocketAddr, key: &str) -> Shop {
    let client = ApiClient::new(addr, key);
    let made = client
        .post("/restaurants", &json!({ "name": "Moda" }))
        .await
        .data();
    let restaurant = made["id"].as_str().unwrap().to_owned();
    let body = json!({ "isActive": true, "remoteId": "s", "credentials": { "inboundKey": "inbound-s" } });
    client
        .put(&format!("/restaurants/{restaurant}/integrations/direct"), &body)
        .await
        .data();
    let shop = Shop {
        addr,
        restaurant,
        store: "s".to_owned(),
        key: "inbound-s".to_owned(),
    };
    for n in 0..30 {
        shop.order_of(&format!("Ş-{n}"), 100).await;
    }
    client.act("/orders/verify/%C5%9E-3").await.data();
    client.act("/orders/cancel/%C5%9E-4").await.data();
    shop
}

/// Everything that an account sees.
async fn look(addr: SocketAddr, key: &str) -> Vec<Value> {
    let client = ApiClient::new(addr, key);
    let mut seen = Vec::new();
    for path in [
        "/orders?limit=200",
        "/events?limit=200",
        "/restaurants",
        "/businesses",
        "/webhook/deliveries?limit=200",
        "/orders/grouped-payments",
        "/orders/%C5%9E-3",
        "/orders/%C5%9E-4",
    ] {
        seen.push(client.get(path).await.success());
    }
    seen
}

#[test]
fn a_backup_of_a_running_server_opens() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let mut server = Program::serve(&storage, &[]);
        let addr = server.address().await;
        let key = storage.create_account("one@example.com");
        fill(addr, &key).await;
        let before = look(addr, &key).await;
        let saved = run_command(&storage, &["backup", "saved.db"]);
        assert!(
            saved.success && saved.out.contains("saved.db") && saved.out.contains("master"),
            "{}",
            saved.err
        );
        let again = run_command(&storage, &["backup", "saved.db"]);
        assert!(
            !again.success && !again.err.is_empty(),
            "a backup was overwritten"
        );
        // The copy, with the key that is kept elsewhere, is the whole account.
        let other = TestStorage::new(Backend::Sqlite);
        std::fs::create_dir_all(other.data()).unwrap();
        std::fs::copy(storage.folder().join("saved.db"), other.data().join("garson.db")).unwrap();
        std::fs::copy(storage.data().join("master.key"), other.data().join("master.key")).unwrap();
        let mut restored = Program::serve(&other, &[]);
        assert_eq!(look(restored.address().await, &key).await, before);
    });
}

#[test]
fn data_moves_to_postgres_with_everything() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let target = TestStorage::new(Backend::Postgres);
        let mut server = Program::serve(&storage, &[]);
        let addr = server.address().await;
        let key = storage.create_account("one@example.com");
        let mut shop = fill(addr, &key).await;
        let before = look(addr, &key).await;
        let url = target.database_url();
        let busy = run_command(&storage, &["migrate", "--to", &url]);
        assert!(
            !busy.success && !busy.err.is_empty(),
            "data moved away from a running server"
        );
        server.terminate();
        assert!(server.ended().await);
        let moved = run_command(&storage, &["migrate", "--to", &url]);
        assert!(moved.success && moved.out.contains("orders"), "{}", moved.err);
        let twice = run_command(&storage, &["migrate", "--to", &url]);
        assert!(!twice.success && twice.err.contains("empty"), "{}", twice.err);
        let master = std::fs::read_to_string(storage.data().join("master.key")).unwrap();
        let mut served = Program::serve(&target, &[("GARSON_MASTER_KEY", master.trim())]);
        let addr = served.address().await;
        assert_eq!(look(addr, &key).await, before);
        // Life goes on: the shop's key works, repeats are known, new orders come on top.
        shop.addr = addr;
        let body = order_body("s", "Ş-7", 100).to_string();
        shop.post(body.as_bytes()).await.success();
        shop.order("new").await;
        let newest = ApiClient::new(addr, &key).get("/orders?limit=1").await.data();
        assert_eq!(newest[0]["providerOrderId"], json!("new"));
        assert_eq!(
            ApiClient::new(addr, &key)
                .get("/orders?limit=200")
                .await
                .data()
                .as_array()
                .unwrap()
                .len(),
            31
        );
    });
}

#[test]
fn invalid_target_is_refused_and_creates_nothing() {
    let storage = TestStorage::new(Backend::Sqlite);
    storage.create_account("one@example.com");
    let names = || {
        let entries = std::fs::read_dir(storage.folder()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    for to in [
        "mysql://x",
        "postgres:/localhost/x",
        "postgres:x",
        "sqlite:x.db",
        "",
    ] {
        let refused = run_command(&storage, &["migrate", "--to", to]);
        assert!(
            !refused.success && refused.err.contains("postgres://"),
            "{to}: {}",
            refused.err
        );
        assert_eq!(names(), before, "{to}");
    }
    let moved = run_command(&storage, &["migrate", "--to", "./a:b"]);
    assert!(moved.success, "{}", moved.err);
    assert!(storage.folder().join("a:b").join("garson.db").exists());
}

#[test]
fn migration_from_postgres_is_refused() {
    block_on(async {
        let storage = TestStorage::new(Backend::Postgres);
        let mut server = Program::serve(&storage, &[]);
        let addr = server.address().await;
        let key = storage.create_account("one@example.com");
        fill(addr, &key).await;
        let before = look(addr, &key).await;
        let busy = run_command(&storage, &["migrate", "--to", "moved"]);
        assert!(
            !busy.success && busy.err.contains("server"),
            "{} {}",
            busy.out,
            busy.err
        );
        server.terminate();
        assert!(server.ended().await);
        let moved = run_command(&storage, &["migrate", "--to", "moved"]);
        assert!(moved.success, "{}", moved.err);
        let other = TestStorage::new(Backend::Sqlite);
        std::fs::rename(storage.folder().join("moved"), other.data()).unwrap();
        let mut served = Program::serve(&other, &[("GARSON_MASTER_KEY", &"7".repeat(64))]);
        assert_eq!(look(served.address().await, &key).await, before);
    });
}
