//! `garson doctor` finds what is wrong, and says when nothing is.

use crate::support::{Home, Kind, command, program_run, run_command};

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
