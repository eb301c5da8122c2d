//! Payments: totals by type and day, as a chart and as the same numbers in a table.

use super::reports::{Choosing, to_choose_from};
use crate::flow::Fault;
use crate::flow::read::reports;
use crate::flow::read::reports::{DaySums, Days};
use crate::http::state::HttpState as Api;
use crate::panel::kit::chart;
use crate::panel::kit::chart::{Chart, Column};
use crate::panel::kit::day_range::DayRange;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::fields::Fields;
use crate::panel::kit::first_steps::Start;
use crate::panel::kit::form::{Field, Kind};
use crate::panel::kit::frame::{Frame, Place, page};
use crate::panel::kit::lang::Lang;
use crate::panel::kit::visitor::Visitor;
use crate::panel::kit::{format, names, paging};
use crate::panel::words::PaymentWords;
use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use axum::routing::get;
use garson_core::money::{Currency, Minor};
use garson_core::payment::PaymentType;
use garson_core::time::Zone;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub fn routes() -> Router<Arc<Api>> {
    Router::new().route("/payments", get(show_payments))
}

/// A period that is one press away.
struct Tab {
    href: String,
    name: &'static str,
    is_here: bool,
}

/// A way of paying: its colour, its name, how many orders and how much.
struct Type {
    class: &'static str,
    name: &'static str,
    count: i64,
    total: String,
}

/// A day: its amounts in the order of the types, nothing where there was none.
struct Row {
    day: String,
    count: i64,
    amounts: Vec<Option<String>>,
    total: String,
}

/// Everything in one currency.
struct Section {
    currency: Currency,
    chart: Chart,
    types: Vec<Type>,
    rows: Vec<Row>,
    count: i64,
    total: String,
}

#[derive(Template)]
#[template(path = "payments.html")]
struct PaymentsPage {
    frame: Frame,
    t: PaymentWords,
    tabs: Vec<Tab>,
    restaurant: Field,
    from: Field,
    to: Field,
    is_wrong: bool,
    sections: Vec<Section>,
    start: Option<Start>,
    width: i64,
    height: i64,
}

/// The period that an address asks for, and the word for it.
fn days(asked: &Fields, choosing: &Choosing) -> (Days, &'static str) {
    match asked.get("period") {
        "30" => (Days::Last(30), "30"),
        "month" => (Days::ThisMonth, "month"),
        "last-month" => (Days::LastMonth, "last-month"),
        _ if !choosing.days.is_empty() => {
            let DayRange { from, to } = choosing.days.clone();
            (Days::Between(from, to), "")
        }
        _ => (Days::Last(7), "7"),
    }
}

async fn show_payments(
    State(api): State<Arc<Api>>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let (account, lang) = (visitor.account.id, visitor.lang);
    let asked = Fields::parse(query.unwrap_or_default().as_bytes());
    let choosing = Choosing::read(&asked);
    let fail = |fault| visitor.fail(fault);
    let (wanted, mut period) = days(&asked, &choosing);
    let found = reports::daily_payments(&api.app, account, choosing.restaurant, wanted).await;
    let is_wrong = matches!(found, Err(Fault::Invalid { .. }));
    let (zone, found) = if is_wrong {
        period = "7";
        reports::daily_payments(&api.app, account, choosing.restaurant, Days::Last(7)).await
    } else {
        found
    }
    .map_err(fail)?;
    let sections = sections(lang, &zone, &found);
    let start = match sections.is_empty() {
        true => Start::read(&api, &visitor).await?,
        false => None,
    };
    let (choices, _) = to_choose_from(&api, &visitor, choosing.restaurant).await?;
    let t = PaymentWords::of(lang);
    let id = choosing.restaurant.map_or_else(String::new, |id| id.to_string());
    let tab = |word: &'static str, name| Tab {
        href: paging::address("/payments", &[("restaurant", &id), ("period", word)]),
        name,
        is_here: period == word,
    };
    let day = |name, label, day: Option<&DaySums>| {
        Field::new(name, label, Kind::Input("date"))
            .value(day.map_or("", |it| it.day.as_str()))
            .required()
    };
    Ok(page(&PaymentsPage {
        frame: Frame::new(&visitor, Place::Payments),
        tabs: vec![
            tab("7", t.last_7),
            tab("30", t.last_30),
            tab("month", t.this_month),
            tab("last-month", t.last_month),
        ],
        restaurant: Field::new("restaurant", t.restaurant, Kind::Select(choices)),
        from: day("from", t.from, found.first()),
        to: day("to", t.to, found.last()),
        is_wrong,
        sections,
        start,
        width: chart::WIDTH,
        height: chart::HEIGHT,
        t,
    }))
}

fn sections(lang: Lang, zone: &Zone, days: &[DaySums]) -> Vec<Section> {
    let keys: BTreeSet<(Currency, PaymentType)> = days
        .iter()
        .flat_map(|day| day.sums.keys().map(|(kind, currency)| (*currency, *kind)))
        .collect();
    let mut kinds: BTreeMap<Currency, Vec<PaymentType>> = BTreeMap::new();
    for (currency, kind) in keys {
        kinds.entry(currency).or_default().push(kind);
    }
    kinds
        .into_iter()
        .map(|(currency, kinds)| section(lang, zone, days, currency, &kinds))
        .collect()
}

/// How many, and how much.
type Sum = (i64, i64);

fn total(each: impl Iterator<Item = Sum>) -> Sum {
    each.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1))
}

fn section(lang: Lang, zone: &Zone, days: &[DaySums], currency: Currency, kinds: &[PaymentType]) -> Section {
    let money = |minor: i64| format::money(lang, Minor(minor), currency);
    let of = |day: &DaySums, kind: PaymentType| day.sums.get(&(kind, currency)).copied();
    let kind_names: Vec<&str> = kinds.iter().map(|kind| names::payment(lang, *kind)).collect();
    let short = match lang {
        Lang::Tr => "%d.%m",
        Lang::En => "%d %b",
    };
    let (mut columns, mut rows) = (Vec::with_capacity(days.len()), Vec::with_capacity(days.len()));
    for day in days {
        let name = zone.write(day.starts_at, short);
        let (mut parts, mut amounts) = (Vec::new(), Vec::new());
        for (kind, kind_name) in kinds.iter().zip(&kind_names) {
            let amount = of(day, *kind).map(|(_, amount)| (amount, money(amount)));
            if let Some((amount, text)) = &amount {
                parts.push((class(*kind), *amount, format!("{name}, {kind_name}: {text}")));
            }
            amounts.push(amount.map(|(_, text)| text));
        }
        let (count, amount) = total(kinds.iter().filter_map(|kind| of(day, *kind)));
        columns.push(Column { name, parts });
        rows.push(Row {
            day: format::day(lang, zone, day.starts_at),
            count,
            amounts,
            total: money(amount),
        });
    }
    let of_all = |kind: PaymentType| total(days.iter().filter_map(|day| of(day, kind)));
    let types = kinds.iter().zip(&kind_names).map(|(kind, name)| {
        let (count, amount) = of_all(*kind);
        Type {
            class: class(*kind),
            name,
            count,
            total: money(amount),
        }
    });
    let (count, amount) = total(kinds.iter().map(|kind| of_all(*kind)));
    Section {
        currency,
        chart: Chart::draw(columns, |amount| whole(&money(amount))),
        types: types.collect(),
        rows,
        count,
        total: money(amount),
    }
}

/// An amount without its decimals: lines stand at round ones. Decimals come last; what comes before groups thousands.
fn whole(money: &str) -> String {
    let Some(at) = money.rfind(",00").max(money.rfind(".00")) else {
        return money.to_owned();
    };
    let (before, after) = (&money[..at], &money[at + 3..]);
    match after.starts_with(|c: char| c.is_ascii_digit()) {
        true => money.to_owned(),
        false => format!("{before}{after}"),
    }
}

/// The class of a colour.
fn class(kind: PaymentType) -> &'static str {
    match kind {
        PaymentType::OnlineCard => "k-online-card",
        PaymentType::CardOnDelivery => "k-card",
        PaymentType::Cash => "k-cash",
        PaymentType::MealCardOnline => "k-online-meal",
        PaymentType::MealCardOnDelivery => "k-meal",
        PaymentType::Voucher => "k-voucher",
        PaymentType::Wallet => "k-wallet",
        PaymentType::Other => "k-other",
    }
}

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn round_amounts_lose_their_decimals() {
        assert_eq!(whole("1.000,00 ₺"), "1.000 ₺");
        assert_eq!(whole("₺2,000.00"), "₺2,000");
        assert_eq!(whole("0,00 ₺"), "0 ₺");
        assert_eq!(whole("500,00 EUR"), "500 EUR");
        assert_eq!(whole("1.000.000,00 ₺"), "1.000.000 ₺");
        assert_eq!(whole("1.000,50 ₺"), "1.000,50 ₺");
    }
}
