//! The products and options of a menu as a flat list.

use super::item::{ItemKey, ListedItem, Place};
use super::name::name_key;
use crate::menu::{Category, Menu, MenuOption, OptionGroup, Product};
use crate::money::Currency;
use crate::platform::Provider;
use std::collections::{BTreeMap, BTreeSet};

/// The largest number of products taken from a menu; no real menu has this many.
pub const MAX_PRODUCTS: usize = 10_000;
/// The largest number of options taken from a menu.
pub const MAX_OPTIONS: usize = 20_000;
/// The largest number of products in which an option is switched.
pub const MAX_PLACES: usize = 200;
/// The largest number of names that distinguish items of the same name.
const MAX_TRAITS: usize = 40;

/// The products and options of a menu, products first, each once, sorted by key.
#[must_use]
pub fn menu_items(provider: Provider, menu: &Menu) -> Vec<ListedItem> {
    let mut items = Items {
        provider,
        products: BTreeMap::new(),
        options: BTreeMap::new(),
    };
    for category in &menu.categories {
        for product in &category.products {
            items.add_product(category, product);
        }
    }
    items
        .products
        .into_values()
        .chain(items.options.into_values())
        .collect()
}

struct Items {
    provider: Provider,
    products: BTreeMap<String, ListedItem>,
    options: BTreeMap<String, ListedItem>,
}

impl Items {
    fn key(&self, is_option: bool, id: &str) -> ItemKey {
        ItemKey {
            provider: self.provider,
            is_option,
            id: id.to_owned(),
        }
    }

    fn add_product(&mut self, category: &Category, product: &Product) {
        for group in &product.option_groups {
            self.add_group(product, group, product.currency);
        }
        if let Some(known) = self.products.get_mut(&product.id) {
            // In several categories: it is available if it is in one of them.
            let is_available = category.is_available && product.is_available;
            known.is_available = Some(known.is_available == Some(true) || is_available);
            return;
        }
        if self.products.len() >= MAX_PRODUCTS {
            return;
        }
        let mut traits = BTreeSet::new();
        product
            .option_groups
            .iter()
            .for_each(|group| collect_names(group, &mut traits));
        let item = ListedItem {
            key: self.key(false, &product.id),
            code: None,
            name: product.name.clone(),
            category: Some(category.name.clone()).filter(|name| !name.is_empty()),
            price: Some(product.price),
            currency: product.currency,
            image_url: product.image_url.clone(),
            is_available: Some(category.is_available && product.is_available),
            traits,
            places: Vec::new(),
        };
        self.products.insert(product.id.clone(), item);
    }

    fn add_group(&mut self, product: &Product, group: &OptionGroup, currency: Currency) {
        for option in &group.options {
            self.add_option(product, group, option, currency);
            for inner in &option.option_groups {
                self.add_group(product, inner, currency);
            }
        }
    }

    fn add_option(
        &mut self,
        product: &Product,
        group: &OptionGroup,
        option: &MenuOption,
        currency: Currency,
    ) {
        let place = Place {
            product: product.id.clone(),
            group: group.id.clone(),
        };
        let parent = name_key(&product.name);
        if let Some(known) = self.options.get_mut(&option.id) {
            known.is_available = Some(known.is_available == Some(true) || option.is_available);
            if known.traits.len() < MAX_TRAITS {
                known.traits.insert(parent);
            }
            if known.places.len() < MAX_PLACES && !known.places.contains(&place) {
                known.places.push(place);
            }
            return;
        }
        if self.options.len() >= MAX_OPTIONS {
            return;
        }
        let item = ListedItem {
            key: self.key(true, &option.id),
            code: None,
            name: option.name.clone(),
            category: Some(group.name.clone()).filter(|name| !name.is_empty()),
            price: Some(option.price),
            currency,
            image_url: None,
            is_available: Some(option.is_available),
            traits: BTreeSet::from([parent]),
            places: vec![place],
        };
        self.options.insert(option.id.clone(), item);
    }
}

fn collect_names(group: &OptionGroup, names: &mut BTreeSet<String>) {
    for option in &group.options {
        if names.len() >= MAX_TRAITS {
            return;
        }
        names.insert(name_key(&option.name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Minor;

    fn option(id: &str, name: &str, is_available: bool) -> MenuOption {
        MenuOption {
            id: id.to_owned(),
            name: name.to_owned(),
            price: Minor(500),
            is_available,
            option_groups: Vec::new(),
        }
    }

    fn product(id: &str, options: Vec<MenuOption>) -> Product {
        Product {
            id: id.to_owned(),
            name: format!("Ürün {id}"),
            description: None,
            price: Minor(10_000),
            currency: Currency::TRY,
            image_url: None,
            is_available: true,
            option_groups: vec![OptionGroup {
                id: format!("g-{id}"),
                name: "Soslar".to_owned(),
                min: 0,
                max: 2,
                options,
            }],
        }
    }

    fn menu(products: Vec<Product>) -> Menu {
        Menu {
            categories: vec![Category {
                id: "c".to_owned(),
                name: "Ana".to_owned(),
                position: 0,
                is_available: true,
                products,
            }],
        }
    }

    #[test]
    fn option_of_several_products_is_listed_once_with_its_places() {
        let menu = menu(vec![
            product("1", vec![option("k", "Ketçap", false)]),
            product("2", vec![option("k", "Ketçap", true)]),
        ]);
        let items = menu_items(Provider::new("getir"), &menu);
        assert_eq!(items.len(), 3);
        let ketchup = &items[2];
        assert!(ketchup.key.is_option);
        assert_eq!(
            ketchup.is_available,
            Some(true),
            "it can be ordered with one of them"
        );
        let references = ketchup.references();
        assert_eq!(
            references,
            [
                crate::item::ItemRef::option("k", "g-1", "1"),
                crate::item::ItemRef::option("k", "g-2", "2")
            ]
        );
    }

    #[test]
    fn product_of_a_closed_category_cannot_be_ordered() {
        let mut menu = menu(vec![product("1", Vec::new())]);
        menu.categories[0].is_available = false;
        let items = menu_items(Provider::new("getir"), &menu);
        assert_eq!(items[0].is_available, Some(false));
    }
}
