//! `/metrics` for platforms: orders by source, calls by kind and outcome.

use crate::support::{Backend, PlatformWorld, Scrape, wait_until};
use garson_sim::Platform::{Getir, Migros};
use garson_sim::views::{Courier, Fault, OrderRequest};
use serde_json::json;

on_both! {
    orders_are_counted_by_source
    calls_are_counted_by_kind_and_outcome
    calls_that_wait_are_counted_and_aged
}

fn call(platform: &str, kind: &str, outcome: &str) -> String {
    format!("garson_platform_calls_total{{provider=\"{platform}\",kind=\"{kind}\",outcome=\"{outcome}\"}}")
}

async fn scrape(world: &PlatformWorld) -> Scrape {
    Scrape::of(world.service.addr).await
}

async fn orders_are_counted_by_source(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let order = |way: &str| format!("garson_orders_total{{provider=\"migros\",way=\"{way}\"}}");
    let before = scrape(&world).await;
    world.order(Migros, Courier::Restaurant).await;
    let after = scrape(&world).await;
    assert_eq!(
        after.moved(&before, "garson_orders_total"),
        [(order("pushed"), 1.0)]
    );
    drop(world);
    // Pushes are lost, and asking finds both.
    let world = PlatformWorld::open(backend).await;
    world.fault(Migros, "push", Fault::Drop, None).await;
    let placed_orders = [
        world.place(OrderRequest::new(Migros)).await,
        world.place(OrderRequest::new(Migros)).await,
    ];
    wait_until("asking finds them", async || {
        world.poll().await;
        world.find_order(&placed_orders[0]).await.is_some()
            && world.find_order(&placed_orders[1]).await.is_some()
    })
    .await;
    let after = scrape(&world).await;
    assert_eq!(
        (after.count(&order("polled")), after.count(&order("pushed"))),
        (2.0, 0.0)
    );
    let taken = "garson_messages_total{provider=\"migros\",way=\"polled\",outcome=\"taken\"}";
    assert_eq!(after.get(taken), Some(2.0));
    assert!(after.count(&call("migros", "poll", "done")) >= 1.0);
}

async fn calls_are_counted_by_kind_and_outcome(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let before = scrape(&world).await;
    let placed = world.verified(Getir, Courier::Restaurant).await;
    let after = scrape(&world).await;
    let expected = [
        (call("getir", "login", "done"), 1.0),
        (call("getir", "verify", "done"), 1.0),
    ];
    assert_eq!(after.moved(&before, "garson_platform_calls_total"), expected);
    let count = "garson_platform_call_seconds_count{provider=\"getir\"}";
    assert_eq!(after.count(count) - before.count(count), 2.0);
    // An unavailable platform does not respond; the call stays open, and the order is read before it is repeated.
    let before = after;
    let down = Fault::Status {
        status: 503,
        body: None,
    };
    world.fault(Getir, "*", down, None).await;
    world.advance(&placed).await.data();
    let unclear = call("getir", "tell", "unclear");
    wait_until("the call has failed", async || {
        scrape(&world).await.count(&unclear) == 1.0
    })
    .await;
    world.wait_for_sync(&placed, "pending").await;
    world.control.clear_faults().await.unwrap();
    world.advance_clock(400).await;
    world.wait_for_sync(&placed, "done").await;
    let after = scrape(&world).await;
    let by = |sample: String| after.count(&sample) - before.count(&sample);
    assert_eq!(by(call("getir", "tell", "done")), 1.0);
    assert!(by(call("getir", "look", "done")) >= 1.0);
}

async fn calls_that_wait_are_counted_and_aged(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let placed = world.verified(Getir, Courier::Restaurant).await;
    assert_eq!(scrape(&world).await.get("garson_open_calls"), Some(0.0));
    assert_eq!(
        scrape(&world).await.get("garson_open_calls_overdue_seconds"),
        Some(0.0)
    );
    let now = world.service.app.now().as_millis();
    let down = Fault::Status {
        status: 503,
        body: None,
    };
    world.fault(Getir, "*", down, None).await;
    world.advance(&placed).await.data();
    world.wait_for_sync(&placed, "pending").await;
    // The call has been due for a minute and seems to be in progress. The attempt in flight may still
    // write down when the next one is.
    let held = format!(
        "UPDATE calls SET due_at = {}, node = (SELECT id FROM nodes LIMIT 1), leased_until = {}
         WHERE state = 'open'",
        now - 60_000,
        i64::MAX / 2
    );
    wait_until("a call is overdue", async || {
        world.service.execute_sql(&held);
        let shown = scrape(&world).await;
        assert_eq!(shown.get("garson_open_calls"), Some(1.0));
        shown.get("garson_open_calls_overdue_seconds") == Some(60.0)
    })
    .await;
    assert_eq!(
        world.find_order(&placed).await.unwrap()["providerSync"]["state"],
        json!("pending")
    );
}
