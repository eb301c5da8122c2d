//! Other processes that open, read and close the database of a running server.

use super::{all, post};
use crate::support::{ApiClient, Backend, Program, TestStorage, block_on, run_command};
use serde_json::json;
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What another program does that shows a table. This test is another process than the server.
fn count_orders(database: &Path) -> i64 {
    let connection = rusqlite::Connection::open(database).unwrap();
    let sql = "SELECT COUNT(*) FROM orders";
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Does a process hold a lock on a file?
fn holds_a_lock(process: u32, file: &Path) -> bool {
    let inode = format!(":{}", std::fs::metadata(file).unwrap().ino());
    let locks = std::fs::read_to_string("/proc/locks").unwrap();
    locks.lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.contains(&process.to_string().as_str()) && words.iter().any(|word| word.ends_with(&inode))
    })
}

#[test]
fn acknowledged_orders_survive_a_kill_after_another_process_read_the_file() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let key = storage.create_account("one@example.com");
        let mut server = Program::serve(&storage, &[]);
        let mut client = ApiClient::new(server.address().await, &key);
        let made = client.post("/restaurants", &json!({ "name": "r" })).await.data();
        let id = made["id"].as_str().unwrap();
        let body = json!({ "isActive": true, "remoteId": "s", "credentials": { "inboundKey": "inbound-s" } });
        client
            .put(&format!("/restaurants/{id}/integrations/direct"), &body)
            .await
            .data();
        let database = storage.data().join("garson.db");
        let log = storage.data().join("garson.db-wal");
        assert!(holds_a_lock(server.id(), &database), "SQLite's lock is not held");
        let inode = std::fs::metadata(&log).unwrap().ino();
        let mut acknowledged = BTreeSet::new();
        for round in 0..4 {
            for n in 0..10 {
                let order = post(client.addr, &format!("{round}-{n}")).await;
                acknowledged.insert(order.expect("the order is acknowledged"));
            }
            match round {
                0 => assert_eq!(count_orders(&database), 10),
                1 => {
                    let listed = run_command(&storage, &["account", "list"]);
                    assert!(listed.success, "{}", listed.err);
                }
                2 => {
                    let saved = run_command(&storage, &["backup", "saved.db"]);
                    assert!(saved.success, "{}", saved.err);
                }
                _ => {}
            }
            assert_eq!(
                std::fs::metadata(&log).unwrap().ino(),
                inode,
                "the log was deleted in round {round}"
            );
        }
        assert!(holds_a_lock(server.id(), &database));
        server.kill();
        server = Program::serve(&storage, &[]);
        client.addr = server.address().await;
        let there: BTreeSet<String> = all(&client, "/orders")
            .await
            .iter()
            .map(|order| order["id"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(there, acknowledged);
    });
}
