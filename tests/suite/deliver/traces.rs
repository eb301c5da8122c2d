//! Traces: what a collector gets of an order's life.

use crate::support::{
    Backend, CannedResponse, PlatformWorld, ReceivedRequest, Receiver, Scrape, TestService,
    fast_sim_settings, wait_until,
};
use garson_core::secret::Secret;
use garson_sim::Platform;
use garson_sim::views::Courier;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

on_both! {
    life_of_an_order_is_one_trace
    ; sqlite_only: webhooks_have_no_traceparent_by_default deliveries_do_not_wait_for_the_collector
}

/// A span, as a collector reads it.
#[derive(Clone, Debug)]
struct CollectedSpan {
    id: String,
    parent: Option<String>,
    trace: String,
    name: String,
    start: u64,
    end: u64,
}

/// Reads a request as the protocol's specification demands. Fails for anything that it does not name.
fn spans_of(request: &ReceivedRequest) -> Vec<CollectedSpan> {
    assert_eq!(request.line, "POST /v1/traces HTTP/1.1");
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("authorization"), Some("Bearer collector"));
    let json = request.json();
    let resource = &json["resourceSpans"][0];
    let name = &resource["resource"]["attributes"][0];
    assert_eq!(
        name,
        &json!({ "key": "service.name", "value": { "stringValue": "garson" } })
    );
    let spans = resource["scopeSpans"][0]["spans"].as_array().unwrap();
    spans.iter().map(span).collect()
}

fn span(json: &Value) -> CollectedSpan {
    let text = |name: &str| json[name].as_str().map(str::to_owned);
    let nanos = |name: &str| -> u64 { json[name].as_str().unwrap().parse().unwrap() };
    let is_id = |text: &str, length: usize| {
        text.len() == length
            && text
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
    };
    for field in json.as_object().unwrap().keys() {
        let known = [
            "traceId",
            "spanId",
            "parentSpanId",
            "flags",
            "name",
            "kind",
            "startTimeUnixNano",
            "endTimeUnixNano",
            "attributes",
            "status",
            "links",
        ];
        assert!(known.contains(&field.as_str()), "{json}");
    }
    assert!((1..=5).contains(&json["kind"].as_u64().unwrap()), "{json}");
    for attribute in json["attributes"].as_array().unwrap() {
        assert!(
            attribute["key"].is_string()
                && ["stringValue", "intValue"]
                    .iter()
                    .any(|kind| attribute["value"][kind].is_string()),
            "{json}"
        );
    }
    let found = CollectedSpan {
        id: text("spanId").unwrap(),
        parent: text("parentSpanId"),
        trace: text("traceId").unwrap(),
        name: text("name").unwrap(),
        start: nanos("startTimeUnixNano"),
        end: nanos("endTimeUnixNano"),
    };
    assert!(is_id(&found.trace, 32) && is_id(&found.id, 16), "{json}");
    assert!(
        found.start <= found.end && found.start > 1_700_000_000_000_000_000,
        "{json}"
    );
    found
}

fn collected(collector: &Receiver) -> Vec<CollectedSpan> {
    collector.seen().iter().flat_map(spans_of).collect()
}

async fn life_of_an_order_is_one_trace(backend: Backend) {
    let (collector, receiver) = (Receiver::start().await, Receiver::start().await);
    let endpoint = collector.url("/");
    let world = PlatformWorld::open_with(backend, fast_sim_settings(), move |settings| {
        settings.allow_private_targets = true;
        settings.webhook.retry_seconds = vec![1, 1];
        settings.traces.endpoint = endpoint;
        settings.traces.authorization = Secret::new("Bearer collector".to_owned());
    })
    .await;
    world
        .a
        .put("/webhook", &json!({ "url": receiver.url("/hook") }))
        .await
        .data();
    // The first try fails, so there are two attempts at one event.
    receiver.next(CannedResponse::Status(500));
    let placed = world.verified(Platform::Trendyol, Courier::Platform).await;
    world.ready(&placed).await.data();
    world.wait_for_sync(&placed, "done").await;
    let order = world.a.get(&format!("/orders/{}", placed.id)).await.data();
    let trace = order["id"].as_str().unwrap().replace('-', "");
    let names = || -> BTreeMap<String, usize> {
        let spans = collected(&collector);
        let mut names = BTreeMap::new();
        for span in spans.into_iter().filter(|span| span.trace == trace) {
            *names.entry(span.name).or_default() += 1;
        }
        names
    };
    wait_until("all spans are there", async || {
        // The retry is due a second later by the service's clock.
        world.advance_clock(2).await;
        let names = names();
        let count = |name: &str| names.get(name).copied().unwrap_or_default();
        ["receive trendyol", "commit", "verify", "ready"]
            .iter()
            .all(|name| count(name) >= 1)
            && names
                .keys()
                .filter(|name| name.starts_with("call trendyol"))
                .count()
                >= 2
            && count("deliver") >= 2
            && count("attempt") > count("deliver")
    })
    .await;
    let spans: Vec<_> = collected(&collector)
        .into_iter()
        .filter(|span| span.trace == trace)
        .collect();
    let ids: BTreeSet<&str> = spans.iter().map(|span| span.id.as_str()).collect();
    assert_eq!(ids.len(), spans.len(), "{spans:#?}");
    let roots: Vec<_> = spans.iter().filter(|span| span.parent.is_none()).collect();
    assert_eq!(
        (roots.len(), roots[0].name.as_str()),
        (1, "receive trendyol"),
        "{spans:#?}"
    );
    for span in spans.iter().filter(|span| span.name != "attempt") {
        if let Some(parent) = &span.parent {
            assert!(ids.contains(parent.as_str()), "{span:?} of {spans:#?}");
        }
    }
    // Receivers are told of the attempt, and each attempt has another id.
    let attempts: BTreeSet<&str> = spans
        .iter()
        .filter(|span| span.name == "attempt")
        .map(|span| span.id.as_str())
        .collect();
    let seen = receiver.seen();
    let told: BTreeSet<&str> = seen
        .iter()
        .map(|request| {
            let parts: Vec<_> = request.header("traceparent").unwrap().split('-').collect();
            assert_eq!(
                (parts.len(), parts[0], parts[1], parts[3]),
                (4, "00", trace.as_str(), "01")
            );
            parts[2]
        })
        .collect();
    assert_eq!(told.len(), seen.len());
    assert!(attempts.is_subset(&told), "{attempts:?} of {told:?}");
    // Nothing of the customer leaves with them.
    for request in collector.seen() {
        let customer = &order["customer"];
        for field in ["name", "phone"] {
            if let Some(text) = customer[field].as_str().filter(|text| !text.is_empty()) {
                assert!(!request.body.contains(text), "{text}");
            }
        }
    }
}

async fn webhooks_have_no_traceparent_by_default(backend: Backend) {
    let service = TestService::open_private(backend).await;
    let receiver = Receiver::start().await;
    service
        .a
        .put("/webhook", &json!({ "url": receiver.url("/hook") }))
        .await
        .data();
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    let seen = receiver.wait_for(1).await;
    assert_eq!(seen[0].header("traceparent"), None);
}

async fn deliveries_do_not_wait_for_the_collector(backend: Backend) {
    let mut service = TestService::open_private(backend).await;
    let (collector, receiver) = (Receiver::start().await, Receiver::start().await);
    collector.set_default_response(CannedResponse::Status(400));
    let endpoint = collector.url("");
    service
        .restart_with(move |settings| settings.traces.endpoint = endpoint)
        .await;
    service
        .a
        .put("/webhook", &json!({ "url": receiver.url("/hook") }))
        .await
        .data();
    let mut shop = service.shop(&service.a, "s").await;
    shop.order("refused").await;
    wait_until("spans are dropped", async || {
        Scrape::of(service.addr)
            .await
            .count("garson_trace_spans_dropped_total")
            >= 2.0
    })
    .await;
    let counted = async |name: &str| Scrape::of(service.addr).await.count(name);
    let (sent, dropped) = (
        "garson_trace_spans_sent_total",
        "garson_trace_spans_dropped_total",
    );
    let before = (counted(sent).await, counted(dropped).await);
    let partial = json!({ "partialSuccess": { "rejectedSpans": "1", "errorMessage": "too old" } });
    collector.set_default_response(CannedResponse::Body(200, partial.to_string()));
    shop.order("accepted in part").await;
    wait_until("a span is counted as dropped", async || {
        counted(sent).await > before.0 && counted(dropped).await > before.1
    })
    .await;
    for answer in [
        CannedResponse::Silence,
        CannedResponse::Endless,
        CannedResponse::HangUp,
        CannedResponse::Redirect("http://127.0.0.1:1/".to_owned()),
    ] {
        let (asked, delivered) = (collector.count(), receiver.count());
        collector.set_default_response(answer.clone());
        for n in 0..20 {
            shop.order(&format!("{answer:?} {n}")).await;
        }
        receiver.wait_for(delivered + 20).await;
        wait_until("the collector is asked", async || collector.count() > asked).await;
        if matches!(answer, CannedResponse::Silence) {
            // It is asked for one batch at a time: what follows is for the next ones.
            service.restart().await;
            shop.addr = service.addr;
        }
    }
    service.stop().await;
}
