//! Amounts of a package: total, discounts and who funds them, and payment.

use super::super::wire::{self, Text, text};
use super::lines::Counts;
use crate::common::text::{MAX_ID, MAX_NAME, keep, keep_some};
use crate::common::{Read, fault, sums};
use garson_core::money::{Currency, MAX_MINOR, Minor};
use garson_core::order::{Amount, Discount, FundedBy, Item, Payment, ReadingNote};
use garson_core::payment::PaymentType;

/// What a package costs. `totalPrice` is what the customer pays, unchanged: it is not documented whether discounts
/// and delivery are in it. What is less than the lines cost is a discount where the package names one without its amount.
pub fn amount(
    package: &wire::Package<'_>,
    items: &[Item],
    counts: Counts,
    notes: &mut Vec<ReadingNote>,
) -> Read<Amount> {
    let total = package.total_price.0;
    let delivery = delivery_fee(package);
    if !(0..=MAX_MINOR).contains(&total.0) {
        return Err(fault("totalPrice", "must not be negative"));
    }
    if !(0..=MAX_MINOR).contains(&delivery) {
        return Err(fault("totalDeliveryPrice", "must not be negative"));
    }
    let subtotal = sums::of_lines(items);
    let mut discounts = discounts(package, counts);
    let known = sums::of_discounts(&discounts);
    let rest = subtotal
        .saturating_add(delivery)
        .saturating_sub(known)
        .saturating_sub(total.0);
    if let Some(name) = unnamed(package).filter(|_| rest > 0 && rest != delivery) {
        discounts.push(Discount {
            name,
            amount: Minor(rest),
            // The platform does not say who funds it.
            funded_by: FundedBy::Unknown,
        });
    }
    let amount = Amount {
        currency: Currency::TRY,
        subtotal: Minor(subtotal),
        discount: Minor(sums::of_discounts(&discounts)),
        delivery_fee: Minor(delivery),
        tip: Minor::ZERO,
        total,
        discounts,
        adjustment: None,
    };
    sums::settle(amount, items, "lines", notes)
}

fn delivery_fee(package: &wire::Package<'_>) -> i64 {
    let payment = package.payment.as_ref();
    let by_card = || payment?.meal_card.as_ref()?.delivery_fee;
    let at_door = || payment?.on_delivery.as_ref()?.delivery_fee;
    package
        .total_delivery_price
        .or_else(by_card)
        .or_else(at_door)
        .map_or(0, |fee| fee.0.0)
}

/// The discounts that have an amount: the restaurant's part of each, and what the platform adds to coupons.
fn discounts(package: &wire::Package<'_>, counts: Counts) -> Vec<Discount> {
    let mut discounts = Vec::new();
    let mut add = |description: &Option<Text<'_>>, usual: &str, amount: i64, funded_by| {
        if amount > 0 {
            discounts.push(Discount {
                name: keep_some(text(description), MAX_NAME).unwrap_or_else(|| usual.to_owned()),
                amount: Minor(amount.min(MAX_MINOR)),
                funded_by,
            });
        }
    };
    for promotion in &package.promotions {
        let amount = promotion.total_seller_amount.0.0;
        add(&promotion.description, "Promotion", amount, FundedBy::Restaurant);
    }
    if let Some(coupon) = &package.coupon {
        let amount = coupon.total_seller_amount.0.0;
        add(&coupon.description, "Coupon", amount, FundedBy::Restaurant);
    }
    let pieces = package.lines.iter().flat_map(|line| &line.items);
    let coupons = pieces
        .filter(|piece| counts.has(piece))
        .filter_map(|piece| piece.coupon.as_ref());
    let mut first = None;
    let mut sum = 0i64;
    for coupon in coupons {
        let amount = coupon.amount.as_ref().map_or(0, |amount| amount.trendyol.0.0);
        sum = sum.saturating_add(amount.max(0));
        first = first.or(Some(&coupon.description));
    }
    add(first.unwrap_or(&None), "Coupon", sum, FundedBy::Platform);
    discounts
}

/// The name of a discount whose amount is not given: that of a promotion without one.
fn unnamed(package: &wire::Package<'_>) -> Option<String> {
    package
        .promotions
        .iter()
        .chain(&package.coupon)
        .filter(|promotion| promotion.total_seller_amount.0.0 <= 0)
        .map(|promotion| {
            keep_some(text(&promotion.description), MAX_NAME).unwrap_or_else(|| "Discount".to_owned())
        })
        .next()
}

pub fn payment(wire: Option<&wire::Payment<'_>>, total: Minor) -> Payment {
    let outer = wire
        .and_then(|payment| text(&payment.payment_type))
        .map(str::trim);
    let card = wire.and_then(|payment| payment.meal_card.as_ref());
    let door = wire.and_then(|payment| payment.on_delivery.as_ref());
    let brand = card.and_then(|card| text(&card.card_source_type)).map(str::trim);
    let at_door = door.and_then(|door| text(&door.payment_type)).map(str::trim);
    let (kind, code, is_paid) = match outer {
        Some("PAY_WITH_CARD") => (PaymentType::OnlineCard, outer, true),
        Some("PAY_WITH_MEAL_CARD") => (PaymentType::MealCardOnline, brand.or(outer), true),
        Some("PAY_WITH_ON_DELIVERY") => (kind_at_door(at_door), at_door.or(outer), false),
        // Whatever it is, it is paid at the door when the package says how.
        Some(_) => (PaymentType::Other, outer, door.is_none()),
        None => (PaymentType::Other, at_door, false),
    };
    let is_meal_card = matches!(
        kind,
        PaymentType::MealCardOnline | PaymentType::MealCardOnDelivery | PaymentType::Other
    );
    let name = match code.filter(|_| is_meal_card) {
        Some(code) => keep(&format!("{} ({code})", kind.name()), MAX_NAME),
        None => Some(kind.name().to_owned()),
    };
    Payment {
        kind,
        name,
        provider_code: keep_some(code, MAX_ID),
        is_paid,
        collect: if is_paid { Minor::ZERO } else { total },
    }
}

/// `CARD` is a bank's; `SODEXO_CARD` and the like are meal cards.
fn kind_at_door(code: Option<&str>) -> PaymentType {
    match code {
        Some("CASH") => PaymentType::Cash,
        Some("CARD" | "CREDIT_CARD" | "DEBIT_CARD") => PaymentType::CardOnDelivery,
        Some(code) if code.ends_with("_CARD") => PaymentType::MealCardOnDelivery,
        _ => PaymentType::Other,
    }
}
