//! The content of an order as rows of names and values.

use crate::flow::read::order_detail::OrderDetail;
use crate::panel::kit::layout::Layout;
use crate::panel::kit::names;
use crate::panel::kit::short_id::ShortId;
use crate::panel::words::{BoardWords, OrderWords};
use garson_core::money::Minor;
use garson_core::order::{Address, Amount, Courier, Customer, FundedBy, ItemOption, OrderContent};
use garson_core::time::Timestamp;

pub struct Fact {
    pub name: &'static str,
    pub value: String,
    /// The value, if it is an id: long ones are shortened, with a button that copies them.
    pub id: Option<ShortId>,
}

/// Rows without a value are left out.
#[derive(Default)]
struct Facts(Vec<Fact>);

impl Facts {
    fn add(&mut self, name: &'static str, value: impl Into<String>) {
        let value = value.into();
        if !value.trim().is_empty() {
            self.0.push(Fact {
                name,
                value,
                id: None,
            });
        }
    }

    fn add_id(&mut self, name: &'static str, id: impl Into<String>) {
        let value = id.into();
        self.0.push(Fact {
            name,
            id: Some(ShortId::new(value.clone())),
            value,
        });
    }

    fn add_option(&mut self, name: &'static str, value: Option<&String>) {
        self.add(name, value.cloned().unwrap_or_default());
    }

    fn add_timestamp(&mut self, layout: &Layout, name: &'static str, at: Option<Timestamp>) {
        self.add(name, layout.timestamp_or(&at, ""));
    }
}

pub fn details(layout: &Layout, t: &OrderWords, detail: &OrderDetail, restaurant: &str) -> Vec<Fact> {
    let (order, content) = (&detail.order, &detail.content);
    let board = BoardWords::of(layout.lang);
    let mut facts = Facts::default();
    facts.add(t.restaurant, restaurant);
    facts.add_option(t.code, order.short_code.as_ref());
    facts.add_id(t.platform_id, order.provider_order_id.clone());
    facts.add_id(t.our_id, order.id.to_string());
    let revision = (order.revision > 1).then(|| order.revision.to_string());
    facts.add_option(t.revision, revision.as_ref());
    facts.add_timestamp(layout, t.placed, Some(order.placed_at));
    facts.add_timestamp(layout, t.arrived, Some(order.created_at));
    let is_waiting = !order.status.is_over();
    facts.add_timestamp(layout, t.accept_by, order.accept_by.filter(|_| is_waiting));
    facts.add_timestamp(layout, t.scheduled_for, order.scheduled_for);
    let fulfilment = &content.fulfilment;
    // A scheduled order is promised for the scheduled time.
    let promised = fulfilment
        .promised_at
        .filter(|at| Some(*at) != order.scheduled_for);
    facts.add_timestamp(layout, t.promised_at, promised);
    facts.add_timestamp(layout, t.courier_pickup_at, fulfilment.courier_pickup_at);
    facts.add_option(t.pickup_code, fulfilment.pickup_code.as_ref());
    facts.add_timestamp(layout, t.ready_at, order.ready_at);
    facts.add_timestamp(layout, t.reported_at, order.reported_at);
    facts.add(
        t.courier,
        match content.fulfilment.courier {
            Courier::Platform => board.courier_platform,
            Courier::Restaurant => board.courier_restaurant,
            Courier::None => board.courier_none,
        },
    );
    let flags = content.fulfilment.flags;
    let requests = [
        (flags.do_not_ring, t.do_not_ring),
        (flags.drop_at_door, t.drop_at_door),
        (flags.no_cutlery, t.no_cutlery),
    ];
    let requests: Vec<&str> = requests
        .iter()
        .filter(|(is_set, _)| *is_set)
        .map(|(_, name)| *name)
        .collect();
    facts.add(t.requests, requests.join(", "));
    if let Some(cancellation) = &order.cancellation {
        facts.add(t.cancelled_by, names::actor(t, cancellation.by));
        let reason = cancellation
            .reason
            .as_ref()
            .map(|reason| names::reason(layout.lang, &reason.name));
        let why: Vec<String> = reason.into_iter().chain(cancellation.note.clone()).collect();
        facts.add(t.cancel_reason, why.join(" · "));
    }
    facts.0
}

pub fn customer(t: &OrderWords, customer: &Customer) -> Vec<Fact> {
    let mut facts = Facts::default();
    facts.add_option(t.name, customer.name.as_ref());
    facts.add_option(t.phone, customer.phone.as_ref());
    facts.add_option(t.phone_code, customer.phone_code.as_ref());
    facts.add_option(t.email, customer.email.as_ref());
    if let Some(address) = &customer.address {
        facts.add(t.address, address.one_line());
        facts.add_option(t.apartment, address.apartment.as_ref());
        facts.add_option(t.floor, address.floor.as_ref());
        facts.add_option(t.door, address.door.as_ref());
        facts.add_option(t.directions, address.directions.as_ref());
    }
    facts.0
}

/// A link to the map of an address.
pub struct MapLink(pub String);

/// A plain link: the page itself loads nothing from there.
const MAPS: &str = "https://www.google.com/maps/search/?api=1&query=";

impl MapLink {
    pub fn new(address: &Address) -> Option<Self> {
        let place = match (address.lat, address.lon) {
            (Some(lat), Some(lon)) => format!("{lat},{lon}"),
            _ => address.one_line(),
        };
        let query: String = url::form_urlencoded::byte_serialize(place.as_bytes()).collect();
        (!place.is_empty()).then(|| Self(format!("{MAPS}{query}")))
    }
}

pub struct ItemRow {
    pub name: String,
    pub quantity: i64,
    pub price: String,
    pub total: String,
    pub note: String,
    pub options: Vec<OptionRow>,
}

pub struct OptionRow {
    /// Options may have options.
    pub depth: usize,
    pub group: String,
    pub text: String,
    pub price: String,
    pub is_removed: bool,
}

/// Deeper options are indented no further.
const MAX_INDENT: usize = 3;

pub fn items(layout: &Layout, content: &OrderContent) -> Vec<ItemRow> {
    let currency = content.amount.currency;
    let row = |item: &garson_core::order::Item| {
        let mut options = Vec::new();
        add_options(&mut options, &item.options, 0, &|price| {
            layout.money(&price, &currency)
        });
        ItemRow {
            name: item.name.clone(),
            quantity: item.quantity,
            price: layout.money(&item.unit_price, &currency),
            total: layout.money(&item.total, &currency),
            note: item.note.clone().unwrap_or_default(),
            options,
        }
    };
    content.items.iter().map(row).collect()
}

fn add_options(
    rows: &mut Vec<OptionRow>,
    options: &[ItemOption],
    depth: usize,
    money: &impl Fn(Minor) -> String,
) {
    for option in options {
        let text = match option.quantity {
            1 => option.name.clone(),
            many => format!("{many} × {}", option.name),
        };
        rows.push(OptionRow {
            depth: depth.min(MAX_INDENT),
            group: option.group.clone().unwrap_or_default(),
            text,
            price: if option.price == Minor::ZERO {
                String::new()
            } else {
                money(option.price)
            },
            is_removed: option.removed,
        });
        add_options(rows, &option.options, depth + 1, money);
    }
}

pub fn amounts(layout: &Layout, t: &OrderWords, amount: &Amount) -> Vec<Fact> {
    let money = |sum: Minor| layout.money(&sum, &amount.currency);
    let mut facts = Facts::default();
    facts.add(t.subtotal, money(amount.subtotal));
    if amount.discounts.is_empty() && amount.discount != Minor::ZERO {
        facts.add(t.discount, money(Minor(-amount.discount.0)));
    }
    for discount in &amount.discounts {
        let by = match discount.funded_by {
            FundedBy::Platform => format!(" ({})", t.by_platform),
            FundedBy::Restaurant => format!(" ({})", t.by_restaurant),
            FundedBy::Unknown => String::new(),
        };
        let sum = money(Minor(-discount.amount.0));
        facts.add(t.discount, format!("{sum} · {}{by}", discount.name));
    }
    let adjustment = amount.adjustment.unwrap_or_default();
    for (name, sum) in [
        (t.delivery_fee, amount.delivery_fee),
        (t.tip, amount.tip),
        (t.adjustment, adjustment),
    ] {
        if sum != Minor::ZERO {
            facts.add(name, money(sum));
        }
    }
    facts.0
}

pub fn payment(layout: &Layout, t: &OrderWords, detail: &OrderDetail) -> Vec<Fact> {
    let (payment, amount) = (&detail.content.payment, &detail.content.amount);
    let mut facts = Facts::default();
    facts.add(t.pays_with, names::payment(layout.lang, payment.kind));
    facts.add_option(t.said_as, payment.name.as_ref());
    facts.add_option(t.matched, detail.matched_id.as_ref());
    facts.add(t.payment, if payment.is_paid { t.paid } else { t.not_paid });
    if payment.collect != Minor::ZERO {
        facts.add(t.collect, layout.money(&payment.collect, &amount.currency));
    }
    facts.0
}
