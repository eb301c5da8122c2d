//! Links that users make between items of platforms and products. They persist when menus are read again.

use super::list::{ListedProduct, check_restaurant, with_items};
use super::menus::new_product;
use super::record;
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, ProductId, RestaurantId};
use garson_core::money::Currency;
use garson_core::platform::{Platform, Provider};
use garson_core::product::{ItemKey, ListedItem};
use garson_core::restaurant_history::HistoryAction;
use garson_core::store_control::Requester;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::platform_items::{ItemSource, PlatformItem};
use garson_store::tables::products::Product;
use garson_store::tables::{declined_matches, integrations, platform_items, products, restaurants};
use serde_json::json;
use std::collections::BTreeSet;

/// An item that a user enters, because the platform's menu cannot be read.
#[derive(Clone, Debug)]
pub struct NewItem {
    pub provider: Provider,
    pub is_option: bool,
    pub item_id: String,
    pub name: String,
}

/// Enters an item of a platform whose menu cannot be read, as a product of its own.
pub async fn add(app: &App, by: By, restaurant: RestaurantId, new: NewItem) -> Result<ListedProduct, Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            lock(tx, account, restaurant)?;
            let platform = connected(tx, restaurant, new.provider)?;
            let key = ItemKey {
                provider: new.provider,
                is_option: new.is_option,
                id: new.item_id.clone(),
            };
            if let Some(known) = platform_items::find(tx, restaurant, &key)? {
                return one(tx, account, restaurant, known.product_id);
            }
            if platform.capability().menu {
                return Err(Fault::invalid("provider", FieldProblem::HasMenu));
            }
            let item = entered(key, &new.name);
            let product = new_product(restaurant, &item, false, now);
            products::add(tx, account, &product)?;
            let action = recorded(Verb::Created, restaurant, product.id);
            let fields = json!({ "name": new.name, "provider": new.provider, "itemId": new.item_id });
            by.record(tx, action.after(fields), now);
            save(tx, account, restaurant, item, product.id, now)?;
            one(tx, account, restaurant, product.id)
        })
        .await
}

/// Makes an item of a platform part of a product. The item that the product had there becomes a product of its own.
pub async fn link(
    app: &App,
    by: By,
    restaurant: RestaurantId,
    product: ProductId,
    (provider, item_id): (Provider, String),
    requester: Requester,
) -> Result<ListedProduct, Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            lock(tx, account, restaurant)?;
            let target = find(tx, account, restaurant, product)?;
            let key = ItemKey {
                provider,
                is_option: target.is_option,
                id: item_id.clone(),
            };
            let item = match platform_items::find(tx, restaurant, &key)? {
                Some(item) => item,
                None => enter(tx, account, restaurant, &target, key.clone(), now)?,
            };
            if item.product_id == product {
                platform_items::link(tx, restaurant, &key, product, true)?;
                return one(tx, account, restaurant, product);
            }
            for other in platform_items::of_products(tx, &[product])? {
                if other.item.key.provider == provider {
                    separate(tx, account, restaurant, &other, false, now)?;
                }
            }
            platform_items::link(tx, restaurant, &key, product, true)?;
            if platform_items::of_products(tx, &[item.product_id])?.is_empty() {
                declined_matches::replace(tx, account, restaurant, item.product_id, product, now)?;
            }
            declined_matches::remove(tx, restaurant, (product, item.product_id))?;
            tidy(tx, restaurant, &[product, item.product_id], now)?;
            let action = (HistoryAction::ProductLinked, target.name.as_str(), &key);
            record::linked(tx, account, restaurant, requester, action, now)?;
            let before = json!({ "product": item.product_id });
            by.record(
                tx,
                with_item(recorded(Verb::Linked, restaurant, product), &key).before(before),
                now,
            );
            one(tx, account, restaurant, product)
        })
        .await
}

/// Removes a platform's item from a product. It becomes a product of its own, to which no items are matched automatically.
pub async fn unlink(
    app: &App,
    by: By,
    restaurant: RestaurantId,
    product: ProductId,
    provider: Provider,
    requester: Requester,
) -> Result<ListedProduct, Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            lock(tx, account, restaurant)?;
            let target = find(tx, account, restaurant, product)?;
            let items = platform_items::of_products(tx, &[product])?;
            let linked = items.iter().find(|it| it.item.key.provider == provider);
            let linked = linked.ok_or_else(|| Fault::not_found(Thing::Product, provider))?;
            if items.len() > 1 {
                separate(tx, account, restaurant, linked, true, now)?;
                tidy(tx, restaurant, &[product], now)?;
            } else {
                // It is alone already, and stays so.
                platform_items::link(tx, restaurant, &linked.item.key, product, true)?;
                products::close(tx, product, now)?;
            }
            let action = (
                HistoryAction::ProductUnlinked,
                target.name.as_str(),
                &linked.item.key,
            );
            record::linked(tx, account, restaurant, requester, action, now)?;
            by.record(
                tx,
                with_item(recorded(Verb::Unlinked, restaurant, product), &linked.item.key),
                now,
            );
            one(tx, account, restaurant, product)
        })
        .await
}

/// Merges two products on a user's request: the items of the other become part of the product.
pub async fn merge(
    app: &App,
    by: By,
    restaurant: RestaurantId,
    product: ProductId,
    other: ProductId,
    requester: Requester,
) -> Result<ListedProduct, Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            lock(tx, account, restaurant)?;
            let target = find(tx, account, restaurant, product)?;
            let source = find(tx, account, restaurant, other)?;
            if product == other {
                return one(tx, account, restaurant, product);
            }
            let (own, theirs) = (
                platform_items::of_products(tx, &[product])?,
                platform_items::of_products(tx, &[other])?,
            );
            let has_same = |it: &PlatformItem| {
                let provider = it.item.key.provider;
                theirs.iter().any(|other| other.item.key.provider == provider)
            };
            let is_both_there = own.iter().any(|it| it.gone_at.is_none() && has_same(it));
            if target.is_option != source.is_option || is_both_there {
                return Err(Fault::invalid("other", FieldProblem::NotSameProduct));
            }
            for gone in own.iter().filter(|it| has_same(it)) {
                separate(tx, account, restaurant, gone, false, now)?;
            }
            for item in &theirs {
                platform_items::link(tx, restaurant, &item.item.key, product, true)?;
                let action = (HistoryAction::ProductLinked, target.name.as_str(), &item.item.key);
                record::linked(tx, account, restaurant, requester, action, now)?;
            }
            declined_matches::replace(tx, account, restaurant, other, product, now)?;
            tidy(tx, restaurant, &[product, other], now)?;
            let fields = json!({ "name": target.name, "other": other, "otherName": source.name });
            by.record(tx, recorded(Verb::Merged, restaurant, product).after(fields), now);
            one(tx, account, restaurant, product)
        })
        .await
}

/// Records a user's decision that two products are different: the pair is not suggested again. Other suggestions for both stay.
pub async fn keep_apart(
    app: &App,
    by: By,
    restaurant: RestaurantId,
    product: ProductId,
    other: ProductId,
    requester: Requester,
) -> Result<(), Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            lock(tx, account, restaurant)?;
            let one = find(tx, account, restaurant, product)?;
            let two = find(tx, account, restaurant, other)?;
            if product == other {
                return Err(Fault::invalid("other", FieldProblem::NotOtherProduct));
            }
            declined_matches::add(tx, account, restaurant, (product, other), now)?;
            record::match_declined(tx, account, restaurant, requester, (&one.name, &two.name), now)?;
            let fields = json!({ "name": one.name, "other": other, "otherName": two.name });
            by.record(
                tx,
                recorded(Verb::Separated, restaurant, product).after(fields),
                now,
            );
            Ok(())
        })
        .await
}

fn recorded(verb: Verb, restaurant: RestaurantId, product: ProductId) -> Recorded {
    Recorded::new(RecordKind::Product, verb)
        .id(product)
        .restaurant(restaurant)
}

fn with_item(action: Recorded, key: &ItemKey) -> Recorded {
    action.after(json!({ "provider": key.provider, "itemId": key.id }))
}

fn lock(tx: &mut Tx<'_>, account: AccountId, restaurant: RestaurantId) -> Result<(), Fault> {
    if restaurants::lock(tx, account, restaurant)? {
        Ok(())
    } else {
        Err(Fault::not_found(Thing::Restaurant, restaurant))
    }
}

fn find(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    id: ProductId,
) -> Result<Product, Fault> {
    let found = products::find(tx, account, restaurant, id)?;
    found.ok_or_else(|| Fault::not_found(Thing::Product, id))
}

fn one(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    id: ProductId,
) -> Result<ListedProduct, Fault> {
    check_restaurant(tx, account, restaurant)?;
    let found = find(tx, account, restaurant, id)?;
    let listed = with_items(tx, restaurant, vec![found])?.into_iter().next();
    listed.ok_or_else(|| Fault::not_found(Thing::Product, id))
}

/// The platform, if the restaurant is connected to it.
fn connected(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    provider: Provider,
) -> Result<&'static dyn Platform, Fault> {
    let of_restaurant = integrations::of_restaurant(tx, restaurant)?;
    let is_connected = of_restaurant.iter().any(|it| it.provider == provider);
    let platform = garson_platforms::of(provider).filter(|_| is_connected);
    platform.ok_or_else(|| Fault::NotConnected {
        provider: provider.to_string(),
    })
}

/// The error for an unknown item, which can be entered if the platform's menu cannot be read.
fn enter(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    target: &Product,
    key: ItemKey,
    now: Timestamp,
) -> Result<PlatformItem, Fault> {
    if connected(tx, restaurant, key.provider)?.capability().menu {
        return Err(Fault::invalid("itemId", FieldProblem::NotInMenu));
    }
    let item = entered(key, &target.name);
    let own = new_product(restaurant, &item, false, now);
    products::add(tx, account, &own)?;
    save(tx, account, restaurant, item, own.id, now)
}

fn entered(key: ItemKey, name: &str) -> ListedItem {
    ListedItem {
        code: Some(key.id.clone()),
        key,
        name: name.to_owned(),
        category: None,
        price: None,
        currency: Currency::TRY,
        image_url: None,
        is_available: None,
        traits: BTreeSet::new(),
        places: Vec::new(),
    }
}

fn save(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    item: ListedItem,
    product: ProductId,
    now: Timestamp,
) -> Result<PlatformItem, Fault> {
    let stored = PlatformItem {
        item,
        product_id: product,
        is_manual: true,
        source: ItemSource::Manual,
        available_at: now,
        gone_at: None,
    };
    platform_items::save(tx, account, restaurant, &stored, now)?;
    Ok(stored)
}

/// Makes an item a product of its own.
fn separate(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    item: &PlatformItem,
    is_closed: bool,
    now: Timestamp,
) -> Result<(), Fault> {
    let own = new_product(restaurant, &item.item, is_closed, now);
    products::add(tx, account, &own)?;
    platform_items::link(tx, restaurant, &item.item.key, own.id, is_closed)?;
    Ok(())
}

/// Updates products whose items have changed, and removes those without items.
fn tidy(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    changed: &[ProductId],
    now: Timestamp,
) -> Result<(), Fault> {
    for product in changed {
        products::refresh(tx, *product, now)?;
    }
    products::remove_empty_of(tx, restaurant, changed)?;
    Ok(())
}
