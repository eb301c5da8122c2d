//! Switching products and options on and off, one in each request.

use super::names::{OPTION_CALLS, OPTION_CALLS_BY_PRODUCT};
use super::outcome::{BLOCK, command, instead, value};
use super::wire::store::ItemStatus;
use super::wire::text;
use super::write::{self, ITEM_STATUS};
use crate::common::request::{limited, request, segment, with_json};
use crate::common::steps::{setting, single};
use crate::common::text::{MAX_NAME, keep_some};
use garson_core::explanation::{MissingData, PlatformTask};
use garson_core::item::{
    Availability, ItemChange, ItemReading, ItemRef, ItemResult, ItemsChanged, UnavailableEnd,
};
use garson_core::platform::{
    CallError, HttpRequest, HttpResponse, ItemSupport, ItemTimer, Link, PlatformError, Step,
};
use serde_json::json;

pub const SUPPORT: ItemSupport = ItemSupport {
    timer: ItemTimer::Today,
    options: true,
    per_call: 1,
    reads: true,
};

const ACTIVE: u32 = 100;
const INACTIVE: u32 = 200;
const INACTIVE_TODAY: u32 = 400;

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
    let (status, is_ours_to_restore) = status(change.to, item.is_option());
    let url = address(item, link)?;
    let ask = || put(link, url, status);
    single(ask, answers, |answer| {
        command(answer, BLOCK)?;
        Ok(ItemsChanged {
            results: vec![ItemResult::Done],
            is_ours_to_restore,
        })
    })
}

/// The number that Getir expects, and whether the service has to switch the item on again. Options have no "today".
fn status(to: Availability, is_option: bool) -> (u32, bool) {
    match to {
        Availability::Available => (ACTIVE, false),
        Availability::Unavailable { end } => match end {
            UnavailableEnd::EndOfDay(_) if !is_option => (INACTIVE_TODAY, false),
            UnavailableEnd::Never => (INACTIVE, false),
            UnavailableEnd::EndOfDay(_) | UnavailableEnd::At(_) => (INACTIVE, true),
        },
    }
}

fn address(item: &ItemRef, link: &Link<'_>) -> Result<String, PlatformError> {
    match item {
        ItemRef::Product { id } => Ok(format!("{}/products/{}/status", link.base, segment(id))),
        ItemRef::Option { id, group, product } => {
            if setting(link, OPTION_CALLS) != Some(OPTION_CALLS_BY_PRODUCT) {
                return Err(PlatformError::Unsupported {
                    what: PlatformTask::ChangeOptions,
                });
            }
            let (Some(group), Some(product)) = (group, product) else {
                return Err(PlatformError::MissingData {
                    what: MissingData::OptionPlace,
                });
            };
            Ok(format!(
                "{}/products/{}/option-categories/{}/options/{}/status",
                link.base,
                segment(product),
                segment(group),
                segment(id)
            ))
        }
    }
}

fn put(link: &Link<'_>, url: String, status: u32) -> Result<HttpRequest, PlatformError> {
    let plain = with_json("PUT", url, &json!({ "status": status }));
    Ok(limited(write::with_token(plain, link)?, ITEM_STATUS))
}

pub fn read_item(
    item: &ItemRef,
    link: &Link<'_>,
    answers: &[HttpResponse],
) -> Result<Step<ItemReading>, PlatformError> {
    // Options are read with the menu.
    if item.is_option() {
        return Err(PlatformError::Unsupported {
            what: PlatformTask::ReadItem,
        });
    }
    let url = address(item, link)?;
    let ask = || {
        Ok(limited(
            write::with_token(request("GET", url), link)?,
            ITEM_STATUS,
        ))
    };
    single(ask, answers, read)
}

fn read(answer: &HttpResponse) -> Result<ItemReading, CallError> {
    let shown: ItemStatus<'_> = value(answer, BLOCK)?;
    if shown.status.is_none()
        && let Some(trouble) = instead(answer, CallError::refused)
    {
        return Err(trouble);
    }
    let word = keep_some(text(&shown.status), MAX_NAME);
    let number = word.as_deref().and_then(|word| word.parse::<u32>().ok());
    Ok(ItemReading {
        is_available: match number {
            Some(ACTIVE) => Some(true),
            Some(INACTIVE | INACTIVE_TODAY) => Some(false),
            _ => None,
        },
        is_off_for_today: number == Some(INACTIVE_TODAY),
        word,
    })
}
