//! Events are removed after the retention period; clients with older cursors get an explicit error.

use crate::support::TestService;
use garson::flow::admin::{accounts, keys};
use garson::flow::read::event_feed::{Follower, Next, Pass, Start};
use garson_core::presence::PresenceKind;
use garson_store::tables::accounts as store;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

cases! {
    cursors_of_removed_events_are_gone
    cursor_within_retention_still_works
    empty_event_list_can_be_followed
    stream_ends_when_its_next_events_are_removed
    deleting_a_restaurant_keeps_cursors_valid
    retries_are_removed_with_their_events
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The page at the end of a walk towards newer ones, and its cursor.
async fn newest(service: &TestService) -> (Vec<Value>, String) {
    let page = service.a.get("/events?limit=200").await.success();
    let cursor = page["paging"]["prev"].as_str().unwrap().to_owned();
    (page["data"].as_array().unwrap().clone(), cursor)
}

/// Five orders of which the first three are two days older, and the cursor behind the first.
async fn a_month(service: &TestService) -> String {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    let (_, cursor) = newest(service).await;
    shop.order("2").await;
    shop.order("3").await;
    service.advance(DAY * 2);
    shop.order("4").await;
    shop.order("5").await;
    service.advance(DAY * 29);
    service.sweep().await;
    cursor
}

async fn cursors_of_removed_events_are_gone(service: TestService) {
    let cursor = a_month(&service).await;
    let (kept, _) = newest(&service).await;
    let names: Vec<&str> = kept
        .iter()
        .map(|event| event["veri"]["pid"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["5", "4"]);
    assert_eq!((service.count("events"), service.count("orders")), (2, 5));
    assert_eq!(
        service
            .a
            .get("/webhook/deliveries")
            .await
            .data()
            .as_array()
            .unwrap()
            .len(),
        2
    );
    for path in [
        format!("/events?dir=prev&cursor={cursor}"),
        format!("/events?dir=prev&wait=1&cursor={cursor}"),
        "/events?dir=prev&cursor=0000000000000000".to_owned(),
    ] {
        let refused = service.a.get(&path).await;
        refused.wrong(422, "invalid_cursor", "cursor");
        assert!(refused.text().contains("no longer kept"), "{}", refused.text());
    }
    // Towards older ones there is just nothing more.
    let older = service.a.get(&format!("/events?cursor={cursor}")).await.success();
    assert_eq!(
        (&older["data"], &older["paging"]["next"]),
        (&json!([]), &Value::Null)
    );
    for (query, headers, field) in [
        (
            String::new(),
            vec![("last-event-id", cursor.as_str())],
            "Last-Event-ID",
        ),
        (format!("?cursor={cursor}"), vec![], "cursor"),
    ] {
        let refused = service.a.follow_from(&query, &headers).await.err().unwrap();
        refused.wrong(422, "invalid_cursor", field);
    }
    // From the oldest that is kept, everything comes.
    let all = service.a.get("/events?dir=prev").await.success();
    assert_eq!(all["data"].as_array().unwrap().len(), 2);
}

async fn cursor_within_retention_still_works(service: TestService) {
    a_month(&service).await;
    let all = service.a.get("/events?dir=prev&limit=1").await.success();
    let cursor = all["paging"]["prev"].as_str().unwrap();
    let rest = service
        .a
        .get(&format!("/events?dir=prev&cursor={cursor}"))
        .await
        .data();
    assert_eq!(rest[0]["veri"]["pid"], json!("5"));
    let mut stream = service.a.follow_after(cursor).await;
    assert_eq!(stream.take(1).await[0].json(), rest[0]);
    // The last place that is gone is as good as any: nothing is missing behind it.
    service.advance(DAY * 2);
    service.sweep().await;
    let (none, end) = newest(&service).await;
    assert_eq!(none.len(), 0);
    service.a.follow_after(&end).await;
}

async fn empty_event_list_can_be_followed(service: TestService) {
    a_month(&service).await;
    service.advance(DAY * 2);
    service.sweep().await;
    for first in ["/events", "/events?dir=prev"] {
        let page = service.a.get(first).await.success();
        assert_eq!(
            (&page["data"], &page["paging"]["next"]),
            (&json!([]), &Value::Null)
        );
        let cursor = page["paging"]["prev"].as_str().unwrap();
        let since = service
            .a
            .get(&format!("/events?dir=prev&cursor={cursor}"))
            .await
            .success();
        assert_eq!(
            (&since["data"], &since["paging"]["prev"]),
            (&json!([]), &json!(cursor))
        );
        service
            .a
            .follow_from(&format!("?cursor={cursor}"), &[])
            .await
            .map(drop)
            .unwrap();
    }
}

async fn stream_ends_when_its_next_events_are_removed(service: TestService) {
    // More than a stream reads at a time.
    const ORDERS: usize = 60;
    let shop = service.shop(&service.a, "s").await;
    for n in 0..ORDERS {
        shop.order(&n.to_string()).await;
    }
    let account = accounts::by_email(&service.app, "first@example.com")
        .await
        .unwrap()
        .id;
    let key = keys::list(&service.app, account).await.unwrap()[0].id;
    let start = Start::After {
        place: 0,
        given: "cursor",
    };
    let mut slow = Follower::start(
        Arc::clone(&service.app),
        account,
        Pass::Key(key, PresenceKind::Stream),
        start,
    )
    .await
    .unwrap();
    let mut quick = Follower::start(
        Arc::clone(&service.app),
        account,
        Pass::Key(key, PresenceKind::Stream),
        Start::Now,
    )
    .await
    .unwrap();
    let Next::Events(first) = slow.next().await else {
        panic!("nothing came");
    };
    assert!(first.len() < ORDERS);
    service.advance(DAY * 31);
    shop.order("late").await;
    service.sweep().await;
    assert!(matches!(slow.next().await, Next::End), "it went on behind a gap");
    // One that has read everything goes on as if nothing was.
    assert!(matches!(quick.next().await, Next::Events(events) if events.len() == 1));
    let span = service
        .app
        .store
        .read(move |tx| store::event_range(tx, account))
        .await
        .unwrap();
    assert!(slow.place() < span.removed_up_to && span.removed_up_to <= quick.place());
    let now = service.app.now();
    assert!(
        service
            .app
            .store
            .read(move |tx| garson_store::tables::keys::is_valid(tx, key, now))
            .await
            .unwrap()
    );
}

async fn deleting_a_restaurant_keeps_cursors_valid(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    let beginning = service.a.get("/events?dir=prev&limit=1").await.success();
    let cursor = beginning["paging"]["prev"].as_str().unwrap();
    service
        .a
        .delete(&format!("/restaurants/{}", shop.restaurant))
        .await
        .done();
    service.sweep().await;
    assert_eq!(service.count("events"), 0);
    let since = service
        .a
        .get(&format!("/events?dir=prev&cursor={cursor}"))
        .await
        .data();
    assert_eq!(since, json!([]));
}

async fn retries_are_removed_with_their_events(service: TestService) {
    let webhook = json!({ "url": "https://pos.example.com" });
    service.a.put("/webhook", &webhook).await.data();
    let since = json!({ "since": "2026-03-01T09:00:00Z" });
    service.a.post("/webhook/deliveries/retry", &since).await.data();
    service.advance(DAY * 29);
    service.sweep().await;
    assert_eq!(service.count("resends"), 1);
    service.advance(DAY * 2);
    service.sweep().await;
    assert_eq!(service.count("resends"), 0);
}
