//! `garson webhook`: deliveries and resending, with and without a running server.

use crate::support::{
    ApiClient, Backend, Program, Receiver, TestStorage, block_on, command, command_after, prepared,
    run_command, wait_until,
};
use serde_json::{Value, json};

const FAILED: usize = 350;
const SINCE: &str = "2026-01-01T00:00:00Z";
const WHOSE: [&str; 2] = ["--account", "one@example.com"];

fn run(storage: &TestStorage, words: &[&str], more: &[&str]) -> crate::support::Outcome {
    run_command(storage, &[&["webhook"], words, &WHOSE, more].concat())
}

/// The last line that was printed, as JSON.
fn last(out: &str) -> Value {
    serde_json::from_str(out.lines().last().unwrap()).unwrap()
}

#[test]
fn operator_resends_failed_deliveries() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        block_on(async {
            let (storage, receiver) = (TestStorage::new(backend), Receiver::start().await);
            let key = storage.create_account("one@example.com");
            storage
                .insert_failed_events("one@example.com", FAILED, receiver.url("/olay"))
                .await;
            let listed = run(&storage, &["deliveries"], &["--state", "failed", "--limit", "3"]);
            assert!(listed.success, "{}", listed.err);
            assert_eq!(listed.out.lines().count(), 4, "{}", listed.out);
            let words: Vec<&str> = listed.out.lines().last().unwrap().split_whitespace().collect();
            assert_eq!(words[2..5], ["deneme", "failed", "timed_out"], "{}", listed.out);

            // No server runs: the request is stored, and the output says so.
            let begun = run(&storage, &["retry"], &["--since", SINCE, "--json"]);
            assert!(begun.success, "{}", begun.err);
            assert!(begun.err.contains("No server is running"), "{}", begun.err);
            let begun = last(&begun.out);
            assert_eq!(
                (&begun["state"], &begun["found"]),
                (&json!("running"), &json!(FAILED))
            );
            let again = run(&storage, &["retry"], &["--since", SINCE, "--json"]);
            assert_eq!(last(&again.out)["id"], begun["id"]);

            let mut server = Program::serve(&storage, &[("GARSON_ALLOW_PRIVATE_TARGETS", "true")]);
            let client = ApiClient::new(server.address().await, &key);
            // A running server executes it.
            client.get("/webhook").await.success();
            let waited = run(&storage, &["retry"], &["--since", SINCE, "--json", "--wait"]);
            assert!(waited.success, "{}", waited.err);
            assert!(!waited.err.contains("No server is running"), "{}", waited.err);
            assert_eq!(last(&waited.out)["state"], json!("done"), "{}", waited.out);
            wait_until("everything is delivered", async || {
                let path = "/webhook/deliveries?state=delivered&limit=200";
                let page = client.get(path).await.success();
                let Some(next) = page["paging"]["next"].as_str().map(str::to_owned) else {
                    return false;
                };
                let rest = client.get(&format!("{path}&cursor={next}")).await.data();
                rest.as_array().unwrap().len() == FAILED - 200
            })
            .await;
            assert_eq!(receiver.seen().len(), FAILED);

            let skipped = run(&storage, &["retry"], &["--since", SINCE, "--include-skipped"]);
            assert!(
                skipped
                    .out
                    .contains("failed and skipped since 2026-01-01T00:00:00.000Z  0 of 0 due again  done at"),
                "{}",
                skipped.out
            );
            let retries = run(&storage, &["retries"], &[]);
            let lines: Vec<&str> = retries.out.lines().collect();
            assert!(
                lines.len() >= 3 && lines[1].contains("and skipped"),
                "{}",
                retries.out
            );
            let words: Vec<&str> = lines.last().unwrap().split_whitespace().collect();
            let failed = FAILED.to_string();
            assert_eq!(words[3..5], [&failed, &failed], "{}", retries.out);
            let json = run(&storage, &["retries"], &["--json"]);
            assert_eq!(last(&json.out)["id"], begun["id"]);
        });
    }
}

#[test]
fn progress_is_redrawn_on_a_terminal_and_printed_in_lines_elsewhere() {
    block_on(async {
        let storage = TestStorage::new(Backend::Sqlite);
        storage.create_account("one@example.com");
        storage
            .insert_failed_events("one@example.com", FAILED, "http://127.0.0.1:1/".to_owned())
            .await;
        // Without a server it never ends.
        let words = [&["webhook", "retry"][..], &WHOSE, &["--since", SINCE, "--wait"]].concat();
        let piped = Program::start(prepared(command(), &storage, &words, &[]));
        wait_until("a line is printed", async || {
            piped.printed().contains(" events of 350 events, 1 s\n")
        })
        .await;
        assert!(!piped.printed().contains('\x1b'), "{}", piped.printed());
        let on_terminal = command_after("exec script --quiet --return --command \"$*\" /dev/null");
        let shown = Program::start(prepared(on_terminal, &storage, &words, &[]));
        wait_until("the line is redrawn", async || {
            shown.printed().matches("\r\x1b[Kretry: ").count() >= 2
        })
        .await;
    });
}

#[test]
fn invalid_arguments_are_refused() {
    let storage = TestStorage::new(Backend::Sqlite);
    storage.create_account("one@example.com");
    for (words, why) in [
        (
            &["retry", "--account", "one@example.com", "--since", "yesterday"][..],
            "a timestamp such as",
        ),
        (
            &["retry", "--account", "two@example.com", "--since", SINCE],
            "two@example.com",
        ),
        (
            &["retry", "--account", "one@example.com", "--since", SINCE],
            "No webhook URL",
        ),
        (
            &["deliveries", "--account", "one@example.com", "--state", "lost"],
            "must be pending",
        ),
        (
            &["deliveries", "--account", "one@example.com", "--limit", "0"],
            "0 is not in",
        ),
        (&["retries"], "--account"),
    ] {
        let refused = run_command(&storage, &[&["webhook"], words].concat());
        assert!(
            !refused.success && refused.err.contains(why),
            "{words:?}: {}",
            refused.err
        );
    }
}
