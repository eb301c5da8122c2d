//! A product in a list: its state on each platform, the result of the last switch, and the buttons that switch it.

use crate::flow::products::list::{ItemState, ListedProduct};
use crate::panel::kit::layout::Layout;
use crate::panel::kit::{explain, format};
use crate::panel::words::ProductWords;
use askama::Template;
use garson_core::id::RestaurantId;
use garson_core::time::Timestamp;
use garson_store::tables::desired_items::{DesiredItem, DesiredItemState};

/// What the buttons of a row can do.
#[derive(Clone, Copy, Debug)]
pub struct RowOptions {
    /// Can it be selected for a change of several?
    pub has_box: bool,
    /// The opening hours are known.
    pub has_opening: bool,
}

#[derive(Template)]
#[template(path = "product_row.html")]
pub struct ProductRow {
    pub t: ProductWords,
    pub id: String,
    pub name: String,
    pub is_option: bool,
    /// The category of a product, the group of an option: it distinguishes options of the same name.
    category: String,
    pub href: String,
    pub platforms: Vec<PlatformLine>,
    /// It is off, or being switched off, on some platform.
    pub is_off: bool,
    pub is_pending: bool,
    options: RowOptions,
}

/// A product on one platform.
pub struct PlatformLine {
    /// Selects the colour.
    pub key: String,
    pub provider: String,
    /// Of the label.
    pub tone: &'static str,
    pub state: String,
    /// When it can be ordered again, or the platform's own words.
    pub detail: String,
    pub is_refused: bool,
    pub price: String,
}

impl ProductRow {
    pub fn new(
        layout: &Layout,
        restaurant: RestaurantId,
        listed: &ListedProduct,
        options: RowOptions,
        now: Timestamp,
    ) -> Self {
        let t = ProductWords::of(layout.lang);
        let id = listed.product.id;
        let there: Vec<&ItemState> = listed
            .items
            .iter()
            .filter(|it| it.stored.gone_at.is_none())
            .collect();
        let category = there.iter().find_map(|it| it.stored.item.category.clone());
        Self {
            category: category.unwrap_or_default(),
            is_off: there.iter().any(|it| is_off(it)),
            is_pending: there.iter().any(|it| is_pending(it)),
            platforms: there
                .into_iter()
                .map(|it| PlatformLine::new(layout, &t, it, now))
                .collect(),
            id: id.to_string(),
            name: listed.product.name.clone(),
            is_option: listed.product.is_option,
            href: format!("/restaurants/{restaurant}/products/{id}"),
            options,
            t,
        }
    }

    /// The states in one sentence, for screen readers.
    fn summary(&self) -> String {
        let states: Vec<String> = self
            .platforms
            .iter()
            .map(|it| format!("{} {}", it.provider, it.state))
            .collect();
        format!("{}: {}", self.name, states.join(", "))
    }
}

fn is_pending(item: &ItemState) -> bool {
    item.desired
        .as_ref()
        .is_some_and(|desired| desired.state == DesiredItemState::Pending)
}

/// The last desired availability, if it still differs from the item's state.
fn open_desired(item: &ItemState) -> Option<&DesiredItem> {
    let desired = item.desired.as_ref()?;
    let is_so = item.stored.item.is_available == Some(desired.availability.is_available());
    match desired.state {
        DesiredItemState::Pending => Some(desired),
        DesiredItemState::Refused | DesiredItemState::Unsupported => (!is_so).then_some(desired),
        DesiredItemState::Done => None,
    }
}

/// Whether it can be ordered, as far as is known; a platform whose menu cannot be read has what it accepted.
fn is_available(item: &ItemState) -> Option<bool> {
    let accepted = item
        .desired
        .as_ref()
        .filter(|desired| desired.state == DesiredItemState::Done)
        .map(|desired| desired.availability.is_available());
    item.stored.item.is_available.or(accepted)
}

fn is_off(item: &ItemState) -> bool {
    match open_desired(item) {
        Some(desired) if desired.state == DesiredItemState::Pending => !desired.availability.is_available(),
        _ => is_available(item) == Some(false),
    }
}

impl PlatformLine {
    pub fn new(layout: &Layout, t: &ProductWords, item: &ItemState, now: Timestamp) -> Self {
        let (tone, state, detail, is_refused) = match open_desired(item) {
            Some(desired) => of_item(layout, t, desired),
            None => settled(layout, t, item, now),
        };
        let stored = &item.stored.item;
        Self {
            key: stored.key.provider.to_string(),
            provider: layout.provider(&stored.key.provider),
            tone,
            state: state.to_owned(),
            detail,
            is_refused,
            price: stored.price.map_or_else(String::new, |price| {
                format::short_money(layout.lang, price, stored.currency)
            }),
        }
    }
}

type Line = (&'static str, &'static str, String, bool);

fn of_item(layout: &Layout, t: &ProductWords, desired: &DesiredItem) -> Line {
    let message = desired.message.as_ref();
    let words = message.map_or_else(String::new, |it| explain::text(layout.lang, it));
    let is_on = desired.availability.is_available();
    match desired.state {
        DesiredItemState::Pending if is_on => ("warn", t.turning_on, words, false),
        DesiredItemState::Pending => ("warn", t.turning_off, words, false),
        DesiredItemState::Unsupported => ("", t.unsupported, String::new(), false),
        _ if is_on => ("bad", t.refused_on, words, true),
        _ => ("bad", t.refused_off, words, true),
    }
}

fn settled(layout: &Layout, t: &ProductWords, item: &ItemState, now: Timestamp) -> Line {
    match is_available(item) {
        Some(true) => ("good", t.is_on, String::new(), false),
        Some(false) => {
            let desired = item
                .desired
                .as_ref()
                .filter(|desired| desired.state == DesiredItemState::Done);
            let ends_at = desired.and_then(DesiredItem::ends_at).filter(|at| *at > now);
            let detail = ends_at.map_or_else(String::new, |at| {
                let at = format::time_or_timestamp(layout.lang, &layout.zone, at, now);
                format!("{} {at}", t.on_again)
            });
            ("warn", t.is_off, detail, false)
        }
        None => ("", t.is_unknown, String::new(), false),
    }
}
