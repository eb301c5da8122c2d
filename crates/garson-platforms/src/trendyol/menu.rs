//! Builds a menu from the platform's four flat lists: sections refer to products, products to groups, groups to products.

use super::wire::menu::{self as wire, Place};
use super::wire::{Text, text};
use super::write;
use crate::common::parse;
use crate::common::text::{MAX_ID, MAX_NAME, MAX_NOTE, keep, keep_some};
use garson_core::menu::{Category, Menu, MenuOption, OptionGroup, Product};
use garson_core::money::Currency;
use garson_core::platform::{HttpResponse, Link, MenuStep, PlatformError};
use std::collections::HashMap;

/// Groups within options are followed to this depth.
const MAX_DEPTH: usize = 5;
/// Lists that refer to each other can expand to more options than memory holds; no real menu has this many.
const MAX_OPTIONS: usize = 100_000;

pub fn menu(link: &Link<'_>, answers: &[HttpResponse]) -> Result<MenuStep, PlatformError> {
    match answers {
        [] => write::menu(link).map(MenuStep::Ask),
        [first, ..] => read(first).map(MenuStep::Menu),
    }
}

fn read(response: &HttpResponse) -> Result<Menu, PlatformError> {
    write::answered(response).map_err(PlatformError::Answered)?;
    let found: wire::Menu<'_> =
        parse(&response.body).map_err(|found| PlatformError::Answered(write::unreadable(&found)))?;
    let mut shelf = Shelf {
        products: found.products.iter().map(|p| (p.id.as_str(), p)).collect(),
        groups: found.modifier_groups.iter().map(|g| (g.id.as_str(), g)).collect(),
        left: MAX_OPTIONS,
    };
    let categories = sorted(&found.sections, |section| section.position)
        .map(|section| shelf.category(section))
        .collect();
    Ok(Menu { categories })
}

/// All that the lists hold, by id.
struct Shelf<'a> {
    products: HashMap<&'a str, &'a wire::Product<'a>>,
    groups: HashMap<&'a str, &'a wire::Group<'a>>,
    /// How many more options and products may be made.
    left: usize,
}

impl<'a> Shelf<'a> {
    fn category(&mut self, section: &'a wire::Section<'a>) -> Category {
        let name = named(&section.name);
        Category {
            id: keep_some(text(&section.id), MAX_ID).unwrap_or_else(|| name.clone()),
            name,
            position: section.position.unwrap_or_default(),
            is_available: is_active(&section.status),
            products: sorted(&section.products, |place| place.position)
                .filter_map(|place| self.product(place))
                .collect(),
        }
    }

    fn take(&mut self) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        Some(())
    }

    fn product(&mut self, place: &Place<'_>) -> Option<Product> {
        let product = *self.products.get(place.id.as_str())?;
        self.take()?;
        Some(Product {
            id: keep(product.id.as_str(), MAX_ID)?,
            name: named(&product.name),
            description: keep_some(text(&product.description), MAX_NOTE),
            price: product.selling_price.0,
            currency: Currency::TRY,
            image_url: keep_some(text(&product.image_url), MAX_NOTE),
            is_available: is_active(&product.status),
            option_groups: self.groups_of(product, 1),
        })
    }

    fn groups_of(&mut self, product: &'a wire::Product<'a>, depth: usize) -> Vec<OptionGroup> {
        if depth > MAX_DEPTH {
            return Vec::new();
        }
        sorted(&product.modifier_groups, |place| place.position)
            .filter_map(|place| self.group(place, depth))
            .collect()
    }

    fn group(&mut self, place: &Place<'_>, depth: usize) -> Option<OptionGroup> {
        let group = *self.groups.get(place.id.as_str())?;
        self.take()?;
        let options: Vec<MenuOption> = sorted(&group.modifier_products, |place| place.position)
            .filter_map(|place| self.option(place, depth))
            .collect();
        let min = group.min.unwrap_or_default();
        let all = u32::try_from(options.len()).unwrap_or(u32::MAX);
        Some(OptionGroup {
            id: keep(group.id.as_str(), MAX_ID)?,
            name: keep_some(text(&group.name), MAX_NAME).unwrap_or_else(|| "?".to_owned()),
            min,
            max: group.max.unwrap_or(all).max(min),
            options,
        })
    }

    /// An option is a product at the price that the group gives it.
    fn option(&mut self, place: &Place<'_>, depth: usize) -> Option<MenuOption> {
        let product = *self.products.get(place.id.as_str())?;
        self.take()?;
        Some(MenuOption {
            id: keep(product.id.as_str(), MAX_ID)?,
            name: named(&product.name),
            price: place.price.0,
            is_available: is_active(&product.status),
            option_groups: self.groups_of(product, depth + 1),
        })
    }
}

/// In their places; those without one come last, as they were listed.
fn sorted<T>(list: &[T], position: impl Fn(&T) -> Option<u32>) -> std::vec::IntoIter<&T> {
    let mut places: Vec<&T> = list.iter().collect();
    places.sort_by_key(|item| position(item).unwrap_or(u32::MAX));
    places.into_iter()
}

fn named(name: &Text<'_>) -> String {
    keep(name.as_str(), MAX_NAME).unwrap_or_else(|| "?".to_owned())
}

/// What is not said to be passive is there.
fn is_active(status: &Option<Text<'_>>) -> bool {
    text(status).is_none_or(|status| status.trim().eq_ignore_ascii_case("ACTIVE"))
}
