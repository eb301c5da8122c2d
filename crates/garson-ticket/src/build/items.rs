//! The items of an order with their options and notes.

use super::maker::Maker;
use crate::amount::number;
use crate::model::{Blocks, Emphasis, Paragraph, Run, Size};
use garson_core::money::Minor;
use garson_core::order::{Item, ItemOption};

/// Options of options are not indented further than this.
const MAX_DEPTH: u8 = 4;

impl Maker<'_> {
    /// Large, with everything that the cook must know.
    pub(super) fn add_items_to_cook(&self, blocks: &mut Blocks) {
        for item in &self.source.content.items {
            let name = format!("{} x {}", item.quantity, item.name);
            blocks.add(Paragraph::strong(&name).sized(Size::Tall));
            self.add_options(blocks, &item.options, 1, false);
            self.add_item_note(blocks, item);
        }
    }

    /// One line for each, to check the bag.
    pub(super) fn add_items_to_check(&self, blocks: &mut Blocks) {
        for item in &self.source.content.items {
            blocks.add(Paragraph::new(&format!("{} x {}", item.quantity, item.name)));
        }
    }

    pub(super) fn add_priced_items(&self, blocks: &mut Blocks) {
        for item in &self.source.content.items {
            let name = format!("{} x {}", item.quantity, item.name);
            blocks.add_pair(&name, &number(self.lang, item.total), Size::Normal, 0);
            self.add_options(blocks, &item.options, 1, true);
            self.add_item_note(blocks, item);
        }
    }

    fn add_options(&self, blocks: &mut Blocks, options: &[ItemOption], depth: u8, is_priced: bool) {
        for option in options {
            let group = option.group.as_deref().filter(|group| !group.trim().is_empty());
            let group = group.map_or_else(String::new, |group| format!("{group}: "));
            let count = if option.quantity == 1 {
                String::new()
            } else {
                format!("{} x ", option.quantity)
            };
            let text = format!("{group}{count}{}", option.name);
            if option.removed {
                let runs = vec![
                    Run::new(&format!("{text} – "), Emphasis::None),
                    Run::new(self.t.left_out, Emphasis::Warning),
                ];
                blocks.add(Paragraph::of_runs(runs).indented(depth));
            } else if is_priced && option.price != Minor::ZERO {
                let price = format!("+{}", number(self.lang, option.price));
                blocks.add(Paragraph::new(&format!("{text} ({price})")).indented(depth));
            } else {
                blocks.add(Paragraph::new(&text).indented(depth));
            }
            self.add_options(blocks, &option.options, MAX_DEPTH.min(depth + 1), is_priced);
        }
    }

    fn add_item_note(&self, blocks: &mut Blocks, item: &Item) {
        if let Some(note) = item
            .note
            .as_deref()
            .map(str::trim)
            .filter(|note| !note.is_empty())
        {
            blocks.add(Paragraph::note(self.t.note, note).indented(1));
        }
    }

    /// The number of pieces in the bag.
    pub(super) fn add_piece_count(&self, blocks: &mut Blocks) {
        let pieces: i64 = self
            .source
            .content
            .items
            .iter()
            .fold(0, |sum, item| sum.saturating_add(item.quantity));
        blocks.add(Paragraph::strong(&format!("{pieces} {}", self.t.pieces)));
    }
}
