//! `garson audit verify` on data that was tampered with.

use crate::support::{Backend, TestService};
use serde_json::json;

on_both! {
    tampering_is_found_and_located
    ; sqlite_only:
    rewritten_chain_is_found_by_a_known_entry
    removed_ends_and_logs_are_found
    log_of_no_account_and_removed_entries_are_found
}

async fn changed(service: &TestService, names: i32) {
    for number in 0..names {
        let body = json!({ "name": format!("İşletme {number}") });
        service.a.post("/businesses", &body).await.data();
    }
}

async fn tampering_is_found_and_located(backend: Backend) {
    let service = TestService::open(backend).await;
    changed(&service, 6).await;
    let account = service.first_account().await;
    let verify = || service.command(&["audit", "verify"]);
    let intact = verify();
    assert!(intact.success, "{}{}", intact.out, intact.err);
    assert!(
        intact.out.contains(&format!("{account}  8 entries  intact  8:")),
        "{}",
        intact.out
    );
    service.execute_sql("UPDATE audit_log SET after = '{}' WHERE number = 4");
    let found = verify();
    assert!(!found.success);
    assert!(
        found.out.contains(&format!("{account}  entry 4 of 2026-03-01T")),
        "{}",
        found.out
    );
    assert!(found.out.contains("was changed"), "{}", found.out);
    service.execute_sql("DELETE FROM audit_log WHERE number IN (5, 6)");
    let found = verify();
    assert!(found.out.contains("entries 5 to 6 are missing"), "{}", found.out);
    service.execute_sql("DELETE FROM audit_log WHERE number = 8");
    let found = verify();
    assert!(found.out.contains("entry 8 is missing"), "{}", found.out);
    // The log goes on where it was, and what comes later is linked to what was recorded as the end.
    changed(&service, 1).await;
    let found = verify();
    assert!(found.out.contains("entry 8 is missing"), "{}", found.out);
    assert!(found.err.contains("tampered"), "{}", found.err);
}

async fn rewritten_chain_is_found_by_a_known_entry(backend: Backend) {
    let service = TestService::open(backend).await;
    changed(&service, 3).await;
    let verified = service.command(&["audit", "verify", "--email", "first@example.com"]);
    let known = verified.out.split_whitespace().last().unwrap().to_owned();
    assert!(known.starts_with("5:"), "{known}");
    let again = |known: &str| {
        service.command(&[
            "audit",
            "verify",
            "--email",
            "first@example.com",
            "--known",
            known,
        ])
    };
    assert!(again(&known).success);
    let forged = known.replace(&known[2..4], if &known[2..4] == "00" { "11" } else { "00" });
    let found = again(&forged);
    assert!(
        !found.success && found.out.contains("entry 5 is not the one"),
        "{}",
        found.out
    );
    assert!(!again("5:xyz").success && !again(&format!("0:{}", "0".repeat(64))).success);
}

async fn removed_ends_and_logs_are_found(backend: Backend) {
    let service = TestService::open(backend).await;
    changed(&service, 3).await;
    let first = service.command(&["audit", "list", "--email", "first@example.com", "--json"]);
    assert!(first.success);
    let account = service.first_account().await;
    service.execute_sql("DELETE FROM audit_chains");
    service.execute_sql("UPDATE audit_log SET actor_name = 'nobody'");
    let found = service.command(&["audit", "verify"]);
    assert!(
        !found.success
            && found
                .out
                .contains(&format!("{account}  the record of the log's ends is missing")),
        "{}",
        found.out
    );
    // An account without any entry is listed, too.
    service.execute_sql("DELETE FROM audit_log");
    let none = service.command(&["audit", "verify"]);
    assert!(
        none.out.contains(&format!("{account}  0 entries")),
        "{}",
        none.out
    );
}

async fn log_of_no_account_and_removed_entries_are_found(backend: Backend) {
    let service = TestService::open(backend).await;
    changed(&service, 3).await;
    let account = service.first_account().await;
    // As retention does it, but by hand.
    service.execute_sql(
        "UPDATE audit_chains SET removed = 3, removed_hash = (SELECT l.hash FROM audit_log l
             WHERE l.account_id = audit_chains.account_id AND l.number = 3)
         WHERE EXISTS (SELECT 1 FROM audit_log l WHERE l.account_id = audit_chains.account_id AND l.number = 3)",
    );
    service.execute_sql("DELETE FROM audit_log WHERE number <= 3");
    let known = format!("2:{}", "0".repeat(64));
    let found = service.command(&[
        "audit",
        "verify",
        "--email",
        "first@example.com",
        "--known",
        &known,
    ]);
    assert!(
        !found.success && found.out.contains("entry 2 was removed"),
        "{}",
        found.out
    );
    service.execute_sql("DELETE FROM accounts");
    let found = service.command(&["audit", "verify"]);
    assert!(
        !found.success
            && found
                .out
                .contains(&format!("{account}  there is no such account")),
        "{}",
        found.out
    );
}
