//! Reading and normalising an order of each platform, beside parsing the same bytes into a plain JSON value.

use super::effort::Effort;
use crate::error::Fallible;
use crate::table::{Finding, Goal, Series};
use garson_core::platform::{FETCHED, HookRequest, News, Platform, Verified};
use serde_json::Value;
use std::hint::black_box;
use std::time::Instant;

/// The row, the platform, the kind of message, and a typical order: a few items with options.
const SAMPLES: [(&str, &str, &str, &str); 5] = [
    (
        "reading an order of getir, of parsing it",
        "getir",
        FETCHED,
        include_str!("../../../crates/garson-platforms/src/getir/fixtures/order.json"),
    ),
    (
        "reading an order of yemeksepeti, of parsing it",
        "yemeksepeti",
        "order",
        include_str!("../../../crates/garson-platforms/src/yemeksepeti/fixtures/order-own-courier.json"),
    ),
    (
        "reading an order of trendyol, of parsing it",
        "trendyol",
        FETCHED,
        include_str!("../../../crates/garson-platforms/src/trendyol/fixtures/created_platform_courier.json"),
    ),
    (
        "reading an order of migros, of parsing it",
        "migros",
        FETCHED,
        include_str!("../../../crates/garson-platforms/src/migros/fixtures/order-created.json"),
    ),
    (
        "reading an order of direct, of parsing it",
        "direct",
        "order",
        include_str!("../../../crates/garson-platforms/src/direct/fixtures/order.json"),
    ),
];

pub fn reading(effort: Effort) -> Fallible<Vec<Finding>> {
    SAMPLES
        .into_iter()
        .map(|(row, key, kind, fixture)| of_platform(effort, row, key, kind, fixture))
        .collect()
}

fn of_platform(
    effort: Effort,
    row: &'static str,
    key: &str,
    kind: &'static str,
    fixture: &str,
) -> Fallible<Finding> {
    let platform: &dyn Platform = garson_platforms::find(key).ok_or("no such platform")?;
    // As it comes over the wire: without the spaces that make a fixture readable.
    let body = serde_json::from_str::<Value>(fixture)?.to_string().into_bytes();
    let bytes = body.len();
    let request = HookRequest {
        kind,
        params: vec![("remoteId".to_owned(), "branch".to_owned())],
        body,
        ..HookRequest::default()
    };
    let read = || platform.read(&Verified::ours(black_box(&request)));
    match read() {
        Ok(message) if matches!(message.news, News::Order(_)) => {}
        other => return Err(format!("the sample of {key} is not an order: {other:?}").into()),
    }
    let parse = || serde_json::from_slice::<Value>(black_box(&request.body));
    let (mut measured, mut baseline) = (Vec::new(), Vec::new());
    for _ in 0..effort.pairs {
        measured.push(microseconds(effort.turns, || drop(black_box(read()))));
        baseline.push(microseconds(effort.turns, || drop(black_box(parse()))));
    }
    Ok(Finding {
        row,
        ratio: Series::ratio(&measured, &baseline),
        measured: Series::new(measured, "µs"),
        baseline: Some(Series::new(baseline, "µs")),
        goal: Goal::AtMost(2.0),
        notes: vec![format!("{bytes} bytes")],
    })
}

/// What one turn takes, of many.
fn microseconds(turns: u64, mut turn: impl FnMut()) -> f64 {
    let turns = turns * 5;
    let started = Instant::now();
    for _ in 0..turns {
        turn();
    }
    started.elapsed().as_secs_f64() * 1e6 / crate::measure::count_of(turns)
}
