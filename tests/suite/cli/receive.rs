//! `garson receive`: its output, its checks, and the failures that it simulates.

use crate::support::{Program, block_on, command, program_run, request, send, wait_until};
use serde_json::{Value, json};
use std::net::SocketAddr;

const KEY: &str = "gsn_receiver_key";
/// A file with that key.
const KEY_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/suite/cli/receiver.key");

/// The receiver on a free port, with more flags.
async fn start(flags: &[&str]) -> (Program, SocketAddr) {
    start_with(flags, &[]).await
}

async fn start_with(flags: &[&str], variables: &[(&str, &str)]) -> (Program, SocketAddr) {
    let mut start = command();
    start
        .args(["receive", "--listen", "127.0.0.1:0"])
        .args(flags)
        .envs(variables.iter().copied());
    let mut program = Program::start(start);
    let addr = program.address().await;
    (program, addr)
}

fn event(id: &str, order: &str, sequence: i64) -> Value {
    json!({
        "olay": "siparis.durum_degisti",
        "veri": { "id": id, "providerOrderId": format!("WEB-{order}"), "orderId": order, "sequence": sequence,
                  "oldStatus": 400, "newStatus": 500, "by": "account" },
    })
}

async fn post_with(addr: SocketAddr, authorization: Option<&str>, body: &[u8]) -> u16 {
    let mut headers = vec![("content-type", "application/json")];
    headers.extend(authorization.map(|value| ("authorization", value)));
    send(addr, &request("POST", "/garson", &headers, body))
        .await
        .status
}

async fn post(addr: SocketAddr, event: &Value) -> u16 {
    let bearer = format!("Bearer {KEY}");
    post_with(addr, Some(&bearer), event.to_string().as_bytes()).await
}

/// The lines it printed that have this in them; a line is printed before its request is answered.
async fn lines(program: &Program, part: &str, count: usize) -> Vec<String> {
    let found = || {
        let printed = program.printed();
        let lines = printed.lines().filter(|line| line.contains(part));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    wait_until(&format!("{count} lines with {part}"), async || {
        found().len() >= count
    })
    .await;
    let found = found();
    assert_eq!(found.len(), count, "{found:#?}");
    found
}

async fn end(mut program: Program) -> String {
    program.terminate();
    assert!(program.ended().await, "{}", program.printed());
    program.printed()
}

#[test]
fn event_is_printed_on_one_line() {
    block_on(async {
        let (program, addr) = start(&["--key-file", KEY_FILE]).await;
        assert_eq!(post(addr, &event("id-1", "5", 2)).await, 200);
        let line = &lines(&program, "id-1", 1).await[0];
        for part in ["siparis.durum_degisti", "WEB-5", "#2", "400 → 500 (preparing)"] {
            assert!(line.contains(part), "{line}");
        }
        assert!(!line.contains("again") && !line.contains("out of order") && !line.contains("answered"));
        let printed = end(program).await;
        assert!(!printed.contains(KEY), "{printed}");
        assert!(
            printed.contains(
                "1 received, 0 of them repeats, 0 out of order, 0 answered with an error; 0 refused"
            ),
            "{printed}"
        );
    });
}

#[test]
fn only_the_right_key_in_the_right_form_is_accepted() {
    block_on(async {
        let (program, addr) = start(&["--key-file", KEY_FILE]).await;
        let body = event("id-1", "5", 1).to_string();
        let wrong = format!("Bearer {KEY}x");
        let bearer = format!("Bearer {KEY}");
        for (authorization, status, line) in [
            (None, 401, "refused: no key"),
            (Some(wrong.as_str()), 401, "refused: wrong key"),
            (Some(KEY), 401, "refused: the right key, but bare"),
            (Some(bearer.as_str()), 200, "id-1"),
        ] {
            assert_eq!(post_with(addr, authorization, body.as_bytes()).await, status);
            lines(&program, line, 1).await;
        }
        assert!(end(program).await.contains("1 received, 0 of them repeats"));

        // The variable does as well as the flag, and the other form can be agreed.
        let (program, addr) = start_with(&["--authorization", "bare"], &[("GARSON_RECEIVE_KEY", KEY)]).await;
        assert_eq!(post_with(addr, Some(KEY), body.as_bytes()).await, 200);
        assert_eq!(post_with(addr, Some(&bearer), body.as_bytes()).await, 401);
        lines(&program, "but as Bearer", 1).await;
        assert!(end(program).await.ends_with("; 1 refused\n"));
    });
}

#[test]
fn any_key_is_accepted_with_a_warning_when_none_is_set() {
    block_on(async {
        let body = event("id-1", "5", 1).to_string();
        let (program, addr) = start(&[]).await;
        lines(&program, "any is taken", 1).await;
        assert_eq!(post_with(addr, None, body.as_bytes()).await, 200);
        assert_eq!(post_with(addr, Some("Bearer any"), body.as_bytes()).await, 200);
        assert_eq!(end(program).await.matches("any is taken").count(), 1);

        let (program, addr) = start_with(&["--any-key"], &[("GARSON_RECEIVE_KEY", KEY)]).await;
        assert_eq!(post_with(addr, None, body.as_bytes()).await, 200);
        assert!(!end(program).await.contains("any is taken"));
    });
}

#[test]
fn duplicates_and_reordering_are_reported() {
    block_on(async {
        let (program, addr) = start(&["--key-file", KEY_FILE]).await;
        for (id, sequence) in [("id-1", 1), ("id-1", 1), ("id-3", 3), ("id-2", 2), ("id-4", 4)] {
            assert_eq!(post(addr, &event(id, "5", sequence)).await, 200);
        }
        // Another order has a sequence of its own.
        assert_eq!(post(addr, &event("id-x", "6", 1)).await, 200);
        let first = lines(&program, "id-1", 2).await;
        assert!(
            !first[0].contains("again") && first[1].ends_with("again"),
            "{first:#?}"
        );
        assert!(lines(&program, "id-3", 1).await[0].ends_with("out of order (after #1)"));
        assert!(lines(&program, "id-2", 1).await[0].ends_with("out of order (after #3)"));
        assert!(lines(&program, "id-4", 1).await[0].ends_with("id-4"));
        assert!(lines(&program, "id-x", 1).await[0].ends_with("id-x"));
        let printed = end(program).await;
        assert!(
            printed.contains("6 received, 1 of them repeats, 2 out of order"),
            "{printed}"
        );
    });
}

#[test]
fn receiver_fails_on_request() {
    block_on(async {
        let (program, addr) = start(&["--key-file", KEY_FILE, "--status", "500"]).await;
        assert_eq!(post(addr, &event("id-1", "5", 1)).await, 500);
        assert!(lines(&program, "id-1", 1).await[0].ends_with("answered 500"));
        assert!(end(program).await.contains("1 answered with an error"));

        let (program, addr) = start(&["--key-file", KEY_FILE, "--fail-first", "2", "--status", "204"]).await;
        for status in [500, 500, 204, 204] {
            assert_eq!(post(addr, &event("id-1", "5", 1)).await, status);
        }
        assert!(
            end(program)
                .await
                .contains("4 received, 3 of them repeats, 0 out of order, 2 answered with an error")
        );

        let (program, addr) = start(&["--key-file", KEY_FILE, "--fail-percent", "100"]).await;
        for _ in 0..5 {
            assert_eq!(post(addr, &event("id-1", "5", 1)).await, 500);
        }
        end(program).await;

        let (program, addr) = start(&["--key-file", KEY_FILE, "--close", "--fail-first", "1"]).await;
        let bearer = format!("Bearer {KEY}");
        let body = event("id-1", "5", 1).to_string();
        let bytes = request("POST", "/", &[("authorization", &bearer)], body.as_bytes());
        assert_eq!(crate::support::raw(addr, &bytes).await, b"");
        lines(&program, "closed without an answer", 1).await;
        assert_eq!(post(addr, &event("id-1", "5", 1)).await, 200);
        end(program).await;
    });
}

#[test]
fn slow_receiver_still_stops_immediately() {
    block_on(async {
        let (program, addr) = start(&["--key-file", KEY_FILE, "--delay-ms", "200"]).await;
        let started = std::time::Instant::now();
        assert_eq!(post(addr, &event("id-1", "5", 1)).await, 200);
        assert!(started.elapsed().as_millis() >= 200);
        end(program).await;

        let (program, addr) = start(&["--key-file", KEY_FILE, "--delay-ms", "3600000"]).await;
        let waiting = tokio::spawn(async move {
            let bearer = format!("Bearer {KEY}");
            let body = event("id-1", "5", 1).to_string();
            crate::support::raw(
                addr,
                &request("POST", "/", &[("authorization", &bearer)], body.as_bytes()),
            )
            .await
        });
        // The line comes before the wait.
        lines(&program, "id-1", 1).await;
        assert!(end(program).await.contains("1 received"));
        assert_eq!(waiting.await.unwrap(), b"");
    });
}

#[test]
fn non_events_are_refused_and_reported() {
    block_on(async {
        let (program, addr) = start(&["--any-key"]).await;
        for (body, line) in [
            (r#"{"olay":"#, "refused: not JSON"),
            (r#"{"veri":{"id":"x"}}"#, "refused: not an event: it has no olay"),
            (
                r#"{"olay":"x","veri":{}}"#,
                "refused: not an event: it has no veri.id",
            ),
        ] {
            assert_eq!(post_with(addr, None, body.as_bytes()).await, 400);
            assert!(lines(&program, line, 1).await[0].ends_with("answered 400"));
        }
        let got = send(addr, &request("GET", "/", &[], &[])).await;
        assert_eq!((got.status, got.header("allow")), (405, Some("POST")));
        let mut large = event("id-1", "5", 1);
        large["veri"]["more"] = json!("x".repeat(1024 * 1024));
        assert_eq!(post_with(addr, None, large.to_string().as_bytes()).await, 413);
        let mut tricky = event("id-\u{1b}[2J", "5", 1);
        tricky["veri"]["providerOrderId"] = json!("two\nlines");
        assert_eq!(post_with(addr, None, tricky.to_string().as_bytes()).await, 200);
        let printed = end(program).await;
        assert!(
            !printed.contains('\u{1b}') && printed.contains("two�lines"),
            "{printed}"
        );
        assert!(
            printed.contains("1 received") && printed.ends_with("; 5 refused\n"),
            "{printed}"
        );
    });
}

#[test]
fn bodies_are_printed_as_json_and_as_text() {
    block_on(async {
        let (program, addr) = start(&["--any-key", "--json"]).await;
        let body = "{ \"olay\": \"test\",\r\n  \"veri\": { \"id\": \"id-1\", \"note\": \"çğı\\n🌯\" } }\n";
        assert_eq!(post_with(addr, None, body.as_bytes()).await, 200);
        let line = lines(&program, "id-1", 1).await.remove(0);
        assert_eq!(
            serde_json::from_str::<Value>(&line).unwrap(),
            serde_json::from_str::<Value>(body).unwrap()
        );
        end(program).await;

        let (program, addr) = start(&["--any-key", "--full"]).await;
        assert_eq!(post(addr, &event("id-1", "5", 1)).await, 200);
        lines(&program, r#"    "id": "id-1","#, 1).await;
        end(program).await;
    });
}

#[test]
fn json_output_contains_only_bodies() {
    block_on(async {
        // With standard output gone, what is left is what is not an event.
        let mut shell = std::process::Command::new("sh");
        shell
            .args([
                "-c",
                "exec \"$0\" receive --port 0 --json --key-file \"$1\" >/dev/null",
            ])
            .arg(command().get_program())
            .arg(KEY_FILE);
        let mut program = Program::start(shell);
        let addr = program.address().await;
        let body = event("id-1", "5", 1).to_string();
        let bearer = format!("Bearer {KEY}");
        assert_eq!(post_with(addr, Some(&bearer), body.as_bytes()).await, 200);
        assert_eq!(post_with(addr, Some("Bearer wrong"), body.as_bytes()).await, 401);
        let printed = end(program).await;
        assert!(
            printed.contains("wrong key") && printed.contains("1 received"),
            "{printed}"
        );
        assert!(!printed.contains("id-1"), "{printed}");
    });
}

#[test]
fn contradictory_flags_are_refused() {
    for (flags, word) in [
        (&["--key-file", KEY_FILE, "--any-key"][..], "--any-key"),
        (&["--json", "--full"], "--full"),
        (&["--status", "100"], "--status"),
        (&["--fail-percent", "101"], "--fail-percent"),
        (&["--authorization", "basic"], "bearer"),
        // A key in the arguments could be read by others.
        (&["--key", KEY], "--key-file"),
        (&["--key-file", "/nowhere"], "cannot be read"),
    ] {
        let mut wrong = command();
        wrong.args(["receive", "--port", "0"]).args(flags);
        let ended = program_run(wrong);
        assert!(
            !ended.success && ended.err.contains(word),
            "{flags:?}: {}",
            ended.err
        );
    }
}

#[test]
fn unusable_key_is_refused() {
    for key in ["two words", ""] {
        let mut wrong = command();
        wrong
            .args(["receive", "--port", "0"])
            .env("GARSON_RECEIVE_KEY", key);
        let ended = program_run(wrong);
        assert!(
            !ended.success && ended.err.contains("the key must be"),
            "{}",
            ended.err
        );
    }
}

#[test]
fn key_variable_does_not_affect_other_commands() {
    let mut shown = command();
    shown.arg("config").env("GARSON_RECEIVE_KEY", KEY);
    let shown = program_run(shown);
    assert!(shown.success && !shown.out.contains(KEY), "{}", shown.err);
}

#[test]
fn address_is_given_as_for_the_server_or_in_parts() {
    block_on(async {
        let port = {
            let free = std::net::TcpListener::bind("127.0.0.2:0").unwrap();
            free.local_addr().unwrap().port()
        };
        let whole = format!("127.0.0.2:{port}");
        let number = port.to_string();
        // In parts, as earlier versions took it.
        for flags in [
            vec!["--listen", whole.as_str()],
            vec!["--address", "127.0.0.2", "--port", number.as_str()],
        ] {
            let mut start = command();
            start.args(["receive", "--any-key"]).args(&flags);
            let mut program = Program::start(start);
            let addr = program.address().await;
            assert_eq!(addr.to_string(), whole, "{flags:?}");
            assert_eq!(post(addr, &event("e1", "o1", 1)).await, 200);
        }
        let mut wrong = command();
        wrong.args(["receive", "--any-key", "--listen", "9000"]);
        let ended = program_run(wrong);
        assert!(!ended.success && ended.err.contains("--listen"), "{}", ended.err);
    });
}
