//! Checks that what a platform offers besides orders is there, that nothing else is, and where its requests go.

use super::case::{BASE, PlatformCase, ensure, unsupported};
use crate::catalog::CatalogPush;
use crate::explanation::PlatformTask;
use crate::item::{Availability, ItemChange, ItemRef};
use crate::menu::Menu;
use crate::money::Minor;
use crate::opening_hours::{Span, Week};
use crate::platform::{HttpRequest, Link, PlatformError, Step, Trust};
use crate::price_change::{NewPrice, PriceChange, PriceScope};
use crate::secret::Secret;
use crate::store_status::{ClosingEnd, StoreChange, StoreState, StoreTarget};
use crate::time::Timestamp;

type First = Result<Option<HttpRequest>, PlatformError>;

/// The first request of what is done in steps.
fn first<T>(step: Result<Step<T>, PlatformError>) -> First {
    step.map(|step| match step {
        Step::Ask(request) => Some(request),
        Step::Done(_) => None,
    })
}

pub(super) fn follows_the_capability(case: &PlatformCase<'_>) -> Result<(), String> {
    let token = Secret::new("token".to_owned());
    let link = case.link(&token);
    for (task, result) in attempts(case, &link) {
        let offered = case.platform.offers(task, &case.credentials);
        ensure(
            offered != unsupported(&result),
            format!("{task:?} is said but not there, or there but not said: {result:?}"),
        )?;
        match result {
            Ok(Some(request)) => stays_on_the_platform(case, task, &request)?,
            Ok(None) => return Err(format!("{task:?} is done without a request")),
            Err(PlatformError::Unsupported { .. }) => {}
            Err(error) => return Err(format!("{task:?}: {error}")),
        }
    }
    limits_are_known(case)
}

fn stays_on_the_platform(
    case: &PlatformCase<'_>,
    task: PlatformTask,
    request: &HttpRequest,
) -> Result<(), String> {
    ensure(
        request.url.starts_with(&format!("{BASE}/")) && request.trust == Trust::Operator,
        format!("{task:?} goes to {}", request.url),
    )?;
    let limits = case.platform.capability().limits;
    let is_known = |name| limits.iter().any(|limit| limit.name == name);
    ensure(
        request.limit.is_none_or(is_known),
        format!(
            "the limit {:?} of {task:?} is not in the capability",
            request.limit
        ),
    )?;
    // Where limits are published, every request names one.
    ensure(
        limits.is_empty() || request.limit.is_some(),
        format!("{task:?} names no limit"),
    )
}

fn limits_are_known(case: &PlatformCase<'_>) -> Result<(), String> {
    let limits = case.platform.capability().limits;
    for limit in limits {
        ensure(
            limit
                .within
                .is_none_or(|name| name != limit.name && limits.iter().any(|limit| limit.name == name)),
            format!("the limit {} is within one that is not there", limit.name),
        )?;
    }
    Ok(())
}

fn attempts(case: &PlatformCase<'_>, link: &Link<'_>) -> Vec<(PlatformTask, First)> {
    let (platform, capability) = (case.platform, case.platform.capability());
    let store = |to| StoreChange {
        to,
        from: StoreState::Unknown,
        busy_is_set: false,
        now: Timestamp::default(),
    };
    let closed = store(StoreTarget::Closed {
        end: ClosingEnd::Never,
        reason: None,
    });
    let busy_minutes = capability
        .store
        .and_then(|support| support.busy_minutes.first().copied());
    let busy = store(StoreTarget::Busy {
        minutes: busy_minutes.unwrap_or(15),
    });
    let items = |items: Vec<ItemRef>| ItemChange {
        items,
        to: Availability::Available,
        now: Timestamp::default(),
    };
    let product = || ItemRef::product("1");
    let option = || ItemRef::option("1", "2", "3");
    let scope = capability
        .prices
        .map_or(PriceScope::Branch, |support| support.scope);
    let prices = |is_option, scope| PriceChange {
        prices: vec![NewPrice {
            id: "1".to_owned(),
            is_option,
            price: Minor(100),
        }],
        scope,
        reference: "1".to_owned(),
        now: Timestamp::default(),
    };
    let week = Week::daily(Span::ALL_DAY);
    let menu = Menu::default();
    let push = CatalogPush {
        menu: &menu,
        callback_url: None,
    };
    let change_items = |change: ItemChange| first(platform.change_items(&change, link, &[]));
    let change_prices = |change: PriceChange| first(platform.change_prices(&change, link, &[]));
    vec![
        (PlatformTask::ReadStore, first(platform.read_store(link, &[]))),
        (
            PlatformTask::ChangeStore,
            first(platform.change_store(&closed, link, &[])),
        ),
        (
            PlatformTask::BusyMode,
            first(platform.change_store(&busy, link, &[])),
        ),
        (PlatformTask::ReadHours, first(platform.read_hours(link, &[]))),
        (
            PlatformTask::WriteHours,
            first(platform.write_hours(&week, link, &[])),
        ),
        (PlatformTask::ChangeItems, change_items(items(vec![product()]))),
        (PlatformTask::ChangeOptions, change_items(items(vec![option()]))),
        (
            PlatformTask::ManyItems,
            change_items(items(vec![product(), ItemRef::product("2")])),
        ),
        (
            PlatformTask::ReadItem,
            first(platform.read_item(&product(), link, &[])),
        ),
        (PlatformTask::ChangePrices, change_prices(prices(false, scope))),
        (
            PlatformTask::ChangeOptionPrices,
            change_prices(prices(true, scope)),
        ),
        (
            PlatformTask::ChangeBranchPrices,
            change_prices(prices(false, PriceScope::Branch)),
        ),
        (
            PlatformTask::ReadPrices,
            first(platform.read_prices("1", link, &[])),
        ),
        (
            PlatformTask::PushCatalog,
            first(platform.push_catalog(&push, link, &[])),
        ),
    ]
}
