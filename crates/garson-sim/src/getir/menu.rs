//! Getir's menu and restaurant in JSON.

use serde_json::{Value, json};

use super::orders::{both, hex};
use crate::{
    generate::menu::{Category, Choosable, OptionGroup, Product},
    money,
    store::Store,
};

const ACTIVE: u16 = 100;

pub(super) fn render(store: &Store) -> Value {
    let categories = store.menu.categories.iter().enumerate();
    let categories: Vec<_> = categories
        .map(|(weight, category)| self::category(store, category, weight))
        .collect();
    json!({"productCategories": categories})
}

pub(super) fn restaurant(store: &Store) -> Value {
    json!({
        "id": store.remote_id,
        "averagePreparationTime": 20,
        "status": ACTIVE,
        "isCourierAvailable": true,
        "name": store.name,
        "isStatusChangedByUser": false,
        "closedSource": 0,
        "rating": 4.6,
    })
}

fn category(store: &Store, category: &Category, weight: usize) -> Value {
    let products = category.products.iter().enumerate();
    json!({
        "id": category.id.hex(),
        "name": both(category.name),
        "restaurant": store.remote_id,
        "isApproved": true,
        "weight": weight,
        "status": ACTIVE,
        "chainProductCategory": hex(category.name),
        "products": products.map(|(weight, one)| product(store, category, one, weight)).collect::<Vec<_>>(),
    })
}

fn product(store: &Store, category: &Category, product: &Product, weight: usize) -> Value {
    json!({
        "id": product.id.hex(),
        "restaurant": store.remote_id,
        "productCategory": category.id.hex(),
        "name": both(product.name),
        "description": both(product.description),
        "price": money::number(product.price),
        "struckPrice": money::number(0),
        "weight": weight,
        "status": ACTIVE,
        "isApproved": true,
        "imageURL": "",
        "wideImageURL": "",
        "chainProduct": hex(product.name),
        "optionCategories": groups(product, &product.groups),
    })
}

fn groups(product: &Product, groups: &[OptionGroup]) -> Vec<Value> {
    let group = |(weight, group): (usize, &OptionGroup)| {
        let options = group.options.iter().enumerate();
        json!({
            "id": group.id.hex(),
            "name": both(group.name),
            "minCount": group.min,
            "maxCount": group.max,
            "removeToppings": group.removes,
            "weight": weight,
            "status": ACTIVE,
            "chainOptionCategory": hex(group.name),
            "options": options.map(|(weight, one)| option(product, one, weight)).collect::<Vec<_>>(),
        })
    };
    groups.iter().enumerate().map(group).collect()
}

fn option(product: &Product, option: &Choosable, weight: usize) -> Value {
    json!({
        "id": option.id.hex(),
        "product": product.id.hex(),
        "chainProduct": hex(product.name),
        "name": both(option.name),
        "clientDisplayName": both(option.name),
        "optionProduct": option.id.hex(),
        "chainOptionProduct": hex(option.name),
        // Only their ids; their content is in the option products.
        "optionCategories": option.groups.iter().map(|group| group.id.hex()).collect::<Vec<_>>(),
        "type": 1,
        "price": money::number(option.price),
        "weight": weight,
        "status": ACTIVE,
        "chainOption": hex(option.name),
    })
}

/// Options that have options of their own.
pub(super) fn option_products(store: &Store) -> Value {
    let mut found = Vec::new();
    for product in store.menu.products() {
        collect(product, &product.groups, &mut found);
    }
    Value::from(found)
}

fn collect(product: &Product, groups: &[OptionGroup], found: &mut Vec<Value>) {
    for option in groups
        .iter()
        .flat_map(|group| &group.options)
        .filter(|option| !option.groups.is_empty())
    {
        found.push(json!({
            "id": option.id.hex(),
            "name": both(option.name),
            "clientDisplayName": both(option.name),
            "weight": 0,
            "status": ACTIVE,
            "chainOptionProduct": hex(option.name),
            "optionCategories": self::groups(product, &option.groups),
        }));
        collect(product, &option.groups, found);
    }
}
