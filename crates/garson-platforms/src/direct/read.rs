//! Reads the shop's messages; errors name the field and its limit.

use super::names::{CANCEL, NEW_ORDER};
use super::reasons::REASONS;
use super::wire;
use garson_core::json::{self, FaultKind};
use garson_core::money::{Currency, Minor};
use garson_core::order::{
    Actor, Address, Amount, Change, ContentVersion, Courier, Customer, Discount, Fulfilment, FulfilmentFlags,
    FulfilmentType, FundedBy, Item, ItemOption, NewOrder, OrderContent, Payment, Reason, Status,
};
use garson_core::platform::{HookRequest, Message, News, Sighting, Unreadable, Which};
use serde::de::DeserializeOwned;
use std::fmt::{Arguments, Display};

const MAX_ID: usize = 100;
const MAX_SHORT: usize = 200;
const MAX_TEXT: usize = 2_000;
const MAX_ITEMS: usize = 500;
const MAX_OPTIONS: usize = 100;
const MAX_OPTION_DEPTH: usize = 5;
const MAX_QUANTITY: i64 = 10_000;

type Read<T> = Result<T, Unreadable>;

pub fn read(request: &HookRequest) -> Read<Message> {
    match request.kind {
        NEW_ORDER => order(parse(&request.body)?),
        CANCEL => cancel(request, parse(&request.body)?),
        other => Err(fault("$", format_args!("is of the unknown kind {other}"))),
    }
}

fn fault(path: impl Display, message: impl Display) -> Unreadable {
    Unreadable {
        path: path.to_string(),
        message: message.to_string(),
    }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Read<T> {
    json::check(body).map_err(|found| match found.kind {
        FaultKind::Nul => fault(found.path, found.message),
        FaultKind::RepeatedKey => fault("$", format_args!("has the key {} twice", found.path)),
        FaultKind::TooDeep => fault("$", found.message),
        FaultKind::Broken => fault("$", format_args!("is not JSON: {}", found.message)),
    })?;
    // Following the path takes time, which only a fault is worth.
    serde_json::from_slice(body).or_else(|_| {
        let parser = &mut serde_json::Deserializer::from_slice(body);
        serde_path_to_error::deserialize(parser).map_err(|error| {
            let (path, message) = json::explain(&error.path().to_string(), &error.inner().to_string());
            fault(path, message)
        })
    })
}

fn cancel(request: &HookRequest, wire: wire::Cancel) -> Read<Message> {
    let identity = id(
        request.param("providerOrderId").unwrap_or_default(),
        "providerOrderId",
    )?;
    let reason = wire
        .reason
        .map(|given| text(given, MAX_SHORT, "reason"))
        .transpose()?
        .map(|given| {
            let name = REASONS
                .iter()
                .find(|(id, _)| *id == given)
                .map_or(given.as_str(), |(_, name)| *name);
            Reason {
                name: name.to_owned(),
                id: given.clone(),
            }
        });
    let by = match wire.by {
        Some(wire::CancelledBy::Restaurant) => Actor::Account,
        Some(wire::CancelledBy::Customer) | None => Actor::Customer,
    };
    let note = optional(wire.note, MAX_TEXT, "note")?;
    let change = Change::Cancelled {
        by,
        reason,
        note,
        provider_status: None,
    };
    Ok(Message {
        branch: Some(id(&wire.store_id, "storeId")?),
        news: News::Changed {
            order: Which::Identity(identity),
            change,
        },
    })
}

fn order(wire: wire::Order) -> Read<Message> {
    let branch = id(&wire.store_id, "storeId")?;
    let provider_order_id = id(&wire.provider_order_id, "providerOrderId")?;
    if wire.items.is_empty() || wire.items.len() > MAX_ITEMS {
        return Err(fault("items", format_args!("must have 1 to {MAX_ITEMS} items")));
    }
    let items = wire
        .items
        .into_iter()
        .enumerate()
        .map(|(index, wire)| item(wire, format_args!("items[{index}]")))
        .collect::<Read<Vec<_>>>()?;
    let revision @ 1.. = wire.revision.unwrap_or(1) else {
        return Err(fault("revision", "must be 1 or more"));
    };
    let amount = amount(wire.amount, &items)?;
    let payment = payment(wire.payment, amount.total)?;
    let content = OrderContent {
        storefront: None,
        note: optional(wire.note, MAX_TEXT, "note")?,
        fulfilment: fulfilment(wire.fulfilment),
        customer: wire.customer.map(customer).transpose()?.unwrap_or_default(),
        items,
        amount,
        payment,
        reading_notes: Vec::new(),
    };
    let new = NewOrder {
        identity: provider_order_id.clone(),
        provider_order_id,
        short_code: optional(wire.short_code, MAX_ID, "shortCode")?,
        status: Status::New,
        provider_status: None,
        provider_data: None,
        placed_at: wire.placed_at,
        accept_by: None,
        scheduled_for: wire.scheduled_for,
        content,
        version: ContentVersion::Numbered(revision),
    };
    Ok(Message {
        branch: Some(branch),
        news: News::Order(Box::new(Sighting {
            order: new,
            change: None,
            is_ready: false,
        })),
    })
}

fn item(wire: wire::Item, at: Arguments<'_>) -> Read<Item> {
    let quantity = quantity(wire.quantity, at)?;
    let unit_price = money(wire.unit_price, format_args!("{at}.unitPrice"))?;
    let options = options(wire.options, at, 1)?;
    let total = match wire.total {
        Some(total) => money(total, format_args!("{at}.total"))?,
        None => {
            let piece = option_prices(&options).and_then(|more| more.checked_add(unit_price.0));
            let total = piece
                .and_then(|piece| piece.checked_mul(quantity))
                .unwrap_or(i64::MAX);
            money(total, format_args!("{at}.total"))?
        }
    };
    Ok(Item {
        id: optional(wire.id, MAX_ID, format_args!("{at}.id"))?,
        product_id: optional(wire.product_id, MAX_ID, format_args!("{at}.productId"))?,
        name: text(wire.name, MAX_SHORT, format_args!("{at}.name"))?,
        quantity,
        unit_price,
        total,
        note: optional(wire.note, MAX_TEXT, format_args!("{at}.note"))?,
        options,
    })
}

/// What options add to one piece of their item; nothing when that is beyond all numbers.
fn option_prices(options: &[ItemOption]) -> Option<i64> {
    options
        .iter()
        .filter(|option| !option.removed)
        .try_fold(0i64, |sum, option| {
            let price = option_prices(&option.options)?.checked_add(option.price.0)?;
            sum.checked_add(price.checked_mul(option.quantity)?)
        })
}

fn options(wire: Vec<wire::ItemOption>, at: Arguments<'_>, depth: usize) -> Read<Vec<ItemOption>> {
    if wire.len() > MAX_OPTIONS || (depth > MAX_OPTION_DEPTH && !wire.is_empty()) {
        let limits =
            format_args!("must be at most {MAX_OPTIONS} options, nested at most {MAX_OPTION_DEPTH} deep");
        return Err(fault(format_args!("{at}.options"), limits));
    }
    let one = |(index, wire): (usize, wire::ItemOption)| {
        let at = format_args!("{at}.options[{index}]");
        Ok(ItemOption {
            group: optional(wire.group, MAX_SHORT, format_args!("{at}.group"))?,
            name: text(wire.name, MAX_SHORT, format_args!("{at}.name"))?,
            quantity: quantity(wire.quantity, at)?,
            price: money(wire.price, format_args!("{at}.price"))?,
            removed: wire.removed,
            options: options(wire.options, at, depth + 1)?,
        })
    };
    wire.into_iter().enumerate().map(one).collect()
}

fn amount(wire: wire::Amount, items: &[Item]) -> Read<Amount> {
    let discounts = wire.discounts.into_iter().enumerate().map(|(index, wire)| {
        let at = format_args!("amount.discounts[{index}]");
        Ok(Discount {
            name: text(wire.name, MAX_SHORT, format_args!("{at}.name"))?,
            amount: not_negative(wire.amount, format_args!("{at}.amount"))?,
            funded_by: wire.funded_by.unwrap_or(FundedBy::Unknown),
        })
    });
    let subtotal = wire.subtotal.unwrap_or_else(|| {
        items
            .iter()
            .fold(0i64, |sum, item| sum.saturating_add(item.total.0))
    });
    Ok(Amount {
        currency: wire.currency.unwrap_or(Currency::TRY),
        subtotal: not_negative(subtotal, "amount.subtotal")?,
        discount: not_negative(wire.discount, "amount.discount")?,
        delivery_fee: not_negative(wire.delivery_fee, "amount.deliveryFee")?,
        tip: not_negative(wire.tip, "amount.tip")?,
        total: not_negative(wire.total, "amount.total")?,
        discounts: discounts.collect::<Read<Vec<_>>>()?,
        // The shop's sums are its own.
        adjustment: None,
    })
}

fn payment(wire: wire::Payment, total: Minor) -> Read<Payment> {
    let owed = if wire.is_paid { 0 } else { total.0 };
    Ok(Payment {
        kind: wire.kind,
        name: optional(wire.name, MAX_SHORT, "payment.name")?,
        provider_code: optional(wire.provider_code, MAX_ID, "payment.providerCode")?,
        is_paid: wire.is_paid,
        collect: not_negative(wire.collect.unwrap_or(owed), "payment.collect")?,
    })
}

fn fulfilment(wire: Option<wire::Fulfilment>) -> Fulfilment {
    let (kind, courier, flags) = wire.map_or((None, None, None), |w| (w.kind, w.courier, w.flags));
    let kind = kind.unwrap_or(FulfilmentType::Delivery);
    let usual = if kind == FulfilmentType::Pickup {
        Courier::None
    } else {
        Courier::Restaurant
    };
    let flags = flags.unwrap_or_default();
    Fulfilment {
        kind,
        courier: courier.unwrap_or(usual),
        flags: FulfilmentFlags {
            do_not_ring: flags.do_not_ring,
            drop_at_door: flags.drop_at_door,
            no_cutlery: flags.no_cutlery,
        },
        promised_at: None,
        courier_pickup_at: None,
        pickup_code: None,
    }
}

fn customer(wire: wire::Customer) -> Read<Customer> {
    Ok(Customer {
        name: optional(wire.name, MAX_SHORT, "customer.name")?,
        phone: optional(wire.phone, MAX_ID, "customer.phone")?,
        phone_code: optional(wire.phone_code, MAX_ID, "customer.phoneCode")?,
        email: optional(wire.email, MAX_SHORT, "customer.email")?,
        address: wire.address.map(address).transpose()?,
    })
}

fn address(wire: wire::Address) -> Read<Address> {
    let short = |value, name: &str| optional(value, MAX_SHORT, format_args!("customer.address.{name}"));
    let degrees = |value: Option<f64>, most: f64, name: &str| match value {
        Some(degrees) if degrees.abs() > most => Err(fault(
            format_args!("customer.address.{name}"),
            format_args!("must be from -{most} to {most}"),
        )),
        other => Ok(other),
    };
    Ok(Address {
        text: optional(wire.text, MAX_TEXT, "customer.address.text")?,
        city: short(wire.city, "city")?,
        district: short(wire.district, "district")?,
        neighbourhood: short(wire.neighbourhood, "neighbourhood")?,
        apartment: short(wire.apartment, "apartment")?,
        floor: short(wire.floor, "floor")?,
        door: short(wire.door, "door")?,
        directions: optional(wire.directions, MAX_TEXT, "customer.address.directions")?,
        lat: degrees(wire.lat, 90.0, "lat")?,
        lon: degrees(wire.lon, 180.0, "lon")?,
    })
}

/// Ids may hold anything that can be said in a path and read aloud: no white space at the ends, no controls.
fn id(value: &str, path: impl Display) -> Read<String> {
    let good = value.trim() == value && !value.chars().any(char::is_control);
    if !good || value.is_empty() || value.chars().count() > MAX_ID {
        return Err(fault(
            path,
            format_args!("must be 1 to {MAX_ID} characters without white space around them"),
        ));
    }
    Ok(value.to_owned())
}

fn text(value: String, max: usize, path: impl Display) -> Read<String> {
    if value.trim().is_empty() || value.chars().count() > max {
        return Err(fault(path, format_args!("must be 1 to {max} characters")));
    }
    Ok(value)
}

fn optional(value: Option<String>, max: usize, path: impl Display) -> Read<Option<String>> {
    match value {
        Some(value) if value.chars().count() > max => {
            Err(fault(path, format_args!("must be at most {max} characters")))
        }
        other => Ok(other),
    }
}

fn quantity(value: Option<i64>, at: Arguments<'_>) -> Read<i64> {
    let quantity = value.unwrap_or(1);
    if (1..=MAX_QUANTITY).contains(&quantity) {
        return Ok(quantity);
    }
    Err(fault(
        format_args!("{at}.quantity"),
        format_args!("must be 1 to {MAX_QUANTITY}"),
    ))
}

fn money(minor: i64, path: impl Display) -> Read<Minor> {
    Minor::checked(minor).map_err(|error| fault(path, error))
}

fn not_negative(minor: i64, path: impl Display) -> Read<Minor> {
    if minor < 0 {
        Err(fault(path, "must not be negative"))
    } else {
        money(minor, path)
    }
}
