//! Menus are kept as versions, and their differences are listed.

use super::setup::{DISH, ProductWorld, WITH_MENU, by_provider};
use crate::support::{Backend, remote_id};
use garson_sim::Platform::{Migros, Trendyol};
use garson_sim::views::{Fault, ItemRequest};
use serde_json::{Value, json};

on_both! {
    menu_is_kept_as_a_version_when_it_changes
    differences_between_platforms_are_listed
    ; sqlite_only:
    differences_since_yesterday_are_listed
    menu_that_cannot_be_read_says_why
    wrong_questions_are_refused
}

async fn versions(world: &ProductWorld, provider: &str) -> Vec<Value> {
    let found = world.get(&format!("/menus/{provider}/versions")).await.data();
    found.as_array().unwrap().clone()
}

async fn change(world: &ProductWorld, platform: garson_sim::Platform, item: ItemRequest) {
    let id = &world.dish[&platform.to_string()];
    world
        .control
        .change_item(platform, remote_id(platform), id, &item)
        .await
        .unwrap();
}

async fn menu_is_kept_as_a_version_when_it_changes(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let states = by_provider(&world.get("/menus").await.data());
    for platform in WITH_MENU {
        let state = &states[&platform.to_string()];
        assert!(
            state["readAt"].is_string() && state["isReadable"] == json!(true),
            "{state:#}"
        );
    }
    assert_eq!(states["yemeksepeti"]["isReadable"], json!(false));
    assert_eq!(versions(&world, "trendyol").await.len(), 1);
    world.world.advance_clock(60).await;
    world.read_menus_of(&[Trendyol, Migros]).await;
    assert_eq!(versions(&world, "trendyol").await.len(), 1, "nothing has changed");
    let dearer = ItemRequest {
        price: Some(25_000),
        ..ItemRequest::default()
    };
    change(&world, Trendyol, dearer).await;
    world.world.advance_clock(60).await;
    world.read_menus_of(&[Trendyol, Migros]).await;
    let kept = versions(&world, "trendyol").await;
    let numbers: Vec<i64> = kept.iter().map(|it| it["number"].as_i64().unwrap()).collect();
    assert_eq!(numbers, [2, 1]);
    assert_eq!(versions(&world, "migros").await.len(), 1);
    assert_eq!(
        world
            .service
            .count("restaurant_history WHERE action = 'menu_changed'"),
        1
    );
}

async fn differences_between_platforms_are_listed(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let dish = async || {
        let path = "/menu-differences?between=platforms&kind=product&limit=200";
        let found = world.get(path).await.data()["platforms"]["differences"].clone();
        let list = found.as_array().unwrap().clone();
        let own = list
            .iter()
            .find(|it| it["product"]["id"] == json!(world.product))
            .cloned();
        (list.len(), own)
    };
    let (others, own) = dish().await;
    assert!(others > 0, "the other dishes are on one platform each");
    assert_eq!(own, None, "the dish is the same everywhere");
    let other = ItemRequest {
        price: Some(25_000),
        name: Some("Bambaşka".to_owned()),
        ..ItemRequest::default()
    };
    change(&world, Migros, other).await;
    let removed = ItemRequest {
        removed: Some(true),
        ..ItemRequest::default()
    };
    change(&world, Trendyol, removed).await;
    world.world.advance_clock(60).await;
    world.read_menus().await;
    let own = dish().await.1.unwrap();
    assert_eq!(own["differences"], json!(["missing", "price", "name"]));
    assert_eq!(own["missingOn"], json!(["trendyol"]));
    let path = "/menu-differences?between=platforms&difference=price&limit=200";
    let prices = world.get(path).await.data();
    assert_eq!(prices["platforms"]["differences"].as_array().unwrap().len(), 1);
}

async fn differences_since_yesterday_are_listed(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    world.world.advance_clock(86_400).await;
    let other = ItemRequest {
        price: Some(25_000),
        available: Some(false),
        ..ItemRequest::default()
    };
    change(&world, Migros, other).await;
    world.read_menus().await;
    let found = world.get("/menu-differences?between=days").await.data();
    let days = by_provider(&found["days"]);
    let changed = days["migros"]["differences"].as_array().unwrap();
    assert_eq!(changed.len(), 1, "{changed:#?}");
    assert_eq!(changed[0]["differences"], json!(["price", "availability"]));
    assert_eq!(changed[0]["productId"], json!(world.product));
    assert_eq!(changed[0]["before"]["price"], json!(20_000));
    assert_eq!(changed[0]["after"]["price"], json!(25_000));
    assert_eq!(days["trendyol"]["differences"], json!([]));
    assert_eq!(world.find(DISH).await["available"], json!(false));
}

async fn menu_that_cannot_be_read_says_why(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let down = Fault::Status {
        status: 500,
        body: None,
    };
    world.fault(Trendyol, "products", down, Some(1)).await;
    world.world.advance_clock(60).await;
    let states = by_provider(&world.read_menus().await);
    assert!(states["trendyol"]["message"].is_string(), "{states:#?}");
    assert_eq!(states["migros"]["message"], json!(null));
    assert_eq!(
        world.find(DISH).await["platforms"].as_array().unwrap().len(),
        4,
        "nothing is lost"
    );
}

async fn wrong_questions_are_refused(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    for query in [
        "",
        "?between=x",
        "?between=days&since=yesterday",
        "?between=platforms&since=yesterday",
        "?between=days&cursor=x",
        "?between=platforms&difference=x",
    ] {
        let reply = world.get(&format!("/menu-differences{query}")).await;
        assert_eq!(reply.status, 422, "{query}");
    }
}
