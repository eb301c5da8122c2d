//! The kitchen's ticket: what to cook, and by when.

use super::maker::Maker;
use crate::model::{Blocks, Paragraph};

pub(super) fn add(maker: &Maker<'_>, blocks: &mut Blocks) {
    maker.add_code(blocks);
    blocks.add(Paragraph::new(maker.source.restaurant).centred());
    blocks.add_rule();
    maker.add_delivery(blocks);
    blocks.add_rule();
    maker.add_items_to_cook(blocks);
    maker.add_order_note(blocks);
    blocks.add_rule();
    maker.add_piece_count(blocks);
    if maker.source.content.fulfilment.flags.no_cutlery {
        blocks.add(Paragraph::strong(maker.t.no_cutlery));
    }
    blocks.add_rule();
    blocks.add_qr(&maker.source.order.id.to_string(), maker.code());
    maker.add_times(blocks);
}
