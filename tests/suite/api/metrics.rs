//! `/metrics`: exact values, in valid OpenMetrics.

use crate::support::{
    Backend, CannedResponse, Receiver, Scrape, Shop, TestService, block_on, order_body, request, send,
    wait_until,
};
use garson::config::Settings;
use garson::net::Client;
use garson::net::guard::Policy;
use garson::net::resolve::{Resolve, Resolving};
use garson_core::id::OrderId;
use serde_json::json;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

cases! {
    output_is_valid_openmetrics
    messages_are_counted_by_outcome
    requests_of_platforms_are_timed_by_outcome
    commits_are_counted_and_timed
    single_node_reports_one_node
    streams_are_counted_while_they_are_open
}

/// The samples as they are written, with how far they have moved.
fn moves(list: &[(&str, f64)]) -> Vec<(String, f64)> {
    let mut list: Vec<_> = list
        .iter()
        .map(|(sample, by)| ((*sample).to_owned(), *by))
        .collect();
    list.sort_by(|(a, _), (b, _)| a.cmp(b));
    list
}

async fn output_is_valid_openmetrics(service: TestService) {
    // What has counted nothing yet must be as well formed as what has.
    let before = Scrape::of(service.addr).await;
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    shop.post(b"{").await;
    service.a.get("/orders/nothing-of-this-name").await;
    let after = Scrape::of(service.addr).await;
    for scrape in [&before, &after] {
        for sample in [
            "garson_storage_up",
            "garson_node_joined",
            "garson_node_lease_valid",
            "garson_delivery_attempts_total{outcome=\"delivered\",reason=\"none\"}",
            "garson_delivery_attempts_total{outcome=\"failed\",reason=\"timed_out\"}",
            "garson_deliveries_total{state=\"failed\"}",
            "garson_undelivered",
            "garson_undelivered_accounts",
            "garson_undelivered_oldest_age_seconds",
            "garson_delivery_seconds_count",
            "garson_delivery_attempt_seconds_count",
            "garson_delivery_queued",
            "garson_delivery_in_flight",
            "garson_delivery_receivers",
            "garson_delivery_receivers_troubled",
            "garson_open_calls",
            "garson_open_calls_overdue_seconds",
            "garson_kept_messages{state=\"unreadable\"}",
            "garson_polled_integrations",
            "garson_waiting_jobs",
            "garson_waiting_reads",
            "garson_commit_seconds_bucket{le=\"0.0005\"}",
            "garson_commit_seconds_bucket{le=\"5.0\"}",
            "garson_event_streams",
        ] {
            assert!(scrape.get(sample).is_some(), "{sample} is missing");
        }
    }
    // Labels are closed sets: nothing of a client's, nothing that is different for each.
    for value in after.values() {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.+".contains(c);
        assert!(value.len() <= 20 && value.chars().all(is_plain), "{value}");
    }
    assert_eq!(
        after.count("garson_http_requests_total{kind=\"Hook\",status=\"200\"}"),
        1.0
    );
    assert_eq!(
        after.count("garson_http_requests_total{kind=\"Hook\",status=\"400\"}"),
        1.0
    );
}

async fn messages_are_counted_by_outcome(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let before = Scrape::of(service.addr).await;
    shop.order("1").await;
    shop.order("2").await;
    shop.order("2").await;
    shop.cancel("1", json!({})).await.data();
    shop.order_with_other_content("2").await;
    shop.post(order_body("other", "3", 1).to_string().as_bytes())
        .await;
    shop.post(b"{").await;
    shop.post(b"{}").await;
    shop.cancel("never-seen", json!({})).await;
    shop.hook("/hooks/direct/orders", Some("wrong"), b"{}").await;
    shop.hook("/hooks/direct/orders", None, b"{}").await;
    let after = Scrape::of(service.addr).await;
    let message = |outcome: &str| {
        format!("garson_messages_total{{provider=\"direct\",way=\"pushed\",outcome=\"{outcome}\"}}")
    };
    let expected = [
        ("taken", 3.0),
        ("repeated", 1.0),
        ("conflicting", 1.0),
        ("unknown_branch", 1.0),
        ("unknown_order", 1.0),
        ("unreadable", 2.0),
        ("not_genuine", 2.0),
    ]
    .map(|(outcome, by)| (message(outcome), by));
    let expected: Vec<_> = expected
        .iter()
        .map(|(sample, by)| (sample.as_str(), *by))
        .collect();
    assert_eq!(after.moved(&before, "garson_messages_total"), moves(&expected));
    assert_eq!(
        after.moved(&before, "garson_orders_total"),
        moves(&[("garson_orders_total{provider=\"direct\",way=\"pushed\"}", 2.0)])
    );
    assert_eq!(
        after.moved(&before, "garson_kept_messages"),
        moves(&[
            ("garson_kept_messages{state=\"unreadable\"}", 2.0),
            ("garson_kept_messages{state=\"unmatched\"}", 2.0),
            ("garson_kept_messages{state=\"conflicting\"}", 1.0),
        ])
    );
}

async fn requests_of_platforms_are_timed_by_outcome(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let before = Scrape::of(service.addr).await;
    shop.order("1").await;
    shop.order("1").await;
    shop.post(b"{").await;
    shop.hook("/hooks/direct/orders", Some("wrong"), b"{}").await;
    shop.hook("/hooks/direct/orders", None, b"{}").await;
    service.execute_sql("ALTER TABLE order_contents RENAME TO order_contents_elsewhere");
    let failed = shop.post(order_body("s", "2", 1).to_string().as_bytes()).await;
    service.execute_sql("ALTER TABLE order_contents_elsewhere RENAME TO order_contents");
    assert!(failed.status >= 500, "{}", failed.text());
    let after = Scrape::of(service.addr).await;
    let name = "garson_platform_request_seconds_count";
    let timed = |outcome: &str| format!("{name}{{provider=\"direct\",outcome=\"{outcome}\"}}");
    let expected =
        [("accepted", 2.0), ("refused", 3.0), ("failed", 1.0)].map(|(outcome, by)| (timed(outcome), by));
    let expected: Vec<_> = expected
        .iter()
        .map(|(sample, by)| (sample.as_str(), *by))
        .collect();
    assert_eq!(after.moved(&before, name), moves(&expected));
    // What has not happened is there as zero, so that rules find it.
    assert_eq!(after.get(&timed("unanswered")), Some(0.0));
    let all = "garson_platform_request_seconds_bucket{le=\"30.0\",provider=\"direct\",outcome=\"accepted\"}";
    assert_eq!(after.get(all), Some(2.0));
}

impl Shop {
    async fn order_with_other_content(&self, id: &str) {
        let body = order_body(&self.store, id, 7).to_string();
        self.post(body.as_bytes())
            .await
            .refused(409, "duplicate_order_id");
    }
}

async fn commits_are_counted_and_timed(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let before = Scrape::of(service.addr).await;
    for n in 0..20 {
        shop.order(&n.to_string()).await;
    }
    let after = Scrape::of(service.addr).await;
    let by = |sample: &str| after.count(sample) - before.count(sample);
    // Sequentially, so that each has its own commit. Background work adds to it.
    assert!(by("garson_commits_total") >= 20.0 && by("garson_commit_jobs_total") >= 20.0);
    assert!(by("garson_commit_seconds_sum") > 0.0);
    assert_eq!(
        after.count("garson_commit_seconds_count"),
        after.count("garson_commits_total")
    );
    assert_eq!(
        (
            by("garson_failed_jobs_total"),
            by("garson_lost_transactions_total")
        ),
        (0.0, 0.0)
    );
}

async fn single_node_reports_one_node(service: TestService) {
    let scrape = Scrape::of(service.addr).await;
    for sample in [
        "garson_nodes",
        "garson_node_joined",
        "garson_node_lease_valid",
        "garson_storage_up",
    ] {
        assert_eq!(scrape.get(sample), Some(1.0), "{sample}");
    }
    // A second node on the same database, while this one leaves the cluster.
    let now = service.app.now();
    let id = garson_core::id::NodeId::at(now);
    service
        .app
        .store
        .write(garson_store::Partition::COMMON, move |tx| {
            garson_store::tables::nodes::join(tx, id, "another")
        })
        .await
        .unwrap();
    assert_eq!(Scrape::of(service.addr).await.get("garson_nodes"), Some(2.0));
}

async fn streams_are_counted_while_they_are_open(service: TestService) {
    let waiting = tokio::spawn({
        let a = service.a.clone();
        async move { a.get("/events?dir=prev&wait=20").await }
    });
    wait_until("a long poll is counted", async || {
        Scrape::of(service.addr).await.get("garson_event_streams") == Some(1.0)
    })
    .await;
    waiting.abort();
}

/// Answers nothing for one name, and this machine for all others.
struct Names;

impl Resolve for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        Box::pin(async move {
            match name {
                "nowhere.example.com" => Err(std::io::Error::other("no such name")),
                "inside.example.com" => Ok(vec![IpAddr::from([10, 1, 2, 3])]),
                _ => Ok(vec![IpAddr::from([127, 0, 0, 1])]),
            }
        })
    }
}

/// A service whose attempts end after a second, that may call this machine and nothing else that is private.
async fn house_beside(receiver: &Receiver, backend: Backend) -> TestService {
    let allow = ["127.0.0.1:1".to_owned(), receiver.addr.to_string()];
    let policy = Policy {
        allow_targets: allow.iter().map(|target| target.parse().unwrap()).collect(),
        ..Policy::default()
    };
    let net = Client::with_resolver(policy, Arc::new(Names)).unwrap();
    let change = |settings: &mut Settings| settings.webhook.attempt_seconds = 1;
    TestService::open_with(backend, change, Some(net)).await
}

fn attempt(outcome: &str, reason: &str) -> String {
    format!("garson_delivery_attempts_total{{outcome=\"{outcome}\",reason=\"{reason}\"}}")
}

/// An order makes one event; when its first attempt has ended as expected, nothing else has been counted.
async fn one_attempt(service: &TestService, shop: &Shop, outcome: &str, reason: &str) {
    let before = Scrape::of(service.addr).await;
    shop.order(&OrderId::at(service.app.now()).to_string()).await;
    let sample = attempt(outcome, reason);
    wait_until(&sample, async || {
        Scrape::of(service.addr).await.count(&sample) > before.count(&sample)
    })
    .await;
    let after = Scrape::of(service.addr).await;
    assert_eq!(
        after.moved(&before, "garson_delivery_attempts_total"),
        moves(&[(&sample, 1.0)]),
        "{outcome} {reason}"
    );
    assert_eq!(
        after.count("garson_delivery_attempt_seconds_count"),
        before.count("garson_delivery_attempt_seconds_count") + 1.0
    );
    let delivered = f64::from(u8::from(outcome == "delivered"));
    assert_eq!(
        after.count("garson_delivery_seconds_count"),
        before.count("garson_delivery_seconds_count") + delivered
    );
}

async fn attempts_are_counted_by_outcome_and_reason(backend: Backend) {
    let receiver = Receiver::start().await;
    let service = house_beside(&receiver, backend).await;
    let shop = service.shop(&service.a, "s").await;
    // One order, one event; each address in turn.
    let here = receiver.url("/hook");
    let of_answers = [
        (CannedResponse::Status(200), "delivered", "none"),
        (CannedResponse::Status(204), "delivered", "none"),
        (CannedResponse::Status(500), "failed", "bad_status"),
        (CannedResponse::Redirect(here.clone()), "failed", "redirect"),
        (CannedResponse::HangUp, "failed", "connection_broken"),
        (CannedResponse::Silence, "failed", "timed_out"),
    ];
    service.a.put("/webhook", &json!({ "url": here })).await.data();
    for (answer, outcome, reason) in of_answers {
        receiver.set_default_response(answer);
        one_attempt(&service, &shop, outcome, reason).await;
    }
    let secure = format!("https://{}/hook", receiver.addr);
    for (url, reason) in [
        ("http://127.0.0.1:1/hook", "cannot_connect"),
        (secure.as_str(), "tls_failed"),
        ("http://nowhere.example.com/hook", "name_not_resolved"),
        ("http://inside.example.com/hook", "target_not_allowed"),
    ] {
        receiver.set_default_response(CannedResponse::HangUp);
        service.a.put("/webhook", &json!({ "url": url })).await.data();
        one_attempt(&service, &shop, "failed", reason).await;
    }
}

#[test]
fn attempts_are_counted_on_sqlite() {
    block_on(attempts_are_counted_by_outcome_and_reason(Backend::Sqlite));
}

#[test]
fn attempts_are_counted_on_postgres() {
    block_on(attempts_are_counted_by_outcome_and_reason(Backend::Postgres));
}

/// Waits until a scrape shows all of these.
async fn assert_samples(service: &TestService, what: &str, samples: &[(&str, f64)]) {
    let mut last = None;
    let seen = async {
        loop {
            let scrape = Scrape::of(service.addr).await;
            if samples
                .iter()
                .all(|(sample, value)| scrape.get(sample) == Some(*value))
            {
                return;
            }
            let shown: Vec<_> = samples.iter().map(|(s, _)| (*s, scrape.get(s))).collect();
            last = Some(format!("{shown:?}"));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(30), seen).await.is_ok();
    assert!(in_time, "in vain: {what}: {last:?}, wanted {samples:?}");
}

async fn what_waits_is_shown_with_its_age(backend: Backend) {
    let receiver = Receiver::start().await;
    let service = house_beside(&receiver, backend).await;
    let (first, second) = (
        service.shop(&service.a, "s").await,
        service.shop(&service.b, "t").await,
    );
    for client in [&service.a, &service.b] {
        let url = receiver.url("/hook");
        client.put("/webhook", &json!({ "url": url })).await.data();
    }
    let nothing = [
        ("garson_undelivered", 0.0),
        ("garson_undelivered_accounts", 0.0),
        ("garson_undelivered_oldest_age_seconds", 0.0),
        ("garson_delivery_in_flight", 0.0),
        ("garson_delivery_queued", 0.0),
    ];
    assert_samples(&service, "nothing waits", &nothing).await;
    receiver.set_default_response(CannedResponse::Status(503));
    first.order("1").await;
    service.clock.advance(Duration::from_secs(3));
    second.order("2").await;
    second.order("3").await;
    receiver.wait_for(3).await;
    // The clock is fixed, so the ages are exact; the retries are due in ten seconds.
    let waiting = [
        ("garson_undelivered", 3.0),
        ("garson_undelivered_accounts", 2.0),
        ("garson_undelivered_oldest_age_seconds", 3.0),
        ("garson_delivery_receivers", 2.0),
        ("garson_deliveries_total{state=\"delivered\"}", 0.0),
    ];
    assert_samples(&service, "three events wait", &waiting).await;
    receiver.set_default_response(CannedResponse::Status(200));
    service.clock.advance(Duration::from_secs(20));
    service.app.wake_deliver.notify_one();
    let done = [
        ("garson_deliveries_total{state=\"delivered\"}", 3.0),
        ("garson_deliveries_total{state=\"failed\"}", 0.0),
        ("garson_delivery_seconds_count", 3.0),
        // 23 seconds once, 20 twice.
        ("garson_delivery_seconds_sum", 63.0),
        ("garson_delivery_seconds_bucket{le=\"10.0\"}", 0.0),
        ("garson_delivery_seconds_bucket{le=\"30.0\"}", 3.0),
    ];
    assert_samples(&service, "they have arrived", &done).await;
    assert_samples(&service, "nothing waits any more", &nothing).await;
}

#[test]
fn ages_are_shown_on_sqlite() {
    block_on(what_waits_is_shown_with_its_age(Backend::Sqlite));
}

#[test]
fn ages_are_shown_on_postgres() {
    block_on(what_waits_is_shown_with_its_age(Backend::Postgres));
}

async fn ends_are_counted(backend: Backend) {
    let receiver = Receiver::start().await;
    let service = house_beside(&receiver, backend).await;
    let shop = service.shop(&service.a, "s").await;
    let url = receiver.url("/hook");
    service.a.put("/webhook", &json!({ "url": url })).await.data();
    receiver.set_default_response(CannedResponse::Status(500));
    shop.order("1").await;
    for attempts in 1..4 {
        receiver.wait_for(attempts).await;
        let failed = attempt("failed", "bad_status");
        let counted = [(failed.as_str(), attempts as f64), ("garson_undelivered", 1.0)];
        assert_samples(&service, "it is tried again", &counted).await;
        wait_until("the result is written", async || {
            service.count("events WHERE state = 'pending' AND failures > 0") == 1
                && service.count("attempts") >= attempts.try_into().unwrap()
        })
        .await;
        service.clock.advance(Duration::from_secs(300));
        service.app.wake_deliver.notify_one();
    }
    let given_up = [
        (attempt("failed", "bad_status"), 4.0),
        ("garson_deliveries_total{state=\"failed\"}".to_owned(), 1.0),
        ("garson_undelivered".to_owned(), 0.0),
    ];
    let given_up: Vec<_> = given_up
        .iter()
        .map(|(sample, value)| (sample.as_str(), *value))
        .collect();
    assert_samples(&service, "it is given up", &given_up).await;
    // One that waits for its retry while the address is removed is skipped.
    shop.order("2").await;
    receiver.wait_for(5).await;
    wait_until("the result is written", async || service.count("attempts") == 5).await;
    service.a.delete("/webhook").await.done();
    service.clock.advance(Duration::from_secs(300));
    service.app.wake_deliver.notify_one();
    let skipped = [
        ("garson_deliveries_total{state=\"skipped\"}", 1.0),
        ("garson_undelivered", 0.0),
    ];
    assert_samples(&service, "it is skipped", &skipped).await;
    assert_eq!(receiver.seen().len(), 5);
}

#[test]
fn ends_are_counted_on_sqlite() {
    block_on(ends_are_counted(Backend::Sqlite));
}

#[test]
fn ends_are_counted_on_postgres() {
    block_on(ends_are_counted(Backend::Postgres));
}

/// The figures need not be exact to be useful, but looking at them must not become a burden.
#[test]
fn metric_cardinality_is_bounded() {
    block_on(async {
        let service = TestService::open(Backend::Sqlite).await;
        let shop = service.shop(&service.a, "s").await;
        shop.order("1").await;
        // No one listens here, and nothing is tried within this test: it is only counted.
        let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120000)
                    INSERT INTO inbox (id, hash, provider, kind, params, body, state, times, received_at)
                    SELECT randomblob(16), randomblob(32), 'direct', 'order', '[]', x'', 'unreadable', 1, i FROM n";
        service.execute_sql(many);
        let reply = send(service.addr, &request("GET", "/metrics", &[], &[])).await;
        let line = "garson_kept_messages{state=\"unreadable\"} 10000\n";
        assert!(reply.text().contains(line), "{}", reply.text());
    });
}
