//! `garson doctor` reports problems and confirms a valid setup.

use crate::support::{
    Backend, Program, TestStorage, block_on, command, on_postgres, program_run, run_command,
};
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
