//! Products and their items on platforms.

use crate::catalogs::catalog;
use crate::database::Bench;
use crate::desired_items::{OFF, desired};
use crate::fixtures::{Branch, DIRECT, at};
use crate::menus_and_prices::{price, push, version};
use garson_core::id::ProductId;
use garson_core::money::{Currency, Minor};
use garson_core::product::{ItemKey, ListedItem, Place};
use garson_store::tables::platform_items::{ItemSource, PlatformItem};
use garson_store::tables::prices::PriceItem;
use garson_store::tables::products::{Product, ProductFilter};
use garson_store::tables::{
    catalogs, declined_matches, desired_items, menus, platform_items, prices, products, restaurants,
};
use garson_store::upkeep::sweep;
use garson_store::{Result, StoreErrorKind, Tx};
use std::collections::BTreeSet;
use uuid::Uuid;

pub fn key(id: &str, is_option: bool) -> ItemKey {
    ItemKey {
        provider: DIRECT,
        is_option,
        id: id.to_owned(),
    }
}

pub fn product(branch: Branch, number: u128, name: &str) -> Product {
    Product {
        id: ProductId(Uuid::from_u128(number)),
        restaurant_id: branch.restaurant,
        is_option: false,
        name: name.to_owned(),
        is_closed: false,
        is_available: true,
        created_at: at(0),
        updated_at: at(0),
    }
}

fn stored(product: &Product, id: &str) -> PlatformItem {
    let is_option = product.is_option;
    PlatformItem {
        item: ListedItem {
            key: key(id, is_option),
            code: Some("K-1 🌯".to_owned()),
            name: product.name.clone(),
            category: None,
            price: Some(Minor(12_50)),
            currency: Currency::TRY,
            image_url: None,
            is_available: Some(true),
            traits: BTreeSet::from(["ayran".to_owned()]),
            places: vec![Place {
                product: "p".to_owned(),
                group: "g".to_owned(),
            }],
        },
        product_id: product.id,
        is_manual: false,
        source: ItemSource::Menu,
        available_at: at(5),
        gone_at: None,
    }
}

fn save(tx: &mut Tx<'_>, branch: Branch, product: &Product, id: &str) -> Result<()> {
    products::add(tx, branch.account, product)?;
    platform_items::save(tx, branch.account, branch.restaurant, &stored(product, id), at(5))
}

/// Rows in every table of products, in those with several key columns more than a chunk of a copy.
pub fn fill_tables(tx: &mut Tx<'_>, branch: Branch) -> Result<()> {
    for number in 0..510_u128 {
        let product = product(branch, number + 1, &format!("Ürün {number}"));
        let id = format!("{number:04}");
        save(tx, branch, &product, &id)?;
        let pair = (ProductId(Uuid::from_u128(600)), product.id);
        declined_matches::add(tx, branch.account, branch.restaurant, pair, at(3))?;
        desired_items::set(tx, &desired(branch, &key(&id, false), OFF, 3))?;
    }
    for number in 0..3 {
        menus::add_version(
            tx,
            branch.account,
            branch.restaurant,
            DIRECT,
            &version(number, i64::from(number)),
        )?;
    }
    menus::plan(
        tx,
        (branch.integration, branch.account, branch.restaurant, DIRECT),
        at(9),
    )?;
    let push = push(branch, 1);
    let product = product(branch, 1, "Ürün 0");
    let items: Vec<PriceItem> = (0..510)
        .map(|n| price(branch, push.id, n, &product, "0001"))
        .collect();
    prices::add(tx, branch.account, &push, "account", &items)?;
    catalogs::add(tx, &catalog(branch, 1), b"packed")
}

pub async fn product_has_one_item_of_each_platform(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let ayran = product(branch, 1, "Ayran");
    bench.write(move |tx| save(tx, branch, &ayran, "1")).await;
    let ayran = product(branch, 1, "Ayran");
    let twice = bench.try_write(move |tx| save(tx, branch, &ayran, "2")).await;
    assert_eq!(twice.unwrap_err().kind, StoreErrorKind::Constraint);
}

pub async fn stored_item_keeps_its_product_and_newer_availability(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let (one, two) = (product(branch, 1, "Ayran"), product(branch, 2, "Kola"));
    let (restaurant, first) = (branch.restaurant, one.id);
    bench
        .write(move |tx| {
            save(tx, branch, &one, "1")?;
            products::add(tx, branch.account, &two)?;
            assert!(platform_items::set_available(
                tx,
                restaurant,
                &key("1", false),
                false,
                at(20)
            )?);
            assert!(products::refresh(tx, one.id, at(20))?);
            // What a menu showed before is older than what was accepted since.
            let mut read = stored(&two, "1");
            read.item.name = "Ayran 200 ml".to_owned();
            read.available_at = at(10);
            platform_items::save(tx, branch.account, restaurant, &read, at(10))
        })
        .await;
    let found = bench
        .read(move |tx| platform_items::find(tx, restaurant, &key("1", false)))
        .await
        .unwrap();
    assert_eq!((found.product_id, found.item.is_available), (first, Some(false)));
    assert_eq!(found.item.name, "Ayran 200 ml");
    assert_eq!(found.item.places.len(), 1);
    let listed = bench
        .read(move |tx| products::of_restaurant(tx, restaurant))
        .await;
    assert!(!listed.iter().find(|it| it.id == first).unwrap().is_available);
}

pub async fn products_are_paged_and_searched_by_name(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let restaurant = branch.restaurant;
    bench
        .write(move |tx| {
            for (number, name) in ["Çiğ Köfte", "Ayran", "Adana Kebap", "Adana Dürüm"]
                .iter()
                .enumerate()
            {
                save(
                    tx,
                    branch,
                    &product(branch, number as u128 + 1, name),
                    &number.to_string(),
                )?;
            }
            Ok(())
        })
        .await;
    let page = async |filter: ProductFilter, after: Option<ProductId>, limit: i64| {
        let found = bench
            .read(move |tx| products::page(tx, restaurant, &filter, after, limit))
            .await;
        found.into_iter().map(|it| (it.id, it.name)).collect::<Vec<_>>()
    };
    let first = page(ProductFilter::default(), None, 3).await;
    let names: Vec<&str> = first.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["Adana Dürüm", "Adana Kebap", "Ayran"]);
    let rest = page(ProductFilter::default(), Some(first[2].0), 3).await;
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0].1, "Çiğ Köfte");
    let search = ProductFilter {
        search: Some("adana".to_owned()),
        ..ProductFilter::default()
    };
    assert_eq!(page(search, None, 10).await.len(), 2);
    for (words, count) in [("yok adana", 0), ("ana da", 2), ("keb ada", 1)] {
        let search = ProductFilter {
            search: Some(words.to_owned()),
            ..ProductFilter::default()
        };
        assert_eq!(page(search, None, 10).await.len(), count, "every word of {words}");
    }
    let unavailable = ProductFilter {
        is_available: Some(false),
        ..ProductFilter::default()
    };
    assert!(page(unavailable, None, 10).await.is_empty());
}

pub async fn deleted_restaurant_leaves_no_products(bench: &Bench) {
    let (gone, kept) = (bench.branch("lokanta").await, bench.branch("pideci").await);
    bench
        .write(move |tx| {
            fill_tables(tx, gone)?;
            save(tx, kept, &product(kept, 9_999, "Pide"), "1")?;
            restaurants::delete(tx, gone.account, gone.restaurant, at(1))?;
            while sweep::remove_chunk(tx, gone.account, gone.restaurant, 100)? {}
            Ok(())
        })
        .await;
    for table in ["products", "platform_items"] {
        let sql = format!("SELECT COUNT(*) FROM {table}");
        let left = bench
            .read(move |tx| tx.query_one(&sql, &[], |row| row.get::<i64>(0)))
            .await;
        assert_eq!(left, 1, "{table}");
    }
    for table in [
        "desired_items",
        "menu_versions",
        "menu_reads",
        "price_pushes",
        "price_items",
        "catalog_pushes",
        "declined_matches",
    ] {
        let sql = format!("SELECT COUNT(*) FROM {table}");
        let left = bench
            .read(move |tx| tx.query_one(&sql, &[], |row| row.get::<i64>(0)))
            .await;
        assert_eq!(left, 0, "{table}");
    }
}

pub async fn disconnected_platform_leaves_products_of_others(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let restaurant = branch.restaurant;
    bench
        .write(move |tx| {
            let ayran = product(branch, 1, "Ayran");
            save(tx, branch, &ayran, "1")?;
            platform_items::set_available(tx, restaurant, &key("1", false), false, at(9))?;
            products::refresh(tx, ayran.id, at(9))?;
            desired_items::set(tx, &desired(branch, &key("1", false), OFF, 9))?;
            platform_items::disconnect(tx, restaurant, DIRECT, at(10))
        })
        .await;
    let (items, listed, desired) = bench
        .read(move |tx| {
            let items = platform_items::of_restaurant(tx, restaurant)?;
            let desired = desired_items::next_due(tx)?;
            Ok((items, products::of_restaurant(tx, restaurant)?, desired))
        })
        .await;
    assert_eq!(items[0].gone_at, Some(at(10)));
    assert!(listed[0].is_available && desired.is_none());
}

pub async fn declined_pairs_are_kept_once_and_end_with_their_products(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let (account, restaurant) = (branch.account, branch.restaurant);
    let [one, two, three] = [1, 2, 3].map(|number| product(branch, number, "Ayran"));
    let (a, b, c) = (one.id, two.id, three.id);
    let pairs = bench
        .write(move |tx| {
            for (number, it) in [&one, &two, &three].into_iter().enumerate() {
                save(tx, branch, it, &number.to_string())?;
            }
            for pair in [(a, b), (b, a), (c, b)] {
                declined_matches::add(tx, account, restaurant, pair, at(1))?;
            }
            declined_matches::of_restaurant(tx, restaurant)
        })
        .await;
    assert_eq!(BTreeSet::from_iter(pairs), BTreeSet::from([(a, b), (b, c)]));
    // The second becomes part of the first: what it differs from, the first differs from.
    let pairs = bench
        .write(move |tx| {
            declined_matches::replace(tx, account, restaurant, b, a, at(2))?;
            declined_matches::of_restaurant(tx, restaurant)
        })
        .await;
    assert_eq!(pairs, [(a, c)]);
    let left = bench
        .write(move |tx| {
            declined_matches::add(tx, account, restaurant, (a, b), at(3))?;
            declined_matches::remove(tx, restaurant, (b, a))?;
            let before = declined_matches::of_restaurant(tx, restaurant)?;
            platform_items::remove(tx, restaurant, &key("2", false))?;
            products::remove_empty_of(tx, restaurant, &[c])?;
            Ok((before, declined_matches::of_restaurant(tx, restaurant)?))
        })
        .await;
    assert_eq!(left, (vec![(a, c)], vec![]));
    let removed = bench
        .write(move |tx| {
            let gone = ProductId(Uuid::from_u128(99));
            declined_matches::add(tx, account, restaurant, (a, gone), at(4))?;
            declined_matches::add(tx, account, restaurant, (a, b), at(4))?;
            let removed = declined_matches::remove_orphans(tx, restaurant, 10)?;
            Ok((removed, declined_matches::of_restaurant(tx, restaurant)?))
        })
        .await;
    assert_eq!(removed, (1, vec![(a, b)]));
}
