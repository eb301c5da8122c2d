//! Differences between the menus of a restaurant's platforms, and changes since an earlier day.

use super::list::{ListedProduct, check_restaurant, with_items};
use super::menus::unpack;
use crate::app::App;
use crate::flow::Fault;
use garson_core::id::{AccountId, ProductId, RestaurantId};
use garson_core::menu_difference::{DifferenceKind, ItemChanged, Side, between_menus, between_platforms};
use garson_core::platform::Provider;
use garson_core::product::menu_items;
use garson_core::time::Timestamp;
use garson_store::tables::menus::MenuVersion;
use garson_store::tables::products::ProductFilter;
use garson_store::tables::{menus, platform_items, products};
use garson_store::{StoreError, Tx};
use std::collections::HashMap;

/// Products compared in one read job.
const CHUNK: i64 = 200;
/// The largest number of read jobs for one page; a page with few differences ends there.
const CHUNKS: usize = 60;

/// A product that differs between platforms.
#[derive(Clone, Debug)]
pub struct PlatformDifference {
    pub listed: ListedProduct,
    pub kinds: Vec<DifferenceKind>,
    /// The platforms that do not have it.
    pub missing_on: Vec<Provider>,
}

#[derive(Clone, Debug)]
pub struct PlatformDifferences {
    pub found: Vec<PlatformDifference>,
    /// The last product of this page; none if there is no next page.
    pub next: Option<ProductId>,
}

/// Which differences are listed.
#[derive(Clone, Debug, Default)]
pub struct DifferenceFilter {
    pub kind: Option<DifferenceKind>,
    pub is_option: Option<bool>,
}

/// The products that differ between the platforms whose menus are read.
pub async fn of_platforms(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    filter: DifferenceFilter,
    after: Option<ProductId>,
    limit: usize,
) -> Result<PlatformDifferences, Fault> {
    let expected = app
        .store
        .read(move |tx| {
            check_restaurant(tx, account, restaurant)?;
            if let Some(after) = after
                && products::find(tx, account, restaurant, after)?.is_none()
            {
                return Err(Fault::UnknownPlace { given: "cursor" });
            }
            Ok(platforms_with_menus(tx, restaurant)?)
        })
        .await?;
    let mut page = PlatformDifferences {
        found: Vec::new(),
        next: after,
    };
    for _ in 0..CHUNKS {
        let (after, wanted) = (
            page.next,
            ProductFilter {
                is_option: filter.is_option,
                ..ProductFilter::default()
            },
        );
        let chunk = app
            .store
            .read(move |tx| {
                let some = products::page(tx, restaurant, &wanted, after, CHUNK)?;
                with_items(tx, restaurant, some)
            })
            .await?;
        let is_last = i64::try_from(chunk.len()).unwrap_or(0) < CHUNK;
        for listed in chunk {
            let id = listed.product.id;
            if let Some(found) = compare(listed, &expected, filter.kind) {
                page.found.push(found);
            }
            page.next = Some(id);
            if page.found.len() >= limit {
                return Ok(page);
            }
        }
        if is_last {
            page.next = None;
            break;
        }
    }
    Ok(page)
}

/// The platforms of a restaurant whose menus have been read.
fn platforms_with_menus(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<Vec<Provider>, StoreError> {
    let reads = menus::of_restaurant(tx, restaurant)?;
    let has_menu = |provider: Provider| garson_platforms::of(provider).is_some_and(|it| it.capability().menu);
    let with_menu = reads
        .into_iter()
        .filter(|read| read.read_at.is_some() && has_menu(read.provider));
    Ok(with_menu.map(|read| read.provider).collect())
}

fn compare(
    listed: ListedProduct,
    expected: &[Provider],
    wanted: Option<DifferenceKind>,
) -> Option<PlatformDifference> {
    let sides: Vec<Side> = listed
        .items
        .iter()
        .filter(|it| it.stored.gone_at.is_none() && expected.contains(&it.stored.item.key.provider))
        .map(|it| Side::from(&it.stored.item))
        .collect();
    if sides.is_empty() {
        return None;
    }
    let kinds = between_platforms(&sides, expected);
    let is_wanted = wanted.map_or(!kinds.is_empty(), |kind| kinds.contains(&kind));
    is_wanted.then(|| PlatformDifference {
        missing_on: expected
            .iter()
            .filter(|provider| !sides.iter().any(|side| side.provider == **provider))
            .copied()
            .collect(),
        listed,
        kinds,
    })
}

/// A change of an item since an earlier day.
#[derive(Clone, Debug)]
pub struct DayDifference {
    pub changed: ItemChanged,
    pub product: Option<ProductId>,
}

/// What has changed on one platform.
#[derive(Clone, Debug)]
pub struct DayDifferences {
    pub provider: Provider,
    /// When the earlier menu was read; none if there is no earlier one.
    pub before: Option<Timestamp>,
    /// When the menu last changed.
    pub after: Timestamp,
    pub found: Vec<DayDifference>,
    /// There are more than are listed.
    pub has_more: bool,
}

/// What has changed on each platform since a time.
pub async fn since(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    filter: DifferenceFilter,
    since: Timestamp,
    limit: usize,
) -> Result<Vec<DayDifferences>, Fault> {
    let now = app.now();
    let providers = app
        .store
        .read(move |tx| {
            check_restaurant(tx, account, restaurant)?;
            Ok::<_, Fault>(platforms_with_menus(tx, restaurant)?)
        })
        .await?;
    let mut all = Vec::new();
    // One platform after the other: menus are large.
    for provider in providers {
        let (before, after) = app
            .store
            .read(move |tx| {
                let before = menus::version_at(tx, restaurant, provider, since)?;
                let before = match before {
                    Some(before) => Some(before),
                    // What was there first is the earliest that can be compared.
                    None => menus::first_version(tx, restaurant, provider)?,
                };
                Ok::<_, StoreError>((before, menus::version_at(tx, restaurant, provider, now)?))
            })
            .await?;
        let Some(after) = after else { continue };
        let compared = compare_versions(provider, before, after, filter.clone(), limit).await?;
        all.push(with_products(app, restaurant, compared).await?);
    }
    Ok(all)
}

async fn compare_versions(
    provider: Provider,
    before: Option<MenuVersion>,
    after: MenuVersion,
    filter: DifferenceFilter,
    limit: usize,
) -> Result<DayDifferences, Fault> {
    let work = move || {
        let read = |version: &MenuVersion| {
            let menu = unpack(version).map_err(|error| StoreError::corrupt(error.to_string()))?;
            Ok::<_, StoreError>(menu_items(provider, &menu))
        };
        let earlier = before.as_ref().filter(|it| it.number != after.number);
        let mut changed = match earlier {
            Some(earlier) => between_menus(&read(earlier)?, &read(&after)?),
            None => Vec::new(),
        };
        changed.retain(|it| {
            let is_kind = filter.kind.is_none_or(|kind| it.kinds.contains(&kind));
            is_kind
                && filter
                    .is_option
                    .is_none_or(|is_option| it.key.is_option == is_option)
        });
        let has_more = changed.len() > limit;
        changed.truncate(limit);
        let found = changed.into_iter().map(|changed| DayDifference {
            changed,
            product: None,
        });
        Ok::<_, StoreError>(DayDifferences {
            provider,
            before: before.map(|it| it.read_at),
            after: after.read_at,
            found: found.collect(),
            has_more,
        })
    };
    let compared = tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| StoreError::internal(format!("menus could not be compared: {error}")))?;
    Ok(compared?)
}

async fn with_products(
    app: &App,
    restaurant: RestaurantId,
    mut compared: DayDifferences,
) -> Result<DayDifferences, Fault> {
    if compared.found.is_empty() {
        return Ok(compared);
    }
    let provider = compared.provider;
    let items = app
        .store
        .read(move |tx| platform_items::of_provider(tx, restaurant, provider))
        .await?;
    let by_key: HashMap<_, ProductId> = items.into_iter().map(|it| (it.item.key, it.product_id)).collect();
    for difference in &mut compared.found {
        difference.product = by_key.get(&difference.changed.key).copied();
    }
    Ok(compared)
}
