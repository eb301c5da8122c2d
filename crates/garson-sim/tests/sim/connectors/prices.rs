//! Prices that are changed on platforms, and menus that are sent to them.

use super::{Connection, connect, is_unsupported, now, refusal};
use garson_core::catalog::{CatalogPush, CatalogState};
use garson_core::explanation::PlatformTask;
use garson_core::menu::{Category, Menu, Product};
use garson_core::money::{Currency, Minor};
use garson_core::platform::PlatformError;
use garson_core::price_change::{BatchReading, NewPrice, PriceChange, PriceScope, PricesChanged};
use garson_sim::Platform;

fn price(id: &str, minor: i64) -> NewPrice {
    NewPrice {
        id: id.to_owned(),
        is_option: false,
        price: Minor(minor),
    }
}

async fn change(
    connection: &Connection,
    scope: PriceScope,
    prices: Vec<NewPrice>,
) -> Result<PricesChanged, PlatformError> {
    let change = PriceChange {
        prices,
        scope,
        reference: "p-1".to_owned(),
        now: now(),
    };
    connection
        .run(|link, answers| connection.platform.change_prices(&change, link, answers))
        .await
}

async fn batch(connection: &Connection, id: &str) -> Result<BatchReading, PlatformError> {
    connection
        .run(|link, answers| connection.platform.read_prices(id, link, answers))
        .await
}

fn first(menu: &Menu) -> &Product {
    menu.categories
        .iter()
        .flat_map(|category| &category.products)
        .next()
        .unwrap()
}

async fn price_of(connection: &Connection, id: &str) -> i64 {
    let menu = connection.menu().await;
    let mut products = menu.categories.iter().flat_map(|category| &category.products);
    products.find(|product| product.id == id).unwrap().price.0
}

#[tokio::test]
async fn trendyol_queues_prices_for_one_store_and_tells_the_result() {
    let connection = connect(Platform::Trendyol).await;
    let neighbour = crate::support::store(Platform::Trendyol, "2738:102", None);
    connection.stage.control.put_store(&neighbour).await.unwrap();
    let menu = connection.menu().await;
    let (id, before) = (first(&menu).id.clone(), first(&menu).price.0);
    let prices = vec![price(&id, before + 550), price("1", 100)];
    let changed = change(&connection, PriceScope::Branch, prices).await.unwrap();
    let PricesChanged::Queued { batch: number } = changed else {
        panic!("{changed:?}");
    };
    let reading = batch(&connection, &number).await.unwrap();
    assert!(matches!(reading, BatchReading::InProgress { .. }), "{reading:?}");
    assert_eq!(price_of(&connection, &id).await, before, "queued is not done");
    connection.advance(3).await;
    let BatchReading::Done { failed } = batch(&connection, &number).await.unwrap() else {
        panic!("not done");
    };
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].id.as_deref(), Some("1"));
    assert!(failed[0].message.to_string().contains("Ürün bulunamadı"));
    assert_eq!(price_of(&connection, &id).await, before + 550);
    let lines = connection.stage.control.journal(None, 0).await.unwrap();
    let sent = lines.iter().find(|line| line.operation == "prices").unwrap();
    let body: serde_json::Value = serde_json::from_str(sent.body.as_ref().unwrap()).unwrap();
    let items = body["items"].as_array().unwrap();
    assert!(items.iter().all(|item| item["restaurantId"] == 101), "{body}");
    assert_eq!(batch(&connection, "nothing").await.unwrap(), BatchReading::Gone);
}

#[tokio::test]
async fn trendyol_price_without_a_store_cannot_be_written() {
    let mut connection = connect(Platform::Trendyol).await;
    for branch in ["2738:", ":", "2738: "] {
        connection.branch = branch;
        let result = change(&connection, PriceScope::Branch, vec![price("1", 100)]).await;
        assert!(
            matches!(result, Err(PlatformError::MissingCredential { .. })),
            "{branch:?}"
        );
    }
    connection.branch = "2738:101";
    let chain = change(&connection, PriceScope::Chain, vec![price("1", 100)]).await;
    assert!(is_unsupported(&chain));
}

#[tokio::test]
async fn migros_changes_prices_of_its_menu() {
    let connection = connect(Platform::Migros).await;
    let menu = connection.menu().await;
    let id = first(&menu).id.clone();
    let prices = vec![price(&id, 19_990), price("1", 100)];
    let PricesChanged::Done { failed } = change(&connection, PriceScope::Branch, prices).await.unwrap()
    else {
        panic!("not done");
    };
    assert_eq!(failed.len(), 1, "what is not in the menu is told");
    assert_eq!(failed[0].id.as_deref(), Some("1"));
    assert_eq!(price_of(&connection, &id).await, 19_990);
    let none = change(&connection, PriceScope::Branch, vec![price("1", 100)])
        .await
        .unwrap();
    assert!(matches!(none, PricesChanged::Done { failed } if failed.len() == 1));
}

#[tokio::test]
async fn getir_changes_prices_of_a_chain_only_when_that_is_wanted() {
    let mut connection = connect(Platform::Getir).await;
    let menu = connection.menu().await;
    let id = first(&menu).id.clone();
    let prices = || vec![price(&id, 25_075)];
    assert!(
        !connection
            .platform
            .offers(PlatformTask::ChangePrices, &connection.credentials)
    );
    assert!(is_unsupported(
        &change(&connection, PriceScope::Chain, prices()).await
    ));
    connection.set("chainMenuId", "64b7f0c2a1d3e5f6789000ff");
    assert!(
        connection
            .platform
            .offers(PlatformTask::ChangePrices, &connection.credentials)
    );
    assert!(is_unsupported(
        &change(&connection, PriceScope::Branch, prices()).await
    ));
    change(&connection, PriceScope::Chain, prices()).await.unwrap();
    assert_eq!(price_of(&connection, &id).await, 25_075);
}

#[tokio::test]
async fn yemeksepeti_changes_one_price_where_it_is_set_up() {
    let mut connection = connect(Platform::Yemeksepeti).await;
    let id = connection.item_ids().await.remove(0);
    let prices = || vec![price(&id, 999)];
    assert!(is_unsupported(
        &change(&connection, PriceScope::Branch, prices()).await
    ));
    connection.set("globalEntityId", "YS_TR");
    connection.set("callbackUrl", "https://garson.example/hooks");
    assert!(
        connection
            .platform
            .offers(PlatformTask::ChangePrices, &connection.credentials)
    );
    change(&connection, PriceScope::Branch, prices()).await.unwrap();
    let stage = &connection.stage;
    let shop = stage
        .control
        .shop(stage.platform, &stage.remote_id)
        .await
        .unwrap();
    assert_eq!(shop.items[0].price, Some(999));
    let unknown = change(&connection, PriceScope::Branch, vec![price("1", 100)]).await;
    assert!(refusal(unknown).contains("no such product"));
}

#[tokio::test]
async fn results_of_prices_are_asked_for_only_where_they_are_queued() {
    for platform in Platform::ALL {
        let connection = connect(platform).await;
        let is_queued = connection.platform.capability().prices.unwrap().is_queued;
        assert_eq!(
            is_unsupported(&batch(&connection, "1").await),
            !is_queued,
            "{platform}"
        );
    }
}

#[tokio::test]
async fn catalog_is_sent_only_where_the_operator_has_switched_it_on() {
    let menu = Menu {
        categories: vec![Category {
            id: "c1".to_owned(),
            name: "Dürümler".to_owned(),
            position: 0,
            is_available: true,
            products: vec![Product {
                id: "p1".to_owned(),
                name: "Adana".to_owned(),
                description: None,
                price: Minor(18_000),
                currency: Currency::TRY,
                image_url: None,
                is_available: true,
                option_groups: Vec::new(),
            }],
        }],
    };
    for platform in Platform::ALL {
        let mut connection = connect(platform).await;
        let push = CatalogPush {
            menu: &menu,
            callback_url: Some("https://garson.example/hooks"),
        };
        let off = connection
            .run(|link, answers| connection.platform.push_catalog(&push, link, answers))
            .await;
        assert!(is_unsupported(&off), "{platform}");
        connection.set("catalogPush", "on");
        let on = connection
            .run(|link, answers| connection.platform.push_catalog(&push, link, answers))
            .await;
        assert_eq!(on.is_ok(), platform == Platform::Yemeksepeti, "{platform}");
        let since = "2020-01-01T00:00:00Z".parse().unwrap();
        let log = connection
            .run(|link, answers| connection.platform.read_catalog_log(since, link, answers))
            .await;
        assert_eq!(log.is_ok(), platform == Platform::Yemeksepeti, "{platform}");
        if let (Ok(sent), Ok(log)) = (on, log) {
            let states: Vec<CatalogState> = log.iter().map(|entry| entry.import.state).collect();
            assert_eq!(states, [CatalogState::Done, CatalogState::InProgress]);
            assert!(log.iter().all(|entry| entry.import.import_id == sent.import_id));
        }
    }
    let report = br#"{"catalogImportId":"7","status":"done_with_errors","message":"1 item","details":[{"status":"failed"}]}"#;
    let yemeksepeti = garson_platforms::find("yemeksepeti").unwrap();
    let import = yemeksepeti.read_catalog_import(report).unwrap();
    assert_eq!(
        (import.import_id.as_str(), import.state),
        ("7", CatalogState::DoneWithErrors)
    );
    assert_eq!(import.details.len(), 1);
    assert!(yemeksepeti.read_catalog_import(b"{}").is_err());
}
