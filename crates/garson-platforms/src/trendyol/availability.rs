//! Switching products on and off. An option is a product that a group refers to, so it is switched like one.

use super::names::PRODUCT_STATUS;
use super::write::{address, command, signed, store};
use crate::common::request::{limited, segment, with_json};
use crate::common::steps::single;
use garson_core::item::{Availability, ItemChange, ItemResult, ItemsChanged, UnavailableEnd};
use garson_core::platform::{HttpResponse, ItemSupport, ItemTimer, Link, PlatformError, Step};
use serde_json::json;

pub const SUPPORT: ItemSupport = ItemSupport {
    timer: ItemTimer::None,
    options: true,
    per_call: 1,
    reads: false,
};

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
    let (status, is_ours_to_restore) = match change.to {
        Availability::Available => ("ACTIVE", false),
        Availability::Unavailable { end } => ("PASSIVE", end != UnavailableEnd::Never),
    };
    let ask = || {
        let (store, product) = (segment(store(link)?), segment(item.id()));
        let url = address(
            link,
            "product",
            &format!("stores/{store}/products/{product}/status"),
        )?;
        let request = with_json("PUT", url, &json!({ "status": status }));
        signed(limited(request, PRODUCT_STATUS), link)
    };
    single(ask, answers, |answer| {
        command(answer)?;
        Ok(ItemsChanged {
            results: vec![ItemResult::Done],
            is_ours_to_restore,
        })
    })
}
