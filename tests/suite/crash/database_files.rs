//! Files of a SQLite database that are removed, replaced, truncated or damaged, while a server runs or between two runs.

use super::post;
use crate::support::{
    ApiClient, Backend, Program, TestStorage, block_on, request, run_command, send, wait_until,
};
use serde_json::json;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A server with a shop, and as many orders.
async fn serving(storage: &TestStorage, orders: usize) -> (Program, ApiClient) {
    let key = storage.create_account("one@example.com");
    let mut server = Program::serve(storage, &[]);
    let client = ApiClient::new(server.address().await, &key);
    let made = client.post("/restaurants", &json!({ "name": "r" })).await.data();
    let id = made["id"].as_str().unwrap();
    let body = json!({ "isActive": true, "remoteId": "s", "credentials": { "inboundKey": "inbound-s" } });
    client
        .put(&format!("/restaurants/{id}/integrations/direct"), &body)
        .await
        .data();
    for n in 0..orders {
        assert!(post(client.addr, &format!("before-{n}")).await.is_some());
    }
    (server, client)
}

async fn ready(client: &ApiClient) -> u16 {
    send(client.addr, &request("GET", "/readyz", &[], &[]))
        .await
        .status
}

/// From the first look after it, nothing is acknowledged or shown any more, and the log says so in one line.
async fn goes_out_of_service(server: &mut Program, client: &ApiClient, what: &str) {
    // The very next order is not acknowledged: the files are looked at after each commit.
    assert_eq!(
        post(client.addr, "after").await,
        None,
        "acknowledged though {what}"
    );
    wait_until("it is not ready", async || ready(client).await == 503).await;
    assert_eq!(post(client.addr, "later").await, None);
    assert_eq!(client.get("/orders").await.status, 503);
    let printed = server.printed();
    let lines: Vec<&str> = printed
        .lines()
        .filter(|line| line.contains("while it was in use: nothing is read or written"))
        .collect();
    assert_eq!(lines.len(), 1, "{printed}");
    assert!(lines[0].contains(what), "{}", lines[0]);
}

fn misuse(what: &'static str, happen: impl FnOnce(&Path)) {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let (mut server, client) = serving(&storage, 5).await;
        assert_eq!(ready(&client).await, 200);
        happen(&storage.data());
        goes_out_of_service(&mut server, &client, what).await;
        server.kill();
    });
}

#[test]
fn removed_database_is_detected() {
    misuse("garson.db was removed", |data| {
        std::fs::remove_file(data.join("garson.db")).unwrap();
    });
}

#[test]
fn removed_wal_is_detected() {
    misuse("garson.db-wal was removed", |data| {
        std::fs::remove_file(data.join("garson.db-wal")).unwrap();
    });
}

#[test]
fn replaced_database_is_detected() {
    misuse("garson.db was replaced", |data| {
        let copy = data.join("copy");
        std::fs::copy(data.join("garson.db"), &copy).unwrap();
        std::fs::rename(&copy, data.join("garson.db")).unwrap();
    });
}

#[test]
fn removed_lock_is_detected() {
    misuse("garson.lock was removed", |data| {
        std::fs::remove_file(data.join("garson.lock")).unwrap();
    });
}

#[test]
fn removed_database_is_detected_by_an_idle_server() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let (_server, client) = serving(&storage, 1).await;
        std::fs::rename(storage.data().join("garson.db"), storage.data().join("elsewhere")).unwrap();
        wait_until("it is not ready", async || ready(&client).await == 503).await;
    });
}

#[test]
fn truncated_database_is_detected() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let (mut server, client) = serving(&storage, 5).await;
        // Its log is brought into the file, so that there is something to cut off.
        let path = storage.data().join("garson.db");
        let other = rusqlite::Connection::open(&path).unwrap();
        other
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
            .unwrap();
        drop(other);
        // The server has seen the file at its full size.
        assert!(post(client.addr, "large").await.is_some());
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(file.metadata().unwrap().len() / 2).unwrap();
        goes_out_of_service(&mut server, &client, "was truncated").await;
    });
}

#[test]
fn truncated_wal_is_detected() {
    let truncate = |size: fn(u64) -> u64| {
        misuse("was truncated", move |data| {
            let path = data.join("garson.db-wal");
            let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
            file.set_len(size(file.metadata().unwrap().len())).unwrap();
        });
    };
    truncate(|_| 0);
    truncate(|size| size / 2);
}

#[test]
fn wal_checkpoint_by_another_program_is_accepted() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let (_server, client) = serving(&storage, 20).await;
        let other = rusqlite::Connection::open(storage.data().join("garson.db")).unwrap();
        other.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
        for n in 0..5 {
            other
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
                .unwrap();
            assert!(post(client.addr, &format!("after-{n}")).await.is_some());
        }
        assert_eq!(ready(&client).await, 200);
    });
}

#[test]
fn vacuum_while_the_server_runs_is_accepted() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let (_server, client) = serving(&storage, 20).await;
        let path = storage.data().join("garson.db");
        let other = rusqlite::Connection::open(&path).unwrap();
        other.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
        other
            .execute_batch(
                "CREATE TABLE filler (x BLOB); INSERT INTO filler VALUES (zeroblob(3000000));
                 PRAGMA wal_checkpoint(TRUNCATE);",
            )
            .unwrap();
        assert!(post(client.addr, "with a large file").await.is_some());
        let before = std::fs::metadata(&path).unwrap().len();
        other
            .execute_batch("DROP TABLE filler; VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")
            .unwrap();
        assert!(std::fs::metadata(&path).unwrap().len() < before);
        assert!(post(client.addr, "with a small file").await.is_some());
        assert_eq!(ready(&client).await, 200);
    });
}

fn log_of(storage: &TestStorage) -> PathBuf {
    storage.data().join("garson.db-wal")
}

/// How a server ends that is not allowed to start.
async fn refusal(storage: &TestStorage) -> String {
    let mut server = Program::serve(storage, &[]);
    assert!(!server.ended().await, "it started: {}", server.printed());
    server.printed()
}

#[test]
fn no_empty_database_is_created_beside_a_key_or_wal() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let (mut server, _) = serving(&storage, 5).await;
        server.kill();
        let (path, kept) = (storage.data().join("garson.db"), storage.data().join("kept"));
        std::fs::rename(&path, &kept).unwrap();
        let said = refusal(&storage).await;
        assert!(said.contains("master.key") && said.contains("missing"), "{said}");
        let listed = run_command(&storage, &["account", "list"]);
        assert!(
            !listed.success && listed.err.contains("master.key"),
            "{}",
            listed.err
        );
        std::fs::rename(storage.data().join("master.key"), storage.data().join("key")).unwrap();
        let said = refusal(&storage).await;
        assert!(
            said.contains("garson.db-wal") && said.contains("missing"),
            "{said}"
        );
        assert!(!path.exists() && std::fs::metadata(log_of(&storage)).unwrap().len() > 0);
        // Put back, everything is there.
        std::fs::rename(&kept, &path).unwrap();
        std::fs::rename(storage.data().join("key"), storage.data().join("master.key")).unwrap();
        let mut server = Program::serve(&storage, &[]);
        server.address().await;
        let other = rusqlite::Connection::open(&path).unwrap();
        let count: i64 = other
            .query_row("SELECT COUNT(*) FROM orders", [], |row| row.get(0))
            .unwrap();
        assert_eq!(count, 5);
    });
}

#[test]
fn previous_shutdown_is_checked() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let (mut server, client) = serving(&storage, 20).await;
        let first = server.printed();
        assert!(!first.contains("did not close"), "{first}");
        server.kill();
        let mut server = Program::serve(&storage, &[]);
        server.address().await;
        let said = server.printed();
        assert!(
            said.contains("its log is intact") && said.contains("is intact"),
            "{said}"
        );
        server.terminate();
        assert!(server.ended().await);
        let mut server = Program::serve(&storage, &[]);
        server.address().await;
        assert!(
            !server.printed().contains("did not close"),
            "{}",
            server.printed()
        );
        // Another program that opens and closes the database after a crash does not hide it.
        server.kill();
        assert!(run_command(&storage, &["account", "list"]).success);
        let mut server = Program::serve(&storage, &[]);
        server.address().await;
        assert!(server.printed().contains("did not close"), "{}", server.printed());
        drop(client);
    });
}

#[test]
fn damaged_wal_is_reported() {
    damages_a_log(|size| size / 2);
}

#[test]
fn wal_with_a_damaged_header_is_reported() {
    damages_a_log(|_| 0);
}

fn damages_a_log(from: fn(u64) -> u64) {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let (mut server, _) = serving(&storage, 60).await;
        server.kill();
        let log = log_of(&storage);
        let from = from(std::fs::metadata(&log).unwrap().len());
        let mut file = std::fs::OpenOptions::new().write(true).open(&log).unwrap();
        file.seek(SeekFrom::Start(from)).unwrap();
        file.write_all(&[0; 20_000]).unwrap();
        drop(file);
        for _ in 0..2 {
            // A command that opened it would remove the log.
            let listed = run_command(&storage, &["account", "list"]);
            assert!(
                !listed.success && listed.err.contains("damaged"),
                "{}",
                listed.err
            );
            let said = refusal(&storage).await;
            assert!(
                said.contains("damaged") && said.contains("accept_damage"),
                "{said}"
            );
        }
        let mut server = Program::serve(&storage, &[("GARSON_STORAGE__ACCEPT_DAMAGE", "true")]);
        server.address().await;
        assert!(server.printed().contains("damaged"), "{}", server.printed());
    });
}

#[test]
fn file_truncated_after_a_crash_is_reported() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let (mut server, client) = serving(&storage, 40).await;
        let path = storage.data().join("garson.db");
        let other = rusqlite::Connection::open(&path).unwrap();
        other
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .unwrap();
        drop(other);
        assert!(post(client.addr, "in the log").await.is_some());
        server.kill();
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(file.metadata().unwrap().len() / 2).unwrap();
        let said = refusal(&storage).await;
        assert!(said.contains("damaged"), "{said}");
    });
}

#[test]
fn database_missing_after_a_crash_is_not_recreated() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let (mut server, _) = serving(&storage, 5).await;
        server.kill();
        for name in ["garson.db", "garson.db-wal", "garson.db-shm", "master.key"] {
            std::fs::remove_file(storage.data().join(name)).unwrap();
        }
        let said = refusal(&storage).await;
        assert!(said.contains("missing or empty"), "{said}");
        assert!(!storage.data().join("garson.db").exists());
    });
}

#[test]
fn files_changed_under_a_server_also_stop_the_next_one() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let (mut server, client) = serving(&storage, 5).await;
        let log = std::fs::OpenOptions::new()
            .write(true)
            .open(log_of(&storage))
            .unwrap();
        log.set_len(0).unwrap();
        goes_out_of_service(&mut server, &client, "was truncated").await;
        server.terminate();
        server.ended().await;
        for _ in 0..2 {
            let said = refusal(&storage).await;
            assert!(
                said.contains("was truncated") && said.contains("accept_damage"),
                "{said}"
            );
        }
        let mut server = Program::serve(&storage, &[("GARSON_STORAGE__ACCEPT_DAMAGE", "true")]);
        server.address().await;
        assert!(server.printed().contains("was truncated"), "{}", server.printed());
        server.terminate();
        assert!(server.ended().await);
        let mut server = Program::serve(&storage, &[]);
        server.address().await;
    });
}
