//! Differences as the page shows them.

use crate::flow::products::differences::{DayDifference, DayDifferences, PlatformDifference};
use crate::panel::components::restaurant_header::Tab;
use crate::panel::kit::format;
use crate::panel::kit::layout::Layout;
use crate::panel::words::DifferenceWords;
use garson_core::id::{ProductId, RestaurantId};
use garson_core::menu_difference::{DifferenceKind, Side};
use garson_core::money::Currency;

/// A product that is not the same on all platforms.
pub struct PlatformView {
    pub href: String,
    pub name: String,
    pub is_option: bool,
    /// The category of a product, the group of an option.
    pub category: String,
    pub kinds: Vec<&'static str>,
    pub sides: Vec<SideView>,
}

/// What one platform has of it.
pub struct SideView {
    pub key: String,
    pub provider: String,
    /// Empty where the platform does not have it.
    pub facts: String,
}

/// What has changed on a platform.
pub struct DayView {
    pub key: String,
    pub provider: String,
    /// When the earlier menu was read.
    pub before: Option<String>,
    pub changes: Vec<ChangeView>,
    pub has_more: bool,
}

pub struct ChangeView {
    pub href: Option<String>,
    pub name: String,
    pub is_option: bool,
    pub kinds: Vec<&'static str>,
    pub before: String,
    pub after: String,
}

pub fn kind_name(t: &DifferenceWords, kind: DifferenceKind) -> &'static str {
    match kind {
        DifferenceKind::Missing => t.missing,
        DifferenceKind::Price => t.price,
        DifferenceKind::Name => t.name,
        DifferenceKind::Availability => t.availability,
        DifferenceKind::Image => t.image,
    }
}

fn href(restaurant: RestaurantId, product: ProductId) -> String {
    format!("{}/{product}", Tab::Products.path(restaurant))
}

/// What a side has, as far as it differs: a missing item differs in everything.
fn facts(layout: &Layout, t: &DifferenceWords, side: &Side, kinds: &[DifferenceKind]) -> String {
    let mut facts = Vec::new();
    for kind in kinds {
        match kind {
            DifferenceKind::Missing => {}
            DifferenceKind::Price => {
                if let Some(price) = side.price {
                    facts.push(format::short_money(layout.lang, price, Currency::TRY));
                }
            }
            DifferenceKind::Name => facts.push(format!("“{}”", side.name)),
            DifferenceKind::Availability => facts.extend(side.is_available.map(|is_available| {
                let word = if is_available { t.on_sale } else { t.sold_out };
                word.to_owned()
            })),
            DifferenceKind::Image => {
                let word = if side.image_url.is_some() {
                    t.with_image
                } else {
                    t.without_image
                };
                facts.push(word.to_owned());
            }
        }
    }
    if facts.is_empty() {
        facts.push(match side.price {
            Some(price) => format::short_money(layout.lang, price, Currency::TRY),
            None => t.is_there.to_owned(),
        });
    }
    facts.join(" · ")
}

impl PlatformView {
    pub fn new(
        layout: &Layout,
        t: &DifferenceWords,
        restaurant: RestaurantId,
        found: PlatformDifference,
    ) -> Self {
        let there = found.listed.items.iter().filter(|it| it.stored.gone_at.is_none());
        let mut sides: Vec<SideView> = there
            .map(|it| {
                let side = Side::from(&it.stored.item);
                SideView {
                    key: side.provider.to_string(),
                    provider: layout.provider(&side.provider),
                    facts: facts(layout, t, &side, &found.kinds),
                }
            })
            .collect();
        sides.extend(found.missing_on.iter().map(|provider| SideView {
            key: provider.to_string(),
            provider: layout.provider(provider),
            facts: String::new(),
        }));
        let mut items = found.listed.items.iter();
        let category = items.find_map(|it| it.stored.item.category.clone());
        Self {
            category: category.unwrap_or_default(),
            href: href(restaurant, found.listed.product.id),
            name: found.listed.product.name,
            is_option: found.listed.product.is_option,
            kinds: found.kinds.iter().map(|kind| kind_name(t, *kind)).collect(),
            sides,
        }
    }
}

impl DayView {
    pub fn new(
        layout: &Layout,
        t: &DifferenceWords,
        restaurant: RestaurantId,
        found: DayDifferences,
    ) -> Self {
        // The first menu that was ever read has no earlier one.
        let before = found.before.filter(|before| *before < found.after);
        let change = |it: &DayDifference| ChangeView::new(layout, t, restaurant, it);
        Self {
            key: found.provider.to_string(),
            provider: layout.provider(&found.provider),
            before: before.map(|at| layout.timestamp(&at)),
            changes: found.found.iter().map(change).collect(),
            has_more: found.has_more,
        }
    }
}

impl ChangeView {
    fn new(layout: &Layout, t: &DifferenceWords, restaurant: RestaurantId, found: &DayDifference) -> Self {
        let changed = &found.changed;
        let text = |side: Option<&Side>| side.map(|side| facts(layout, t, side, &changed.kinds));
        let (before, after) = (text(changed.before.as_ref()), text(changed.after.as_ref()));
        let side = changed.after.as_ref().or(changed.before.as_ref());
        let kinds = match (&changed.before, &changed.after) {
            (None, _) => vec![t.added],
            (_, None) => vec![t.removed],
            _ => changed.kinds.iter().map(|kind| kind_name(t, *kind)).collect(),
        };
        Self {
            href: found.product.map(|product| href(restaurant, product)),
            name: side.map(|side| side.name.clone()).unwrap_or_default(),
            is_option: changed.key.is_option,
            kinds,
            before: before.unwrap_or_else(|| t.not_there.to_owned()),
            after: after.unwrap_or_else(|| t.not_there.to_owned()),
        }
    }
}
