//! What the API shows of the platform's side: `providerStatus`, and every change of `providerSync` in the change lists.

use super::expected_calls::{EXPECTED_CALLS, ExpectedStep};
use crate::support::{Backend, PlatformOrder, PlatformWorld, wait_until};
use garson_sim::Platform::{self, Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{Courier, Fault};
use serde_json::{Value, json};

on_both! {
    provider_status_follows_our_steps
    provider_status_follows_our_cancellation
    change_lists_show_provider_sync
    change_lists_show_ready_orders
    provider_status_change_alone_is_listed
}

/// The word that a platform has for an order after a step, where it was told.
fn word(platform: Platform, stop: &ExpectedStep, is_verification: bool) -> Value {
    match (platform, is_verification) {
        (Yemeksepeti, true) => json!("accepted"),
        // Of other steps it shows nothing.
        (Yemeksepeti, false) => Value::Null,
        _ => json!(stop.state),
    }
}

async fn provider_status_follows_our_steps(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for expected in EXPECTED_CALLS {
        let placed = world.verified(expected.platform, expected.courier).await;
        let mut provider_status = word(expected.platform, &expected.verify, true);
        let order = world.wait_for_sync(&placed, "done").await;
        assert_eq!(order["providerStatus"], provider_status, "{expected:?}");
        for (number, stop) in [expected.ready, expected.on_the_way, expected.delivered]
            .iter()
            .enumerate()
        {
            match number {
                0 => world.ready(&placed).await.data(),
                _ => world.advance(&placed).await.data(),
            };
            if stop.call.is_some() {
                provider_status = word(expected.platform, stop, false);
            }
            let order = world.wait_for_sync(&placed, stop.sync()).await;
            assert_eq!(order["providerStatus"], provider_status, "{expected:?} {stop:?}");
        }
    }
}

async fn provider_status_follows_our_cancellation(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for (platform, new, accepted) in [
        (Getir, json!("1600"), json!("1600")),
        (Yemeksepeti, json!("cancelled"), json!("cancelled")),
        (Trendyol, json!("UnSupplied"), json!("UnSupplied")),
        (Migros, json!("REJECTED"), Value::Null),
    ] {
        let placed = world.order(platform, Courier::Restaurant).await;
        world.cancel(&placed, json!({})).await.data();
        assert_eq!(
            world.find_order(&placed).await.unwrap()["providerStatus"],
            new,
            "{platform}"
        );
        let placed = world.verified(platform, Courier::Restaurant).await;
        world.cancel(&placed, json!({})).await.data();
        assert_eq!(
            world.find_order(&placed).await.unwrap()["providerStatus"],
            accepted,
            "{platform}"
        );
    }
}

/// A client that asks again and again what has changed.
struct Watcher<'a> {
    world: &'a PlatformWorld,
    place: Option<String>,
}

impl<'a> Watcher<'a> {
    async fn at(world: &'a PlatformWorld) -> Self {
        let mut watcher = Self { world, place: None };
        watcher.changes().await;
        watcher
    }

    /// The orders that have changed since the last time, the newest change first, and what `providerSync` says of them.
    async fn changes(&mut self) -> Vec<(String, String)> {
        let list = "/orders?updatedSince=2026-01-01&include=detail";
        let path = match &self.place {
            None => list.to_owned(),
            Some(place) => format!("{list}&dir=prev&cursor={place}"),
        };
        let page = self.world.a.get(&path).await.success();
        self.place = page["paging"]["prev"].as_str().map(str::to_owned);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let orders = page["data"].as_array().unwrap().iter();
        orders
            .map(|order| {
                (
                    text(&order["providerOrderId"]),
                    text(&order["providerSync"]["state"]),
                )
            })
            .collect()
    }

    /// Waits for the state, which must be among the changes.
    async fn sees(&mut self, placed: &PlatformOrder, state: &str) {
        self.world.wait_for_sync(placed, state).await;
        assert_eq!(self.changes().await, [(placed.id.clone(), state.to_owned())]);
    }
}

async fn change_lists_show_provider_sync(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    for platform in [Trendyol, Migros] {
        let placed = world.verified(platform, Courier::Restaurant).await;
        let call = match platform {
            Trendyol => "invoiced",
            _ => "update-status",
        };
        let away = |status| Fault::Status { status, body: None };
        let mut watcher = Watcher::at(&world).await;
        world.fault(platform, call, away(503), Some(1)).await;
        world.fault(platform, call, away(400), Some(1)).await;
        world.ready(&placed).await.data();
        watcher.sees(&placed, "pending").await;
        // That the next try is due later is no change; that it has failed is one.
        let mut seen = Vec::new();
        wait_until("the step has failed", async || {
            world.advance_clock(5).await;
            seen.extend(watcher.changes().await);
            !seen.is_empty()
        })
        .await;
        assert_eq!(seen, [(placed.id.clone(), "failed".to_owned())]);
        world
            .a
            .act(&format!("/orders/retry-sync/{}", placed.id))
            .await
            .data();
        watcher.sees(&placed, "done").await;
        assert!(watcher.changes().await.is_empty());
    }
}

async fn change_lists_show_ready_orders(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    world.configure(json!({ "preparationMinutes": 10 })).await;
    let placed = world.verified(Trendyol, Courier::Restaurant).await;
    let mut watcher = Watcher::at(&world).await;
    world.advance_clock(601).await;
    world
        .wait_for_order(&placed, "is ready", |order| order["readyAt"].is_string())
        .await;
    assert_eq!(watcher.changes().await, [(placed.id.clone(), "done".to_owned())]);
}

/// A list shows an order in the same status with another word: the order is listed as changed, and hides no other.
async fn provider_status_change_alone_is_listed(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let old = world.verified(Getir, Courier::Restaurant).await;
    world.advance_clock(60).await;
    let other = world.verified(Getir, Courier::Restaurant).await;
    let since = world.find_order(&other).await.unwrap()["updatedAt"].clone();
    let id = &old.id;
    world.service.execute_sql(&format!(
        "UPDATE orders SET provider_status = '400' WHERE provider_order_id = '{id}'"
    ));
    world.advance_clock(60).await;
    world.poll().await;
    let order = world.find_order(&old).await.unwrap();
    assert_eq!(order["providerStatus"], json!("500"), "{order:#}");
    assert!(order["updatedAt"].as_str() > since.as_str(), "{order:#}");
    let list = format!("/orders?updatedSince={}", since.as_str().unwrap());
    let found = world.a.get(&list).await.data();
    let ids: Vec<_> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["providerOrderId"])
        .collect();
    assert_eq!(ids, [&json!(old.id), &json!(other.id)]);
}
