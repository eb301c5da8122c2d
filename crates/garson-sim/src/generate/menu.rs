//! A restaurant's menu with ids that stay the same for the same branch.

use super::kitchens::{Group, KITCHENS};
use crate::{
    platform::Platform,
    random::{Random, hash},
};

#[derive(Clone, Debug)]
pub(crate) struct Menu {
    pub restaurant: &'static str,
    pub categories: Vec<Category>,
}

#[derive(Clone, Debug)]
pub(crate) struct Category {
    pub id: Id,
    pub name: &'static str,
    pub products: Vec<Product>,
}

#[derive(Clone, Debug)]
pub(crate) struct Product {
    pub id: Id,
    pub name: &'static str,
    pub category: &'static str,
    pub description: &'static str,
    /// In kuruş.
    pub price: i64,
    pub groups: Vec<OptionGroup>,
}

#[derive(Clone, Debug)]
pub(crate) struct OptionGroup {
    pub id: Id,
    pub name: &'static str,
    pub min: usize,
    pub max: usize,
    pub removes: bool,
    pub options: Vec<Choosable>,
}

#[derive(Clone, Debug)]
pub(crate) struct Choosable {
    pub id: Id,
    pub name: &'static str,
    pub price: i64,
    pub groups: Vec<OptionGroup>,
}

/// An id in the spellings that platforms use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id(u64);

impl Id {
    fn of(path: &str) -> Self {
        Self(hash(path))
    }

    /// 24 hexadecimal digits.
    pub(crate) fn hex(self) -> String {
        format!("{:016x}{:08x}", self.0, Random::new(self.0).next() >> 32)
    }

    /// Up to nine decimal digits.
    pub(crate) fn number(self) -> u64 {
        100_000_000 + self.0 % 900_000_000
    }

    pub(crate) fn uuid(self) -> String {
        Random::new(self.0).uuid()
    }
}

impl Menu {
    /// The menu of a branch: which kitchen it is follows from its name.
    pub(crate) fn of(platform: Platform, remote_id: &str) -> Self {
        let branch = format!("{platform}/{remote_id}");
        let index = Random::new(hash(&branch)).below(KITCHENS.len());
        let Some(kitchen) = KITCHENS.get(index) else {
            return Self {
                restaurant: "",
                categories: Vec::new(),
            };
        };
        let category = |&(name, dishes): &(&'static str, &'static [super::kitchens::Dish])| Category {
            id: Id::of(&format!("{branch}/{name}")),
            name,
            products: dishes
                .iter()
                .map(|dish| {
                    let path = format!("{branch}/{name}/{}", dish.name);
                    Product {
                        id: Id::of(&path),
                        name: dish.name,
                        category: name,
                        description: dish.description,
                        price: dish.price,
                        groups: groups(&path, dish.groups),
                    }
                })
                .collect(),
        };
        Self {
            restaurant: kitchen.name,
            categories: kitchen.categories.iter().map(category).collect(),
        }
    }

    /// Whether a product or an option has this number.
    pub(crate) fn has_number(&self, number: &str) -> bool {
        fn in_groups(groups: &[OptionGroup], number: &str) -> bool {
            let mut options = groups.iter().flat_map(|group| &group.options);
            options
                .any(|option| option.id.number().to_string() == number || in_groups(&option.groups, number))
        }
        self.products()
            .any(|product| product.id.number().to_string() == number || in_groups(&product.groups, number))
    }

    pub(crate) fn products(&self) -> impl Iterator<Item = &Product> {
        self.categories.iter().flat_map(|category| &category.products)
    }
}

fn groups(path: &str, groups: &[&Group]) -> Vec<OptionGroup> {
    let group = |group: &&Group| {
        let path = format!("{path}/{}", group.name);
        let option = |choice: &super::kitchens::Choice| {
            let path = format!("{path}/{}", choice.name);
            Choosable {
                id: Id::of(&path),
                name: choice.name,
                price: choice.price,
                groups: self::groups(&path, choice.groups),
            }
        };
        OptionGroup {
            id: Id::of(&path),
            name: group.name,
            min: group.min,
            max: group.max,
            removes: group.removes,
            options: group.choices.iter().map(option).collect(),
        }
    };
    groups.iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_branch_keeps_its_menu_and_no_id_is_given_twice() {
        let kitchens: HashSet<_> = (0..50)
            .map(|n| Menu::of(Platform::Getir, &n.to_string()).restaurant)
            .collect();
        assert_eq!(kitchens.len(), KITCHENS.len());
        let (one, again) = (Menu::of(Platform::Migros, "7"), Menu::of(Platform::Migros, "7"));
        assert_eq!(
            one.categories[0].products[0].id,
            again.categories[0].products[0].id
        );
        let ids: Vec<_> = one.products().map(|product| product.id.number()).collect();
        assert_eq!(ids.len(), ids.iter().collect::<HashSet<_>>().len());
        assert_eq!(one.categories[0].id.hex().len(), 24);
    }
}
