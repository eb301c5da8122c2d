//! Translates the menu of one platform to the ids of another.
//!
//! A product that exists on the other platform keeps its id there. Any other gets our product id, so that orders refer to it. Categories
//! and groups get ids that no item has.

use garson_core::menu::{Category, Menu, MenuOption, OptionGroup, Product};
use garson_core::platform::Provider;
use garson_store::tables::platform_items::PlatformItem;
use std::collections::HashMap;

/// The ids of items on the platform that a menu is sent to.
pub struct ItemIds {
    source: Provider,
    /// By whether it is an option, and its id on the source.
    ids: HashMap<(bool, String), String>,
}

impl ItemIds {
    /// The ids, given the items of both platforms.
    #[must_use]
    pub fn new(source: Provider, of_source: &[PlatformItem], of_target: &[PlatformItem]) -> Self {
        let on_target: HashMap<_, _> = of_target
            .iter()
            .map(|it| (it.product_id, &it.item.key.id))
            .collect();
        let id = |it: &PlatformItem| match on_target.get(&it.product_id) {
            Some(id) => (*id).clone(),
            None => it.product_id.to_string(),
        };
        let entry = |it: &PlatformItem| ((it.item.key.is_option, it.item.key.id.clone()), id(it));
        Self {
            source,
            ids: of_source.iter().map(entry).collect(),
        }
    }

    fn of(&self, is_option: bool, id: &str) -> String {
        // An item without a product keeps its id, marked with the source platform.
        let known = self.ids.get(&(is_option, id.to_owned()));
        known.map_or_else(|| format!("{}-{id}", self.source), Clone::clone)
    }

    #[must_use]
    pub fn translate(&self, menu: &Menu) -> Menu {
        let categories = menu.categories.iter().filter(|it| !it.products.is_empty());
        Menu {
            categories: categories.map(|it| self.category(it)).collect(),
        }
    }

    fn category(&self, category: &Category) -> Category {
        Category {
            id: format!("category-{}", category.id),
            name: category.name.clone(),
            position: category.position,
            is_available: category.is_available,
            products: category
                .products
                .iter()
                .map(|it| self.product(it, category.is_available))
                .collect(),
        }
    }

    fn product(&self, product: &Product, is_category_available: bool) -> Product {
        let id = self.of(false, &product.id);
        Product {
            option_groups: self.groups(&id, &product.option_groups),
            id,
            is_available: product.is_available && is_category_available,
            ..product.clone()
        }
    }

    /// A group belongs to one item: two products may have groups with the same id and different options.
    fn groups(&self, owner: &str, groups: &[OptionGroup]) -> Vec<OptionGroup> {
        let group = |group: &OptionGroup| OptionGroup {
            id: format!("options-{owner}-{}", group.id),
            options: group.options.iter().map(|it| self.option(it)).collect(),
            ..group.clone()
        };
        groups.iter().map(group).collect()
    }

    fn option(&self, option: &MenuOption) -> MenuOption {
        let id = self.of(true, &option.id);
        MenuOption {
            option_groups: self.groups(&id, &option.option_groups),
            id,
            ..option.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::id::ProductId;
    use garson_core::money::{Currency, Minor};
    use garson_core::product::{ItemKey, ListedItem};
    use garson_core::time::Timestamp;
    use garson_store::tables::platform_items::ItemSource;
    use std::collections::BTreeSet;
    use uuid::Uuid;

    const SOURCE: Provider = Provider::new("getir");
    const TARGET: Provider = Provider::new("yemeksepeti");

    fn item(provider: Provider, is_option: bool, id: &str, product: u128) -> PlatformItem {
        PlatformItem {
            item: ListedItem {
                key: ItemKey {
                    provider,
                    is_option,
                    id: id.to_owned(),
                },
                code: None,
                name: id.to_owned(),
                category: None,
                price: None,
                currency: Currency::TRY,
                image_url: None,
                is_available: None,
                traits: BTreeSet::new(),
                places: Vec::new(),
            },
            product_id: ProductId(Uuid::from_u128(product)),
            is_manual: false,
            source: ItemSource::Menu,
            available_at: Timestamp::default(),
            gone_at: None,
        }
    }

    fn product(id: &str) -> Product {
        Product {
            id: id.to_owned(),
            name: "Adana".to_owned(),
            description: None,
            price: Minor(1),
            currency: Currency::TRY,
            image_url: None,
            is_available: true,
            option_groups: vec![OptionGroup {
                id: "1".to_owned(),
                name: "Sos".to_owned(),
                min: 0,
                max: 1,
                options: vec![MenuOption {
                    id: "1".to_owned(),
                    name: "Acı".to_owned(),
                    price: Minor(0),
                    is_available: true,
                    option_groups: Vec::new(),
                }],
            }],
        }
    }

    fn menu(products: Vec<Product>) -> Menu {
        let category = |id: &str, products| Category {
            id: id.to_owned(),
            name: "Kebap".to_owned(),
            position: 0,
            is_available: true,
            products,
        };
        Menu {
            categories: vec![category("1", products), category("2", Vec::new())],
        }
    }

    #[test]
    fn items_are_named_as_the_target_or_the_product_list_names_them() {
        let of_source = [item(SOURCE, false, "1", 7), item(SOURCE, false, "2", 8)];
        let ids = ItemIds::new(SOURCE, &of_source, &[item(TARGET, false, "K-1", 7)]);
        let sent = ids.translate(&menu(vec![product("1"), product("2"), product("3")]));
        assert_eq!(sent.categories.len(), 1, "an empty category is not sent");
        let named: Vec<&str> = sent.categories[0]
            .products
            .iter()
            .map(|it| it.id.as_str())
            .collect();
        let own = Uuid::from_u128(8).to_string();
        assert_eq!(named, ["K-1", own.as_str(), "getir-3"]);
    }

    #[test]
    fn no_two_entries_of_a_catalog_have_the_same_id() {
        let of_source = [
            item(SOURCE, false, "1", 7),
            item(SOURCE, true, "1", 9),
            item(SOURCE, false, "2", 8),
        ];
        let ids = ItemIds::new(SOURCE, &of_source, &[]);
        let sent = ids.translate(&menu(vec![product("1"), product("2")]));
        let category = &sent.categories[0];
        let mut all: Vec<&str> = vec![&category.id];
        for product in &category.products {
            all.push(&product.id);
            all.push(&product.option_groups[0].id);
        }
        all.push(&category.products[0].option_groups[0].options[0].id);
        let distinct: BTreeSet<&&str> = all.iter().collect();
        assert_eq!(distinct.len(), all.len(), "{all:?}");
        let option = |n: usize| &category.products[n].option_groups[0].options[0].id;
        assert_eq!(option(0), option(1), "an option of several products is one item");
    }
}
