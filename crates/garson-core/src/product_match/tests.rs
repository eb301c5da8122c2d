//! The rules of matching, as examples and as properties of any menus.

use super::*;
use crate::money::Minor;
use crate::platform::Provider;
use crate::product::ItemKey;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn item(provider: &str, id: &str, name: &str, price: i64) -> MatchItem {
    MatchItem {
        key: ItemKey {
            provider: Provider::new(provider),
            is_option: false,
            id: id.to_owned(),
        },
        code: None,
        name: name.to_owned(),
        price: Some(Minor(price)),
        traits: BTreeSet::new(),
        product: None,
    }
}

fn in_product(product: usize, item: MatchItem) -> MatchItem {
    MatchItem {
        product: Some(product),
        ..item
    }
}

const OPEN: MatchProduct = MatchProduct { is_closed: false };
const CLOSED: MatchProduct = MatchProduct { is_closed: true };

/// The ids of the items of each new product.
fn new_products(items: &[MatchItem], products: &[MatchProduct]) -> Vec<Vec<String>> {
    let mut found: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (key, to) in assign(items, products) {
        if let Assignment::New(number) = to {
            found.entry(number).or_default().push(key.id);
        }
    }
    found.into_values().collect()
}

fn assigned(items: &[MatchItem], products: &[MatchProduct], id: &str) -> Assignment {
    let assigned = assign(items, products);
    let found = assigned.into_iter().find(|(key, _)| key.id == id);
    found.map(|(_, to)| to).unwrap()
}

#[test]
fn same_name_on_two_platforms_is_one_product() {
    let items = [
        item("getir", "g1", "İskender Kebap", 32_000),
        item("trendyol", "t1", "ISKENDER KEBAP (1 porsiyon)", 34_000),
        item("trendyol", "t2", "Ayran", 4_000),
    ];
    assert_eq!(new_products(&items, &[]), [vec!["g1", "t1"], vec!["t2"]]);
}

#[test]
fn same_name_at_a_very_different_price_is_another_product() {
    let items = [
        item("getir", "g", "Kola", 3_000),
        item("trendyol", "t", "Kola", 9_000),
    ];
    assert_eq!(new_products(&items, &[]).len(), 2);
}

#[test]
fn price_decides_between_products_of_one_name() {
    let items = [
        item("getir", "g1", "Ayran", 2_000),
        item("getir", "g2", "Ayran", 3_500),
        item("trendyol", "t1", "Ayran", 3_500),
        item("trendyol", "t2", "Ayran", 2_200),
    ];
    assert_eq!(new_products(&items, &[]), [vec!["g1", "t2"], vec!["g2", "t1"]]);
}

#[test]
fn options_decide_before_the_price() {
    let with = |mut item: MatchItem, traits: &[&str]| {
        item.traits = traits.iter().map(|it| (*it).to_owned()).collect();
        item
    };
    let items = [
        with(item("getir", "g1", "Menü", 20_000), &["ayran", "kola"]),
        with(item("getir", "g2", "Menü", 21_000), &["patates"]),
        with(item("trendyol", "t1", "Menü", 20_000), &["patates"]),
    ];
    assert_eq!(new_products(&items, &[]), [vec!["g1"], vec!["g2", "t1"]]);
}

#[test]
fn match_that_nothing_decides_is_left_to_people() {
    let items = [
        item("getir", "g1", "Pide", 10_000),
        item("getir", "g2", "Pide", 10_000),
        item("trendyol", "t1", "Pide", 10_000),
    ];
    assert_eq!(new_products(&items, &[]).len(), 3);
}

#[test]
fn own_code_decides_before_the_name() {
    let coded = |provider: &str, id: &str, name: &str, code: &str| MatchItem {
        code: Some(code.to_owned()),
        ..item(provider, id, name, 10_000)
    };
    let items = [
        coded("direct", "d1", "Adana Acılı", "K-1"),
        coded("yemeksepeti", "y1", "Adana Kebap", "K-1"),
        coded("yemeksepeti", "y2", "Adana Acılı", "K-2"),
    ];
    assert_eq!(new_products(&items, &[]), [vec!["d1", "y1"], vec!["y2"]]);
}

#[test]
fn new_item_joins_the_product_that_is_there() {
    let items = [
        in_product(0, item("getir", "g1", "Adana", 20_000)),
        item("trendyol", "t1", "Adana", 20_000),
    ];
    assert_eq!(assigned(&items, &[OPEN], "t1"), Assignment::Product(0));
}

#[test]
fn separated_product_takes_nothing_by_itself() {
    let items = [
        in_product(0, item("getir", "g1", "Adana", 20_000)),
        item("trendyol", "t1", "Adana", 20_000),
    ];
    assert_eq!(assigned(&items, &[CLOSED], "t1"), Assignment::New(0));
    assert!(suggest(&items, &[CLOSED], &BTreeSet::new(), &BTreeSet::from([0])).is_empty());
}

#[test]
fn product_and_option_of_one_name_stay_apart() {
    let mut option = item("trendyol", "t1", "Ayran", 2_000);
    option.key.is_option = true;
    assert_eq!(
        new_products(&[item("getir", "g1", "Ayran", 2_000), option], &[]).len(),
        2
    );
}

#[test]
fn similar_names_are_suggested() {
    let items = [
        in_product(0, item("getir", "g1", "Adana Kebap Dürüm", 20_000)),
        in_product(1, item("trendyol", "t1", "Adana Dürüm", 21_000)),
        in_product(2, item("trendyol", "t2", "Sütlaç", 21_000)),
        in_product(3, item("getir", "g2", "Adana Dürüm Menü", 60_000)),
    ];
    let found = suggest(&items, &[OPEN; 4], &BTreeSet::new(), &BTreeSet::from([0]));
    assert_eq!(found.iter().map(|it| it.other).collect::<Vec<_>>(), [1]);
    assert!(found[0].score >= 50);
}

#[test]
fn only_the_declined_pair_is_no_longer_suggested() {
    let items = [
        in_product(0, item("getir", "g1", "Adana Kebap Dürüm", 20_000)),
        in_product(1, item("trendyol", "t1", "Adana Dürüm", 21_000)),
        in_product(2, item("migros", "m1", "Adana Dürüm", 21_000)),
    ];
    let others = |declined: &[(usize, usize)], wanted: usize| -> Vec<usize> {
        let declined = declined.iter().copied().collect();
        let found = suggest(&items, &[OPEN; 3], &declined, &BTreeSet::from([wanted]));
        found.iter().map(|it| it.other).collect()
    };
    assert_eq!(others(&[], 0), [1, 2]);
    assert_eq!(others(&[(0, 1)], 0), [2]);
    assert_eq!(others(&[(0, 1)], 1), [2]);
    assert_eq!(others(&[(0, 1)], 2).len(), 2);
}

/// Menus of three platforms with few names and prices, so that matches and conflicts are frequent; some items belong to products.
fn any_items() -> impl Strategy<Value = (Vec<MatchItem>, Vec<MatchProduct>)> {
    let names = prop::sample::select(vec![
        "Ayran",
        "AYRAN",
        "Kola",
        "Kola 1 lt",
        "Pide",
        "Adana Pide",
        "",
    ]);
    let prices = prop::sample::select(vec![0_i64, 1_000, 1_200, 2_000, 9_000]);
    let codes = prop::sample::select(vec![None, None, None, Some("A"), Some("B")]);
    let one = (
        0..3_usize,
        any::<bool>(),
        names,
        prices,
        codes,
        prop::option::of(0..4_usize),
    );
    (
        prop::collection::vec(one, 0..25),
        prop::collection::vec(any::<bool>(), 4),
    )
        .prop_map(|(drawn, closed)| {
            let mut taken = BTreeSet::new();
            let items = drawn.into_iter().enumerate().map(|(number, drawn)| {
                let (platform, is_option, name, price, code, product) = drawn;
                let provider = ["getir", "trendyol", "migros"][platform];
                let mut item = item(provider, &format!("{number:02}"), name, price);
                item.key.is_option = is_option;
                item.code = code.map(str::to_owned);
                // As stored: a product has at most one item of a platform, and only items of one kind.
                let product = product.map(|it| 2 * (it % 2) + usize::from(is_option));
                item.product = product.filter(|it| taken.insert((*it, platform)));
                item
            });
            let items = items.collect();
            let products = closed
                .into_iter()
                .map(|is_closed| MatchProduct { is_closed })
                .collect();
            (items, products)
        })
}

proptest! {
    #[test]
    fn result_does_not_depend_on_the_order(
        (items, products) in any_items(),
        seed in any::<u64>(),
    ) {
        let first = assign(&items, &products);
        let mut shuffled = items.clone();
        // A simple shuffle from the seed.
        let mut state = seed;
        for index in (1..shuffled.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            shuffled.swap(index, (state >> 33) as usize % (index + 1));
        }
        prop_assert_eq!(assign(&shuffled, &products), first);
    }

    #[test]
    fn every_new_item_is_assigned_and_no_other((items, products) in any_items()) {
        let assigned = assign(&items, &products);
        let new = items.iter().filter(|item| item.product.is_none());
        let expected: BTreeSet<ItemKey> = new.map(|item| item.key.clone()).collect();
        prop_assert_eq!(assigned.keys().cloned().collect::<BTreeSet<_>>(), expected);
    }

    #[test]
    fn product_never_has_two_items_of_a_platform((items, products) in any_items()) {
        let assigned = assign(&items, &products);
        let mut seen = BTreeSet::new();
        for item in &items {
            let to = item.product.map_or_else(|| assigned[&item.key], Assignment::Product);
            prop_assert!(seen.insert((to, item.key.provider)), "{:?} twice", to);
        }
    }

    #[test]
    fn separated_products_get_no_items((items, products) in any_items()) {
        for to in assign(&items, &products).into_values() {
            if let Assignment::Product(index) = to {
                prop_assert!(!products[index].is_closed);
            }
        }
    }

    /// A second run changes nothing.
    #[test]
    fn second_run_changes_nothing((items, products) in any_items()) {
        let assigned = assign(&items, &products);
        let mut products = products;
        let known = products.len();
        let items: Vec<MatchItem> = items
            .into_iter()
            .map(|mut item| {
                match assigned.get(&item.key) {
                    Some(Assignment::Product(index)) => item.product = Some(*index),
                    Some(Assignment::New(number)) => {
                        item.product = Some(known + number);
                        products.resize(products.len().max(known + number + 1), OPEN);
                    }
                    None => {}
                }
                item
            })
            .collect();
        prop_assert!(assign(&items, &products).is_empty());
    }

    #[test]
    fn suggestions_name_products_of_other_platforms((items, products) in any_items()) {
        let all: BTreeSet<usize> = (0..products.len()).collect();
        for it in suggest(&items, &products, &BTreeSet::new(), &all) {
            let platforms = |product: usize| -> BTreeSet<Provider> {
                let of = items.iter().filter(|item| item.product == Some(product));
                of.map(|item| item.key.provider).collect()
            };
            prop_assert!(platforms(it.product).is_disjoint(&platforms(it.other)));
            prop_assert!(it.product != it.other && (50..=100).contains(&it.score));
        }
    }
}
