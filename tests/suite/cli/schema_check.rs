//! `garson migrate --check`: what an upgrade would do to the schema.

use crate::support::{Backend, Outcome, Program, TestStorage, run_command_with, wait_until};
use serde_json::{Value, json};

on_both! {
    migrate_check_tells_what_an_upgrade_does
}

/// Makes the program a later version of itself.
const NEXT_VERSION: [(&str, &str); 1] = [("E2E_NEXT_VERSION", "1")];

fn check(storage: &TestStorage, variables: &[(&str, &str)]) -> Outcome {
    run_command_with(storage, &["migrate", "--check"], variables)
}

fn checked(storage: &TestStorage, variables: &[(&str, &str)]) -> Value {
    let done = run_command_with(storage, &["migrate", "--check", "--json"], variables);
    assert!(done.success, "{}", done.err);
    serde_json::from_str(&done.out).unwrap()
}

async fn migrate_check_tells_what_an_upgrade_does(backend: Backend) {
    let storage = TestStorage::new(backend);
    let nothing = check(&storage, &[]);
    let words = match backend {
        Backend::Sqlite => "There is no database yet.",
        Backend::Postgres => "The database is empty.",
    };
    assert!(nothing.success && nothing.out.contains(words), "{nothing:?}");

    storage.create_account("one@example.com");
    let current = check(&storage, &[]);
    assert!(
        current.success && current.out.contains("Nothing is left to do."),
        "{current:?}"
    );

    // A later version names what it would do, and does not do it.
    for _ in 0..2 {
        let older = check(&storage, &NEXT_VERSION);
        assert!(
            older.success
                && older
                    .out
                    .contains("pending: 1001 (later_expand), runs beside versions")
                && older.out.contains("pending: 1002 (later_contract), waits until"),
            "{older:?}"
        );
        let shown = checked(&storage, &NEXT_VERSION);
        assert_eq!(shown["state"], "older");
        let expand = json!({ "number": 1001, "name": "later_expand", "kind": "expand", "needs": 26 });
        assert_eq!(shown["pending"][0], expand);
    }

    // Started, the later version migrates. Afterwards nothing is left for it, and this version cannot use the database any more.
    let mut server = Program::serve(&storage, &NEXT_VERSION);
    server.address().await;
    wait_until("the steps are done", async || {
        let shown = checked(&storage, &NEXT_VERSION);
        shown["steps"] == json!([]) && shown["pending"][0]["number"] != 1001
    })
    .await;
    if backend == Backend::Sqlite {
        // There, the contract migration is applied at the next start.
        server.terminate();
        assert!(server.ended().await);
        server = Program::serve(&storage, &NEXT_VERSION);
        server.address().await;
    }
    wait_until("everything is migrated", async || {
        let shown = checked(&storage, &NEXT_VERSION);
        shown["state"] == "current" && shown["pending"] == json!([]) && shown["steps"] == json!([])
    })
    .await;
    let newer = check(&storage, &[]);
    assert!(
        !newer.success && newer.err.contains("newer than this program"),
        "{newer:?}"
    );
}
