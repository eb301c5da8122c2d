//! Likely matches that a user has to confirm.

use super::cluster::{Cluster, MatchItem, MatchProduct, clusters};
use crate::product::name_words;
use std::collections::{BTreeMap, BTreeSet};

/// The largest number of suggestions for one product.
const MAX_SUGGESTIONS: usize = 3;
/// A word that more products than this share does not help to identify one.
const MAX_WITH_WORD: usize = 200;
/// The share of words that names must have in common, in percent.
const MIN_SCORE: u32 = 50;

/// Two products that are likely the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suggestion {
    pub product: usize,
    pub other: usize,
    /// From 50 to 100.
    pub score: u32,
}

/// Pairs of products that a person has declared to be different, by index, the lower one first.
pub type DeclinedPairs = BTreeSet<(usize, usize)>;

/// The products that may be the same as one of these, by index, best first. Declined pairs are left out.
#[must_use]
pub fn suggest(
    items: &[MatchItem],
    products: &[MatchProduct],
    declined: &DeclinedPairs,
    wanted: &BTreeSet<usize>,
) -> Vec<Suggestion> {
    let all = clusters(items, products);
    let words: Vec<BTreeSet<String>> = all.iter().map(words_of).collect();
    let mut with_word: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, words) in words.iter().enumerate() {
        for word in words {
            with_word.entry(word).or_default().push(index);
        }
    }
    let mut found = Vec::new();
    for (index, cluster) in all.iter().enumerate() {
        let Some(product) = cluster.product.filter(|product| wanted.contains(product)) else {
            continue;
        };
        let near: BTreeSet<usize> = words
            .get(index)
            .into_iter()
            .flatten()
            .filter_map(|word| with_word.get(word.as_str()))
            .filter(|having| having.len() <= MAX_WITH_WORD)
            .flatten()
            .copied()
            .filter(|other| *other != index)
            .collect();
        let mut of_product: Vec<Suggestion> = near
            .into_iter()
            .filter_map(|other| {
                let (theirs, candidate) = (words.get(other)?, all.get(other)?);
                let other = candidate.product?;
                if declined.contains(&(product.min(other), product.max(other))) {
                    return None;
                }
                let score = score(cluster, words.get(index)?, candidate, theirs)?;
                Some(Suggestion {
                    product,
                    other,
                    score,
                })
            })
            .collect();
        of_product.sort_by(|one, two| two.score.cmp(&one.score).then(one.other.cmp(&two.other)));
        of_product.truncate(MAX_SUGGESTIONS);
        found.extend(of_product);
    }
    found
}

fn words_of(cluster: &Cluster<'_>) -> BTreeSet<String> {
    let names = cluster.items.iter().map(|item| item.name.as_str());
    names.flat_map(name_words).collect()
}

/// The similarity of two products; none if they cannot be the same.
fn score(
    one: &Cluster<'_>,
    words: &BTreeSet<String>,
    two: &Cluster<'_>,
    others: &BTreeSet<String>,
) -> Option<u32> {
    let may_be_one =
        !one.is_closed && !two.is_closed && one.is_option() == two.is_option() && !one.shares_platform(two);
    if !may_be_one {
        return None;
    }
    let common = words.intersection(others).count();
    let all = words.union(others).count().max(1);
    let mut score = u32::try_from(common * 80 / all).unwrap_or(0);
    // One name may be the other one with additional words.
    if common == words.len().min(others.len()) {
        score = score.max(MIN_SCORE);
    }
    if one.has_equal_price(two) {
        score += 10;
    }
    if one.has_equal_traits(two) {
        score += 10;
    }
    (score >= MIN_SCORE && one.has_plausible_price(two)).then_some(score.min(100))
}
