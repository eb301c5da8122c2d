//! Files of a SQLite database that are removed, replaced, truncated or damaged, under a running server or between two.

use super::post;
use crate::support::{Caller, Home, Kind, Program, block_on, request, run_command, send, until};
use serde_json::json;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A server with a shop, and as many orders.
async fn serving(home: &Home, orders: usize) -> (Program, Caller) {
    let key = home.create_account("one@example.com");
    let mut server = Program::serve(home, &[]);
    let caller = Caller::new(server.address().await, &key);
    let made = caller.post("/restaurants", &json!({ "name": "r" })).await.data();
    let id = made["id"].as_str().unwrap();
    let body = json!({ "isActive": true, "remoteId": "s", "credentials": { "inboundKey": "inbound-s" } });
    caller
        .put(&format!("/restaurants/{id}/integrations/direct"), &body)
        .await
        .data();
    for n in 0..orders {
        assert!(post(caller.addr, &format!("before-{n}")).await.is_some());
    }
    (server, caller)
}

async fn ready(caller: &Caller) -> u16 {
    send(caller.addr, &request("GET", "/readyz", &[], &[]))
        .await
        .status
}

/// From the first look after it, nothing is acknowledged or shown any more, and the log says so in one line.
async fn goes_out_of_service(server: &mut Program, caller: &Caller, what: &str) {
    // The very next order is not acknowledged: the files are looked at after each commit.
    assert_eq!(
        post(caller.addr, "after").await,
        None,
        "acknowledged though {what}"
    );
    until("it is not ready", async || ready(caller).await == 503).await;
    assert_eq!(post(caller.addr, "later").await, None);
    assert_eq!(caller.get("/orders").await.status, 503);
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
        let home = Home::new(Kind::Sqlite);
        let (mut server, caller) = serving(&home, 5).await;
        assert_eq!(ready(&caller).await, 200);
        happen(&home.data());
        goes_out_of_service(&mut server, &caller, what).await;
        server.kill();
    });
}

#[test]
fn a_database_that_is_removed_is_noticed() {
    misuse("garson.db was removed", |data| {
        std::fs::remove_file(data.join("garson.db")).unwrap();
    });
}

#[test]
fn a_log_that_is_removed_is_noticed() {
    misuse("garson.db-wal was removed", |data| {
        std::fs::remove_file(data.join("garson.db-wal")).unwrap();
    });
}

#[test]
fn a_database_that_is_replaced_is_noticed() {
    misuse("garson.db was replaced", |data| {
        let copy = data.join("copy");
        std::fs::copy(data.join("garson.db"), &copy).unwrap();
        std::fs::rename(&copy, data.join("garson.db")).unwrap();
    });
}

#[test]
fn a_lock_that_is_removed_is_noticed() {
    misuse("garson.lock was removed", |data| {
        std::fs::remove_file(data.join("garson.lock")).unwrap();
    });
}

#[test]
fn a_database_that_is_removed_is_noticed_by_a_server_that_does_nothing() {
    block_on(async {
        let home = Home::new(Kind::Sqlite);
        let (_server, caller) = serving(&home, 1).await;
        std::fs::rename(home.data().join("garson.db"), home.data().join("elsewhere")).unwrap();
        until("it is not ready", async || ready(&caller).await == 503).await;
    });
}

#[test]
fn a_database_that_is_truncated_is_noticed() {
    block_on(async {
        let home = Home::new(Kind::Sqlite);
        let (mut server, caller) = serving(&home, 5).await;
        // Its log is brought into the file, so that there is something to cut off.
        let path = home.data().join("garson.db");
        let other = rusqlite::Connection::open(&path).unwrap();
        other
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
            .unwrap();
        drop(other);
        // The server has seen the file at its full size.
        assert!(post(caller.addr, "large").await.is_some());
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(file.metadata().unwrap().len() / 2).unwrap();
        goes_out_of_service(&mut server, &caller, "was truncated").await;
    });
}

#[test]
fn a_log_that_is_truncated_is_noticed() {
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
fn a_log_that_another_program_empties_in_sqlites_way_is_no_misuse() {
    block_on(async {
        let home = Home::new(Kind::Sqlite);
        let (_server, caller) = serving(&home, 20).await;
        let other = rusqlite::Connection::open(home.data().join("garson.db")).unwrap();
        other.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
        for n in 0..5 {
            other
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
                .unwrap();
            assert!(post(caller.addr, &format!("after-{n}")).await.is_some());
        }
        assert_eq!(ready(&caller).await, 200);
    });
}

#[test]
fn a_vacuum_beside_a_server_is_no_misuse() {
    block_on(async {
        let home = Home::new(Kind::Sqlite);
        let (_server, caller) = serving(&home, 20).await;
        let path = home.data().join("garson.db");
        let other = rusqlite::Connection::open(&path).unwrap();
        other.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
        other
            .execute_batch(
                "CREATE TABLE filler (x BLOB); INSERT INTO filler VALUES (zeroblob(3000000));
                 PRAGMA wal_checkpoint(TRUNCATE);",
            )
            .unwrap();
        assert!(post(caller.addr, "with a large file").await.is_some());
        let before = std::fs::metadata(&path).unwrap().len();
        other
            .execute_batch("DROP TABLE filler; VACUUM; PRAGMA wal_checkpoint(TRUNCATE);")
            .unwrap();
        assert!(std::fs::metadata(&path).unwrap().len() < before);
        assert!(post(caller.addr, "with a small file").await.is_some());
        assert_eq!(ready(&caller).await, 200);
    });
}

fn log_of(home: &Home) -> PathBuf {
    home.data().join("garson.db-wal")
}

/// How a server ends that is not allowed to start.
async fn refusal(home: &Home) -> String {
    let mut server = Program::serve(home, &[]);
    assert!(!server.ended().await, "it started: {}", server.printed());
    server.printed()
}

#[test]
fn no_empty_database_is_made_beside_a_key_or_a_log() {
    block_on(async {
        let home = Home::new(Kind::Sqlite);
        let (mut server, _) = serving(&home, 5).await;
        server.kill();
        let (path, kept) = (home.data().join("garson.db"), home.data().join("kept"));
        std::fs::rename(&path, &kept).unwrap();
        let said = refusal(&home).await;
        assert!(said.contains("master.key") && said.contains("missing"), "{said}");
        let listed = run_command(&home, &["account", "list"]);
        assert!(
            !listed.success && listed.err.contains("master.key"),
            "{}",
            listed.err
        );
        std::fs::rename(home.data().join("master.key"), home.data().join("key")).unwrap();
        let said = refusal(&home).await;
        assert!(
            said.contains("garson.db-wal") && said.contains("missing"),
            "{said}"
        );
        assert!(!path.exists() && std::fs::metadata(log_of(&home)).unwrap().len() > 0);
        // Put back, everything is there.
        std::fs::rename(&kept, &path).unwrap();
        std::fs::rename(home.data().join("key"), home.data().join("master.key")).unwrap();
        let mut server = Program::serve(&home, &[]);
        server.address().await;
        let other = rusqlite::Connection::open(&path).unwrap();
        let count: i64 = other
            .query_row("SELECT COUNT(*) FROM orders", [], |row| row.get(0))
            .unwrap();
        assert_eq!(count, 5);
    });
}

#[test]
fn the_end_of_the_last_server_is_looked_into() {
    block_on(async {
        let home = Home::new(Kind::Sqlite);
        let (mut server, caller) = serving(&home, 20).await;
        let first = server.printed();
        assert!(!first.contains("did not close"), "{first}");
        server.kill();
        let mut server = Program::serve(&home, &[]);
        server.address().await;
        let said = server.printed();
        assert!(
            said.contains("its log is intact") && said.contains("is intact"),
            "{said}"
        );
        server.terminate();
        assert!(server.ended().await);
        let mut server = Program::serve(&home, &[]);
        server.address().await;
        assert!(
            !server.printed().contains("did not close"),
            "{}",
            server.printed()
        );
        // Another program that opens and closes the database after a crash does not hide it.
        server.kill();
        assert!(run_command(&home, &["account", "list"]).success);
        let mut server = Program::serve(&home, &[]);
        server.address().await;
        assert!(server.printed().contains("did not close"), "{}", server.printed());
        drop(caller);
    });
}

#[test]
fn a_damaged_log_is_not_passed_over() {
    damages_a_log(|size| size / 2);
}

#[test]
fn log_with_a_damaged_start_is_not_passed_over() {
    damages_a_log(|_| 0);
}

fn damages_a_log(from: fn(u64) -> u64) {
    block_on(async {
        let home = Home::new(Kind::Sqlite);
        let (mut server, _) = serving(&home, 60).await;
        server.kill();
        let log = log_of(&home);
        let from = from(std::fs::metadata(&log).unwrap().len());
        let mut file = std::fs::OpenOptions::new().write(true).open(&log).unwrap();
        file.seek(SeekFrom::Start(from)).unwrap();
        file.write_all(&[0; 20_000]).unwrap();
        drop(file);
        for _ in 0..2 {
            // A command that opened it would remove the log.
            let listed = run_command(&home, &["account", "list"]);
            assert!(
                !listed.success && listed.err.contains("damaged"),
                "{}",
                listed.err
            );
            let said = refusal(&home).await;
            assert!(
                said.contains("damaged") && said.contains("accept_damage"),
                "{said}"
            );
        }
        let mut server = Program::serve(&home, &[("GARSON_STORAGE__ACCEPT_DAMAGE", "true")]);
        server.address().await;
        assert!(server.printed().contains("damaged"), "{}", server.printed());
    });
}

#[test]
fn a_file_that_was_cut_after_a_crash_is_not_passed_over() {
    block_on(async {
        let home = Home::new(Kind::Sqlite);
        let (mut server, caller) = serving(&home, 40).await;
        let path = home.data().join("garson.db");
        let other = rusqlite::Connection::open(&path).unwrap();
        other
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .unwrap();
        drop(other);
        assert!(post(caller.addr, "in the log").await.is_some());
        server.kill();
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(file.metadata().unwrap().len() / 2).unwrap();
        let said = refusal(&home).await;
        assert!(said.contains("damaged"), "{said}");
    });
}

#[test]
fn database_that_vanished_after_a_crash_is_not_made_anew() {
    block_on(async {
        let home = Home::new(Kind::Sqlite);
        let (mut server, _) = serving(&home, 5).await;
        server.kill();
        for name in ["garson.db", "garson.db-wal", "garson.db-shm", "master.key"] {
            std::fs::remove_file(home.data().join(name)).unwrap();
        }
        let said = refusal(&home).await;
        assert!(said.contains("missing or empty"), "{said}");
        assert!(!home.data().join("garson.db").exists());
    });
}

#[test]
fn files_that_changed_under_a_server_stop_the_next_one_too() {
    block_on(async {
        let home = Home::new(Kind::Sqlite);
        let (mut server, caller) = serving(&home, 5).await;
        let log = std::fs::OpenOptions::new()
            .write(true)
            .open(log_of(&home))
            .unwrap();
        log.set_len(0).unwrap();
        goes_out_of_service(&mut server, &caller, "was truncated").await;
        server.terminate();
        server.ended().await;
        for _ in 0..2 {
            let said = refusal(&home).await;
            assert!(
                said.contains("was truncated") && said.contains("accept_damage"),
                "{said}"
            );
        }
        let mut server = Program::serve(&home, &[("GARSON_STORAGE__ACCEPT_DAMAGE", "true")]);
        server.address().await;
        assert!(server.printed().contains("was truncated"), "{}", server.printed());
        server.terminate();
        assert!(server.ended().await);
        let mut server = Program::serve(&home, &[]);
        server.address().await;
    });
}
