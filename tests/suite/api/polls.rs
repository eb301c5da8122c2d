//! Events that are waited for: long poll.

use super::streams::{begin_poll, ledger};
use crate::support::{House, StealAwareInstant};
use serde_json::json;
use std::time::Duration;

cases! {
    a_poll_with_news_is_answered_at_once
    a_poll_without_news_waits_for_some
    a_poll_in_vain_ends_with_its_time
    wrong_waits_are_refused
}

async fn a_poll_with_news_is_answered_at_once(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let (_, cursor) = ledger(&house.a).await;
    shop.order("1").await;
    let start = StealAwareInstant::now();
    let path = format!("/events?dir=prev&cursor={cursor}&wait=60");
    let page = house.a.get(&path).await.success();
    assert_eq!(page["data"][0]["veri"]["pid"], "1");
    assert_eq!(page["data"].as_array().unwrap().len(), 1);
    // From the beginning there is something too.
    assert_eq!(
        house
            .a
            .get("/events?dir=prev&wait=60")
            .await
            .data()
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert!(start.elapsed() < Duration::from_secs(30));
}

async fn a_poll_without_news_waits_for_some(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let (_, cursor) = ledger(&house.a).await;
    let path = format!("/events?dir=prev&cursor={cursor}&wait=60");
    let poll = begin_poll(&house, &path).await;
    // Somebody else's news is none.
    house.shop(&house.b, "other").await.order("1").await;
    assert!(!poll.is_finished());
    let start = StealAwareInstant::now();
    shop.order("1").await;
    let page = poll.await.unwrap().success();
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(page["data"][0]["veri"]["pid"], "1");
    // The cursor leads on, again and again.
    let path = format!(
        "/events?dir=prev&wait=60&cursor={}",
        page["paging"]["prev"].as_str().unwrap()
    );
    let poll = begin_poll(&house, &path).await;
    house.a.act("/orders/verify/1").await.data();
    let page = poll.await.unwrap().success();
    assert_eq!(page["data"].as_array().unwrap().len(), 1);
    assert_eq!(page["data"][0]["veri"]["newStatus"], 500);
    assert_eq!(house.app.store.account_watch().watcher_count(), 0);
}

async fn a_poll_in_vain_ends_with_its_time(house: House) {
    house.shop(&house.a, "s").await;
    let (_, cursor) = ledger(&house.a).await;
    let start = std::time::Instant::now();
    let path = format!("/events?dir=prev&cursor={cursor}&wait=1");
    let page = house.a.get(&path).await.success();
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert_eq!(page["data"], json!([]));
    assert_eq!(page["paging"]["prev"], json!(cursor));
    // An account without any event waits for its first.
    let page = house.b.get("/events?dir=prev&wait=1").await.success();
    assert_eq!(page["data"], json!([]));
    assert_eq!(page["paging"]["prev"], "0000000000000000");
}

async fn wrong_waits_are_refused(house: House) {
    for wrong in ["0", "61", "-1", "", "x", "1.5", "1&wait=2"] {
        let path = format!("/events?dir=prev&wait={wrong}");
        house.a.get(&path).await.wrong(422, "invalid_parameter", "wait");
    }
    for towards_older in ["/events?wait=1", "/events?dir=next&wait=1"] {
        house
            .a
            .get(towards_older)
            .await
            .wrong(422, "invalid_parameter", "wait");
    }
    // A place that was not reached yet would hide what comes before it.
    house
        .a
        .get("/events?dir=prev&wait=1&cursor=7000000000000000")
        .await
        .wrong(422, "invalid_cursor", "cursor");
}
