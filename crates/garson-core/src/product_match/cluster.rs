//! Clusters of items that are treated as one product, and how similar two clusters are.

use crate::money::Minor;
use crate::product::{ItemKey, ListedItem, name_key};
use std::collections::BTreeSet;

/// An item with the values used for comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchItem {
    pub key: ItemKey,
    pub code: Option<String>,
    pub name: String,
    pub price: Option<Minor>,
    pub traits: BTreeSet<String>,
    /// The product that it belongs to, as an index into the list of products.
    pub product: Option<usize>,
}

impl MatchItem {
    /// An item that belongs to no product yet.
    #[must_use]
    pub fn new(item: &ListedItem) -> Self {
        Self {
            key: item.key.clone(),
            code: item.code.clone(),
            name: item.name.clone(),
            price: item.price,
            traits: item.traits.clone(),
            product: None,
        }
    }
}

/// A product of the restaurant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchProduct {
    /// A user has separated it, so new items are not matched to it.
    pub is_closed: bool,
}

/// The largest ratio between the prices of one product on two platforms, in percent.
const MAX_PRICE_RATIO: i64 = 150;

/// Items that are treated as one product.
#[derive(Clone, Debug)]
pub(super) struct Cluster<'a> {
    /// The product, if there is one already.
    pub(super) product: Option<usize>,
    pub(super) is_closed: bool,
    /// Sorted by key.
    pub(super) items: Vec<&'a MatchItem>,
    /// The keys of their names.
    pub(super) names: BTreeSet<String>,
}

impl<'a> Cluster<'a> {
    pub(super) fn of_item(item: &'a MatchItem) -> Self {
        Self {
            product: None,
            is_closed: false,
            names: BTreeSet::from([name_key(&item.name)]),
            items: vec![item],
        }
    }

    /// A sort key that does not depend on the order of the input.
    pub(super) fn rank(&self) -> Option<&'a ItemKey> {
        self.items.first().map(|item| &item.key)
    }

    pub(super) fn is_option(&self) -> Option<bool> {
        self.items.first().map(|item| item.key.is_option)
    }

    pub(super) fn shares_platform(&self, other: &Self) -> bool {
        let has = |item: &MatchItem| other.items.iter().any(|it| it.key.provider == item.key.provider);
        self.items.iter().any(|item| has(item))
    }

    /// Can they be the same product at all?
    pub(super) fn may_join(&self, other: &Self) -> bool {
        let at_most_one_known = self.product.is_none() || other.product.is_none();
        at_most_one_known
            && !self.is_closed
            && !other.is_closed
            && self.is_option() == other.is_option()
            && !self.shares_platform(other)
    }

    pub(super) fn has_plausible_price(&self, other: &Self) -> bool {
        let mut pairs = self
            .items
            .iter()
            .flat_map(|one| other.items.iter().map(move |two| (one.price, two.price)));
        pairs.all(|(one, two)| is_plausible(one, two))
    }

    pub(super) fn has_equal_price(&self, other: &Self) -> bool {
        let equal =
            |one: &MatchItem| one.price.is_some() && other.items.iter().any(|two| two.price == one.price);
        self.items.iter().any(|one| equal(one))
    }

    pub(super) fn has_equal_traits(&self, other: &Self) -> bool {
        let equal = |one: &MatchItem| other.items.iter().any(|two| two.traits == one.traits);
        self.items.iter().any(|one| equal(one))
    }

    pub(super) fn join(&mut self, other: Cluster<'a>) {
        self.product = self.product.or(other.product);
        self.items.extend(other.items);
        self.items.sort_unstable_by(|one, two| one.key.cmp(&two.key));
        self.names.extend(other.names);
    }
}

fn is_plausible(one: Option<Minor>, two: Option<Minor>) -> bool {
    match (one, two) {
        (Some(Minor(one)), Some(Minor(two))) if one > 0 && two > 0 => {
            one.max(two).saturating_mul(100) <= one.min(two).saturating_mul(MAX_PRICE_RATIO)
        }
        // An option may be free on one platform, and a price may be unknown.
        _ => true,
    }
}

/// The clusters of all products and of all items without one, sorted by rank. Products without items are left out.
pub(super) fn clusters<'a>(items: &'a [MatchItem], products: &[MatchProduct]) -> Vec<Cluster<'a>> {
    let mut of_products: Vec<Option<Cluster<'a>>> = vec![None; products.len()];
    let mut clusters = Vec::new();
    for item in items {
        let own = item.product.and_then(|index| of_products.get_mut(index));
        match own {
            Some(Some(cluster)) => cluster.join(Cluster::of_item(item)),
            Some(empty) => {
                let is_closed = item
                    .product
                    .and_then(|index| products.get(index))
                    .is_some_and(|it| it.is_closed);
                *empty = Some(Cluster {
                    product: item.product,
                    is_closed,
                    ..Cluster::of_item(item)
                });
            }
            None => clusters.push(Cluster::of_item(item)),
        }
    }
    clusters.extend(of_products.into_iter().flatten());
    clusters.sort_by(|one, two| one.rank().cmp(&two.rank()));
    clusters
}
