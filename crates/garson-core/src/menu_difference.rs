//! Differences between the menus of a restaurant: of its platforms now, or of one platform on two days.

use crate::event::MenuEvent;
use crate::money::Minor;
use crate::platform::Provider;
use crate::product::{ItemKey, ListedItem, name_key};
use std::collections::BTreeMap;

/// What differs about an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DifferenceKind {
    /// It is missing on one side.
    Missing,
    Price,
    Name,
    Availability,
    Image,
}

impl DifferenceKind {
    pub const ALL: [Self; 5] = [
        Self::Missing,
        Self::Price,
        Self::Name,
        Self::Availability,
        Self::Image,
    ];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Price => "price",
            Self::Name => "name",
            Self::Availability => "availability",
            Self::Image => "image",
        }
    }

    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// An item on one side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    pub provider: Provider,
    pub name: String,
    pub price: Option<Minor>,
    pub is_available: Option<bool>,
    pub image_url: Option<String>,
}

impl From<&ListedItem> for Side {
    fn from(item: &ListedItem) -> Self {
        Self {
            provider: item.key.provider,
            name: item.name.clone(),
            price: item.price,
            is_available: item.is_available,
            image_url: item.image_url.clone(),
        }
    }
}

/// A change of an item of one platform between two menus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemChanged {
    pub key: ItemKey,
    /// Not empty.
    pub kinds: Vec<DifferenceKind>,
    /// None: it is new.
    pub before: Option<Side>,
    /// None: it is gone.
    pub after: Option<Side>,
}

/// The changes from one menu of a platform to a later one, sorted by key.
#[must_use]
pub fn between_menus(before: &[ListedItem], after: &[ListedItem]) -> Vec<ItemChanged> {
    let mut pairs: BTreeMap<&ItemKey, (Option<&ListedItem>, Option<&ListedItem>)> = BTreeMap::new();
    for item in before {
        pairs.entry(&item.key).or_default().0 = Some(item);
    }
    for item in after {
        pairs.entry(&item.key).or_default().1 = Some(item);
    }
    let changed = |(key, (before, after)): (&ItemKey, (Option<&ListedItem>, Option<&ListedItem>))| {
        let (before, after) = (before.map(Side::from), after.map(Side::from));
        let kinds = match (&before, &after) {
            (Some(before), Some(after)) => kinds_between_days(before, after),
            _ => vec![DifferenceKind::Missing],
        };
        (!kinds.is_empty()).then(|| ItemChanged {
            key: key.clone(),
            kinds,
            before,
            after,
        })
    };
    pairs.into_iter().filter_map(changed).collect()
}

/// The number of changed items by kind of change.
#[must_use]
pub fn count(changed: &[ItemChanged]) -> MenuEvent {
    let mut news = MenuEvent::default();
    for item in changed {
        news.added += usize::from(item.before.is_none());
        news.removed += usize::from(item.after.is_none());
        for kind in &item.kinds {
            match kind {
                DifferenceKind::Missing => {}
                DifferenceKind::Price => news.prices += 1,
                DifferenceKind::Name => news.names += 1,
                DifferenceKind::Availability => news.availability += 1,
                DifferenceKind::Image => news.images += 1,
            }
        }
    }
    news
}

/// On one platform every change counts.
fn kinds_between_days(before: &Side, after: &Side) -> Vec<DifferenceKind> {
    let mut kinds = Vec::new();
    let mut add = |kind, differs: bool| {
        if differs {
            kinds.push(kind);
        }
    };
    add(DifferenceKind::Price, before.price != after.price);
    add(DifferenceKind::Name, before.name != after.name);
    add(
        DifferenceKind::Availability,
        before.is_available != after.is_available,
    );
    add(DifferenceKind::Image, before.image_url != after.image_url);
    kinds
}

/// The differences of a product between platforms. Names that differ only in spelling are the same, and every platform has its own URLs of
/// pictures: only a missing picture is a difference.
#[must_use]
pub fn between_platforms(sides: &[Side], expected: &[Provider]) -> Vec<DifferenceKind> {
    let mut kinds = Vec::new();
    let has = |provider: &Provider| sides.iter().any(|side| side.provider == *provider);
    if !expected.iter().all(has) {
        kinds.push(DifferenceKind::Missing);
    }
    let mut add = |kind, differs: bool| {
        if differs {
            kinds.push(kind);
        }
    };
    add(
        DifferenceKind::Price,
        differ(sides.iter().filter_map(|side| side.price)),
    );
    add(
        DifferenceKind::Name,
        differ(sides.iter().map(|side| name_key(&side.name))),
    );
    add(
        DifferenceKind::Availability,
        differ(sides.iter().filter_map(|side| side.is_available)),
    );
    add(
        DifferenceKind::Image,
        differ(sides.iter().map(|side| side.image_url.is_some())),
    );
    kinds
}

fn differ<T: PartialEq>(mut values: impl Iterator<Item = T>) -> bool {
    let Some(first) = values.next() else {
        return false;
    };
    values.any(|value| value != first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::money::Currency;
    use std::collections::BTreeSet;

    fn item(id: &str, name: &str, price: i64) -> ListedItem {
        ListedItem {
            key: ItemKey {
                provider: Provider::new("getir"),
                is_option: false,
                id: id.to_owned(),
            },
            code: None,
            name: name.to_owned(),
            category: None,
            price: Some(Minor(price)),
            currency: Currency::TRY,
            image_url: None,
            is_available: Some(true),
            traits: BTreeSet::new(),
            places: Vec::new(),
        }
    }

    fn side(provider: &str, name: &str, price: i64) -> Side {
        Side {
            provider: Provider::new(provider),
            name: name.to_owned(),
            price: Some(Minor(price)),
            is_available: Some(true),
            image_url: None,
        }
    }

    #[test]
    fn same_menu_has_no_differences() {
        let menu = [item("1", "Ayran", 2_000)];
        assert!(between_menus(&menu, &menu).is_empty());
    }

    #[test]
    fn changes_between_days_are_listed_by_item() {
        let before = [
            item("1", "Ayran", 2_000),
            item("2", "Kola", 3_000),
            item("3", "Su", 500),
        ];
        let mut after = vec![
            item("1", "Ayran", 2_500),
            item("3", "Su", 500),
            item("4", "Çay", 900),
        ];
        after[1].is_available = Some(false);
        after[1].image_url = Some("https://a.example/su.jpg".to_owned());
        let found = between_menus(&before, &after);
        let kinds: Vec<_> = found
            .iter()
            .map(|it| (it.key.id.as_str(), it.kinds.clone()))
            .collect();
        assert_eq!(
            kinds,
            [
                ("1", vec![DifferenceKind::Price]),
                ("2", vec![DifferenceKind::Missing]),
                ("3", vec![DifferenceKind::Availability, DifferenceKind::Image]),
                ("4", vec![DifferenceKind::Missing]),
            ]
        );
        assert!(found[1].after.is_none() && found[3].before.is_none());
    }

    #[test]
    fn spelling_is_no_difference_between_platforms() {
        let (getir, trendyol) = (Provider::new("getir"), Provider::new("trendyol"));
        let sides = [side("getir", "İSKENDER", 100), side("trendyol", "Iskender", 100)];
        assert!(between_platforms(&sides, &[getir, trendyol]).is_empty());
        let other_price = [side("getir", "İSKENDER", 100), side("trendyol", "Iskender", 120)];
        assert_eq!(
            between_platforms(&other_price, &[getir, trendyol]),
            [DifferenceKind::Price]
        );
        assert_eq!(
            between_platforms(&sides[..1], &[getir, trendyol]),
            [DifferenceKind::Missing]
        );
    }
}
