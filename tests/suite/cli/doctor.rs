//! `garson doctor` finds what is wrong, and says when nothing is.

use crate::support::{Home, Kind, Program, block_on, command, on_postgres, program_run, run_command};
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
fn looking_changes_nothing() {
    let home = Home::new(Kind::Sqlite);
    assert!(run_command(&home, &["doctor"]).success);
    assert_eq!(files(home.folder()), BTreeMap::new());
    home.create_account("one@example.com");
    let before = files(home.folder());
    let found = run_command(&home, &["doctor"]);
    assert!(
        found.success && found.out.contains("1 account(s)"),
        "{}",
        found.out
    );
    assert_eq!(files(home.folder()), before);
    // The key of another database is noticed without being written down.
    std::fs::write(home.data().join("master.key"), format!("{}\n", "8".repeat(64))).unwrap();
    let found = run_command(&home, &["doctor"]);
    assert!(
        !found.success && found.out.contains("another master key"),
        "{}",
        found.out
    );
    std::fs::remove_file(home.data().join("master.key")).unwrap();
    let found = run_command(&home, &["doctor"]);
    assert!(
        !found.success && found.out.contains("master.key"),
        "{}",
        found.out
    );
    assert!(!home.data().join("master.key").exists());

    let home = Home::new(Kind::Postgres);
    let found = run_command(&home, &["doctor"]);
    assert!(
        found.success && found.out.contains("garson account create"),
        "{}",
        found.out
    );
    let tables: i64 = on_postgres(&home.database_url(), |client| {
        let sql = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'public'";
        client.query_one(sql, &[]).unwrap().get(0)
    });
    assert_eq!(tables, 0);
    assert!(!home.data().exists());
}

#[test]
fn a_running_server_is_looked_at_too() {
    block_on(async {
        let home = Home::new(Kind::Sqlite);
        let mut server = Program::serve(&home, &[]);
        server.address().await;
        home.create_account("one@example.com");
        let found = run_command(&home, &["doctor"]);
        assert!(
            found.success && found.out.contains("1 account(s)"),
            "{}",
            found.out
        );
    });
}

#[test]
fn a_good_set_up_is_in_order() {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let home = Home::new(kind);
        home.create_account("one@example.com");
        let found = run_command(&home, &["doctor"]);
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
fn an_empty_folder_is_told_how_to_begin() {
    let home = Home::new(Kind::Sqlite);
    let found = run_command(&home, &["doctor"]);
    assert!(
        found.success && found.out.contains("garson account create"),
        "{}",
        found.out
    );
}

#[test]
fn what_is_wrong_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new(Kind::Sqlite);
    home.create_account("one@example.com");
    let key = home.data().join("master.key");
    assert_eq!(
        std::fs::metadata(&key).unwrap().permissions().mode() & 0o777,
        0o600
    );
    std::fs::set_permissions(home.data(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let found = run_command(&home, &["doctor"]);
    assert!(
        found.success && found.out.contains("note") && found.out.contains("chmod 700"),
        "{}",
        found.out
    );
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let found = run_command(&home, &["doctor"]);
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
        home.data().join("garson.db"),
        b"this is not a database, and long enough to be noticed",
    )
    .unwrap();
    let found = run_command(&home, &["doctor"]);
    assert!(
        !found.success && found.out.contains("WRONG storage"),
        "{}",
        found.out
    );
}
