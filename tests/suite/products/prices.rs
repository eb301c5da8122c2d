//! Prices are previewed, and exactly the preview is sent.

use super::setup::{ProductWorld, by_provider};
use crate::support::{Backend, remote_id, wait_until};
use garson_sim::Platform;
use garson_sim::Platform::{Migros, Trendyol};
use garson_sim::views::Fault;
use serde_json::{Value, json};

on_both! {
    previewed_prices_are_sent_once
    ; sqlite_only:
    preview_expires
    lost_answer_to_prices_is_compared_with_the_menu
    prices_are_refused_where_the_platform_has_no_call
}

async fn preview(world: &ProductWorld, price: i64) -> Value {
    let body = json!({ "prices": [{ "productId": world.product, "price": price }] });
    world.a.post(&world.path("/prices/preview"), &body).await.data()
}

async fn push(world: &ProductWorld, preview: &Value) -> crate::support::Reply {
    let body = json!({ "previewId": preview["id"] });
    world.a.post(&world.path("/prices"), &body).await
}

async fn price_on(world: &ProductWorld, platform: Platform) -> Option<i64> {
    let shop = world.control.shop(platform, remote_id(platform)).await.unwrap();
    let id = &world.dish[&platform.to_string()];
    shop.items
        .iter()
        .find(|item| item.id == *id)
        .and_then(|item| item.price)
}

async fn wait_for_end(world: &ProductWorld, id: &Value) -> Value {
    let path = format!("/prices/{}", id.as_str().unwrap());
    wait_until("the change has ended", async || {
        world.world.advance_clock(5).await;
        world.wake();
        world.get(&path).await.data()["state"] == json!("done")
    })
    .await;
    world.get(&path).await.data()
}

async fn previewed_prices_are_sent_once(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let shown = preview(&world, 22_500).await;
    assert_eq!(shown["state"], json!("preview"));
    let prices = by_provider(&shown["prices"]);
    assert_eq!(prices["trendyol"]["oldPrice"], json!(20_000));
    assert_eq!(prices["trendyol"]["newPrice"], json!(22_500));
    assert_eq!(
        price_on(&world, Trendyol).await,
        Some(20_000),
        "nothing is sent yet"
    );
    push(&world, &shown).await.data();
    let ended = wait_for_end(&world, &shown["id"]).await;
    let results = by_provider(&ended["prices"]);
    for platform in [Trendyol, Migros] {
        assert_eq!(
            results[&platform.to_string()]["result"],
            json!("done"),
            "{ended:#}"
        );
        assert_eq!(price_on(&world, platform).await, Some(22_500), "{platform}");
    }
    let calls = world.calls(Trendyol, "prices").await;
    push(&world, &shown).await.data();
    assert_eq!(
        world.calls(Trendyol, "prices").await,
        calls,
        "a preview is sent once"
    );
    // Every price names the branch.
    let journal = world.control.journal(Some(Trendyol), 0).await.unwrap();
    let sent = journal.iter().filter(|line| line.operation == "prices");
    for line in sent {
        let text = serde_json::to_string(line).unwrap();
        assert!(text.contains("restaurantId"), "{text}");
    }
    let again = preview(&world, 22_500).await;
    let left = by_provider(&again["prices"]);
    assert!(!left.contains_key("trendyol"), "only what differs: {again:#}");
}

async fn preview_expires(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let shown = preview(&world, 22_500).await;
    world.world.advance_clock(16 * 60).await;
    push(&world, &shown).await.refused(422, "invalid_field");
    assert_eq!(price_on(&world, Trendyol).await, Some(20_000));
    let body = json!({ "previewId": "018f3c1e-7b1a-7c3e-8d2a-1b2c3d4e5f60" });
    let unknown = world.a.post(&world.path("/prices"), &body).await;
    unknown.refused(404, "price_change_not_found");
}

async fn lost_answer_to_prices_is_compared_with_the_menu(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    world
        .fault(Migros, "batch-price", Fault::DropAfterWork, Some(1))
        .await;
    let shown = preview(&world, 22_500).await;
    push(&world, &shown).await.data();
    let ended = wait_for_end(&world, &shown["id"]).await;
    let results = by_provider(&ended["prices"]);
    assert_eq!(results["migros"]["result"], json!("done"), "{ended:#}");
    assert_eq!(
        world.calls(Migros, "batch-price").await,
        1,
        "it is not sent twice"
    );
}

async fn prices_are_refused_where_the_platform_has_no_call(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let shown = preview(&world, 22_500).await;
    let prices = by_provider(&shown["prices"]);
    // The settings for modify-product are missing.
    assert_eq!(prices["yemeksepeti"]["result"], json!("unsupported"), "{shown:#}");
    assert!(prices["yemeksepeti"]["message"].is_string());
}
