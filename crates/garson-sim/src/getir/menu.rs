//! Getir's menu in JSON.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::orders::{both, hex};
use crate::{
    generate::menu::{Category, Choosable, Id, OptionGroup, Product},
    money,
    shop::Shop,
    store::Store,
    world::World,
};

const ACTIVE: u16 = 100;
const INACTIVE: u16 = 200;
const INACTIVE_TODAY: u16 = 400;

/// A store's menu with what has changed since.
pub(super) struct Shown<'a> {
    store: &'a Store,
    shop: Shop,
    now: Timestamp,
}

impl<'a> Shown<'a> {
    pub(super) fn new(world: &World, store: &'a Store) -> Self {
        Self {
            store,
            shop: world.shop_of(&store.key()),
            now: world.now(),
        }
    }

    pub(super) fn render(&self) -> Value {
        let categories = self.store.menu.categories.iter().enumerate();
        let categories: Vec<_> = categories
            .map(|(weight, category)| self.category(category, weight))
            .collect();
        json!({"productCategories": categories})
    }

    fn status(&self, id: Id) -> u16 {
        let id = id.hex();
        match (
            self.shop.is_off(&id, self.now),
            self.shop.is_off_for_today(&id, self.now),
        ) {
            (false, _) => ACTIVE,
            (true, true) => INACTIVE_TODAY,
            (true, false) => INACTIVE,
        }
    }

    fn category(&self, category: &Category, weight: usize) -> Value {
        let products = category.products.iter();
        let products = products
            .filter(|product| !self.shop.is_removed(&product.id.hex()))
            .enumerate();
        json!({
            "id": category.id.hex(),
            "name": both(category.name),
            "restaurant": self.store.remote_id,
            "isApproved": true,
            "weight": weight,
            "status": ACTIVE,
            "chainProductCategory": hex(category.name),
            "products": products.map(|(weight, one)| self.product(category, one, weight)).collect::<Vec<_>>(),
        })
    }

    fn product(&self, category: &Category, product: &Product, weight: usize) -> Value {
        let id = product.id.hex();
        json!({
            "id": id,
            "restaurant": self.store.remote_id,
            "productCategory": category.id.hex(),
            "name": both(self.shop.name(&id, product.name)),
            "description": both(product.description),
            "price": money::number(self.shop.price(&id, product.price)),
            "struckPrice": money::number(0),
            "weight": weight,
            "status": self.status(product.id),
            "isApproved": true,
            "imageURL": self.shop.image_url(&id),
            "wideImageURL": "",
            "chainProduct": hex(product.name),
            "optionCategories": self.groups(product, &product.groups),
        })
    }

    fn groups(&self, product: &Product, groups: &[OptionGroup]) -> Vec<Value> {
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
                "options": options.map(|(weight, one)| self.option(product, one, weight)).collect::<Vec<_>>(),
            })
        };
        groups.iter().enumerate().map(group).collect()
    }

    fn option(&self, product: &Product, option: &Choosable, weight: usize) -> Value {
        let id = option.id.hex();
        json!({
            "id": id,
            "product": product.id.hex(),
            "chainProduct": hex(product.name),
            "name": both(self.shop.name(&id, option.name)),
            "clientDisplayName": both(self.shop.name(&id, option.name)),
            "optionProduct": option.id.hex(),
            "chainOptionProduct": hex(option.name),
            // Only their ids; their content is in the option products.
            "optionCategories": option.groups.iter().map(|group| group.id.hex()).collect::<Vec<_>>(),
            "type": 1,
            "price": money::number(self.shop.price(&id, option.price)),
            "weight": weight,
            "status": self.status(option.id),
            "chainOption": hex(option.name),
        })
    }

    /// Options that have options of their own.
    pub(super) fn option_products(&self) -> Value {
        let mut found = Vec::new();
        for product in self.store.menu.products() {
            self.collect(product, &product.groups, &mut found);
        }
        Value::from(found)
    }

    fn collect(&self, product: &Product, groups: &[OptionGroup], found: &mut Vec<Value>) {
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
                "optionCategories": self.groups(product, &option.groups),
            }));
            self.collect(product, &option.groups, found);
        }
    }
}
