//! Versions and reads of menus, and price changes.

use crate::database::Bench;
use crate::fixtures::{Branch, DIRECT, at};
use crate::products::{key, product};
use garson_core::id::{NodeId, PricePushId};
use garson_core::money::Minor;
use garson_core::price_change::PriceScope;
use garson_store::tables::menus::MenuVersion;
use garson_store::tables::prices::{PriceEnd, PriceItem, PricePush, PriceState, PushState};
use garson_store::tables::products::Product;
use garson_store::tables::{menus, nodes, prices};
use uuid::Uuid;

pub fn version(number: u8, read_at: i64) -> MenuVersion {
    MenuVersion {
        number: 0,
        hash: vec![number; 32],
        body: vec![number; 10],
        products: 3,
        read_at: at(read_at),
    }
}

pub fn price(branch: Branch, push: PricePushId, number: i64, product: &Product, id: &str) -> PriceItem {
    PriceItem {
        push_id: push,
        number,
        account_id: branch.account,
        integration_id: branch.integration,
        key: key(id, false),
        product_id: product.id,
        name: product.name.clone(),
        old_price: Some(Minor(1)),
        new_price: Minor(2),
        scope: PriceScope::Branch,
        state: PriceState::Preview,
        message: None,
        batch: None,
        attempts: 0,
        is_sending: false,
        due_at: None,
    }
}

pub fn push(branch: Branch, number: u128) -> PricePush {
    PricePush {
        id: PricePushId(Uuid::from_u128(number)),
        restaurant_id: branch.restaurant,
        state: PushState::Preview,
        created_at: at(1),
        expires_at: at(100),
        started_at: None,
        finished_at: None,
    }
}

pub async fn menu_versions_are_kept_when_they_change(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let (account, restaurant) = (branch.account, branch.restaurant);
    let numbers = bench
        .write(move |tx| {
            let mut add = |number: u8, read_at: i64| {
                menus::add_version(tx, account, restaurant, DIRECT, &version(number, read_at))
            };
            Ok([add(1, 10)?, add(1, 20)?, add(2, 30)?, add(3, 40)?, add(4, 50)?])
        })
        .await;
    assert_eq!(numbers, [Some(1), None, Some(2), Some(3), Some(4)]);
    let seen = bench
        .read(move |tx| {
            let at_35 = menus::version_at(tx, restaurant, DIRECT, at(35))?;
            Ok((
                at_35.map(|it| it.number),
                menus::version_at(tx, restaurant, DIRECT, at(5))?.is_none(),
            ))
        })
        .await;
    assert_eq!(seen, (Some(2), true));
    let left = bench
        .write(move |tx| {
            menus::remove_old_versions(tx, restaurant, DIRECT, 3, at(35))?;
            let left = menus::versions(tx, restaurant, DIRECT, 10)?;
            Ok(left.into_iter().map(|(number, ..)| number).collect::<Vec<_>>())
        })
        .await;
    // The second version was still the current menu at the start of the retention period.
    assert_eq!(left, [4, 3, 2]);
}

pub async fn menus_of_a_restaurant_are_read_by_one_node(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let (one, two) = (NodeId::at(at(0)), NodeId::at(at(1)));
    let row = (branch.integration, branch.account, branch.restaurant, DIRECT);
    let restaurant = branch.restaurant;
    let (taken, again, after) = bench
        .write(move |tx| {
            nodes::join(tx, one, "one")?;
            nodes::join(tx, two, "two")?;
            menus::plan(tx, row, at(10))?;
            let taken = menus::claim(tx, restaurant, one, at(10))?;
            let again = menus::claim(tx, restaurant, two, at(10))?;
            // Requested during the read: it is read once more.
            menus::make_due(tx, branch.integration, at(12))?;
            menus::finish(tx, &taken[0], one, at(500))?;
            Ok((taken, again, menus::of_restaurant(tx, restaurant)?))
        })
        .await;
    assert_eq!((taken.len(), again.len()), (1, 0));
    assert_eq!((after[0].due_at, after[0].is_running), (at(12), false));
    let interrupted = bench
        .write(move |tx| {
            menus::claim(tx, restaurant, two, at(20))?;
            assert!(!menus::has_interrupted(tx)?);
            nodes::leave(tx, two)?;
            assert!(menus::has_interrupted(tx)?);
            menus::release_interrupted(tx, at(30))?;
            menus::due_restaurants(tx, at(30), 10)
        })
        .await;
    assert_eq!(interrupted, [(branch.account, restaurant)]);
}

pub async fn prices_are_sent_once_and_the_change_ends_with_the_last(bench: &Bench) {
    let branch = bench.branch("lokanta").await;
    let node = NodeId::at(at(0));
    let change = push(branch, 7);
    let id = change.id;
    let taken = bench
        .write(move |tx| {
            nodes::join(tx, node, "n")?;
            let product = product(branch, 1, "Ayran");
            let items = [
                price(branch, id, 1, &product, "1"),
                price(branch, id, 2, &product, "2"),
            ];
            prices::add(tx, branch.account, &change, "account", &items)?;
            assert!(prices::start(tx, id, at(5))?);
            assert!(!prices::start(tx, id, at(6))?, "a preview is sent once");
            prices::claim(tx, branch.integration, node, at(5), 10)
        })
        .await;
    assert_eq!(taken.len(), 2);
    let end = |state: PriceState| PriceEnd {
        state,
        message: None,
        batch: None,
        attempts: 0,
        is_unclear: false,
        due_at: (state == PriceState::Queued).then_some(at(9)),
    };
    let ended = bench
        .write(move |tx| {
            prices::conclude(tx, &taken[0], node, &end(PriceState::Done))?;
            prices::conclude(tx, &taken[1], node, &end(PriceState::Queued))?;
            let early = prices::finish_if_settled(tx, id, at(9))?;
            let queued = prices::claim(tx, branch.integration, node, at(9), 10)?;
            prices::conclude(tx, &queued[0], node, &end(PriceState::Failed))?;
            Ok((early, queued.len(), prices::finish_if_settled(tx, id, at(9))?))
        })
        .await;
    assert_eq!(ended, (false, 1, true));
    let (account, restaurant) = (branch.account, branch.restaurant);
    let found = bench
        .read(move |tx| prices::find(tx, account, restaurant, id))
        .await
        .unwrap();
    assert_eq!(found.state, PushState::Done);
}
