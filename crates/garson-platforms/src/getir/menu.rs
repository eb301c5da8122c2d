//! Reads Getir's menu.

use super::outcome::{CONFIG_BLOCK, value};
use super::wire::menu::{
    Menu as Shown, MenuCategory, MenuChoice, MenuGroup, MenuProduct, Nested, OptionProduct,
};
use super::wire::{Text, Words, text};
use super::write;
use crate::common::number::Count;
use crate::common::text::{MAX_ID, MAX_NAME, MAX_NOTE, keep_some};
use garson_core::menu::{Category, Menu, MenuOption, OptionGroup, Product};
use garson_core::money::Currency;
use garson_core::platform::{HttpResponse, Link, MenuStep, PlatformError};
use std::cell::Cell;
use std::collections::HashMap;

/// How deep groups within groups are followed; ids may lead in circles.
const MAX_DEPTH: usize = 5;
/// How many groups are followed in all: a few ids that name each other make very many.
const MAX_GROUPS: u32 = 20_000;
const ACTIVE: i64 = 100;

/// The menu, and where it names groups of options by ids that it does not show, the option products that have them.
pub fn menu(link: &Link<'_>, answers: &[HttpResponse]) -> Result<MenuStep, PlatformError> {
    let Some(answer) = answers.first() else {
        return write::menu(link).map(MenuStep::Ask);
    };
    let shown: Shown<'_> = value(answer, CONFIG_BLOCK).map_err(PlatformError::Answered)?;
    let options: Vec<OptionProduct<'_>> = match answers.get(1) {
        None if names_unknown_groups(&shown) => return write::option_products(link).map(MenuStep::Ask),
        None => Vec::new(),
        Some(answer) => match value(answer, CONFIG_BLOCK) {
            // A menu without some of its options is better than none.
            Err(trouble) if trouble.is_refusal_of_order() => Vec::new(),
            options => options.map_err(PlatformError::Answered)?,
        },
    };
    Ok(MenuStep::Menu(read(&shown, &options)))
}

fn shelf<'a>(shown: &'a Shown<'a>, options: &'a [OptionProduct<'a>]) -> Shelf<'a> {
    let mut shelf = Shelf {
        groups: HashMap::new(),
        left: Cell::new(MAX_GROUPS),
    };
    for product in products(shown) {
        shelf.put(product.option_categories.as_deref());
    }
    for option in options {
        shelf.put(option.option_categories.as_deref());
    }
    shelf
}

fn products<'a>(shown: &'a Shown<'a>) -> impl Iterator<Item = &'a MenuProduct<'a>> {
    let categories = shown.product_categories.iter();
    categories.flat_map(|category| category.products.as_deref().unwrap_or_default())
}

fn names_unknown_groups(shown: &Shown<'_>) -> bool {
    let shelf = shelf(shown, &[]);
    products(shown).any(|product| shelf.lacks(product.option_categories.as_deref()))
}

fn read(shown: &Shown<'_>, options: &[OptionProduct<'_>]) -> Menu {
    let shelf = shelf(shown, options);
    Menu {
        categories: shown
            .product_categories
            .iter()
            .zip(0..)
            .filter_map(|(wire, position)| shelf.category(wire, position))
            .collect(),
    }
}

/// Of 100 active, 200 inactive and 400 inactive for today only the first can be ordered.
fn is_active(status: Option<Count>) -> bool {
    status.is_none_or(|status| status.0 == ACTIVE)
}

fn said(words: Option<&Words<'_>>, id: &Option<Text<'_>>) -> Option<String> {
    let said = words.and_then(|words| words.said());
    keep_some(said.or(text(id)), MAX_NAME)
}

/// The groups of the whole menu by id: an option may name its own groups instead of showing them.
struct Shelf<'a> {
    groups: HashMap<&'a str, &'a MenuGroup<'a>>,
    left: Cell<u32>,
}

impl<'a> Shelf<'a> {
    fn put(&mut self, nested: Option<&'a [Nested<'a>]>) {
        for nested in nested.unwrap_or_default() {
            let Nested::Group(group) = nested else { continue };
            if let Some(id) = text(&group.id) {
                self.groups.entry(id).or_insert(group);
            }
            for option in group.options.as_deref().unwrap_or_default() {
                self.put(option.option_categories.as_deref());
            }
        }
    }

    /// Is a group named here, or below, that is shown nowhere?
    fn lacks(&self, nested: Option<&[Nested<'a>]>) -> bool {
        nested.unwrap_or_default().iter().any(|nested| match nested {
            Nested::Id(id) => !self.groups.contains_key(&*id.0),
            Nested::Group(group) => {
                let mut options = group.options.as_deref().unwrap_or_default().iter();
                options.any(|option| self.lacks(option.option_categories.as_deref()))
            }
        })
    }

    fn category(&self, wire: &MenuCategory<'a>, position: u32) -> Option<Category> {
        let products = wire.products.as_deref().unwrap_or_default();
        Some(Category {
            id: keep_some(text(&wire.id), MAX_ID)?,
            name: said(wire.name.as_ref(), &wire.id)?,
            position,
            is_available: is_active(wire.status) && wire.is_approved.unwrap_or(true),
            products: products.iter().filter_map(|wire| self.product(wire)).collect(),
        })
    }

    fn product(&self, wire: &MenuProduct<'a>) -> Option<Product> {
        let description = wire.description.as_ref().and_then(|words| words.said());
        Some(Product {
            id: keep_some(text(&wire.id), MAX_ID)?,
            name: said(wire.name.as_ref(), &wire.id)?,
            description: keep_some(description, MAX_NOTE),
            price: wire.price.unwrap_or_default().0,
            currency: Currency::TRY,
            image_url: keep_some(text(&wire.image_url), MAX_NOTE),
            is_available: is_active(wire.status) && wire.is_approved.unwrap_or(true),
            option_groups: self.groups(wire.option_categories.as_deref(), 1),
        })
    }

    fn groups(&self, nested: Option<&[Nested<'a>]>, depth: usize) -> Vec<OptionGroup> {
        let group = |nested: &Nested<'a>| match nested {
            Nested::Group(group) => self.group(group, depth),
            Nested::Id(id) => self.group(self.groups.get(&*id.0)?, depth),
        };
        if depth > MAX_DEPTH {
            return Vec::new();
        }
        nested.unwrap_or_default().iter().filter_map(group).collect()
    }

    /// A group has no mark of its own for not being available: its options carry it.
    fn group(&self, wire: &MenuGroup<'a>, depth: usize) -> Option<OptionGroup> {
        self.left.set(self.left.get().checked_sub(1)?);
        let is_active = is_active(wire.status);
        let number = |count: Option<Count>| count.and_then(|count| u32::try_from(count.0).ok());
        let options = wire.options.as_deref().unwrap_or_default();
        Some(OptionGroup {
            id: keep_some(text(&wire.id), MAX_ID)?,
            name: said(wire.name.as_ref(), &wire.id)?,
            min: number(wire.min_count).unwrap_or(0),
            max: number(wire.max_count).unwrap_or_else(|| u32::try_from(options.len()).unwrap_or(u32::MAX)),
            options: options
                .iter()
                .filter_map(|option| self.option(option, is_active, depth))
                .collect(),
        })
    }

    fn option(&self, wire: &MenuChoice<'a>, in_active: bool, depth: usize) -> Option<MenuOption> {
        let shown = wire.client_display_name.as_ref();
        let name = shown
            .filter(|words| words.said().is_some())
            .or(wire.name.as_ref());
        Some(MenuOption {
            id: keep_some(text(&wire.id), MAX_ID)?,
            name: said(name, &wire.id)?,
            price: wire.price.unwrap_or_default().0,
            is_available: in_active && is_active(wire.status),
            option_groups: self.groups(wire.option_categories.as_deref(), depth + 1),
        })
    }
}
