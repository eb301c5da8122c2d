//! Migros's menu in JSON: headers and their items, without what can be chosen with them.

use serde_json::{Value, json};

use super::envelope::{Answer, Refusal};
use crate::{
    generate::menu::{Category, Product},
    random::hash,
    store::Store,
};

pub(super) fn group_id(store: &Store) -> u64 {
    hash(&format!("group {}", store.remote_id)) % 100_000
}

/// The store of the key: the menu is asked for by its group.
pub(super) fn store(store: &Store) -> Value {
    json!({
        "id": Store::numeric(&store.remote_id),
        "storeName": store.name,
        "storeGroupId": group_id(store),
        "warehouseId": hash(&format!("warehouse {}", store.remote_id)) % 100_000,
        "prepareDuration": 20,
        "inWorkingHours": true,
        "active": true,
        "integrationIsActive": true,
    })
}

pub(super) fn render(store: &Store, body: &Value) -> Answer {
    if body["storeId"] != Store::numeric(&store.remote_id) {
        return Err(Refusal::invalid("storeId is not the store of this key"));
    }
    if body["storeGroupId"] != group_id(store) {
        return Err(Refusal::invalid("storeGroupId is not that of this store"));
    }
    let menu_id = hash(&format!("menu {}", store.remote_id)) % 1_000_000;
    let item = |product: &Product| {
        json!({
            "id": product.id.number() + 1,
            "menuId": menu_id,
            "productId": product.id.number(),
            "productName": product.name,
            "productDescription": product.description,
            "defaultPrimaryPrice": product.price,
            "defaultPrimaryDiscountedPrice": product.price,
            "status": "ACTIVE",
        })
    };
    let header = |category: &Category| {
        json!({
            "id": category.id.number(),
            "menuId": menu_id,
            "name": category.name,
            "status": "ACTIVE",
            "foodMenuItemDetailsDTOs": category.products.iter().map(item).collect::<Vec<_>>(),
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
