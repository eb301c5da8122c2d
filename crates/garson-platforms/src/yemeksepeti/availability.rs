//! Switching catalog items and toppings on and off, many in one request. They are identified by our own ids.

use super::names::{CHAIN_CODE, GLOBAL_ENTITY_ID};
use super::outcome::command;
use super::soft::text;
use super::wire::store::{AvailabilityDetail, AvailabilityResult};
use super::write::authorized;
use crate::common::request::{segment, with_json};
use crate::common::soft::objects;
use crate::common::steps::{setting, single};
use garson_core::explanation::PlatformFailure;
use garson_core::item::{Availability, ItemChange, ItemResult, ItemsChanged, UnavailableEnd};
use garson_core::platform::{CallError, HttpResponse, ItemSupport, ItemTimer, Link, PlatformError, Step};
use garson_core::time::Timestamp;
use serde::Serialize;

/// The limit of items per request is not published.
pub const SUPPORT: ItemSupport = ItemSupport {
    timer: ItemTimer::Any,
    options: true,
    per_call: 50,
    reads: false,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    global_entity_id: Option<&'a str>,
    items: Vec<&'a str>,
    #[serde(rename = "type")]
    kind: &'static str,
    is_available: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    will_be_available: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_time_stamp: Option<Timestamp>,
}

pub fn change_items(
    change: &ItemChange,
    link: &Link<'_>,
    answers: &[HttpResponse],
) -> Result<Step<ItemsChanged>, PlatformError> {
    SUPPORT.check(change)?;
    let Some(first) = change.items.first() else {
        return Ok(Step::Done(ItemsChanged {
            results: Vec::new(),
            is_ours_to_restore: false,
        }));
    };
    let (will_be_available, at_time_stamp) = match change.to {
        Availability::Available => (None, None),
        Availability::Unavailable { end } => match end {
            UnavailableEnd::Never => (None, None),
            UnavailableEnd::EndOfDay(_) => (Some("NEXT_BUSINESS_DAY"), None),
            UnavailableEnd::At(at) => (Some("AT_TIMESTAMP"), Some(at)),
        },
    };
    let ask = || {
        let chain = segment(link.credential(CHAIN_CODE)?);
        let branch = segment(link.branch);
        let url = format!(
            "{}/v2/chains/{chain}/vendors/{branch}/catalog/items/availability",
            link.base
        );
        let body = Update {
            global_entity_id: setting(link, GLOBAL_ENTITY_ID),
            items: change.items.iter().map(|item| item.id()).collect(),
            kind: if first.is_option() { "TOPPING" } else { "ITEM" },
            is_available: change.to.is_available(),
            will_be_available,
            at_time_stamp,
        };
        authorized(with_json("PUT", url, &body), link)
    };
    single(ask, answers, |answer| {
        let result = result(answer)?;
        Ok(ItemsChanged {
            results: vec![result; change.items.len()],
            is_ours_to_restore: false,
        })
    })
}

/// The answer has a result per platform, not per item: a failure on one platform counts for all items.
fn result(answer: &HttpResponse) -> Result<ItemResult, CallError> {
    command(answer)?;
    if answer.body.trim_ascii().is_empty() {
        return Ok(ItemResult::Done);
    }
    let Ok(shown) = serde_json::from_slice::<AvailabilityResult<'_>>(&answer.body) else {
        return Ok(ItemResult::Done);
    };
    let details: Vec<AvailabilityDetail<'_>> = objects(shown.details.as_deref().unwrap_or_default());
    let words = || details.iter().filter_map(|detail| text(detail.status.as_ref()));
    let overall = text(shown.status.as_ref()).unwrap_or_default();
    let is_done = overall.eq_ignore_ascii_case("Success")
        || (overall.is_empty() && words().all(|word| word.eq_ignore_ascii_case("Success")));
    if is_done {
        return Ok(ItemResult::Done);
    }
    let message = PlatformFailure::Says {
        text: format!("{overall}: {}", words().collect::<Vec<_>>().join(", ")),
    }
    .into();
    let is_unsupported =
        words().next().is_some() && words().all(|word| word.eq_ignore_ascii_case("Not Supported"));
    Ok(if is_unsupported {
        ItemResult::Unsupported { message }
    } else {
        ItemResult::Refused { message }
    })
}
