//! The list of a restaurant's products, with their items on each platform.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::fault::Thing;
use garson_core::id::{AccountId, ProductId, RestaurantId};
use garson_core::product::name_key;
use garson_core::product_match::{DeclinedPairs, MatchItem, MatchProduct, Suggestion, suggest};
use garson_store::tables::desired_items::DesiredItem;
use garson_store::tables::platform_items::PlatformItem;
use garson_store::tables::products::{Product, ProductFilter};
use garson_store::tables::{declined_matches, desired_items, platform_items, products, restaurants};
use garson_store::{StoreError, Tx};
use std::collections::{BTreeSet, HashMap};

/// Which products are listed.
#[derive(Clone, Debug, Default)]
pub struct ListRequest {
    pub search: Option<String>,
    pub is_available: Option<bool>,
    pub is_option: Option<bool>,
    pub after: Option<ProductId>,
    pub limit: usize,
    pub with_suggestions: bool,
}

/// A product with its items on platforms.
#[derive(Clone, Debug)]
pub struct ListedProduct {
    pub product: Product,
    pub items: Vec<ItemState>,
    pub suggestions: Vec<SuggestedProduct>,
}

/// An item of a product on a platform, and its desired availability.
#[derive(Clone, Debug)]
pub struct ItemState {
    pub stored: PlatformItem,
    pub desired: Option<DesiredItem>,
}

/// A product that is likely the same.
#[derive(Clone, Debug)]
pub struct SuggestedProduct {
    pub id: ProductId,
    pub name: String,
    pub score: u32,
}

#[derive(Clone, Debug)]
pub struct ProductPage {
    pub products: Vec<ListedProduct>,
    /// The last product of this page; none if there is no next page.
    pub next: Option<ProductId>,
}

/// A page of a restaurant's products.
pub async fn list(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    request: ListRequest,
) -> Result<ProductPage, Fault> {
    let words = request.search.as_deref().map(name_key);
    let filter = ProductFilter {
        search: words.filter(|words| !words.is_empty()),
        is_available: request.is_available,
        is_option: request.is_option,
    };
    let (after, limit, with_suggestions) = (request.after, request.limit, request.with_suggestions);
    let (mut found, all) = app
        .store
        .read(move |tx| {
            check_restaurant(tx, account, restaurant)?;
            if let Some(after) = after
                && products::find(tx, account, restaurant, after)?.is_none()
            {
                return Err(Fault::UnknownPlace { given: "cursor" });
            }
            // One more than wanted shows whether there is another page.
            let more = i64::try_from(limit + 1).unwrap_or(i64::MAX);
            let found = products::page(tx, restaurant, &filter, after, more)?;
            let listed = with_items(tx, restaurant, found)?;
            let all = if with_suggestions {
                Some(everything(tx, restaurant)?)
            } else {
                None
            };
            Ok((listed, all))
        })
        .await?;
    let has_more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().map(|it| it.product.id).filter(|_| has_more);
    if let Some(all) = all {
        found = tokio::task::spawn_blocking(move || add_suggestions(found, &all))
            .await
            .map_err(|error| StoreError::internal(format!("suggestions failed: {error}")))?;
    }
    Ok(ProductPage {
        products: found,
        next,
    })
}

/// One product.
pub async fn get(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    id: ProductId,
) -> Result<ListedProduct, Fault> {
    let found = app
        .store
        .read(move |tx| {
            check_restaurant(tx, account, restaurant)?;
            let found = products::find(tx, account, restaurant, id)?;
            let found = found.ok_or_else(|| Fault::not_found(Thing::Product, id))?;
            let listed = with_items(tx, restaurant, vec![found])?;
            Ok::<_, Fault>((listed, everything(tx, restaurant)?))
        })
        .await?;
    let (listed, all) = found;
    let listed = tokio::task::spawn_blocking(move || add_suggestions(listed, &all))
        .await
        .map_err(|error| StoreError::internal(format!("suggestions failed: {error}")))?;
    let found = listed.into_iter().next();
    found.ok_or_else(|| Fault::not_found(Thing::Product, id))
}

/// The products with these ids that the restaurant has, in this order.
pub async fn some(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    ids: Vec<ProductId>,
) -> Result<Vec<ListedProduct>, Fault> {
    app.store
        .read(move |tx| {
            check_restaurant(tx, account, restaurant)?;
            let mut found = products::by_ids(tx, restaurant, &ids)?;
            found.sort_by_key(|it| ids.iter().position(|id| *id == it.id));
            Ok(with_items(tx, restaurant, found)?)
        })
        .await
}

pub(super) fn check_restaurant(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
) -> Result<(), Fault> {
    if restaurants::exists(tx, account, restaurant)? {
        Ok(())
    } else {
        Err(Fault::not_found(Thing::Restaurant, restaurant))
    }
}

pub(super) fn with_items(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    found: Vec<Product>,
) -> Result<Vec<ListedProduct>, StoreError> {
    let ids: Vec<ProductId> = found.iter().map(|it| it.id).collect();
    let mut desired: HashMap<_, DesiredItem> = desired_items::of_products(tx, restaurant, &ids)?
        .into_iter()
        .map(|(_, desired)| (desired.key.clone(), desired))
        .collect();
    let mut by_product: HashMap<ProductId, Vec<ItemState>> = HashMap::new();
    for stored in platform_items::of_products(tx, &ids)? {
        let desired = desired.remove(&stored.item.key);
        let of_product = by_product.entry(stored.product_id).or_default();
        of_product.push(ItemState { stored, desired });
    }
    let listed = |product: Product| ListedProduct {
        items: by_product.remove(&product.id).unwrap_or_default(),
        product,
        suggestions: Vec::new(),
    };
    Ok(found.into_iter().map(listed).collect())
}

/// What suggestions are computed from.
pub(super) struct Everything {
    pub products: Vec<Product>,
    items: Vec<PlatformItem>,
    declined: Vec<declined_matches::Pair>,
}

pub(super) fn everything(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<Everything, StoreError> {
    Ok(Everything {
        products: products::of_restaurant(tx, restaurant)?,
        items: platform_items::of_restaurant(tx, restaurant)?,
        declined: declined_matches::of_restaurant(tx, restaurant)?,
    })
}

impl Everything {
    /// The products' places in the list of all.
    fn index(&self) -> HashMap<ProductId, usize> {
        self.products
            .iter()
            .enumerate()
            .map(|(place, it)| (it.id, place))
            .collect()
    }
}

fn add_suggestions(mut listed: Vec<ListedProduct>, all: &Everything) -> Vec<ListedProduct> {
    let index = all.index();
    let wanted: BTreeSet<usize> = listed
        .iter()
        .filter_map(|it| index.get(&it.product.id).copied())
        .collect();
    let mut suggested: HashMap<usize, Vec<SuggestedProduct>> = HashMap::new();
    for found in suggestions(all, &wanted) {
        if let Some(other) = all.products.get(found.other) {
            suggested
                .entry(found.product)
                .or_default()
                .push(SuggestedProduct {
                    id: other.id,
                    name: other.name.clone(),
                    score: found.score,
                });
        }
    }
    for product in &mut listed {
        let own = index.get(&product.product.id);
        product.suggestions = own.and_then(|own| suggested.remove(own)).unwrap_or_default();
    }
    listed
}

/// Suggestions for some products of a restaurant, given by their indexes in the list of all.
pub(super) fn suggestions(all: &Everything, wanted: &BTreeSet<usize>) -> Vec<Suggestion> {
    let index = all.index();
    let there = all.items.iter().filter(|it| it.gone_at.is_none());
    let matched: Vec<MatchItem> = there
        .map(|it| MatchItem {
            product: index.get(&it.product_id).copied(),
            ..MatchItem::new(&it.item)
        })
        .collect();
    let kinds: Vec<MatchProduct> = all
        .products
        .iter()
        .map(|it| MatchProduct {
            is_closed: it.is_closed,
        })
        .collect();
    let place = |id: &ProductId| index.get(id).copied();
    let declined: DeclinedPairs = all
        .declined
        .iter()
        .filter_map(|(one, other)| {
            let (one, other) = (place(one)?, place(other)?);
            Some((one.min(other), one.max(other)))
        })
        .collect();
    suggest(&matched, &kinds, &declined, wanted)
}
