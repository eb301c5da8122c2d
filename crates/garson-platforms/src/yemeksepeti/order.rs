//! The content of an order: who gets what, for how much, and who carries it.

use super::payment::payment;
use super::soft::Text;
use super::state::State;
use super::wire;
use crate::common::text::{MAX_ID, MAX_NAME, MAX_NOTE, join, keep, keep_some};
use crate::common::{Read, fault};
use garson_core::money::{Currency, Minor};
use garson_core::order::{
    Address, Amount, Courier, Customer, Discount, Fulfilment, FulfilmentFlags, FulfilmentType, FundedBy,
    Item, ItemOption, NewOrder, OrderContent, Status,
};

/// The platform's own limit.
const MAX_TOKEN: usize = 512;
/// What lies deeper is shown on this level.
const MAX_OPTION_DEPTH: usize = 5;

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
    let items = wire
        .products
        .iter()
        .enumerate()
        .map(|(index, wire)| item(wire, index));
    let items = items.collect::<Read<Vec<_>>>()?;
    let courier = courier(wire);
    let amount = amount(wire, &items)?;
    let wanted_at = match (&wire.delivery, &wire.pickup) {
        (_, Some(pickup)) if courier == Courier::None => pickup.pickup_time,
        (Some(delivery), _) => delivery.expected_delivery_time,
        _ => None,
    };
    Ok(NewOrder {
        provider_order_id: keep_text(wire.code.as_ref(), MAX_ID).unwrap_or_else(|| token.to_owned()),
        identity: token.to_owned(),
        short_code: keep_text(wire.short_code.as_ref(), MAX_ID),
        status: Status::New,
        provider_status: keep_text(wire.status.as_ref(), MAX_ID),
        provider_data: State::of(wire, courier).to_text(),
        placed_at: wire.created_at.map(|at| at.0),
        accept_by: wire.expiry_date.map(|at| at.0),
        scheduled_for: wanted_at.filter(|_| wire.pre_order == Some(true)).map(|at| at.0),
        content: OrderContent {
            note: note(wire),
            fulfilment: Fulfilment {
                kind: match courier {
                    Courier::None => FulfilmentType::Pickup,
                    Courier::Platform | Courier::Restaurant => FulfilmentType::Delivery,
                },
                courier,
                flags: FulfilmentFlags::default(),
            },
            customer: customer(wire),
            payment: payment(wire, amount.total),
            items,
            amount,
        },
    })
}

fn text<'a>(value: Option<&'a Text<'_>>) -> Option<&'a str> {
    value.map(Text::as_str)
}

fn keep_text(value: Option<&Text<'_>>, max: usize) -> Option<String> {
    keep_some(text(value), max)
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
        // Nobody should cook it.
        (wire.test == Some(true)).then_some("TEST"),
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
        phone: match is_local {
            true => keep(&format!("+{}{phone}", code.trim_start_matches('+')), MAX_ID),
            false => keep(phone, MAX_ID),
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

fn item(wire: &wire::Product<'_>, index: usize) -> Read<Item> {
    let variation = wire
        .variation
        .as_ref()
        .and_then(|variation| text(variation.name.as_ref()));
    let variation = variation.map(str::trim).filter(|name| !name.is_empty());
    let name = keep_text(wire.name.as_ref(), MAX_NAME);
    let name = match (name, variation) {
        (Some(name), Some(variation)) if !name.contains(variation) => Some(format!("{name} ({variation})")),
        (None, Some(variation)) => Some(variation.to_owned()),
        (name, _) => name,
    };
    let ids = [&wire.remote_code, &wire.sku, &wire.id];
    let product_id = ids.into_iter().find_map(|id| keep_text(id.as_ref(), MAX_ID));
    let name = name
        .and_then(|name| keep(&name, MAX_NAME))
        .or_else(|| product_id.clone())
        .ok_or_else(|| fault(format!("products[{index}].name"), "must not be empty"))?;
    let quantity = wire.quantity.map_or(1, |count| count.0);
    let options = options(&wire.selected_toppings, 1);
    let paid = wire.paid_price.map(|price| price.0);
    let unit_price = match (wire.unit_price, paid) {
        (Some(price), _) => price.0,
        (None, Some(paid)) => Minor(paid.0 / quantity.max(1)),
        (None, None) => Minor::ZERO,
    };
    let total = match paid {
        Some(paid) => paid,
        None => {
            let each = sum_of(&options).saturating_add(unit_price.0);
            Minor::checked(each.saturating_mul(quantity))
                .map_err(|error| fault(format!("products[{index}].paidPrice"), error.to_string()))?
        }
    };
    Ok(Item {
        id: keep_text(wire.id.as_ref(), MAX_ID),
        product_id,
        name,
        quantity,
        unit_price,
        total,
        note: keep_text(wire.comment.as_ref(), MAX_NOTE),
        options,
    })
}

fn options(wire: &[wire::Topping<'_>], depth: usize) -> Vec<ItemOption> {
    let mut options = Vec::with_capacity(wire.len());
    for topping in wire {
        let mut children = options_below(topping, depth);
        let deeper = match depth < MAX_OPTION_DEPTH {
            true => Vec::new(),
            false => std::mem::take(&mut children),
        };
        let name = keep_text(topping.name.as_ref(), MAX_NAME);
        let name = name.or_else(|| keep_text(topping.remote_code.as_ref(), MAX_NAME));
        options.push(ItemOption {
            group: None,
            name: name.unwrap_or_else(|| "?".to_owned()),
            quantity: topping.quantity.map_or(1, |count| count.0),
            price: topping.price.unwrap_or_default().0,
            removed: false,
            options: children,
        });
        options.extend(deeper);
    }
    options
}

fn options_below(topping: &wire::Topping<'_>, depth: usize) -> Vec<ItemOption> {
    options(&topping.children, (depth + 1).min(MAX_OPTION_DEPTH))
}

fn sum_of(options: &[ItemOption]) -> i64 {
    options.iter().fold(0i64, |sum, option| {
        let each = sum_of(&option.options).saturating_add(option.price.0);
        sum.saturating_add(each.saturating_mul(option.quantity))
    })
}

fn amount(wire: &wire::Order<'_>, items: &[Item]) -> Read<Amount> {
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
    Ok(Amount {
        currency: Currency::TRY,
        subtotal: match price.sub_total {
            Some(subtotal) => subtotal.0,
            None => sum(&mut items.iter().map(|item| item.total), "products")?,
        },
        discount: match price.discount_amount_total {
            Some(discount) => Minor(discount.0.0.abs()),
            None => sum(&mut discounts.iter().map(|discount| discount.amount), "discounts")?,
        },
        delivery_fee: match price.delivery_fee {
            Some(fee) => fee.0,
            None => {
                let fees = price.delivery_fees.iter().filter_map(|fee| fee.value);
                sum(&mut fees.map(|fee| fee.0), "price.deliveryFees")?
            }
        },
        tip: price.rider_tip.unwrap_or_default().0,
        total,
        discounts,
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
