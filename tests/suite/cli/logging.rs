//! The log of the real program: one line for each attempt and call, without secrets and personal data.

use crate::support::{
    ApiClient, Backend, CannedResponse, Program, Receiver, Shop, SimulatedPlatforms, TestStorage, block_on,
    fast_sim_settings, order_body, wait_until,
};
use garson_sim::views::{Courier, Fault, OrderRequest};
use garson_sim::{Platform, Sim};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// In every value that must not show.
const MARK: &str = "MARK";

/// The fields of an attempt's line, beside those of every line.
const ATTEMPT: [&str; 9] = [
    "account",
    "age_millis",
    "attempt",
    "endpoint",
    "event",
    "message",
    "millis",
    "reason",
    "target",
];

struct Run {
    program: Program,
    a: ApiClient,
    _home: TestStorage,
}

async fn start(backend: Backend, format: &str, more: Vec<(String, String)>) -> Run {
    let storage = TestStorage::new(backend);
    let key = storage.create_account("one@example.com");
    let mut settings: Vec<(String, String)> = [
        ("GARSON_LOG__LEVEL", "trace"),
        ("GARSON_LOG__FORMAT", format),
        ("GARSON_ALLOW_PRIVATE_TARGETS", "true"),
        ("GARSON_RATE_LIMIT", "off"),
        ("GARSON_WEBHOOK__ATTEMPT_SECONDS", "1"),
        ("GARSON_WEBHOOK__RETRY_SECONDS", "1,1"),
        ("RUST_LOG", "trace"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    settings.extend(more);
    let settings: Vec<(&str, &str)> = settings.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    let mut program = Program::serve(&storage, &settings);
    let addr = program.address().await;
    Run {
        program,
        a: ApiClient::new(addr, &key),
        _home: storage,
    }
}

/// An order of a customer, every word of whom is marked.
fn marked_order(id: &str) -> String {
    let mut body = order_body("s", id, 100);
    body["note"] = json!("MARK-note");
    body["customer"] = json!({
        "name": "MARK-name", "phone": "+90532MARK", "email": "MARK@example.com",
        "address": { "text": "MARK-street 1", "city": "MARK-city" },
    });
    body["items"][0]["name"] = json!("MARK-dish");
    body.to_string()
}

async fn shop(a: &ApiClient) -> Shop {
    let made = a.post("/restaurants", &json!({ "name": "r" })).await.data();
    let restaurant = made["id"].as_str().unwrap().to_owned();
    let body = json!({ "isActive": true, "remoteId": "s", "credentials": { "inboundKey": "MARK-inbound" } });
    let path = format!("/restaurants/{restaurant}/integrations/direct");
    a.put(&path, &body).await.data();
    Shop {
        addr: a.addr,
        restaurant,
        store: "s".to_owned(),
        key: "MARK-inbound".to_owned(),
    }
}

fn lines(program: &Program, containing: &str) -> usize {
    let printed = program.printed();
    printed.lines().filter(|line| line.contains(containing)).count()
}

/// Delivers with every kind of end, each until its line is there.
async fn deliver(run: &Run) -> BTreeSet<String> {
    let receiver = Receiver::start().await;
    let shop = shop(&run.a).await;
    let here = receiver.url("/MARK-path/x?token=MARK-query#MARK-fragment");
    let secure = here.replace("http://", "https://");
    let gone = "http://127.0.0.1:1/MARK-path?token=MARK-query";
    let nowhere = "http://nowhere.invalid/MARK-path?token=MARK-query";
    let elsewhere = format!("{here}&MARK-redirect");
    let bad = CannedResponse::Body(500, "MARK-answer".to_owned());
    let ends = [
        (
            &*here,
            CannedResponse::Body(200, "MARK-answer".to_owned()),
            "none",
        ),
        (&here, bad, "bad_status"),
        (&here, CannedResponse::Redirect(elsewhere), "redirect"),
        (&here, CannedResponse::HangUp, "connection_broken"),
        (&here, CannedResponse::Silence, "timed_out"),
        (&secure, CannedResponse::HangUp, "tls_failed"),
        (gone, CannedResponse::HangUp, "cannot_connect"),
        (nowhere, CannedResponse::HangUp, "name_not_resolved"),
    ];
    let mut reasons = BTreeSet::new();
    for (n, (url, answer, reason)) in ends.into_iter().enumerate() {
        receiver.set_default_response(answer);
        run.a.put("/webhook", &json!({ "url": url })).await.data();
        shop.post(marked_order(&n.to_string()).as_bytes()).await.data();
        wait_until(reason, async || lines(&run.program, reason) > 0).await;
        // By hand as well.
        run.a.act("/webhook/test").await;
        let body =
            json!({ "webhookOrderId": n.to_string(), "url": url, "headers": { "X-Key": "MARK-header" } });
        run.a.post("/orders/retry-webhook", &body).await;
        reasons.insert(reason.to_owned());
    }
    receiver.set_default_response(CannedResponse::Status(200));
    run.a.put("/webhook", &json!({ "url": here })).await.data();
    reasons
}

/// Ends the program and answers what it printed, in which nothing is that must not be.
async fn end(mut run: Run) -> String {
    run.program.terminate();
    assert!(run.program.ended().await, "{}", run.program.printed());
    let printed = run.program.printed();
    for line in printed.lines() {
        assert!(
            !line.contains(MARK) && !line.contains(&run.a.key) && !line.contains(&"7".repeat(64)),
            "{line}"
        );
    }
    printed
}

#[test]
fn every_attempt_is_one_line_of_json() {
    block_on(async {
        let run = start(Backend::Postgres, "json", Vec::new()).await;
        let reasons = deliver(&run).await;
        let printed = end(run).await;
        let mut told = BTreeSet::new();
        let mut last = std::collections::BTreeMap::<String, i64>::new();
        for line in printed.lines().filter(|line| line.starts_with('{')) {
            let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            if !["delivered", "not delivered"].contains(&line["message"].as_str().unwrap()) {
                continue;
            }
            let mut fields: BTreeSet<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
            let has_status = fields.remove("status");
            fields.retain(|field| !["timestamp", "level"].contains(field));
            assert_eq!(fields, BTreeSet::from(ATTEMPT), "{line}");
            let reason = line["reason"].as_str().unwrap();
            assert_eq!(
                has_status,
                ["none", "bad_status", "redirect"].contains(&reason),
                "{line}"
            );
            assert_eq!(line["message"] == "delivered", reason == "none", "{line}");
            // Scheme, host and port; the port is left out where it is the usual one.
            let target = line["target"].as_str().unwrap();
            let (scheme, rest) = target.split_once("://").unwrap();
            assert!(
                ["http", "https"].contains(&scheme) && !rest.contains(['/', '?', '#']),
                "{line}"
            );
            // Each number of an event's attempts comes once, in order.
            let before = last.insert(
                line["event"].as_str().unwrap().to_owned(),
                line["attempt"].as_i64().unwrap(),
            );
            assert_eq!(line["attempt"], json!(before.unwrap_or(0) + 1), "{line}");
            told.insert(reason.to_owned());
        }
        assert_eq!(told, reasons);
    });
}

#[test]
fn every_attempt_is_one_line_of_text() {
    block_on(async {
        let run = start(Backend::Sqlite, "text", Vec::new()).await;
        let reasons = deliver(&run).await;
        let printed = end(run).await;
        for reason in reasons {
            let word = format!("reason=\"{reason}\"");
            assert!(
                printed.lines().any(|line| line.contains(&word)),
                "{reason} in {printed}"
            );
        }
    });
}

/// What platforms say when something is wrong may name a customer, or repeat what it was sent.
async fn platforms_that_talk(backend: Backend, format: &str) {
    let sim = Sim::start(fast_sim_settings()).await.unwrap();
    let mut settings = Vec::new();
    for platform in Platform::ALL {
        let name = platform.to_string().to_uppercase();
        let mut set =
            |key: &str, value: String| settings.push((format!("GARSON_PLATFORMS__{name}__{key}"), value));
        set("BASE_URL", format!("http://{}/{platform}", sim.address()));
        set("SECONDS_BETWEEN_MOVES", "0".to_owned());
        if platform != Platform::Yemeksepeti {
            set("POLL_SECONDS", "1".to_owned());
        }
    }
    let run = start(backend, format, settings).await;
    let platforms = SimulatedPlatforms::open(sim, run.a.clone()).await;
    for platform in Platform::ALL {
        let placed = platforms.order(platform, Courier::Restaurant).await;
        let status = 400;
        let body = Some(json!("MARK-name, MARK-street 1, token MARK-token"));
        platforms
            .fault(platform, "*", Fault::Status { status, body }, None)
            .await;
        platforms.verify(&placed).await;
        platforms.cancel(&placed, json!({})).await;
        run.a.get(&format!("/orders/reasons/{}", placed.id)).await;
        run.a
            .get(&format!(
                "/providers/{platform}/menus?restaurantId={}",
                platforms.restaurant
            ))
            .await;
    }
    // A message that cannot be read is no reason to print it, either.
    for platform in Platform::ALL {
        platforms.fault(platform, "push", Fault::Malformed, Some(1)).await;
        platforms
            .control
            .place_orders(&OrderRequest::new(platform))
            .await
            .unwrap();
    }
    let failed = "a platform could not be polled";
    wait_until("polling fails and is logged", async || {
        lines(&run.program, failed) > 0
    })
    .await;
    wait_until("a message is kept", async || {
        lines(&run.program, "stored a message that could not be applied") > 0
    })
    .await;
    let mut secrets = Vec::new();
    for platform in Platform::ALL {
        for value in crate::support::credentials(platform)
            .as_object()
            .unwrap()
            .values()
        {
            let secret = value
                .as_str()
                .filter(|text| text.contains(['-', '&']) && text.len() > 8);
            secrets.extend(secret.map(str::to_owned));
        }
    }
    assert!(secrets.len() >= 5, "{secrets:?}");
    let printed = end(run).await;
    for line in printed.lines() {
        for secret in &secrets {
            assert!(!line.contains(secret), "{secret} in {line}");
        }
    }
    assert!(printed.lines().any(|line| line.contains("called")), "{printed}");
}

#[test]
fn platform_responses_are_not_logged() {
    block_on(platforms_that_talk(Backend::Sqlite, "text"));
}

#[test]
fn platform_responses_are_not_logged_as_json() {
    block_on(platforms_that_talk(Backend::Postgres, "json"));
}
