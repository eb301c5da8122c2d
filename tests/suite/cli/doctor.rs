//! `garson doctor` reports problems and confirms a valid setup.

use crate::support::{
    ApiClient, Backend, Program, Receiver, TestStorage, block_on, command, on_postgres, program_run,
    run_command, run_command_with,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Every file below a folder, with what is in it.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.display().to_string();
        if path.is_dir() {
            found.extend(files(&path));
            found.insert(name, Vec::new());
        } else {
            found.insert(name, std::fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn doctor_changes_nothing() {
    let storage = TestStorage::new(Backend::Sqlite);
    assert!(run_command(&storage, &["doctor"]).success);
    assert_eq!(files(storage.folder()), BTreeMap::new());
    storage.create_account("one@example.com");
    let before = files(storage.folder());
    let found = run_command(&storage, &["doctor"]);
    assert!(
        found.success && found.out.contains("1 account(s)"),
        "{}",
        found.out
    );
    assert_eq!(files(storage.folder()), before);
    // The key of another database is noticed without being written down.
    std::fs::write(storage.data().join("master.key"), format!("{}\n", "8".repeat(64))).unwrap();
    let found = run_command(&storage, &["doctor"]);
    assert!(
        !found.success && found.out.contains("another master key"),
        "{}",
        found.out
    );
    std::fs::remove_file(storage.data().join("master.key")).unwrap();
    let found = run_command(&storage, &["doctor"]);
    assert!(
        !found.success && found.out.contains("master.key"),
        "{}",
        found.out
    );
    assert!(!storage.data().join("master.key").exists());

    let storage = TestStorage::new(Backend::Postgres);
    let found = run_command(&storage, &["doctor"]);
    assert!(
        found.success && found.out.contains("garson account create"),
        "{}",
        found.out
    );
    let tables: i64 = on_postgres(&storage.database_url(), |client| {
        let sql = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'public'";
        client.query_one(sql, &[]).unwrap().get(0)
    });
    assert_eq!(tables, 0);
    assert!(!storage.data().exists());
}

#[test]
fn doctor_checks_a_running_server() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let mut server = Program::serve(&storage, &[]);
        server.address().await;
        storage.create_account("one@example.com");
        let found = run_command(&storage, &["doctor"]);
        assert!(
            found.success && found.out.contains("1 account(s)"),
            "{}",
            found.out
        );
    });
}

#[test]
fn doctor_accepts_a_valid_setup() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        let storage = TestStorage::new(backend);
        storage.create_account("one@example.com");
        let found = run_command(&storage, &["doctor"]);
        assert!(found.success, "{} {}", found.out, found.err);
        assert!(
            found.out.contains("Everything is in order.") && found.out.contains("1 account(s)"),
            "{}",
            found.out
        );
        assert!(!found.out.contains("WRONG"), "{}", found.out);
    }
}

#[test]
fn doctor_explains_how_to_start_in_an_empty_folder() {
    let storage = TestStorage::new(Backend::Sqlite);
    let found = run_command(&storage, &["doctor"]);
    assert!(
        found.success && found.out.contains("garson account create"),
        "{}",
        found.out
    );
}

#[test]
fn doctor_names_each_problem() {
    use std::os::unix::fs::PermissionsExt;
    let storage = TestStorage::new(Backend::Sqlite);
    storage.create_account("one@example.com");
    let key = storage.data().join("master.key");
    assert_eq!(
        std::fs::metadata(&key).unwrap().permissions().mode() & 0o777,
        0o600
    );
    std::fs::set_permissions(storage.data(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let found = run_command(&storage, &["doctor"]);
    assert!(
        found.success && found.out.contains("note") && found.out.contains("chmod 700"),
        "{}",
        found.out
    );
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let found = run_command(&storage, &["doctor"]);
    assert!(
        !found.success && found.out.contains("WRONG") && found.out.contains("chmod 600"),
        "{}",
        found.out
    );

    let mut wrong = command();
    wrong.arg("doctor").env("GARSON_RATE_LIMIT", "fast");
    let found = program_run(wrong);
    assert!(
        !found.success && found.out.contains("GARSON_RATE_LIMIT"),
        "{}",
        found.out
    );

    let mut away = command();
    away.arg("doctor")
        .env("GARSON_DATABASE_URL", "postgres://garson:MARKED@127.0.0.1:1/none")
        .env("GARSON_MASTER_KEY", "7".repeat(64));
    let found = program_run(away);
    assert!(
        !found.success && found.out.contains("WRONG storage"),
        "{}",
        found.out
    );
    assert!(!found.out.contains("MARKED") && !found.err.contains("MARKED"));

    std::fs::write(
        storage.data().join("garson.db"),
        b"this is not a database, and long enough to be noticed",
    )
    .unwrap();
    let found = run_command(&storage, &["doctor"]);
    assert!(
        !found.success && found.out.contains("WRONG storage"),
        "{}",
        found.out
    );
}

#[test]
fn platforms_and_receivers_are_reached() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        let (platform, receiver) = (Receiver::start().await, Receiver::start().await);
        let base = platform.url("/getir");
        let settings = [
            ("GARSON_PLATFORMS__GETIR__BASE_URL", base.as_str()),
            ("GARSON_PLATFORMS__GETIR__POLL_SECONDS", "0"),
            ("GARSON_ALLOW_PRIVATE_TARGETS", "true"),
        ];
        let mut server = Program::serve(&storage, &settings);
        let client = ApiClient::new(server.address().await, &storage.create_account("one@example.com"));
        let made = client
            .post("/restaurants", &json!({ "name": "Moda" }))
            .await
            .data();
        let credentials =
            json!({ "appSecretKey": "a", "restaurantSecretKey": "b", "inboundKey": "getir-knocks" });
        let body =
            json!({ "isActive": true, "remoteId": "5f0000000000000000000001", "credentials": credentials });
        let path = format!("/restaurants/{}/integrations/getir", made["id"].as_str().unwrap());
        client.put(&path, &body).await.data();
        client
            .put("/webhook", &json!({ "url": receiver.url("/secret-path") }))
            .await
            .data();
        server.terminate();
        assert!(server.ended().await);
        let found = run_command_with(&storage, &["doctor"], &settings);
        assert!(found.success, "{found:?}");
        for what in ["platform getir can be reached", "1 receiver(s) can be reached"] {
            assert!(found.out.contains(what), "{found:?}");
        }
        assert_eq!(receiver.count(), 0, "something was sent");
        // A receiver is the account's, a platform is the operator's. Neither shows a path, which may have secrets.
        receiver.stop_listening().await;
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let secure = format!("https://{}/getir", silent.local_addr().unwrap());
        let settings = [
            ("GARSON_PLATFORMS__GETIR__BASE_URL", secure.as_str()),
            settings[2],
        ];
        let found = run_command_with(&storage, &["doctor", "--json"], &settings);
        assert!(!found.success && !found.out.contains("secret-path"), "{found:?}");
        let list: Value = serde_json::from_str(&found.out).unwrap();
        assert_eq!(list["inOrder"], false);
        let has = |level: &str, text: &str| {
            let mut findings = list["findings"].as_array().unwrap().iter();
            findings.any(|it| it["level"] == level && it["text"].as_str().unwrap().starts_with(text))
        };
        assert!(has("wrong", "platform getir: "), "{found:?}");
        assert!(
            has("note", &format!("receiver http://{}", receiver.addr)),
            "{found:?}"
        );
        let found = run_command_with(&storage, &["doctor", "--offline"], &settings);
        assert!(found.success && !found.out.contains("getir"), "{found:?}");
    });
}

#[test]
fn key_file_and_folder_are_mended() {
    let storage = TestStorage::new(Backend::Sqlite);
    storage.create_account("one@example.com");
    let key = storage.data().join("master.key");
    let mode = |mode: u32| std::os::unix::fs::PermissionsExt::from_mode(mode);
    std::fs::set_permissions(&key, mode(0o644)).unwrap();
    let folder = storage.folder().join("backups");
    let settings = [("GARSON_BACKUP__FOLDER", folder.to_str().unwrap())];
    let found = run_command_with(&storage, &["doctor"], &settings);
    assert!(
        !found.success && found.out.contains("readable by other users"),
        "{found:?}"
    );
    assert!(!folder.exists());
    let found = run_command_with(&storage, &["doctor", "--fix"], &settings);
    assert!(found.success && found.out.contains("mended"), "{found:?}");
    assert!(folder.is_dir());
    let found = run_command_with(&storage, &["doctor", "--fix"], &settings);
    assert!(found.success && !found.out.contains("mended"), "{found:?}");
}
