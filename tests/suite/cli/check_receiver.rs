//! `garson check-receiver`: a good endpoint passes, and each defect fails its check.

use crate::support::{
    Authority, CannedResponse, Outcome, Program, ReceivedRequest, Receiver, block_on, command, program_run,
    secret_file,
};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Mutex;

const KEY: &str = "gsn_receiver_key";
/// A file with that key.
const KEY_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/suite/cli/receiver.key");
const BEARER: &str = "Bearer gsn_receiver_key";

/// Runs the checks while the endpoint, which may live in this process, goes on.
async fn check(url: &str, flags: &[&str]) -> Outcome {
    let mut check = command();
    check.args(["check-receiver", url]).args(flags);
    tokio::task::spawn_blocking(move || program_run(check))
        .await
        .unwrap()
}

/// The report of a receiver.
async fn report(receiver: &Receiver) -> (Outcome, Value) {
    let flags = ["--key-file", KEY_FILE, "--timeout-seconds", "5", "--json"];
    let outcome = check(&receiver.url("/garson"), &flags).await;
    let report =
        serde_json::from_str(&outcome.out).unwrap_or_else(|_| panic!("{}{}", outcome.out, outcome.err));
    (outcome, report)
}

/// The checks with this verdict.
fn with(report: &Value, verdict: &str) -> Vec<String> {
    let checks = report["checks"].as_array().unwrap().iter();
    let of_it = checks.filter(|check| check["verdict"] == verdict);
    of_it
        .map(|check| check["name"].as_str().unwrap().to_owned())
        .collect()
}

/// A receiver as it should be: the method, the key, the body.
fn good(seen: &ReceivedRequest) -> CannedResponse {
    match serde_json::from_str::<Value>(&seen.body) {
        _ if !seen.line.starts_with("POST ") => CannedResponse::Status(405),
        _ if seen.header("authorization") != Some(BEARER) => CannedResponse::Status(401),
        Err(_) => CannedResponse::Status(400),
        Ok(_) => CannedResponse::Status(200),
    }
}

/// Starts a receiver that is good except where `habit` says otherwise, and wants exactly these checks to fail and to
/// warn.
fn fails(
    habit: impl Fn(&ReceivedRequest) -> Option<CannedResponse> + Send + Sync + 'static,
    failing: &[&str],
    warning: &[&str],
) {
    block_on(async {
        let receiver = Receiver::start().await;
        receiver.respond_with(move |seen| habit(seen).unwrap_or_else(|| good(seen)));
        let (outcome, report) = report(&receiver).await;
        assert_eq!(with(&report, "fail"), failing, "{report:#}");
        assert_eq!(with(&report, "warn"), warning, "{report:#}");
        assert_eq!(outcome.success, failing.is_empty());
        assert_eq!(report["passed"], failing.is_empty());
        for check in report["checks"].as_array().unwrap() {
            let is_odd = ["fail", "warn"].contains(&check["verdict"].as_str().unwrap());
            assert_eq!(check["advice"].is_string(), is_odd, "{check}");
        }
        assert!(!outcome.out.contains(KEY) && !outcome.err.contains(KEY));
    });
}

#[test]
fn receiver_with_a_trusted_private_ca_passes() {
    block_on(async {
        let authority = Authority::new("ours");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), authority.pem()).unwrap();
        let receiver = Receiver::start_secure(authority.server("127.0.0.1", (2020, 2090))).await;
        let receiver = receiver.keeps_connections();
        receiver.respond_with(good);
        let url = format!("https://{}/garson", receiver.addr);
        let without = check(&url, &["--key-file", KEY_FILE]).await;
        assert!(
            !without.success && without.out.contains("the certificate's issuer is not trusted"),
            "{}",
            without.out
        );
        let path = file.path().to_str().unwrap();
        let with = check(&url, &["--key-file", KEY_FILE, "--trusted-certificates", path]).await;
        assert!(with.success, "{}{}", with.out, with.err);
        let wrong = check(
            &url,
            &["--key-file", KEY_FILE, "--trusted-certificates", "/nowhere"],
        )
        .await;
        assert!(
            !wrong.success && wrong.err.contains("/nowhere cannot be read"),
            "{}",
            wrong.err
        );
    });
}

fn is_for(seen: &ReceivedRequest, purpose: &str) -> bool {
    let body = serde_json::from_str::<Value>(&seen.body).unwrap_or_default();
    let name = body["veri"]["providerOrderId"].as_str().unwrap_or_default();
    name.starts_with("GARSON-CHECK-") && name.contains(purpose)
}

#[test]
fn bundled_receiver_passes_every_check() {
    block_on(async {
        for form in ["bearer", "bare"] {
            let mut start = command();
            start.args([
                "receive",
                "--port",
                "0",
                "--key-file",
                KEY_FILE,
                "--authorization",
                form,
            ]);
            let mut receiver = Program::start(start);
            let url = format!("http://{}/", receiver.address().await);
            let outcome = check(&url, &["--key-file", KEY_FILE, "--authorization", form]).await;
            assert!(outcome.success, "{}{}", outcome.out, outcome.err);
            assert!(
                outcome.out.trim_end().ends_with("18 checks: 18 pass"),
                "{}",
                outcome.out
            );
            receiver.terminate();
            assert!(receiver.ended().await);
            let printed = receiver.printed();
            assert!(
                printed.contains("GARSON-CHECK-") && printed.contains("1 of them repeats"),
                "{printed}"
            );
            assert!(printed.contains("1 out of order"), "{printed}");
        }
    });
}

#[test]
fn a_good_receiver_passes() {
    fails(|_| None, &[], &[]);
}

#[test]
fn accepting_any_key_fails() {
    let any_key = |seen: &ReceivedRequest| {
        let is_event = seen.line.starts_with("POST ") && serde_json::from_str::<Value>(&seen.body).is_ok();
        is_event.then_some(CannedResponse::Status(200))
    };
    fails(any_key, &["missing-key", "wrong-key"], &["other-form"]);
}

#[test]
fn comparing_only_the_key_prefix_fails() {
    let beginning = |seen: &ReceivedRequest| {
        let given = seen.header("authorization")?;
        (given.starts_with(BEARER) && is_for(seen, "-WRONG-KEY")).then_some(CannedResponse::Status(200))
    };
    fails(beginning, &["wrong-key"], &[]);
}

#[test]
fn redirect_fails_and_stops_the_checks() {
    fails(
        |_| Some(CannedResponse::Redirect("/elsewhere".to_owned())),
        &["no-redirect"],
        &[],
    );
}

#[test]
fn redirecting_to_a_login_page_fails() {
    let login = |seen: &ReceivedRequest| {
        let is_stranger = seen.header("authorization") != Some(BEARER);
        is_stranger.then(|| CannedResponse::Redirect("/login".to_owned()))
    };
    fails(login, &["no-redirect"], &["missing-key", "wrong-key"]);
}

#[test]
fn no_response_fails_and_stops_the_checks() {
    block_on(async {
        let receiver = Receiver::start().await;
        receiver.set_default_response(CannedResponse::Silence);
        let flags = ["--key-file", KEY_FILE, "--timeout-seconds", "1", "--json"];
        let outcome = check(&receiver.url("/"), &flags).await;
        let report: Value = serde_json::from_str(&outcome.out).unwrap();
        assert_eq!(with(&report, "fail"), ["in-time"], "{report:#}");
        assert_eq!(with(&report, "pass"), ["clear-text"]);
        assert_eq!(with(&report, "skip").len(), 16);
        assert!(!outcome.success && receiver.seen().len() == 1);
    });
}

#[test]
fn failing_on_a_duplicate_fails() {
    let known = Mutex::new(HashSet::new());
    let duplicates = move |seen: &ReceivedRequest| {
        let body = serde_json::from_str::<Value>(&seen.body).ok()?;
        let id = body["veri"]["id"].as_str()?.to_owned();
        (!known.lock().unwrap().insert(id)).then_some(CannedResponse::Status(500))
    };
    fails(duplicates, &["duplicate"], &[]);
}

#[test]
fn requiring_ordered_events_fails() {
    let reached = Mutex::new(HashSet::new());
    let insists = move |seen: &ReceivedRequest| {
        let body = serde_json::from_str::<Value>(&seen.body).ok()?;
        let order = body["veri"]["orderId"].as_str()?.to_owned();
        let mut reached = reached.lock().unwrap();
        if body["veri"]["sequence"] == 1 {
            reached.insert(order);
            return None;
        }
        (!reached.contains(&order)).then_some(CannedResponse::Status(409))
    };
    fails(insists, &["out-of-order"], &[]);
}

#[test]
fn rejecting_unknown_event_kinds_fails() {
    let strict = |seen: &ReceivedRequest| {
        let body = serde_json::from_str::<Value>(&seen.body).ok()?;
        let is_known = body["olay"].as_str()?.starts_with("siparis.");
        (!is_known).then_some(CannedResponse::Status(422))
    };
    fails(strict, &["unknown-fields"], &[]);
}

#[test]
fn failing_on_emoji_fails() {
    let ascii = |seen: &ReceivedRequest| seen.body.contains('🌯').then_some(CannedResponse::Status(500));
    fails(ascii, &["letters"], &[]);
}

#[test]
fn rejecting_a_slow_body_fails() {
    // Small, and yet it came in many pieces.
    let impatient = |seen: &ReceivedRequest| {
        (seen.body.len() < 4_096 && seen.pieces > 8).then_some(CannedResponse::Status(408))
    };
    fails(impatient, &["slow-body"], &[]);
}

#[test]
fn failing_on_a_big_body_fails_and_refusing_it_warns() {
    let is_big = |seen: &ReceivedRequest| seen.body.len() > 100_000;
    fails(
        move |seen| is_big(seen).then_some(CannedResponse::HangUp),
        &["big-body"],
        &[],
    );
    fails(
        move |seen| is_big(seen).then_some(CannedResponse::Status(413)),
        &[],
        &["big-body"],
    );
}

#[test]
fn failing_on_invalid_json_fails_and_accepting_it_warns() {
    let is_broken = |seen: &ReceivedRequest| {
        seen.line.starts_with("POST ") && serde_json::from_str::<Value>(&seen.body).is_err()
    };
    fails(
        move |seen| is_broken(seen).then_some(CannedResponse::Status(500)),
        &["broken-json"],
        &[],
    );
    fails(
        move |seen| is_broken(seen).then_some(CannedResponse::Status(200)),
        &[],
        &["broken-json"],
    );
}

#[test]
fn failing_on_a_get_request_fails() {
    let get = |seen: &ReceivedRequest| {
        seen.line
            .starts_with("GET ")
            .then_some(CannedResponse::Status(500))
    };
    fails(get, &["get"], &[]);
}

#[test]
fn dropping_one_of_ten_fails() {
    let crowded = |seen: &ReceivedRequest| is_for(seen, "-AT-ONCE-7").then_some(CannedResponse::Status(503));
    fails(crowded, &["ten-at-once"], &[]);
}

#[test]
fn failing_after_a_disconnected_sender_fails() {
    block_on(async {
        let receiver = Receiver::start().await;
        let inner = receiver.clone();
        // A connection without a request: the sender has disconnected.
        receiver.respond_with(move |seen| {
            let is_disconnected = inner.connections() > inner.seen().len();
            if is_for(seen, "-DISCONNECT") && is_disconnected {
                CannedResponse::HangUp
            } else {
                good(seen)
            }
        });
        let (_, report) = report(&receiver).await;
        assert_eq!(with(&report, "fail"), ["disconnect"], "{report:#}");
    });
}

/// A receiver that serves one connection after the other, each until its end.
fn serve_one_at_a_time(listener: std::net::TcpListener) {
    use std::io::{BufRead, BufReader, Read, Write};
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut lines, mut length) = (Vec::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
                break;
            }
            let lower = line.trim_end().to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            lines.push(line.trim_end().to_owned());
        }
        let mut body = vec![0; length];
        let is_whole = reader.read_exact(&mut body).is_ok();
        let is_post = lines.first().is_some_and(|line| line.starts_with("POST "));
        let has_key = lines.iter().any(|line| line.ends_with(BEARER));
        let is_json = serde_json::from_slice::<Value>(&body).is_ok();
        let status = match (is_post, has_key, is_json) {
            (false, ..) => 405,
            (_, false, _) => 401,
            (.., false) => 400,
            _ => 200,
        };
        if is_whole && !lines.is_empty() {
            let answer = format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            // The sender may have gone.
            let _ = stream.write_all(answer.as_bytes());
        }
    }
}

#[test]
fn waiting_for_a_silent_connection_fails() {
    block_on(async {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        // It ends with the process of this test.
        std::thread::spawn(move || serve_one_at_a_time(listener));
        let flags = ["--key-file", KEY_FILE, "--timeout-seconds", "5", "--json"];
        let outcome = check(&url, &flags).await;
        let report: Value = serde_json::from_str(&outcome.out).unwrap();
        assert_eq!(with(&report, "fail"), ["silent-connection"], "{report:#}");
    });
}

#[test]
fn check_events_use_fictitious_orders() {
    block_on(async {
        let receiver = Receiver::start().await;
        receiver.respond_with(good);
        assert!(report(&receiver).await.0.success);
        let own = "0198c0de-0000-7000-8000-000000000001";
        let flags = ["--key-file", KEY_FILE, "--restaurant-id", own];
        assert!(check(&receiver.url("/own?token=hidden"), &flags).await.success);
        let events: Vec<ReceivedRequest> = receiver.seen();
        let events = events
            .iter()
            .filter(|seen| matches!(good(seen), CannedResponse::Status(200)));
        let mut count = 0;
        for seen in events {
            let veri = &seen.json()["veri"];
            let restaurant = if seen.line.contains("/own") {
                own
            } else {
                "00000000-0000-0000-0000-000000000000"
            };
            assert_eq!(veri["restaurantId"], restaurant);
            assert!(
                veri["providerOrderId"]
                    .as_str()
                    .unwrap()
                    .starts_with("GARSON-CHECK-")
            );
            count += 1;
        }
        assert!(count > 40, "{count}");
    });
}

#[test]
fn unreachable_or_forbidden_endpoint_is_named() {
    block_on(async {
        let gone = {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap()
        };
        let outcome = check(&format!("http://{gone}/?token=hidden"), &["--key-file", KEY_FILE]).await;
        assert!(
            !outcome.success && outcome.out.contains("fail  valid-event"),
            "{}",
            outcome.out
        );
        assert!(!outcome.out.contains("hidden") && outcome.err.contains("1 check(s) failed"));

        let receiver = Receiver::start().await;
        receiver.respond_with(good);
        let another = secret_file("another");
        let outcome = check(
            &receiver.url("/"),
            &["--key-file", another.path().to_str().unwrap()],
        )
        .await;
        assert!(
            !outcome.success && outcome.out.contains("The key was refused"),
            "{}",
            outcome.out
        );

        for (url, flags, word) in [
            ("ftp://127.0.0.1/", &["--key-file", KEY_FILE][..], "http"),
            ("http://127.0.0.1:1/", &[], "--key-file"),
            (
                "http://127.0.0.1:1/",
                &["--key-file", KEY_FILE, "--timeout-seconds", "0"],
                "timeout",
            ),
        ] {
            let outcome = check(url, flags).await;
            assert!(!outcome.success && outcome.err.contains(word), "{}", outcome.err);
        }
    });
}
