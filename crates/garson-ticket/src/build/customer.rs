//! The customer's ticket: items with prices, sums and payment.

use super::maker::Maker;
use crate::amount::{amount, number, short_amount};
use crate::model::{Blocks, Paragraph, Size};
use garson_core::money::Minor;

pub(super) fn add(maker: &Maker<'_>, blocks: &mut Blocks) {
    let (t, source) = (&maker.t, &maker.source);
    blocks.add(Paragraph::strong(source.restaurant).sized(Size::Large).centred());
    if let Some(address) = source.restaurant_address {
        blocks.add(Paragraph::new(address).centred());
    }
    blocks.add_rule();
    blocks.add_pair(
        source.platform,
        &maker.date_and_time(source.order.placed_at),
        Size::Normal,
        0,
    );
    blocks.add(Paragraph::fact(t.order, maker.code()).sized(Size::Tall));
    blocks.add_fact(t.name, source.content.customer.name.as_deref());
    blocks.add_rule();
    maker.add_priced_items(blocks);
    blocks.add_rule();
    add_sums(maker, blocks);
    blocks.add_rule();
    add_payment(maker, blocks);
    blocks.add_rule();
    blocks.add(Paragraph::new(t.not_fiscal).centred());
    blocks.add(Paragraph::strong(t.enjoy).centred());
}

fn add_sums(maker: &Maker<'_>, blocks: &mut Blocks) {
    let (t, sums) = (&maker.t, &maker.source.content.amount);
    let mut line = |name: &str, value: Minor| {
        blocks.add_pair(name, &number(maker.lang, value), Size::Normal, 0);
    };
    line(t.subtotal, sums.subtotal);
    if sums.discounts.is_empty() && sums.discount != Minor::ZERO {
        line(t.discount, Minor(sums.discount.0.saturating_neg()));
    }
    for discount in &sums.discounts {
        let name = format!("{}: {}", t.discount, discount.name);
        line(&name, Minor(discount.amount.0.saturating_neg()));
    }
    for (name, value) in [
        (t.delivery_fee, sums.delivery_fee),
        (t.tip, sums.tip),
        (t.adjustment, sums.adjustment.unwrap_or(Minor::ZERO)),
    ] {
        if value != Minor::ZERO {
            line(name, value);
        }
    }
    let total = amount(maker.lang, sums.total, sums.currency);
    blocks.add_pair(t.total, &total, Size::Tall, 0);
}

fn add_payment(maker: &Maker<'_>, blocks: &mut Blocks) {
    let (t, content) = (&maker.t, maker.source.content);
    let payment = &content.payment;
    let named = payment.name.as_deref().filter(|name| !name.trim().is_empty());
    blocks.add_fact(t.payment, Some(named.unwrap_or(t.payment_type(payment.kind))));
    if payment.collect > Minor::ZERO {
        let collect = short_amount(maker.lang, payment.collect, content.amount.currency);
        blocks.add(Paragraph::fact(t.to_pay, &collect));
    } else if payment.is_paid {
        blocks.add(Paragraph::strong(t.paid));
    }
}
