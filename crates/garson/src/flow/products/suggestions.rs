//! Suggested matches of a restaurant's products, which a user has to confirm.

use super::list::{ListedProduct, check_restaurant, everything, suggestions, with_items};
use crate::app::App;
use crate::flow::Fault;
use garson_core::id::{AccountId, ProductId, RestaurantId};
use garson_store::StoreError;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Two products that are likely the same.
#[derive(Clone, Debug)]
pub struct SuggestedPair {
    pub product: ListedProduct,
    pub other: ListedProduct,
    /// From 50 to 100.
    pub score: u32,
}

#[derive(Clone, Debug, Default)]
pub struct SuggestedPairs {
    /// The most likely first.
    pub pairs: Vec<SuggestedPair>,
    /// There are more than are listed.
    pub has_more: bool,
}

/// The pairs of a restaurant, each once, at most `limit`.
pub async fn pairs(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    limit: usize,
) -> Result<SuggestedPairs, Fault> {
    let all = app
        .store
        .read(move |tx| {
            check_restaurant(tx, account, restaurant)?;
            Ok::<_, Fault>(everything(tx, restaurant)?)
        })
        .await?;
    let work = move || {
        let wanted: BTreeSet<usize> = (0..all.products.len()).collect();
        let found = suggestions(&all, &wanted);
        let id = |index: usize| all.products.get(index).map(|it| it.id);
        found
            .into_iter()
            .filter_map(|it| Some((id(it.product)?, id(it.other)?, it.score)))
            .collect()
    };
    let mut found: Vec<(ProductId, ProductId, u32)> = tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| StoreError::internal(format!("suggestions failed: {error}")))?;
    found.sort_by(|one, two| two.2.cmp(&one.2).then(one.0.cmp(&two.0)));
    let mut seen = HashSet::new();
    found.retain(|(one, other, _)| seen.insert((*one.min(other), *one.max(other))));
    let has_more = found.len() > limit;
    found.truncate(limit);
    let pairs = with_products(app, restaurant, found).await?;
    Ok(SuggestedPairs { pairs, has_more })
}

async fn with_products(
    app: &App,
    restaurant: RestaurantId,
    found: Vec<(ProductId, ProductId, u32)>,
) -> Result<Vec<SuggestedPair>, Fault> {
    let ids: BTreeSet<ProductId> = found.iter().flat_map(|(one, other, _)| [*one, *other]).collect();
    let ids: Vec<ProductId> = ids.into_iter().collect();
    let listed = app
        .store
        .read(move |tx| {
            let some = garson_store::tables::products::by_ids(tx, restaurant, &ids)?;
            with_items(tx, restaurant, some)
        })
        .await?;
    let listed: HashMap<ProductId, ListedProduct> =
        listed.into_iter().map(|it| (it.product.id, it)).collect();
    // Products that have been removed in the meantime are left out.
    let pair = |(product, other, score): &(ProductId, ProductId, u32)| {
        Some(SuggestedPair {
            product: listed.get(product)?.clone(),
            other: listed.get(other)?.clone(),
            score: *score,
        })
    };
    Ok(found.iter().filter_map(pair).collect())
}
