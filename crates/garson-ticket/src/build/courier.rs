//! The courier's ticket: to whom, where, and what to collect.

use super::maker::Maker;
use crate::amount::short_amount;
use crate::model::{Blocks, Paragraph, Size};
use crate::options::Lang;
use garson_core::money::Minor;
use garson_core::order::{Address, FulfilmentType};

pub(super) fn add(maker: &Maker<'_>, blocks: &mut Blocks) {
    let (t, content) = (&maker.t, maker.source.content);
    maker.add_code(blocks);
    blocks.add(Paragraph::new(maker.source.restaurant).centred());
    blocks.add_rule();
    maker.add_delivery(blocks);
    blocks.add_rule();
    add_customer(maker, blocks);
    let flags = content.fulfilment.flags;
    for (is_set, text) in [
        (flags.do_not_ring, t.do_not_ring),
        (flags.drop_at_door, t.drop_at_door),
    ] {
        if is_set {
            blocks.add(Paragraph::warning(text).sized(Size::Tall));
        }
    }
    maker.add_order_note(blocks);
    blocks.add_rule();
    blocks.add(Paragraph::strong(&collection(maker)).sized(Size::Large).centred());
    blocks.add_rule();
    maker.add_items_to_check(blocks);
    maker.add_piece_count(blocks);
    if let Some(link) = content.customer.address.as_ref().and_then(map_link) {
        blocks.add_rule();
        blocks.add_qr(&link, t.map);
    }
    maker.add_times(blocks);
}

/// `Nakit tahsil et 440 ₺`
pub(super) fn collection(maker: &Maker<'_>) -> String {
    let (t, content) = (&maker.t, maker.source.content);
    let payment = &content.payment;
    if payment.collect <= Minor::ZERO {
        return t.nothing_to_collect.to_owned();
    }
    let amount = short_amount(maker.lang, payment.collect, content.amount.currency);
    let how = t.payment_type(payment.kind);
    match maker.lang {
        Lang::Tr => format!("{how} {} {amount}", t.collect),
        Lang::En => format!("{} {amount} · {how}", t.collect),
    }
}

fn add_customer(maker: &Maker<'_>, blocks: &mut Blocks) {
    let (t, customer) = (&maker.t, &maker.source.content.customer);
    if let Some(name) = &customer.name {
        blocks.add(Paragraph::strong(name).sized(Size::Tall));
    }
    let phone = customer.phone.as_ref().map(|phone| match &customer.phone_code {
        Some(code) => format!("{phone} ({} {code})", t.extension),
        None => phone.clone(),
    });
    blocks.add_fact(t.phone, phone.as_deref());
    let is_delivered = maker.source.content.fulfilment.kind == FulfilmentType::Delivery;
    match &customer.address {
        Some(address) => {
            blocks.add(Paragraph::strong(&address.one_line()).sized(Size::Tall));
            let parts = [
                (t.building, &address.apartment),
                (t.floor, &address.floor),
                (t.door, &address.door),
            ];
            let parts = parts
                .iter()
                .filter_map(|(name, value)| value.as_ref().map(|value| format!("{name}: {value}")));
            let parts: Vec<String> = parts.collect();
            blocks.add(Paragraph::strong(&parts.join("  ")));
            blocks.add_fact(t.directions, address.directions.as_deref());
        }
        None if is_delivered => blocks.add(Paragraph::new(t.no_address)),
        None => {}
    }
}

/// A link that opens the place in the courier's map program.
fn map_link(address: &Address) -> Option<String> {
    let (lat, lon) = (address.lat?, address.lon?);
    (lat.is_finite() && lon.is_finite())
        .then(|| format!("https://www.google.com/maps/search/?api=1&query={lat},{lon}"))
}
