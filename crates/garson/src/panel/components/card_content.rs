//! What the cards of the board and of the kitchen show of an order's content: items, notes, payment, first name.

use crate::panel::kit::{format, names};
use crate::panel::words::{CardWords, Lang};
use garson_core::allergy_words;
use garson_core::order::{Courier, Item, ItemOption, OrderContent};
use garson_core::payment::PaymentType;

/// Lines of items and options of one order; a card with thousands of them would slow the board down.
const MAX_LINES: usize = 120;
/// A longer code does not fit at full size.
const LONG_CODE: usize = 5;
const MAX_NAME: usize = 24;

/// A text with the words about allergies marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedText(pub Vec<TextPart>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPart {
    pub text: String,
    pub is_marked: bool,
}

impl MarkedText {
    pub fn new(text: &str) -> Self {
        let parts = allergy_words::segments(text).into_iter();
        Self(
            parts
                .map(|part| TextPart {
                    text: part.text.to_owned(),
                    is_marked: part.is_marked,
                })
                .collect(),
        )
    }

    pub fn of(text: Option<&String>) -> Option<Self> {
        text.map(|text| text.trim())
            .filter(|text| !text.is_empty())
            .map(Self::new)
    }
}

pub struct ItemLine {
    pub text: String,
    pub options: Vec<OptionLine>,
    pub note: Option<MarkedText>,
}

pub struct OptionLine {
    pub text: MarkedText,
    /// The customer wants it left out.
    pub is_removed: bool,
}

/// The items of an order, and how many lines are left out.
pub struct ItemLines {
    pub items: Vec<ItemLine>,
    pub left_over: usize,
}

impl ItemLines {
    pub fn new(t: &CardWords, items: &[Item]) -> Self {
        let mut room = MAX_LINES;
        let mut lines = Vec::new();
        for item in items {
            if room == 0 {
                break;
            }
            room -= 1;
            let mut options = Vec::new();
            add_options(t, &item.options, &mut options, &mut room);
            lines.push(ItemLine {
                text: format!("{} × {}", item.quantity, item.name),
                options,
                note: MarkedText::of(item.note.as_ref()),
            });
        }
        Self {
            left_over: count_lines(items).saturating_sub(MAX_LINES),
            items: lines,
        }
    }
}

fn count_lines(items: &[Item]) -> usize {
    fn of_options(options: &[ItemOption]) -> usize {
        options.iter().map(|it| 1 + of_options(&it.options)).sum()
    }
    items.iter().map(|it| 1 + of_options(&it.options)).sum()
}

/// Options of options follow the option that they belong to.
fn add_options(t: &CardWords, options: &[ItemOption], lines: &mut Vec<OptionLine>, room: &mut usize) {
    for option in options {
        if *room == 0 {
            return;
        }
        *room -= 1;
        let name = if option.quantity > 1 {
            format!("{} × {}", option.quantity, option.name)
        } else {
            option.name.clone()
        };
        lines.push(OptionLine {
            text: MarkedText::new(&if option.removed {
                format!("{name} {}", t.left_out)
            } else {
                name
            }),
            is_removed: option.removed,
        });
        add_options(t, &option.options, lines, room);
    }
}

/// One line: who collects what, or that the order is paid.
pub struct PaymentLine {
    pub text: String,
    /// The restaurant collects it.
    pub is_to_collect: bool,
    pub amount: String,
    /// The order's total, if another amount is to be collected.
    pub total: Option<String>,
}

impl PaymentLine {
    pub fn new(lang: Lang, t: &CardWords, content: &OrderContent) -> Self {
        let (payment, amount) = (&content.payment, &content.amount);
        let money = |minor| format::short_money(lang, minor, amount.currency);
        let name = names::payment(lang, payment.kind);
        if payment.collect.0 <= 0 {
            return Self {
                text: format!("{} ({name})", t.paid),
                is_to_collect: false,
                amount: money(amount.total),
                total: None,
            };
        }
        let is_to_collect = content.fulfilment.courier != Courier::Platform;
        Self {
            text: if is_to_collect {
                collect(t, payment.kind).to_owned()
            } else {
                format!("{name}, {}", t.courier_collects)
            },
            is_to_collect,
            amount: money(payment.collect),
            total: (payment.collect != amount.total).then(|| money(amount.total)),
        }
    }
}

fn collect(t: &CardWords, kind: PaymentType) -> &'static str {
    match kind {
        PaymentType::Cash => t.collect_cash,
        PaymentType::CardOnDelivery => t.collect_card,
        PaymentType::MealCardOnDelivery => t.collect_meal_card,
        _ => t.collect_other,
    }
}

/// The first name only: the card can be read by everyone in the room.
pub fn first_name(content: &OrderContent) -> String {
    let name = content.customer.name.as_deref().unwrap_or_default();
    let first = name.split_whitespace().next().unwrap_or_default();
    first.chars().take(MAX_NAME).collect()
}

pub fn is_long(code: &str) -> bool {
    code.chars().count() > LONG_CODE
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::money::Minor;

    fn option(name: &str, options: Vec<ItemOption>) -> ItemOption {
        ItemOption {
            group: None,
            name: name.to_owned(),
            quantity: 1,
            price: Minor(0),
            removed: false,
            options,
        }
    }

    fn item(name: &str, options: Vec<ItemOption>) -> Item {
        Item {
            id: None,
            product_id: None,
            name: name.to_owned(),
            quantity: 1,
            unit_price: Minor(0),
            total: Minor(0),
            note: None,
            options,
        }
    }

    #[test]
    fn options_of_options_are_listed_and_removed_ones_are_named() {
        let mut soup = item(
            "Çorba",
            vec![option("Ekmek", vec![option("Kepekli", Vec::new())])],
        );
        soup.options[0].quantity = 2;
        soup.options.push(ItemOption {
            removed: true,
            ..option("Fıstık", Vec::new())
        });
        let lines = ItemLines::new(&CardWords::of(Lang::Tr), &[soup]);
        let texts: Vec<String> = lines.items[0]
            .options
            .iter()
            .map(|it| it.text.0.iter().map(|part| part.text.as_str()).collect())
            .collect();
        assert_eq!(texts, ["2 × Ekmek", "Kepekli", "Fıstık olmasın"]);
        assert!(lines.items[0].options[2].is_removed);
        assert!(lines.items[0].options[2].text.0[0].is_marked);
    }

    #[test]
    fn huge_order_is_shortened() {
        let many: Vec<Item> = (0..1000)
            .map(|_| item("x", vec![option("y", Vec::new())]))
            .collect();
        let lines = ItemLines::new(&CardWords::of(Lang::Tr), &many);
        assert_eq!((lines.items.len(), lines.left_over), (60, 1880));
        let one = item("x", (0..1000).map(|_| option("y", Vec::new())).collect());
        let lines = ItemLines::new(&CardWords::of(Lang::Tr), &[one]);
        assert_eq!((lines.items[0].options.len(), lines.left_over), (119, 881));
    }
}
