//! Migros's menu in JSON: headers and their items, without what can be chosen with them.

use serde_json::{Value, json};

use super::envelope::{Answer, Refusal};
use crate::{
    generate::menu::{Category, Product},
    random::hash,
    store::Store,
    world::World,
};

pub(super) fn group_id(store: &Store) -> u64 {
    hash(&format!("group {}", store.remote_id)) % 100_000
}

pub(super) fn warehouse_id(store: &Store) -> u64 {
    hash(&format!("warehouse {}", store.remote_id)) % 100_000
}

pub(super) fn menu_id(store: &Store) -> u64 {
    hash(&format!("menu {}", store.remote_id)) % 1_000_000
}

/// An item's place in the menu is not its product.
pub(super) fn item_id(product: &Product) -> u64 {
    product.id.number() + 1
}

/// The store of the key: the menu is asked for by its group.
pub(super) fn store(world: &World, store: &Store) -> Value {
    let shop = world.shop_of(&store.key());
    json!({
        "id": Store::numeric(&store.remote_id),
        "storeName": store.name,
        "storeGroupId": group_id(store),
        "warehouseId": warehouse_id(store),
        "prepareDuration": 20,
        "inWorkingHours": shop.is_in_hours,
        "active": !shop.is_deactivated,
        "integrationIsActive": true,
    })
}

pub(super) fn render(world: &World, store: &Store, body: &Value) -> Answer {
    if body["storeId"] != Store::numeric(&store.remote_id) {
        return Err(Refusal::invalid("storeId is not the store of this key"));
    }
    if body["storeGroupId"] != group_id(store) {
        return Err(Refusal::invalid("storeGroupId is not that of this store"));
    }
    let (shop, now, menu_id) = (world.shop_of(&store.key()), world.now(), menu_id(store));
    let item = |product: &Product| {
        let id = product.id.number().to_string();
        let price = shop.price(&id, product.price);
        json!({
            "id": item_id(product),
            "menuId": menu_id,
            "productId": product.id.number(),
            "productName": shop.name(&id, product.name),
            "productDescription": product.description,
            "defaultPrimaryPrice": price,
            "defaultPrimaryDiscountedPrice": price,
            "status": if shop.is_off(&id, now) { "PASSIVE" } else { "ACTIVE" },
        })
    };
    let is_listed = |product: &&Product| !shop.is_removed(&product.id.number().to_string());
    let header = |category: &Category| {
        json!({
            "id": category.id.number(),
            "menuId": menu_id,
            "name": category.name,
            "status": "ACTIVE",
            "foodMenuItemDetailsDTOs": category.products.iter().filter(is_listed).map(item).collect::<Vec<_>>(),
        })
    };
    Ok(json!({
        "id": menu_id,
        "storeGroupId": body["storeGroupId"],
        "name": store.menu.restaurant,
        "status": "ACTIVE",
        "menuHeaderInfos": store.menu.categories.iter().map(header).collect::<Vec<_>>(),
    }))
}
