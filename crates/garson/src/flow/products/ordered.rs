//! Finds the products of an order's items, by the platform's item id or else by name.

use super::list::{ListedProduct, with_items};
use crate::app::App;
use crate::flow::Fault;
use crate::flow::find_order::find_one;
use garson_core::id::{AccountId, ProductId, RestaurantId};
use garson_core::order::{Item, ItemOption, Order};
use garson_core::platform::Provider;
use garson_core::product::{ItemKey, name_key};
use garson_store::tables::products::Product;
use garson_store::tables::{orders, platform_items, products};
use garson_store::{StoreError, Tx};
use std::collections::HashSet;

/// The largest number of items and options of one order that are matched.
const MAX_LINES: usize = 60;

/// An item or option of an order, with its product.
#[derive(Clone, Debug)]
pub struct OrderedProduct {
    pub name: String,
    pub is_option: bool,
    /// None if no product or several products have the name.
    pub product: Option<ListedProduct>,
}

#[derive(Clone, Debug)]
pub struct OrderedProducts {
    pub order: Order,
    /// Each once, options after their item.
    pub found: Vec<OrderedProduct>,
    /// The platform names a product that is not known yet; it will be soon.
    pub is_behind: bool,
}

/// A line of an order to find the product of.
struct Line {
    /// The platform's id.
    id: Option<String>,
    name: String,
    is_option: bool,
}

/// The products of an order, as far as they are known. If the platform's menu cannot be read, products are collected from orders; this
/// happens in the background if the order has an unknown product.
pub async fn of_order(app: &App, account: AccountId, path_id: String) -> Result<OrderedProducts, Fault> {
    let mut found = read(app, account, path_id).await?;
    let (restaurant, provider) = (found.order.restaurant_id, found.order.provider);
    let has_menu = garson_platforms::of(provider).is_some_and(|it| it.capability().menu);
    found.is_behind &= !has_menu;
    if found.is_behind {
        app.product_work.request_read((account, restaurant, provider));
    }
    Ok(found)
}

async fn read(app: &App, account: AccountId, path_id: String) -> Result<OrderedProducts, Fault> {
    app.store
        .read(move |tx| {
            let order = find_one(tx, account, &path_id)?;
            let content = orders::content(tx, order.id)?;
            let mut found = Vec::new();
            let mut is_behind = false;
            for line in lines(&content.items) {
                let product = find(tx, order.restaurant_id, order.provider, &line)?;
                let listed = match product {
                    Some(product) => with_items(tx, order.restaurant_id, vec![product])?.pop(),
                    None => None,
                };
                is_behind |= listed.is_none() && line.id.is_some();
                found.push(OrderedProduct {
                    name: line.name,
                    is_option: line.is_option,
                    product: listed,
                });
            }
            let mut seen: HashSet<ProductId> = HashSet::new();
            found.retain(|it| it.product.as_ref().is_none_or(|it| seen.insert(it.product.id)));
            Ok(OrderedProducts {
                order,
                found,
                is_behind,
            })
        })
        .await
}

/// The ordered items, each name once, without removed ingredients.
fn lines(items: &[Item]) -> Vec<Line> {
    fn add_options(options: &[ItemOption], lines: &mut Vec<Line>) {
        for option in options.iter().filter(|it| !it.removed) {
            lines.push(Line {
                id: None,
                name: option.name.clone(),
                is_option: true,
            });
            add_options(&option.options, lines);
        }
    }
    let mut lines = Vec::new();
    for item in items {
        lines.push(Line {
            id: item.product_id.clone().filter(|id| !id.is_empty()),
            name: item.name.clone(),
            is_option: false,
        });
        add_options(&item.options, &mut lines);
    }
    let mut seen = HashSet::new();
    lines.retain(|it| seen.insert((it.is_option, it.id.clone(), it.name.clone())));
    lines.truncate(MAX_LINES);
    lines
}

fn find(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    provider: Provider,
    line: &Line,
) -> Result<Option<Product>, StoreError> {
    if let Some(id) = &line.id {
        let key = ItemKey {
            provider,
            is_option: line.is_option,
            id: id.clone(),
        };
        if let Some(item) = platform_items::find(tx, restaurant, &key)? {
            return Ok(products::by_ids(tx, restaurant, &[item.product_id])?.pop());
        }
    }
    let key = name_key(&line.name);
    if key.is_empty() {
        return Ok(None);
    }
    let mut named = products::named(tx, restaurant, &key)?;
    named.retain(|it| it.is_option == line.is_option);
    if named.len() > 1 {
        // Of several with the name, the one that the platform has is meant.
        let ids: Vec<ProductId> = named.iter().map(|it| it.id).collect();
        let items = platform_items::of_products(tx, &ids)?;
        let is_there = |id: ProductId| {
            items
                .iter()
                .any(|it| it.product_id == id && it.item.key.provider == provider)
        };
        named.retain(|it| is_there(it.id));
    }
    Ok(named.pop().filter(|_| named.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::money::Minor;

    fn option(name: &str, removed: bool) -> ItemOption {
        ItemOption {
            group: None,
            name: name.to_owned(),
            quantity: 1,
            price: Minor(0),
            removed,
            options: Vec::new(),
        }
    }

    #[test]
    fn each_ordered_name_is_listed_once_without_what_is_left_out() {
        let item = Item {
            id: None,
            product_id: Some("7".to_owned()),
            name: "Adana dürüm".to_owned(),
            quantity: 1,
            unit_price: Minor(0),
            total: Minor(0),
            note: None,
            options: vec![option("Ayran", false), option("Soğan", true)],
        };
        let found = lines(&[item.clone(), item]);
        let names: Vec<(&str, bool)> = found.iter().map(|it| (it.name.as_str(), it.is_option)).collect();
        assert_eq!(names, [("Adana dürüm", false), ("Ayran", true)]);
    }
}
