//! `garson certify`: a POS with one defect fails the scenarios of that defect, and no others.

use super::certify_pos::{Acting, BEARER, SECRET, folder, good, pos, run};
use crate::support::{CannedResponse, ReceivedRequest, Receiver, block_on, secret_file};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Plays these scenarios and the first one with a POS that is good except where `habit` says otherwise; exactly `failing` must fail.
fn fails(
    played: &[&str],
    habit: impl Fn(&ReceivedRequest) -> Option<CannedResponse> + Send + Sync + 'static,
    failing: &[&str],
) {
    block_on(async {
        let receiver = pos(habit).await;
        judge(&receiver.url("/"), played, &[], failing).await;
    });
}

async fn judge(url: &str, played: &[&str], flags: &[&str], failing: &[&str]) {
    let mut all = vec!["--timeout-seconds", "2", "--only", "life-cycle"];
    all.extend_from_slice(flags);
    for id in played {
        all.extend(["--only", id]);
    }
    let run = run(folder(), url, &all).await;
    assert_eq!(
        run.with("failed"),
        failing,
        "{}{}",
        run.outcome.out,
        run.outcome.err
    );
    assert_eq!(run.with("passed").len(), 1 + played.len() - failing.len());
    assert!(!run.outcome.success && run.outcome.err.contains("scenario(s) failed"));
    for id in failing {
        // The report shows the request that was answered wrongly.
        assert!(run.markdown.contains(&format!("\n## {id}: ")), "{}", run.markdown);
        assert!(!run.scenario(id)["evidence"].as_array().unwrap().is_empty());
    }
}

fn event(seen: &ReceivedRequest) -> Value {
    serde_json::from_str(&seen.body).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[test]
fn refusing_repeats_fails() {
    let known = Mutex::new(HashSet::new());
    fails(
        &[
            "duplicate-event",
            "duplicate-push",
            "lost-answer",
            "outage",
            "redelivery",
        ],
        move |seen| {
            let is_known = !known.lock().unwrap().insert(text(&event(seen)["veri"]["id"]));
            is_known.then_some(CannedResponse::Status(500))
        },
        &["duplicate-event", "lost-answer", "redelivery"],
    );
}

#[test]
fn race_between_two_repeats_fails() {
    // The second of two concurrent requests with one id meets a unique index.
    let open = Mutex::new(HashMap::<String, usize>::new());
    fails(
        &["duplicate-event", "lost-answer"],
        move |seen| {
            let mut open = open.lock().unwrap();
            let count = open.entry(text(&event(seen)["veri"]["id"])).or_default();
            *count += 1;
            let number = text(&event(seen)["veri"]["providerOrderId"]);
            (*count == 2 && number.contains("-duplicate-event-")).then_some(CannedResponse::Status(500))
        },
        &["duplicate-event"],
    );
}

#[test]
fn refusing_unknown_events_fails() {
    fails(
        &["unknown-kind", "unknown-fields", "revision"],
        |seen| {
            let olay = text(&event(seen)["olay"]);
            (!olay.starts_with("siparis.")).then_some(CannedResponse::Status(422))
        },
        &["unknown-kind"],
    );
}

#[test]
fn refusing_unknown_fields_fails() {
    fails(
        &["unknown-kind", "unknown-fields"],
        |seen| {
            let is_strict = event(seen)["veri"].get("garsonCertify").is_some();
            is_strict.then_some(CannedResponse::Status(422))
        },
        &["unknown-fields"],
    );
}

#[test]
fn refusing_updates_fails() {
    fails(
        &["unknown-kind", "revision"],
        |seen| (event(seen)["olay"] == "siparis.guncellendi").then_some(CannedResponse::Status(400)),
        &["revision"],
    );
}

#[test]
fn breaking_on_turkish_letters_fails() {
    fails(
        &["turkish-letters", "no-phone", "zero-price"],
        |seen| seen.body.contains('ğ').then_some(CannedResponse::Status(500)),
        &["turkish-letters"],
    );
}

#[test]
fn breaking_on_control_characters_fails() {
    fails(
        &["turkish-letters", "emoji-and-controls"],
        |seen| {
            seen.body
                .contains("\\u001b")
                .then_some(CannedResponse::Status(500))
        },
        &["emoji-and-controls"],
    );
}

#[test]
fn accepting_any_key_fails() {
    fails(
        &["wrong-key", "unknown-kind"],
        |seen| event(seen).is_object().then_some(CannedResponse::Status(200)),
        &["wrong-key"],
    );
}

#[test]
fn redirecting_wrong_keys_fails() {
    fails(
        &["wrong-key"],
        |seen| {
            let is_stranger = seen.header("authorization") != Some(BEARER);
            is_stranger.then(|| CannedResponse::Redirect("/login".to_owned()))
        },
        &["wrong-key"],
    );
}

#[test]
fn hanging_on_a_large_order_fails() {
    fails(
        &["huge-basket", "huge-note"],
        |seen| (seen.body.len() > 60_000).then_some(CannedResponse::Silence),
        &["huge-basket"],
    );
}

#[test]
fn cutting_notes_off_fails() {
    fails(
        &["huge-basket", "huge-note"],
        |seen| {
            let note = text(&event(seen)["veri"]["order"]["note"]);
            (note.chars().count() > 1_000).then_some(CannedResponse::HangUp)
        },
        &["huge-note"],
    );
}

#[test]
fn requiring_a_phone_number_fails() {
    fails(
        &["no-phone", "masked-phone"],
        |seen| {
            let order = &event(seen)["veri"]["order"];
            (order.is_object() && order["customer"]["phone"].is_null()).then_some(CannedResponse::Status(500))
        },
        &["no-phone"],
    );
}

#[test]
fn dividing_by_the_price_fails() {
    fails(
        &["zero-price", "discount-above-items"],
        |seen| (event(seen)["veri"]["order"]["amount"]["total"] == 0).then_some(CannedResponse::Status(500)),
        &["zero-price"],
    );
}

#[test]
fn requiring_the_order_of_events_fails() {
    let reached = Mutex::new(HashSet::new());
    fails(
        &["out-of-order", "cancel-before-accept", "outage"],
        move |seen| {
            let event = event(seen);
            let order = text(&event["veri"]["orderId"]);
            let mut reached = reached.lock().unwrap();
            if event["veri"]["sequence"] == 1 {
                reached.insert(order);
                return None;
            }
            (!reached.contains(&order)).then_some(CannedResponse::Status(409))
        },
        &["out-of-order"],
    );
}

#[test]
fn taking_numbers_for_unique_fails() {
    let known = Mutex::new(HashMap::<String, String>::new());
    fails(
        &["same-number", "couriers"],
        move |seen| {
            let veri = event(seen)["veri"].clone();
            let (number, order) = (text(&veri["providerOrderId"]), text(&veri["orderId"]));
            let mut known = known.lock().unwrap();
            let first = known.entry(number).or_insert_with(|| order.clone());
            (*first != order).then_some(CannedResponse::Status(500))
        },
        &["same-number"],
    );
}

#[test]
fn dropping_one_of_a_burst_fails() {
    fails(
        &["burst"],
        |seen| {
            let number = text(&event(seen)["veri"]["providerOrderId"]);
            number
                .ends_with("-burst-77")
                .then_some(CannedResponse::Status(503))
        },
        &["burst"],
    );
}

#[test]
fn ignoring_signatures_fails() {
    block_on(async {
        let receiver = Receiver::start().await.keeps_connections();
        receiver.respond_with(good);
        let secret = secret_file(SECRET);
        let flags = ["--secret-file", secret.path().to_str().unwrap()];
        judge(
            &receiver.url("/"),
            &["signature", "wrong-key"],
            &flags,
            &["signature"],
        )
        .await;
    });
}

#[test]
fn accepting_no_scheduled_orders_fails() {
    block_on(async {
        let folder = folder();
        let acting = Acting::new(folder.path());
        let receiver = Receiver::start().await.keeps_connections();
        receiver.respond_with(move |seen| {
            if event(seen)["veri"]["status"] == 325 {
                good(seen)
            } else {
                acting.respond(seen)
            }
        });
        let flags = [
            "--profile",
            "act",
            "--accept-seconds",
            "3",
            "--only",
            "life-cycle",
            "--only",
            "scheduled",
            "--only",
            "couriers",
        ];
        let run = run(folder, &receiver.url("/"), &flags).await;
        assert_eq!(run.with("failed"), ["scheduled"], "{}", run.outcome.out);
        assert_eq!(run.with("passed"), ["life-cycle", "couriers"]);
    });
}

#[test]
fn answering_before_reading_fails() {
    block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer_early(stream));
            }
        });
        judge(&url, &["slow-sender", "huge-note"], &[], &["slow-sender"]).await;
        serving.abort();
    });
}

/// Answers 200 when it has the head of a request, and reads the body afterwards.
async fn answer_early(mut stream: TcpStream) -> Option<()> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let start = loop {
            if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
            bytes.extend_from_slice(&buffer[..count]);
        };
        let head = String::from_utf8_lossy(&bytes[..start]).to_ascii_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"))?;
        let end = start + length.trim().parse::<usize>().ok()?;
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(answer).await.ok()?;
        while bytes.len() < end {
            let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
            bytes.extend_from_slice(&buffer[..count]);
        }
        bytes.drain(..end);
    }
}

#[test]
fn redirecting_everything_is_one_failure() {
    block_on(async {
        let receiver = pos(|_| Some(CannedResponse::Redirect("/elsewhere".to_owned()))).await;
        let run = run(folder(), &receiver.url("/"), &[]).await;
        assert_eq!(run.with("failed"), ["life-cycle"], "{}", run.outcome.out);
        assert_eq!(run.with("not run").len(), 29);
        assert!(run.outcome.err.contains("302"), "{}", run.outcome.err);
    });
}
