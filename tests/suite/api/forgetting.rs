//! Events are kept for some weeks; whoever comes back later than that is told what is missing.

use crate::support::House;
use garson::flow::admin::accounts;
use garson::flow::read::event_feed::{Follower, Next, Pass, Start};
use garson_store::tables::{accounts as store, keys};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

cases! {
    old_events_are_gone_and_their_cursors_say_so
    a_place_in_what_is_kept_goes_on
    a_list_that_is_empty_can_be_followed
    a_stream_whose_next_events_are_removed_ends
    a_deleted_restaurant_leaves_cursors_alone
    retries_go_with_the_events
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The page at the end of a walk towards newer ones, and its cursor.
async fn newest(house: &House) -> (Vec<Value>, String) {
    let page = house.a.get("/events?limit=200").await.success();
    let cursor = page["paging"]["prev"].as_str().unwrap().to_owned();
    (page["data"].as_array().unwrap().clone(), cursor)
}

/// Five orders of which the first three are two days older, and the cursor behind the first.
async fn a_month(house: &House) -> String {
    let shop = house.shop(&house.a, "s").await;
    shop.order("1").await;
    let (_, cursor) = newest(house).await;
    shop.order("2").await;
    shop.order("3").await;
    house.advance(DAY * 2);
    shop.order("4").await;
    shop.order("5").await;
    house.advance(DAY * 29);
    house.sweep().await;
    cursor
}

async fn old_events_are_gone_and_their_cursors_say_so(house: House) {
    let cursor = a_month(&house).await;
    let (kept, _) = newest(&house).await;
    let names: Vec<&str> = kept
        .iter()
        .map(|event| event["veri"]["pid"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["5", "4"]);
    assert_eq!((house.count("events"), house.count("orders")), (2, 5));
    assert_eq!(
        house
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
        let refused = house.a.get(&path).await;
        refused.wrong(422, "invalid_cursor", "cursor");
        assert!(refused.text().contains("no longer kept"), "{}", refused.text());
    }
    // Towards older ones there is just nothing more.
    let older = house.a.get(&format!("/events?cursor={cursor}")).await.success();
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
        let refused = house.a.follow_from(&query, &headers).await.err().unwrap();
        refused.wrong(422, "invalid_cursor", field);
    }
    // From the oldest that is kept, everything comes.
    let all = house.a.get("/events?dir=prev").await.success();
    assert_eq!(all["data"].as_array().unwrap().len(), 2);
}

async fn a_place_in_what_is_kept_goes_on(house: House) {
    a_month(&house).await;
    let all = house.a.get("/events?dir=prev&limit=1").await.success();
    let cursor = all["paging"]["prev"].as_str().unwrap();
    let rest = house
        .a
        .get(&format!("/events?dir=prev&cursor={cursor}"))
        .await
        .data();
    assert_eq!(rest[0]["veri"]["pid"], json!("5"));
    let mut stream = house.a.follow_after(cursor).await;
    assert_eq!(stream.take(1).await[0].json(), rest[0]);
    // The last place that is gone is as good as any: nothing is missing behind it.
    house.advance(DAY * 2);
    house.sweep().await;
    let (none, end) = newest(&house).await;
    assert_eq!(none.len(), 0);
    house.a.follow_after(&end).await;
}

async fn a_list_that_is_empty_can_be_followed(house: House) {
    a_month(&house).await;
    house.advance(DAY * 2);
    house.sweep().await;
    for first in ["/events", "/events?dir=prev"] {
        let page = house.a.get(first).await.success();
        assert_eq!(
            (&page["data"], &page["paging"]["next"]),
            (&json!([]), &Value::Null)
        );
        let cursor = page["paging"]["prev"].as_str().unwrap();
        let since = house
            .a
            .get(&format!("/events?dir=prev&cursor={cursor}"))
            .await
            .success();
        assert_eq!(
            (&since["data"], &since["paging"]["prev"]),
            (&json!([]), &json!(cursor))
        );
        house
            .a
            .follow_from(&format!("?cursor={cursor}"), &[])
            .await
            .map(drop)
            .unwrap();
    }
}

async fn a_stream_whose_next_events_are_removed_ends(house: House) {
    // More than a stream reads at a time.
    const ORDERS: usize = 60;
    let shop = house.shop(&house.a, "s").await;
    for n in 0..ORDERS {
        shop.order(&n.to_string()).await;
    }
    let account = accounts::by_email(&house.app, "first@example.com")
        .await
        .unwrap()
        .id;
    let key = accounts::list_keys(&house.app, account).await.unwrap()[0].id;
    let start = Start::After {
        place: 0,
        given: "cursor",
    };
    let mut slow = Follower::start(Arc::clone(&house.app), account, Pass::Key(key), start)
        .await
        .unwrap();
    let mut quick = Follower::start(Arc::clone(&house.app), account, Pass::Key(key), Start::Now)
        .await
        .unwrap();
    let Next::Events(first) = slow.next().await else {
        panic!("nothing came");
    };
    assert!(first.len() < ORDERS);
    house.advance(DAY * 31);
    shop.order("late").await;
    house.sweep().await;
    assert!(matches!(slow.next().await, Next::End), "it went on behind a gap");
    // One that has read everything goes on as if nothing was.
    assert!(matches!(quick.next().await, Next::Events(events) if events.len() == 1));
    let span = house
        .app
        .store
        .read(move |tx| store::event_range(tx, account))
        .await
        .unwrap();
    assert!(slow.place() < span.removed_up_to && span.removed_up_to <= quick.place());
    assert!(
        house
            .app
            .store
            .read(move |tx| keys::exists(tx, key))
            .await
            .unwrap()
    );
}

async fn a_deleted_restaurant_leaves_cursors_alone(house: House) {
    let shop = house.shop(&house.a, "s").await;
    shop.order("1").await;
    let beginning = house.a.get("/events?dir=prev&limit=1").await.success();
    let cursor = beginning["paging"]["prev"].as_str().unwrap();
    house
        .a
        .delete(&format!("/restaurants/{}", shop.restaurant))
        .await
        .done();
    house.sweep().await;
    assert_eq!(house.count("events"), 0);
    let since = house
        .a
        .get(&format!("/events?dir=prev&cursor={cursor}"))
        .await
        .data();
    assert_eq!(since, json!([]));
}

async fn retries_go_with_the_events(house: House) {
    let webhook = json!({ "url": "https://pos.example.com" });
    house.a.put("/webhook", &webhook).await.data();
    let since = json!({ "since": "2026-03-01T09:00:00Z" });
    house.a.post("/webhook/deliveries/retry", &since).await.data();
    house.advance(DAY * 29);
    house.sweep().await;
    assert_eq!(house.count("resends"), 1);
    house.advance(DAY * 2);
    house.sweep().await;
    assert_eq!(house.count("resends"), 0);
}
