//! What the API shows of a platform's knowledge: its own word for the state, and every change of `providerSync` in the lists of
//! changes.

use super::road::{ROADS, Stop};
use crate::support::{Kind, Meal, Town, until};
use garson_sim::Platform::{self, Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{Courier, Fault};
use serde_json::{Value, json};

on_both! {
    the_platforms_word_follows_our_steps
    the_platforms_word_follows_our_cancellation
    lists_of_changes_show_what_the_platform_was_told
    lists_of_changes_show_when_the_food_was_ready
    a_new_word_alone_is_a_change
}

/// The word that a platform has for an order after a step, where it was told.
fn word(platform: Platform, stop: &Stop, is_verification: bool) -> Value {
    match (platform, is_verification) {
        (Yemeksepeti, true) => json!("accepted"),
        // Of other steps it shows nothing.
        (Yemeksepeti, false) => Value::Null,
        _ => json!(stop.state),
    }
}

async fn the_platforms_word_follows_our_steps(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for road in ROADS {
        let meal = town.verified(road.platform, road.courier).await;
        let mut expected = word(road.platform, &road.verify, true);
        let order = town.synced(&meal, "done").await;
        assert_eq!(order["providerStatus"], expected, "{road:?}");
        for (number, stop) in [road.ready, road.on_the_way, road.delivered].iter().enumerate() {
            match number {
                0 => town.ready(&meal).await.data(),
                _ => town.advance(&meal).await.data(),
            };
            if stop.call.is_some() {
                expected = word(road.platform, stop, false);
            }
            let order = town.synced(&meal, stop.sync()).await;
            assert_eq!(order["providerStatus"], expected, "{road:?} {stop:?}");
        }
    }
}

async fn the_platforms_word_follows_our_cancellation(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for (platform, new, accepted) in [
        (Getir, json!("1600"), json!("1600")),
        (Yemeksepeti, json!("cancelled"), json!("cancelled")),
        (Trendyol, json!("UnSupplied"), json!("UnSupplied")),
        (Migros, json!("REJECTED"), Value::Null),
    ] {
        let meal = town.order(platform, Courier::Restaurant).await;
        town.cancel(&meal, json!({})).await.data();
        assert_eq!(
            town.shown(&meal).await.unwrap()["providerStatus"],
            new,
            "{platform}"
        );
        let meal = town.verified(platform, Courier::Restaurant).await;
        town.cancel(&meal, json!({})).await.data();
        assert_eq!(
            town.shown(&meal).await.unwrap()["providerStatus"],
            accepted,
            "{platform}"
        );
    }
}

/// A client that asks again and again what has changed.
struct Watcher<'a> {
    town: &'a Town,
    place: Option<String>,
}

impl<'a> Watcher<'a> {
    async fn at(town: &'a Town) -> Self {
        let mut watcher = Self { town, place: None };
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
        let page = self.town.a.get(&path).await.success();
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
    async fn sees(&mut self, meal: &Meal, state: &str) {
        self.town.synced(meal, state).await;
        assert_eq!(self.changes().await, [(meal.id.clone(), state.to_owned())]);
    }
}

async fn lists_of_changes_show_what_the_platform_was_told(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    for platform in [Trendyol, Migros] {
        let meal = town.verified(platform, Courier::Restaurant).await;
        let call = match platform {
            Trendyol => "invoiced",
            _ => "update-status",
        };
        let away = |status| Fault::Status { status, body: None };
        let mut watcher = Watcher::at(&town).await;
        town.fault(platform, call, away(503), Some(1)).await;
        town.fault(platform, call, away(400), Some(1)).await;
        town.ready(&meal).await.data();
        watcher.sees(&meal, "pending").await;
        // That the next try is due later is no change; that it has failed is one.
        let mut seen = Vec::new();
        until("the step has failed", async || {
            town.pass(5).await;
            seen.extend(watcher.changes().await);
            !seen.is_empty()
        })
        .await;
        assert_eq!(seen, [(meal.id.clone(), "failed".to_owned())]);
        town.a
            .act(&format!("/orders/retry-sync/{}", meal.id))
            .await
            .data();
        watcher.sees(&meal, "done").await;
        assert!(watcher.changes().await.is_empty());
    }
}

async fn lists_of_changes_show_when_the_food_was_ready(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    town.configure(json!({ "preparationMinutes": 10 })).await;
    let meal = town.verified(Trendyol, Courier::Restaurant).await;
    let mut watcher = Watcher::at(&town).await;
    town.pass(601).await;
    town.shows(&meal, "is ready", |order| order["readyAt"].is_string())
        .await;
    assert_eq!(watcher.changes().await, [(meal.id.clone(), "done".to_owned())]);
}

/// A list shows an order where it stood, in another word: the order comes up as changed, and hides no other.
async fn a_new_word_alone_is_a_change(kind: Kind) {
    let town = Town::open(kind).await;
    let old = town.verified(Getir, Courier::Restaurant).await;
    town.pass(60).await;
    let other = town.verified(Getir, Courier::Restaurant).await;
    let since = town.shown(&other).await.unwrap()["updatedAt"].clone();
    let id = &old.id;
    town.house.meddle(&format!(
        "UPDATE orders SET provider_status = '400' WHERE provider_order_id = '{id}'"
    ));
    town.pass(60).await;
    town.poll().await;
    let order = town.shown(&old).await.unwrap();
    assert_eq!(order["providerStatus"], json!("500"), "{order:#}");
    assert!(order["updatedAt"].as_str() > since.as_str(), "{order:#}");
    let list = format!("/orders?updatedSince={}", since.as_str().unwrap());
    let found = town.a.get(&list).await.data();
    let ids: Vec<_> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["providerOrderId"])
        .collect();
    assert_eq!(ids, [&json!(old.id), &json!(other.id)]);
}
