//! Menus and their differences in the panel.

use crate::products::setup::{DISH, ProductWorld};
use crate::support::{Backend, remote_id, wait_until};
use garson_sim::Platform::{Migros, Trendyol};
use garson_sim::views::{Fault, ItemRequest};

on_both! {
    differences_between_platforms_are_shown_by_kind
    ; sqlite_only:
    changes_since_yesterday_and_versions_are_shown
    menu_that_cannot_be_read_says_why
}

fn path(world: &ProductWorld) -> String {
    format!("/restaurants/{}/differences", world.restaurant)
}

async fn change(world: &ProductWorld, platform: garson_sim::Platform, item: ItemRequest) {
    let id = &world.dish[&platform.to_string()];
    world
        .control
        .change_item(platform, remote_id(platform), id, &item)
        .await
        .unwrap();
    world.world.advance_clock(60).await;
}

async fn differences_between_platforms_are_shown_by_kind(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut user = world.service.user().await;
    let page = user.open(&format!("{}?kind=price", path(&world))).await;
    assert!(!page.has(DISH), "{}", page.text());
    let dearer = ItemRequest {
        price: Some(25_000),
        ..ItemRequest::default()
    };
    change(&world, Trendyol, dearer).await;
    let read = page.form(&format!("/restaurants/{}/menus/read", world.restaurant));
    let page = user.submit(&read, &[]).await;
    assert!(page.path.contains("/differences"), "{}", page.path);
    wait_until("the difference is shown", async || {
        let page = user.clone().open(&format!("{}?kind=price", path(&world))).await;
        page.has(DISH) && page.has("250 ₺") && page.has("200 ₺")
    })
    .await;
    let page = user.open(&format!("{}?kind=missing", path(&world))).await;
    assert!(!page.has(DISH), "{}", page.text());
}

async fn changes_since_yesterday_and_versions_are_shown(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut user = world.service.user().await;
    world.world.advance_clock(26 * 3_600).await;
    let changed = ItemRequest {
        price: Some(21_000),
        available: Some(false),
        ..ItemRequest::default()
    };
    change(&world, Migros, changed).await;
    world.read_menus().await;
    let page = user.open(&format!("{}?between=days", path(&world))).await;
    for text in [DISH, "200 ₺", "210 ₺", "satışta", "tükendi", "Sürüm 2", "Sürüm 1"] {
        assert!(page.has(text), "{text}: {}", page.text());
    }
    let page = user
        .open(&format!("{}?between=days&kind=image", path(&world)))
        .await;
    assert!(!page.has(DISH), "{}", page.text());
}

async fn menu_that_cannot_be_read_says_why(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let mut user = world.service.user().await;
    let down = Fault::Status {
        status: 503,
        body: None,
    };
    world.fault(Migros, "*", down, None).await;
    world.world.advance_clock(600).await;
    world.read_menus().await;
    let page = user.open(&path(&world)).await;
    assert!(page.has("okunamadı"), "{}", page.text());
    assert!(page.has("menüsü okunamıyor; ürünler siparişlerden gelir"));
}
