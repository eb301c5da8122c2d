//! The content of an order: who gets what, for how much, and who carries it.

use super::items::items;
use super::payment::payment;
use super::soft::{Text, keep_text, text};
use super::state::State;
use super::wire;
use crate::common::flag::is_set;
use crate::common::text::{MAX_ID, MAX_NAME, MAX_NOTE, join, keep};
use crate::common::timestamp::IsoTime;
use crate::common::{Read, fault, sums};
use garson_core::money::{Currency, Minor};
use garson_core::order::{
    Address, Amount, ContentVersion, Courier, Customer, Discount, Fulfilment, FulfilmentFlags,
    FulfilmentType, FundedBy, NewOrder, OrderContent, Status,
};

/// The platform's own limit.
const MAX_TOKEN: usize = 512;

pub fn order(wire: &wire::Order<'_>) -> Read<NewOrder> {
    let token = wire.token.as_str();
    // Every call names the order by it, so it is kept to the letter or not at all.
    let is_fit = !token.trim().is_empty() && token.len() <= MAX_TOKEN && !token.chars().any(char::is_control);
    if !is_fit {
        return Err(fault("token", format!("must be 1 to {MAX_TOKEN} characters")));
    }
    if wire.products.is_empty() {
        return Err(fault("products", "must not be empty"));
    }
    let courier = courier(wire);
    let mut notes = Vec::new();
    let amount = amount(wire)?;
    let before_discount = amount.total.0.saturating_add(amount.discount.0);
    let by_total = before_discount.saturating_sub(amount.delivery_fee.0.saturating_add(amount.tip.0));
    let items = items(&wire.products, &[by_total, amount.subtotal.0], &mut notes)?;
    let amount = sums::settle(amount, &items, "products", &mut notes)?;
    let promised_at = match (&wire.delivery, &wire.pickup) {
        (_, Some(pickup)) if courier == Courier::None => pickup.pickup_time,
        (Some(delivery), _) => delivery.expected_delivery_time,
        _ => None,
    };
    let promised_at = promised_at.map(|at: IsoTime| at.0);
    let rider_at = wire
        .delivery
        .as_ref()
        .and_then(|delivery| IsoTime::parse(text(delivery.rider_pickup_time.as_ref())?));
    Ok(NewOrder {
        provider_order_id: keep_text(wire.code.as_ref(), MAX_ID).unwrap_or_else(|| token.to_owned()),
        identity: token.to_owned(),
        short_code: keep_text(wire.short_code.as_ref(), MAX_ID),
        status: Status::New,
        provider_status: keep_text(wire.status.as_ref(), MAX_ID),
        provider_data: State::of(wire, courier, promised_at).to_text(),
        placed_at: wire.created_at.map(|at| at.0),
        accept_by: wire.expiry_date.map(|at| at.0),
        scheduled_for: promised_at.filter(|_| is_set(wire.pre_order)),
        content: OrderContent {
            storefront: None,
            note: note(wire),
            fulfilment: Fulfilment {
                kind: match courier {
                    Courier::None => FulfilmentType::Pickup,
                    Courier::Platform | Courier::Restaurant => FulfilmentType::Delivery,
                },
                courier,
                flags: FulfilmentFlags::default(),
                promised_at,
                courier_pickup_at: rider_at.map(|at| at.0).filter(|_| courier == Courier::Platform),
                pickup_code: wire
                    .pickup
                    .as_ref()
                    .and_then(|pickup| keep_text(pickup.pickup_code.as_ref(), MAX_ID)),
            },
            customer: customer(wire),
            payment: payment(wire, amount.total),
            items,
            amount,
            reading_notes: notes,
        },
        // Only the message of a modification brings another version.
        version: ContentVersion::Unchanging,
    })
}

/// Who carries it: the platform sends a rider where it says when one comes.
fn courier(wire: &wire::Order<'_>) -> Courier {
    let rider = wire
        .delivery
        .as_ref()
        .and_then(|delivery| text(delivery.rider_pickup_time.as_ref()));
    match text(wire.expedition_type.as_ref()).map(str::trim) {
        Some(kind) if kind.eq_ignore_ascii_case("pickup") => Courier::None,
        None | Some("") if wire.delivery.is_none() && wire.pickup.is_some() => Courier::None,
        _ if rider.is_some_and(|at| !at.trim().is_empty()) => Courier::Platform,
        _ => Courier::Restaurant,
    }
}

fn note(wire: &wire::Order<'_>) -> Option<String> {
    let comments = wire.comments.as_ref();
    let parts = [
        // It must not be prepared.
        is_set(wire.test).then_some("TEST"),
        comments.and_then(|comments| text(comments.customer_comment.as_ref())),
        comments.and_then(|comments| text(comments.vendor_comment.as_ref())),
    ];
    join(&parts, "\n", MAX_NOTE)
}

fn customer(wire: &wire::Order<'_>) -> Customer {
    let address = wire
        .delivery
        .as_ref()
        .and_then(|delivery| delivery.address.as_ref());
    let address = address.map(address_of);
    let Some(wire) = &wire.customer else {
        return Customer {
            address,
            ..Customer::default()
        };
    };
    let names = [text(wire.first_name.as_ref()), text(wire.last_name.as_ref())];
    let phone = text(wire.mobile_phone.as_ref()).map_or("", str::trim);
    let code = text(wire.mobile_phone_country_code.as_ref()).map_or("", str::trim);
    let is_local = !code.is_empty() && !phone.is_empty() && !phone.starts_with(['+', '0']);
    Customer {
        name: join(&names, " ", MAX_NAME),
        phone: if is_local {
            keep(&format!("+{}{phone}", code.trim_start_matches('+')), MAX_ID)
        } else {
            keep(phone, MAX_ID)
        },
        phone_code: None,
        // Most platforms of the group send a hash instead.
        email: keep_text(wire.email.as_ref(), MAX_NAME).filter(|email| email.contains('@')),
        address,
    }
}

fn address_of(wire: &wire::Address<'_>) -> Address {
    let short = |value: &Option<Text<'_>>| keep_text(value.as_ref(), MAX_NAME);
    let city = short(&wire.city);
    let district = short(&wire.delivery_main_area).map(|area| without_city(area, city.as_deref()));
    let neighbourhood = short(&wire.delivery_area);
    let street = [text(wire.street.as_ref()), text(wire.number.as_ref())];
    let street = join(&street, " ", MAX_NAME);
    let whole = [
        street.as_deref(),
        text(wire.company.as_ref()),
        neighbourhood.as_deref(),
        district.as_deref(),
        text(wire.postcode.as_ref()),
        city.as_deref(),
    ];
    let directions = [
        text(wire.entrance.as_ref()),
        text(wire.intercom.as_ref()),
        text(wire.delivery_instructions.as_ref()),
    ];
    let degrees = |value: Option<f64>, most: f64| value.filter(|degrees| degrees.abs() <= most);
    Address {
        text: join(&whole, ", ", MAX_NOTE),
        apartment: short(&wire.building),
        floor: short(&wire.floor),
        door: short(&wire.flat_number),
        directions: join(&directions, "; ", MAX_NOTE),
        lat: degrees(wire.latitude.0, 90.0),
        lon: degrees(wire.longitude.0, 180.0),
        city,
        district,
        neighbourhood,
    }
}

/// In Turkey the district may carry its city behind it.
fn without_city(area: String, city: Option<&str>) -> String {
    let bare = city
        .and_then(|city| area.strip_suffix(city))
        .map(|bare| bare.trim_end_matches([' ', ',', '-', '/', '(']));
    match bare {
        Some(bare) if !bare.is_empty() => bare.to_owned(),
        _ => area,
    }
}

/// The sums as the platform gives them.
fn amount(wire: &wire::Order<'_>) -> Read<Amount> {
    let price = &wire.price;
    let total = price.grand_total.0;
    if total.0 < 0 {
        return Err(fault("price.grandTotal", "must not be negative"));
    }
    let sum = |amounts: &mut dyn Iterator<Item = Minor>, path: &str| {
        let sum = amounts.fold(0i64, |sum, amount| sum.saturating_add(amount.0));
        Minor::checked(sum).map_err(|error| fault(path, error.to_string()))
    };
    let discounts: Vec<Discount> = wire.discounts.iter().flat_map(discount).collect();
    let delivery_fee = match price.delivery_fee {
        Some(fee) => fee.0,
        None => {
            let fees = price.delivery_fees.iter().filter_map(|fee| fee.value);
            sum(&mut fees.map(|fee| fee.0), "price.deliveryFees")?
        }
    };
    let tip = price.rider_tip.unwrap_or_default().0;
    let discount = match price.discount_amount_total {
        Some(discount) => Minor(discount.0.0.abs()),
        None => sum(&mut discounts.iter().map(|discount| discount.amount), "discounts")?,
    };
    Ok(Amount {
        currency: Currency::TRY,
        subtotal: price.sub_total.map_or(
            Minor(total.0.saturating_add(discount.0) - delivery_fee.0 - tip.0),
            |subtotal| subtotal.0,
        ),
        discount,
        delivery_fee,
        tip,
        total,
        discounts,
        adjustment: None,
    })
}

/// A discount as one line for each of those who pay for it.
fn discount(wire: &wire::Discount<'_>) -> Vec<Discount> {
    let whole = wire.amount.map_or(0, |amount| amount.0.0.abs());
    let name = keep_text(wire.name.as_ref(), MAX_NAME).unwrap_or_else(|| "?".to_owned());
    let line = |amount, funded_by| Discount {
        name: name.clone(),
        amount: Minor(amount),
        funded_by,
    };
    let mut lines: Vec<Discount> = Vec::new();
    let mut left = whole;
    for sponsorship in &wire.sponsorships {
        let part = sponsorship.amount.map_or(0, |amount| amount.0.0.abs());
        let funded_by = match text(sponsorship.sponsor.as_ref()) {
            Some("PLATFORM") => FundedBy::Platform,
            Some("VENDOR") => FundedBy::Restaurant,
            _ => FundedBy::Unknown,
        };
        left = left.saturating_sub(part);
        if part > 0 {
            lines.push(line(part, funded_by));
        }
    }
    match left {
        0 => lines,
        // More is given than there is: the whole is certain, its parts are not.
        ..0 => vec![line(whole, FundedBy::Unknown)],
        _ => {
            lines.push(line(left, FundedBy::Unknown));
            lines
        }
    }
}
