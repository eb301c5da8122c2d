//! Switching products and option items on and off, one in each request.

use super::outcome::command;
use super::write::{Id, post};
use crate::common::steps::single;
use garson_core::item::{Availability, ItemChange, ItemRef, ItemResult, ItemsChanged, UnavailableEnd};
use garson_core::platform::{HttpResponse, ItemSupport, ItemTimer, Link, PlatformError, Step};
use serde::Serialize;

pub const SUPPORT: ItemSupport = ItemSupport {
    timer: ItemTimer::None,
    options: true,
    per_call: 1,
    reads: false,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProductStatus<'a> {
    store_id: Id<'a>,
    product_id: Id<'a>,
    status: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OptionItem<'a> {
    store_id: Id<'a>,
    option_item_id: Id<'a>,
}

pub fn change_items(
    change: &ItemChange,
    link: &Link<'_>,
    answers: &[HttpResponse],
) -> Result<Step<ItemsChanged>, PlatformError> {
    SUPPORT.check(change)?;
    let Some(item) = change.items.first() else {
        return Ok(Step::Done(ItemsChanged {
            results: Vec::new(),
            is_ours_to_restore: false,
        }));
    };
    let is_available = change.to.is_available();
    let is_ours_to_restore = match change.to {
        Availability::Available => false,
        Availability::Unavailable { end } => end != UnavailableEnd::Never,
    };
    let ask = || match item {
        ItemRef::Product { id } => {
            let body = ProductStatus {
                store_id: Id(link.branch),
                product_id: Id(id),
                status: if is_available { "ACTIVE" } else { "PASSIVE" },
            };
            post(link, "/Menu/UpdateProductStatusByStoreId", &body)
        }
        ItemRef::Option { id, .. } => {
            let body = OptionItem {
                store_id: Id(link.branch),
                option_item_id: Id(id),
            };
            let path = if is_available {
                "/OptionItem/ActivateOptionItemStatusByStore"
            } else {
                "/OptionItem/DeActivateOptionItemStatusByStore"
            };
            post(link, path, &body)
        }
    };
    single(ask, answers, |answer| {
        command(link, answer)?;
        Ok(ItemsChanged {
            results: vec![ItemResult::Done],
            is_ours_to_restore,
        })
    })
}
