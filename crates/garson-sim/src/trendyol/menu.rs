//! Trendyol's menu in JSON: four flat collections that refer to each other by id.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    generate::menu::{Choosable, OptionGroup, Product},
    money,
    store::Store,
};

#[derive(Default)]
struct Flat {
    products: BTreeMap<u64, Value>,
    ingredients: BTreeMap<u64, Value>,
    groups: BTreeMap<u64, Value>,
}

pub(super) fn render(store: &Store) -> Value {
    let mut flat = Flat::default();
    for product in store.menu.products() {
        flat.add_product(product);
    }
    let section = |(position, category): (usize, &crate::generate::menu::Category)| {
        let products = category.products.iter().enumerate();
        let products =
            products.map(|(position, product)| json!({"id": product.id.number(), "position": position + 1}));
        json!({
            "id": category.id.number(),
            "name": category.name,
            "position": position + 1,
            "status": "ACTIVE",
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

impl Flat {
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
        let body = json!({
            "id": product.id.number(),
            "name": product.name,
            "description": product.description,
            "sellingPrice": money::number(product.price),
            "originalPrice": money::number(product.price),
            "ownSellable": true,
            "status": "ACTIVE",
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
        let body = json!({
            "id": option.id.number(),
            "name": option.name,
            "description": "",
            "sellingPrice": money::number(option.price),
            "originalPrice": money::number(option.price),
            "ownSellable": false,
            "status": "ACTIVE",
            "ingredients": [],
            "extraIngredients": [],
            "modifierGroups": self.add_groups(&option.groups),
        });
        self.products.insert(option.id.number(), body);
    }
}
