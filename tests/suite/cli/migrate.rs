//! Complete migration to another database.

use super::filled::{fill, look};
use crate::support::{ApiClient, Backend, Program, TestStorage, block_on, order_body, run_command};
use serde_json::json;

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
