//! Certain matches: the product of each new item.

use super::cluster::{Cluster, MatchItem, MatchProduct, clusters};
use crate::product::ItemKey;
use std::collections::{BTreeMap, BTreeSet};

/// If more items than this share a name or code, they are not matched automatically: no real menu has that many.
const MAX_GROUP: usize = 40;

/// The product of a new item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Assignment {
    /// An existing product, by its index.
    Product(usize),
    /// A new product; items with the same number belong to the same one.
    New(usize),
}

/// Assigns the items that have no product. The result does not depend on the order of the input; new products are numbered by the order
/// of the items' keys.
#[must_use]
pub fn assign(items: &[MatchItem], products: &[MatchProduct]) -> BTreeMap<ItemKey, Assignment> {
    let all = clusters(items, products);
    let all = join_groups(all, |cluster| {
        cluster
            .items
            .iter()
            .filter_map(|item| item.code.clone())
            .collect()
    });
    let all = join_groups(all, |cluster| cluster.names.clone());
    let mut assigned = BTreeMap::new();
    let mut new_products = 0;
    for cluster in &all {
        let to = match cluster.product {
            Some(index) => Assignment::Product(index),
            None => {
                new_products += 1;
                Assignment::New(new_products - 1)
            }
        };
        for item in cluster.items.iter().filter(|item| item.product.is_none()) {
            assigned.insert(item.key.clone(), to);
        }
    }
    assigned
}

/// Merges clusters that share a text, where it is certain which belong together.
fn join_groups<'a>(
    all: Vec<Cluster<'a>>,
    texts: impl Fn(&Cluster<'a>) -> BTreeSet<String>,
) -> Vec<Cluster<'a>> {
    let mut groups: BTreeMap<(Option<bool>, String), BTreeSet<usize>> = BTreeMap::new();
    for (index, cluster) in all.iter().enumerate() {
        for text in texts(cluster).into_iter().filter(|text| !text.is_empty()) {
            groups
                .entry((cluster.is_option(), text))
                .or_default()
                .insert(index);
        }
    }
    // The current index of each cluster: a merged cluster has the index of the one it was merged into.
    let mut place: Vec<usize> = (0..all.len()).collect();
    let mut places: Vec<Option<Placed<'a>>> = all
        .into_iter()
        .enumerate()
        .map(|(index, cluster)| Some((vec![index], cluster)))
        .collect();
    for group in groups
        .into_values()
        .filter(|group| (2..=MAX_GROUP).contains(&group.len()))
    {
        let now: BTreeSet<usize> = group
            .iter()
            .filter_map(|index| place.get(*index).copied())
            .collect();
        let taken = now.into_iter().filter_map(|index| places.get_mut(index)?.take());
        for (members, cluster) in join_certain(taken.collect()) {
            let Some(first) = members.iter().min().copied() else {
                continue;
            };
            for member in &members {
                if let Some(place) = place.get_mut(*member) {
                    *place = first;
                }
            }
            if let Some(free) = places.get_mut(first) {
                *free = Some((members, cluster));
            }
        }
    }
    let mut joined: Vec<Cluster<'a>> = places.into_iter().flatten().map(|(_, cluster)| cluster).collect();
    joined.sort_by(|one, two| one.rank().cmp(&two.rank()));
    joined
}

/// A cluster with the indexes that it was merged from.
type Placed<'a> = (Vec<usize>, Cluster<'a>);

/// Merges the best certain pair until none is left.
fn join_certain(mut group: Vec<Placed<'_>>) -> Vec<Placed<'_>> {
    let by_rank = |one: &Placed<'_>, two: &Placed<'_>| one.1.rank().cmp(&two.1.rank());
    group.sort_by(by_rank);
    while let Some((first, second)) = best_pair(&group) {
        let (members, joined) = group.remove(second);
        if let Some((all, cluster)) = group.get_mut(first) {
            all.extend(members);
            cluster.join(joined);
        }
        group.sort_by(by_rank);
    }
    group
}

/// The certain pair with the highest score; ties are resolved by rank.
fn best_pair(group: &[Placed<'_>]) -> Option<(usize, usize)> {
    let mut best: Option<(u8, usize, usize)> = None;
    for first in 0..group.len() {
        for second in first + 1..group.len() {
            let Some(score) = score_of(group, first, second) else {
                continue;
            };
            let is_better = best.is_none_or(|(known, ..)| score > known);
            if is_better && is_clear(group, first, second, score) && is_clear(group, second, first, score) {
                best = Some((score, first, second));
            }
        }
    }
    best.map(|(_, first, second)| (first, second))
}

/// How much two clusters have in common besides the name; none if they cannot be the same product.
fn score_of(group: &[Placed<'_>], first: usize, second: usize) -> Option<u8> {
    let ((_, one), (_, two)) = (group.get(first)?, group.get(second)?);
    if !one.may_join(two) || !one.has_plausible_price(two) {
        return None;
    }
    Some(2 * u8::from(one.has_equal_traits(two)) + u8::from(one.has_equal_price(two)))
}

/// Does no other candidate on the same platform score as high?
fn is_clear(group: &[Placed<'_>], of: usize, other: usize, score: u8) -> bool {
    let Some((_, chosen)) = group.get(other) else {
        return false;
    };
    group.iter().enumerate().all(|(index, (_, rival))| {
        index == of
            || index == other
            || !rival.shares_platform(chosen)
            || score_of(group, of, index).is_none_or(|theirs| theirs < score)
    })
}
