//! What a customer orders, how it is paid, and sums that add up to the kuruş.

use super::{
    menu::{Id, Menu, OptionGroup},
    people::{Address, Person},
};
use crate::{
    random::Random,
    views::{Courier, Paid},
};

#[derive(Clone, Debug)]
pub(crate) struct Basket {
    pub customer: Person,
    pub address: Address,
    pub lines: Vec<Line>,
    pub note: &'static str,
    pub payment: Payment,
    /// What comes off the sum of the lines, all of it at the restaurant's cost.
    pub discount: i64,
    pub delivery_fee: i64,
    pub no_cutlery: bool,
    pub do_not_ring: bool,
    pub leave_at_door: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Differs between all lines of all orders.
    pub id: u64,
    pub product: Id,
    pub name: &'static str,
    pub category: &'static str,
    /// Of one piece, without its options.
    pub price: i64,
    pub quantity: usize,
    pub options: Vec<Chosen>,
    pub note: &'static str,
    /// Pieces that the restaurant could not supply.
    pub cancelled: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub group: Id,
    pub group_name: &'static str,
    pub id: Id,
    pub name: &'static str,
    pub price: i64,
    pub removed: bool,
    pub options: Vec<Chosen>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Payment {
    pub kind: Paid,
    /// Only of meal cards: which one, and whether it is charged online.
    pub meal_card: MealCard,
    pub is_online: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MealCard {
    Multinet,
    Sodexo,
    Ticket,
    Setcard,
    Metropol,
}

const CARDS: &[MealCard] = &[
    MealCard::Multinet,
    MealCard::Sodexo,
    MealCard::Ticket,
    MealCard::Setcard,
    MealCard::Metropol,
];
const NOTES: &[&str] = &[
    "",
    "",
    "Zil çalışmıyor, arayınız",
    "Acısız olsun lütfen",
    "Bol peçete ve ıslak mendil rica ederim",
    "Kapıya bırakabilirsiniz",
    "Çocuk için, lütfen sıcak gelsin :)",
    "500 TL ile ödeyeceğim, para üstü lütfen",
];
const LINE_NOTES: &[&str] = &[
    "",
    "",
    "",
    "Az pişmiş olsun",
    "Soğansız lütfen",
    "Sosu ayrı koyun",
];

impl Basket {
    pub(crate) fn of(random: &mut Random, menu: &Menu, paid: Option<Paid>, courier: Courier) -> Self {
        let products: Vec<_> = menu.products().collect();
        let count = 1 + random.below(3);
        let lines: Vec<_> = (0..count)
            .filter_map(|_| random.pick(&products).copied())
            .collect::<Vec<_>>()
            .into_iter()
            .map(|product| Line {
                id: random.next(),
                product: product.id,
                name: product.name,
                category: product.category,
                price: product.price,
                quantity: if random.percent(25) {
                    1 + random.below(3)
                } else {
                    1
                },
                options: choose(random, &product.groups),
                note: random.word(LINE_NOTES),
                cancelled: Vec::new(),
            })
            .collect();
        let kind = paid.unwrap_or_else(|| match random.below(10) {
            0..=1 => Paid::Cash,
            2 => Paid::Card,
            3..=4 => Paid::MealCard,
            _ => Paid::Online,
        });
        let subtotal: i64 = lines.iter().map(Line::total).sum();
        Self {
            customer: Person::of(random),
            address: Address::of(random),
            note: random.word(NOTES),
            payment: Payment {
                kind,
                meal_card: random.pick(CARDS).copied().unwrap_or(MealCard::Multinet),
                is_online: kind == Paid::Online || (kind == Paid::MealCard && random.percent(50)),
            },
            discount: if random.percent(30) { subtotal / 10 } else { 0 },
            delivery_fee: if courier == Courier::Restaurant && random.percent(50) {
                2_990
            } else {
                0
            },
            no_cutlery: random.percent(40),
            do_not_ring: random.percent(15),
            leave_at_door: random.percent(15),
            lines,
        }
    }

    /// Takes out a piece that is left, unless it is the last one.
    pub(crate) fn remove_piece(&mut self) -> Result<(), String> {
        let left: usize = self.lines.iter().map(Line::left).sum();
        if left < 2 {
            return Err("only one piece is left".to_owned());
        }
        if let Some(line) = self.lines.iter_mut().rev().find(|line| line.left() > 0) {
            let gone = (0..line.quantity)
                .rev()
                .find(|piece| !line.cancelled.contains(piece));
            line.cancelled.extend(gone);
        }
        self.discount = self.discount.min(self.subtotal());
        Ok(())
    }

    /// The lines of which something is left.
    pub(crate) fn open_lines(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.left() > 0)
    }

    /// The lines, before discount and delivery.
    pub(crate) fn subtotal(&self) -> i64 {
        self.lines.iter().map(Line::total).sum()
    }

    /// What the customer pays.
    pub(crate) fn total(&self) -> i64 {
        self.subtotal() - self.discount + self.delivery_fee
    }
}

impl Line {
    pub(crate) fn options_price(&self) -> i64 {
        self.options.iter().map(Chosen::deep_price).sum()
    }

    pub(crate) fn unit_price(&self) -> i64 {
        self.price + self.options_price()
    }

    pub(crate) fn left(&self) -> usize {
        self.quantity.saturating_sub(self.cancelled.len())
    }

    pub(crate) fn total(&self) -> i64 {
        self.unit_price() * i64::try_from(self.left()).unwrap_or_default()
    }
}

impl Chosen {
    /// With all that was chosen below it.
    pub(crate) fn deep_price(&self) -> i64 {
        self.price + self.options.iter().map(Chosen::deep_price).sum::<i64>()
    }
}

fn choose(random: &mut Random, groups: &[OptionGroup]) -> Vec<Chosen> {
    let mut chosen = Vec::new();
    for group in groups {
        let count = group.min + random.below(group.max - group.min + 1);
        let first = random.below(group.options.len());
        for option in group.options.iter().cycle().skip(first).take(count) {
            chosen.push(Chosen {
                group: group.id,
                group_name: group.name,
                id: option.id,
                name: option.name,
                price: option.price,
                removed: group.removes,
                options: choose(random, &option.groups),
            });
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::Platform;

    fn depth(options: &[Chosen]) -> usize {
        options
            .iter()
            .map(|option| 1 + depth(&option.options))
            .max()
            .unwrap_or_default()
    }

    fn baskets(seed: u64) -> Vec<Basket> {
        let mut random = Random::new(seed);
        (0..300)
            .map(|n| {
                let menu = Menu::of(Platform::Yemeksepeti, &n.to_string());
                Basket::of(&mut random, &menu, None, Courier::Restaurant)
            })
            .collect()
    }

    #[test]
    fn baskets_are_full_add_up_and_repeat() {
        let (some, again) = (baskets(5), baskets(5));
        for (basket, twin) in some.iter().zip(&again) {
            assert!(!basket.lines.is_empty());
            assert!(basket.total() > 0);
            assert_eq!(basket.total(), twin.total());
            assert_eq!(basket.customer.full_name(), twin.customer.full_name());
            let sum: i64 = basket
                .lines
                .iter()
                .map(|line| line.unit_price() * line.quantity as i64)
                .sum();
            assert_eq!(sum, basket.subtotal());
        }
    }

    #[test]
    fn some_options_are_five_levels_deep() {
        let deepest = baskets(1)
            .iter()
            .flat_map(|basket| basket.lines.iter().map(|line| depth(&line.options)))
            .max();
        assert_eq!(deepest, Some(5));
    }
}
