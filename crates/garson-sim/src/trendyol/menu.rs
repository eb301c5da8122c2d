//! Trendyol's menu in JSON: four flat collections that refer to each other by id.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    generate::menu::{Choosable, OptionGroup, Product},
    money,
    shop::Shop,
    store::Store,
};

struct Flat<'a> {
    shop: &'a Shop,
    now: Timestamp,
    products: BTreeMap<u64, Value>,
    ingredients: BTreeMap<u64, Value>,
    groups: BTreeMap<u64, Value>,
}

pub(super) fn render(store: &Store, shop: &Shop, now: Timestamp) -> Value {
    let mut flat = Flat {
        shop,
        now,
        products: BTreeMap::new(),
        ingredients: BTreeMap::new(),
        groups: BTreeMap::new(),
    };
    let is_listed = |product: &&Product| !shop.is_removed(&product.id.number().to_string());
    for product in store.menu.products().filter(is_listed) {
        flat.add_product(product);
    }
    let section = |(position, category): (usize, &crate::generate::menu::Category)| {
        let products = category.products.iter().filter(is_listed).enumerate();
        let products =
            products.map(|(position, product)| json!({"id": product.id.number(), "position": position + 1}));
        json!({
            "id": category.id.number(),
            "name": category.name,
            "position": position + 1,
            "status": status(shop.is_off(&category.id.number().to_string(), now)),
            "products": products.collect::<Vec<_>>(),
        })
    };
    json!({
        "sections": store.menu.categories.iter().enumerate().map(section).collect::<Vec<_>>(),
        "products": flat.products.into_values().collect::<Vec<_>>(),
        "ingredients": flat.ingredients.into_values().collect::<Vec<_>>(),
        "modifierGroups": flat.groups.into_values().collect::<Vec<_>>(),
    })
}

fn status(is_off: bool) -> &'static str {
    if is_off { "PASSIVE" } else { "ACTIVE" }
}

impl Flat<'_> {
    fn add_product(&mut self, product: &Product) {
        let removable = product
            .groups
            .iter()
            .filter(|group| group.removes)
            .flat_map(|group| &group.options);
        let ingredients: Vec<_> = removable.clone().map(|option| option.id.number()).collect();
        for option in removable {
            let ingredient = json!({"id": option.id.number(), "name": option.name});
            self.ingredients.insert(option.id.number(), ingredient);
        }
        let id = product.id.number().to_string();
        let price = money::number(self.shop.price(&id, product.price));
        let body = json!({
            "id": product.id.number(),
            "name": self.shop.name(&id, product.name),
            "description": product.description,
            "imageUrl": self.shop.image_url(&id),
            "sellingPrice": price,
            "originalPrice": price,
            "ownSellable": true,
            "status": status(self.shop.is_off(&id, self.now)),
            "ingredients": ingredients,
            "extraIngredients": [],
            "modifierGroups": self.add_groups(&product.groups),
        });
        self.products.insert(product.id.number(), body);
    }

    /// Adds what can be chosen and answers the references to it.
    fn add_groups(&mut self, groups: &[OptionGroup]) -> Vec<Value> {
        let mut references = Vec::new();
        for group in groups.iter().filter(|group| !group.removes) {
            references.push(json!({"id": group.id.number(), "position": references.len() + 1}));
            let modifiers = group.options.iter().enumerate().map(|(position, option)| {
                json!({"id": option.id.number(), "price": money::number(option.price), "position": position + 1})
            });
            let body = json!({
                "id": group.id.number(),
                "name": group.name,
                "min": group.min,
                "max": group.max,
                "modifierProducts": modifiers.collect::<Vec<_>>(),
            });
            self.groups.insert(group.id.number(), body);
            group.options.iter().for_each(|option| self.add_option(option));
        }
        references
    }

    fn add_option(&mut self, option: &Choosable) {
        let id = option.id.number().to_string();
        let body = json!({
            "id": option.id.number(),
            "name": self.shop.name(&id, option.name),
            "description": "",
            "sellingPrice": money::number(option.price),
            "originalPrice": money::number(option.price),
            "ownSellable": false,
            "status": status(self.shop.is_off(&id, self.now)),
            "ingredients": [],
            "extraIngredients": [],
            "modifierGroups": self.add_groups(&option.groups),
        });
        self.products.insert(option.id.number(), body);
    }
}
