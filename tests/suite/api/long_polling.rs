//! Long polling for events.

use super::event_stream::{begin_poll, ledger};
use crate::support::{StealAwareInstant, TestService};
use serde_json::json;
use std::time::Duration;

cases! {
    long_poll_with_new_events_returns_immediately
    long_poll_without_events_waits
    long_poll_without_events_times_out
    invalid_wait_values_are_refused
}

async fn long_poll_with_new_events_returns_immediately(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let (_, cursor) = ledger(&service.a).await;
    shop.order("1").await;
    let start = StealAwareInstant::now();
    let path = format!("/events?dir=prev&cursor={cursor}&wait=60");
    let page = service.a.get(&path).await.success();
    assert_eq!(page["data"][0]["veri"]["pid"], "1");
    assert_eq!(page["data"].as_array().unwrap().len(), 1);
    // From the beginning there is something too.
    assert_eq!(
        service
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

async fn long_poll_without_events_waits(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let (_, cursor) = ledger(&service.a).await;
    let path = format!("/events?dir=prev&cursor={cursor}&wait=60");
    let poll = begin_poll(&service, &path).await;
    // Events of other accounts do not count.
    service.shop(&service.b, "other").await.order("1").await;
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
    let poll = begin_poll(&service, &path).await;
    service.a.act("/orders/verify/1").await.data();
    let page = poll.await.unwrap().success();
    assert_eq!(page["data"].as_array().unwrap().len(), 1);
    assert_eq!(page["data"][0]["veri"]["newStatus"], 500);
    assert_eq!(service.app.store.account_watch().watcher_count(), 0);
}

async fn long_poll_without_events_times_out(service: TestService) {
    service.shop(&service.a, "s").await;
    let (_, cursor) = ledger(&service.a).await;
    let start = std::time::Instant::now();
    let path = format!("/events?dir=prev&cursor={cursor}&wait=1");
    let page = service.a.get(&path).await.success();
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert_eq!(page["data"], json!([]));
    assert_eq!(page["paging"]["prev"], json!(cursor));
    // An account without any event waits for its first.
    let page = service.b.get("/events?dir=prev&wait=1").await.success();
    assert_eq!(page["data"], json!([]));
    assert_eq!(page["paging"]["prev"], "0000000000000000");
}

async fn invalid_wait_values_are_refused(service: TestService) {
    for wrong in ["0", "61", "-1", "", "x", "1.5", "1&wait=2"] {
        let path = format!("/events?dir=prev&wait={wrong}");
        service.a.get(&path).await.wrong(422, "invalid_parameter", "wait");
    }
    for towards_older in ["/events?wait=1", "/events?dir=next&wait=1"] {
        service
            .a
            .get(towards_older)
            .await
            .wrong(422, "invalid_parameter", "wait");
    }
    // A place that was not reached yet would hide what comes before it.
    service
        .a
        .get("/events?dir=prev&wait=1&cursor=7000000000000000")
        .await
        .wrong(422, "invalid_cursor", "cursor");
}
