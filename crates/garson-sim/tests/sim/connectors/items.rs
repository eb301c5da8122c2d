//! Items that are switched on and off.

use super::{Connection, connect, connect_with, is_unsupported, now, refusal};
use crate::support::quick;
use garson_core::explanation::PlatformTask;
use garson_core::item::{
    Availability, ItemChange, ItemReading, ItemRef, ItemResult, ItemsChanged, UnavailableEnd,
};
use garson_core::menu::{Menu, MenuOption, Product};
use garson_core::platform::{CallError, PlatformError};
use garson_sim::Platform;
use garson_sim::views::{ItemRequest, ItemView, ShopRequest};
use std::time::Duration;

fn off(end: UnavailableEnd) -> Availability {
    Availability::Unavailable { end }
}

fn at(seconds: u64) -> UnavailableEnd {
    UnavailableEnd::At(now().plus(Duration::from_secs(seconds)))
}

async fn switch(
    connection: &Connection,
    items: &[ItemRef],
    to: Availability,
) -> Result<ItemsChanged, PlatformError> {
    let change = ItemChange {
        items: items.to_vec(),
        to,
        now: now(),
    };
    connection
        .run(|link, answers| connection.platform.change_items(&change, link, answers))
        .await
}

async fn read(connection: &Connection, item: &ItemRef) -> Result<ItemReading, PlatformError> {
    connection
        .run(|link, answers| connection.platform.read_item(item, link, answers))
        .await
}

fn products(menu: &Menu) -> impl Iterator<Item = &Product> {
    menu.categories.iter().flat_map(|category| &category.products)
}

/// An option with its place.
fn first_option(menu: &Menu) -> (ItemRef, &MenuOption) {
    let mut all = products(menu).flat_map(|product| {
        let groups = product.option_groups.iter();
        groups.flat_map(move |group| group.options.iter().map(move |option| (product, group, option)))
    });
    let (product, group, option) = all.next().expect("a menu with options");
    (
        ItemRef::option(option.id.as_str(), group.id.as_str(), product.id.as_str()),
        option,
    )
}

async fn shown(connection: &Connection, id: &str) -> ItemView {
    let stage = &connection.stage;
    let shop = stage
        .control
        .shop(stage.platform, &stage.remote_id)
        .await
        .unwrap();
    shop.items.into_iter().find(|item| item.id == id).unwrap()
}

#[tokio::test]
async fn product_that_is_switched_off_is_off_in_the_menu_until_it_is_switched_on() {
    for platform in [Platform::Getir, Platform::Trendyol, Platform::Migros] {
        let connection = connect(platform).await;
        let menu = connection.menu().await;
        let product = products(&menu).next().unwrap();
        assert!(product.is_available);
        let item = ItemRef::product(product.id.as_str());
        for (to, is_available) in [
            (off(UnavailableEnd::Never), false),
            (off(UnavailableEnd::Never), false),
            (Availability::Available, true),
        ] {
            let changed = switch(&connection, std::slice::from_ref(&item), to)
                .await
                .unwrap();
            assert_eq!(changed.results, [ItemResult::Done], "{platform}");
            assert!(!changed.is_ours_to_restore);
            let menu = connection.menu().await;
            let after = products(&menu).find(|one| one.id == product.id).unwrap();
            assert_eq!(after.is_available, is_available, "{platform}");
            let others = products(&menu).filter(|one| one.id != product.id);
            assert!(
                { others }.all(|one| one.is_available),
                "{platform}: only this one"
            );
        }
    }
}

#[tokio::test]
async fn timed_switch_is_the_platforms_where_it_has_a_timer() {
    for (platform, end, is_ours) in [
        (Platform::Getir, UnavailableEnd::EndOfDay(now()), false),
        (Platform::Getir, at(3_600), true),
        (Platform::Trendyol, UnavailableEnd::EndOfDay(now()), true),
        (Platform::Migros, at(3_600), true),
    ] {
        let connection = connect(platform).await;
        let menu = connection.menu().await;
        let item = ItemRef::product(products(&menu).next().unwrap().id.as_str());
        let changed = switch(&connection, &[item], off(end)).await.unwrap();
        assert_eq!(changed.is_ours_to_restore, is_ours, "{platform} {end:?}");
    }
}

#[tokio::test]
async fn item_that_is_off_for_today_is_on_tomorrow() {
    let mut settings = quick();
    settings.getir_token_seconds = 200_000;
    settings.rate_limits = false;
    let connection = connect_with(Platform::Getir, settings).await;
    let menu = connection.menu().await;
    let item = ItemRef::product(products(&menu).next().unwrap().id.as_str());
    let today = off(UnavailableEnd::EndOfDay(now()));
    switch(&connection, std::slice::from_ref(&item), today)
        .await
        .unwrap();
    let reading = read(&connection, &item).await.unwrap();
    assert_eq!(reading.is_available, Some(false));
    assert!(reading.is_off_for_today);
    assert_eq!(reading.word.as_deref(), Some("400"));
    connection.advance(86_400).await;
    assert_eq!(read(&connection, &item).await.unwrap().is_available, Some(true));
}

#[tokio::test]
async fn many_items_are_switched_at_once_where_that_is_possible() {
    let connection = connect(Platform::Yemeksepeti).await;
    let ids = connection.item_ids().await;
    let items: Vec<ItemRef> = ids
        .iter()
        .take(3)
        .map(|id| ItemRef::product(id.as_str()))
        .collect();
    let end = now().plus(Duration::from_secs(3_600));
    let changed = switch(&connection, &items, off(UnavailableEnd::At(end)))
        .await
        .unwrap();
    assert_eq!(changed.results, vec![ItemResult::Done; 3]);
    assert!(!changed.is_ours_to_restore);
    for id in ids.iter().take(3) {
        let item = shown(&connection, id).await;
        assert!(!item.available);
        assert_eq!(item.off_until, Some(end.to_string()));
    }
    let today = off(UnavailableEnd::EndOfDay(now()));
    switch(&connection, &items[..1], today).await.unwrap();
    assert!(shown(&connection, &ids[0]).await.off_for_today);
    switch(&connection, &items, Availability::Available)
        .await
        .unwrap();
    assert!(shown(&connection, &ids[0]).await.available);

    let unknown = [items[0].clone(), ItemRef::product("1")];
    let changed = switch(&connection, &unknown, off(UnavailableEnd::Never))
        .await
        .unwrap();
    assert!(
        matches!(&changed.results[..], [ItemResult::Refused { message }, _] if message.to_string().contains("Partial")),
        "{changed:?}"
    );
}

#[tokio::test]
async fn options_are_switched_like_products_or_by_a_call_of_their_own() {
    let connection = connect(Platform::Trendyol).await;
    let menu = connection.menu().await;
    let (item, option) = first_option(&menu);
    switch(&connection, &[item], off(UnavailableEnd::Never))
        .await
        .unwrap();
    let after = connection.menu().await;
    let is_off = |menu: &Menu| {
        let mut options =
            products(menu).flat_map(|product| product.option_groups.iter().flat_map(|group| &group.options));
        options.any(|one| one.id == option.id && !one.is_available)
    };
    assert!(is_off(&after));

    let connection = connect(Platform::Migros).await;
    let id = connection.item_ids().await.pop().unwrap();
    let item = ItemRef::Option {
        id: id.clone(),
        group: None,
        product: None,
    };
    switch(
        &connection,
        std::slice::from_ref(&item),
        off(UnavailableEnd::Never),
    )
    .await
    .unwrap();
    assert!(!shown(&connection, &id).await.available);
    switch(&connection, &[item], Availability::Available)
        .await
        .unwrap();
    assert!(shown(&connection, &id).await.available);
}

#[tokio::test]
async fn options_of_getir_need_a_setting() {
    let mut connection = connect(Platform::Getir).await;
    let menu = connection.menu().await;
    let (item, option) = first_option(&menu);
    let items = [item];
    let change = PlatformTask::ChangeOptions;
    assert!(!connection.platform.offers(change, &connection.credentials));
    let refused = switch(&connection, &items, off(UnavailableEnd::Never)).await;
    assert!(is_unsupported(&refused));
    connection.set("optionCalls", "products");
    assert!(connection.platform.offers(change, &connection.credentials));
    let changed = switch(&connection, &items, off(UnavailableEnd::EndOfDay(now())))
        .await
        .unwrap();
    assert!(changed.is_ours_to_restore, "options know no today");
    assert!(!shown(&connection, &option.id).await.available);
}

#[tokio::test]
async fn more_than_a_request_takes_is_not_sent() {
    for platform in Platform::ALL {
        let connection = connect(platform).await;
        let per_call = connection.platform.capability().items.unwrap().per_call;
        let items: Vec<_> = (0..=per_call)
            .map(|id| ItemRef::product(id.to_string()))
            .collect();
        let result = switch(&connection, &items, Availability::Available).await;
        assert!(is_unsupported(&result), "{platform}");
        let none = switch(&connection, &[], Availability::Available).await.unwrap();
        assert_eq!(none.results, []);
    }
}

#[tokio::test]
async fn unknown_product_is_refused_in_the_platforms_words() {
    for (platform, word) in [
        (Platform::Getir, "no such product"),
        (Platform::Trendyol, "no such product"),
        (Platform::Migros, "Ürün bulunamadı"),
    ] {
        let connection = connect(platform).await;
        let result = switch(
            &connection,
            &[ItemRef::product("424242")],
            Availability::Available,
        )
        .await;
        let words = refusal(result);
        assert!(words.contains(word), "{platform}: {words}");
    }
}

#[tokio::test]
async fn reading_one_item_is_only_there_where_it_is_said() {
    for platform in Platform::ALL {
        let connection = connect(platform).await;
        let reads = connection.platform.capability().items.unwrap().reads;
        let result = read(&connection, &ItemRef::product("424242")).await;
        assert_eq!(is_unsupported(&result), !reads, "{platform}");
    }
}

#[tokio::test]
async fn fourth_switch_of_an_item_in_a_minute_is_blocked_by_getir() {
    let connection = connect_with(Platform::Getir, quick()).await;
    let menu = connection.menu().await;
    let mut ids = products(&menu).map(|product| ItemRef::product(product.id.as_str()));
    let (one, other) = (ids.next().unwrap(), ids.next().unwrap());
    for _ in 0..3 {
        let items = std::slice::from_ref(&one);
        switch(&connection, items, Availability::Available).await.unwrap();
    }
    let fourth = switch(&connection, &[one], Availability::Available).await;
    assert!(matches!(
        fourth,
        Err(PlatformError::Answered(CallError::Later { .. }))
    ));
    switch(&connection, &[other], Availability::Available)
        .await
        .unwrap();
}

#[tokio::test]
async fn change_in_the_platforms_own_panel_is_seen_in_the_menu() {
    for platform in [Platform::Getir, Platform::Trendyol, Platform::Migros] {
        let connection = connect(platform).await;
        let menu = connection.menu().await;
        let id = products(&menu).next().unwrap().id.clone();
        let stage = &connection.stage;
        let request = ItemRequest {
            price: Some(12_345),
            name: Some("Yeni ad".to_owned()),
            image_url: Some("https://example.com/1.png".to_owned()),
            available: Some(false),
            removed: None,
        };
        let changed = stage
            .control
            .change_item(platform, &stage.remote_id, &id, &request);
        changed.await.unwrap();
        let menu = connection.menu().await;
        let product = products(&menu).find(|product| product.id == id).unwrap();
        assert_eq!(
            (product.price.0, product.name.as_str()),
            (12_345, "Yeni ad"),
            "{platform}"
        );
        assert!(!product.is_available);
        let gone = ItemRequest {
            removed: Some(true),
            ..ItemRequest::default()
        };
        stage
            .control
            .change_item(platform, &stage.remote_id, &id, &gone)
            .await
            .unwrap();
        let menu = connection.menu().await;
        assert!(products(&menu).all(|product| product.id != id), "{platform}");
    }
}

#[tokio::test]
async fn switch_that_is_not_made_is_seen_in_the_menu() {
    let connection = connect(Platform::Trendyol).await;
    let stage = &connection.stage;
    let ignoring = ShopRequest {
        ignores_changes: Some(true),
        ..ShopRequest::default()
    };
    stage
        .control
        .change_shop(stage.platform, &stage.remote_id, &ignoring)
        .await
        .unwrap();
    let menu = connection.menu().await;
    let id = products(&menu).next().unwrap().id.clone();
    switch(
        &connection,
        &[ItemRef::product(id.as_str())],
        off(UnavailableEnd::Never),
    )
    .await
    .unwrap();
    let menu = connection.menu().await;
    assert!(products(&menu).all(|product| product.is_available));
}
