//! Control of what a platform knows of a store: closes it as the platform, changes items as its own panel does.

use serde_json::json;

use super::input::{Answer, read};
use crate::{
    call::Call,
    generate::menu::{Choosable, Id, Product},
    platform::Platform,
    refusal::Refusal,
    registry,
    store::Store,
    views::{ItemRequest, MenuItemView, ShopRequest},
    world::World,
};

pub(super) fn answer(
    world: &mut World,
    call: &Call,
    platform: &str,
    remote_id: &str,
    rest: &[&str],
) -> Answer {
    let platform: Platform = platform.parse().map_err(Refusal::NotFound)?;
    let key = (platform, registry::of(platform).store_id(remote_id).to_owned());
    if !world.stores.contains_key(&key) {
        return Err(Refusal::NotFound(format!("no store {remote_id} of {platform}")));
    }
    let now = world.now();
    match (call.method.as_str(), rest) {
        ("GET", ["shop"]) => {}
        ("PATCH", ["shop"]) => {
            let request: ShopRequest = read(call)?;
            world.shop(&key).change(&request, now);
            if request.catalog_result.is_some() {
                registry::of(platform).report_catalog(world, &key);
            }
        }
        ("GET", ["items"]) => {
            let store = world.store(platform, &key.1);
            let items = store.map(|store| items(&store)).unwrap_or_default();
            return Ok(json!({"items": items}));
        }
        ("PATCH", ["items", id]) => {
            let request: ItemRequest = read(call)?;
            world.shop(&key).change_item(id, &request);
        }
        (method, _) => return Err(Refusal::NotFound(format!("no {method} {}", call.target))),
    }
    Ok(json!(world.shop_of(&key).view(now)))
}

/// Products and then options, in the order of the menu.
fn items(store: &Store) -> Vec<MenuItemView> {
    let spelled = |id: Id| match store.platform {
        Platform::Getir => id.hex(),
        _ => id.number().to_string(),
    };
    let product = |product: &Product| MenuItemView {
        id: spelled(product.id),
        name: product.name.to_owned(),
        price: product.price,
        is_option: false,
    };
    let option = |option: &Choosable| MenuItemView {
        id: spelled(option.id),
        name: option.name.to_owned(),
        price: option.price,
        is_option: true,
    };
    let mut items: Vec<_> = store.menu.products().map(product).collect();
    let groups = store.menu.products().flat_map(|product| &product.groups);
    items.extend(groups.flat_map(|group| &group.options).map(option));
    items
}
