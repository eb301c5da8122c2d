//! Payments: totals by payment type, platform and day, as a chart, a table and files.

mod export;

use crate::flow::Fault;
use crate::flow::read::reports;
use crate::flow::read::reports::{DaySums, Days, PlatformSums};
use crate::http::state::HttpState;
use crate::panel::components::chart;
use crate::panel::components::chart::{Bar, Chart};
use crate::panel::components::day_range::DayRange;
use crate::panel::components::first_steps::FirstSteps;
use crate::panel::components::report_filter::{ReportFilter, restaurant_choices};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::{format, names, paging};
use crate::panel::words::Lang;
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

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/payments", get(show_payments))
        .merge(export::routes())
}

/// A link to a common period.
struct PeriodTab {
    href: String,
    name: &'static str,
    is_current: bool,
}

/// The totals of a payment type.
struct TypeTotal {
    class: &'static str,
    name: &'static str,
    count: i64,
    total: String,
}

/// The totals of a platform.
struct PlatformTotal {
    name: String,
    count: i64,
    total: String,
}

/// The totals of a day.
struct DayRow {
    day: String,
    count: i64,
    /// In the order of the types.
    amounts: Vec<Option<String>>,
    total: String,
}

/// The totals in one currency.
struct CurrencySection {
    currency: Currency,
    chart: Chart,
    types: Vec<TypeTotal>,
    platforms: Vec<PlatformTotal>,
    rows: Vec<DayRow>,
    count: i64,
    total: String,
}

#[derive(Template)]
#[template(path = "payments.html")]
struct PaymentsPage {
    layout: Layout,
    t: PaymentWords,
    tabs: Vec<PeriodTab>,
    restaurant: Field,
    from: Field,
    to: Field,
    is_invalid: bool,
    /// Files for spreadsheets.
    files: Vec<PeriodTab>,
    sections: Vec<CurrencySection>,
    first_steps: Option<FirstSteps>,
    width: i64,
    height: i64,
}

/// The requested period, and its name in the query string.
fn days(params: &FormData, filter: &ReportFilter) -> (Days, &'static str) {
    match params.get("period") {
        "today" => (Days::Last(1), "today"),
        "yesterday" => (Days::Yesterday, "yesterday"),
        "30" => (Days::Last(30), "30"),
        "month" => (Days::ThisMonth, "month"),
        "last-month" => (Days::LastMonth, "last-month"),
        _ if !filter.days.is_empty() => {
            let DayRange { from, to } = filter.days.clone();
            (Days::Between(from, to), "")
        }
        _ => (Days::Last(7), "7"),
    }
}

async fn show_payments(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let (account, lang) = (user.account.id, user.lang);
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let filter = ReportFilter::read(&user, &params)?;
    let fail = |fault| user.fail(fault);
    let (wanted, mut period) = days(&params, &filter);
    let found = reports::daily_payments(&api.app, account, filter.restaurant, wanted).await;
    let is_invalid = matches!(found, Err(Fault::Invalid { .. }));
    let (zone, found) = if is_invalid {
        period = "7";
        reports::daily_payments(&api.app, account, filter.restaurant, Days::Last(7)).await
    } else {
        found
    }
    .map_err(fail)?;
    let platforms = match (found.first(), found.last()) {
        (Some(first), Some(last)) => {
            let bounds = (first.starts_at, last.ends_at);
            reports::platform_payments(&api.app, account, filter.restaurant, bounds)
                .await
                .map_err(fail)?
        }
        _ => PlatformSums::new(),
    };
    let sections = sections(lang, &zone, &found, &platforms);
    let first_steps = if sections.is_empty() {
        FirstSteps::read(&api, &user).await?
    } else {
        None
    };
    let (choices, _) = restaurant_choices(&api, &user, filter.restaurant).await?;
    let t = PaymentWords::of(lang);
    let id = filter.restaurant.map_or_else(String::new, |id| id.to_string());
    let tab = |word: &'static str, name| PeriodTab {
        href: paging::url("/payments", &[("restaurant", &id), ("period", word)]),
        name,
        is_current: period == word,
    };
    let file = |path, name| PeriodTab {
        href: paging::url(
            path,
            &[
                ("restaurant", &id),
                ("from", found.first().map_or("", |it| it.day.as_str())),
                ("to", found.last().map_or("", |it| it.day.as_str())),
            ],
        ),
        name,
        is_current: false,
    };
    let day = |name, label, day: Option<&DaySums>| {
        Field::new(name, label, FieldKind::Input("date"))
            .value(day.map_or("", |it| it.day.as_str()))
            .required()
    };
    Ok(page(&PaymentsPage {
        layout: user.layout(NavItem::Payments),
        tabs: vec![
            tab("today", t.today),
            tab("yesterday", t.yesterday),
            tab("7", t.last_7),
            tab("30", t.last_30),
            tab("month", t.this_month),
            tab("last-month", t.last_month),
        ],
        restaurant: Field::new("restaurant", t.restaurant, FieldKind::Select(choices)),
        from: day("from", t.from, found.first()),
        to: day("to", t.to, found.last()),
        is_invalid,
        files: vec![file("/payments.csv", t.csv), file("/payments.xlsx", t.xlsx)],
        sections,
        first_steps,
        width: chart::WIDTH,
        height: chart::HEIGHT,
        t,
    }))
}

fn sections(lang: Lang, zone: &Zone, days: &[DaySums], platforms: &PlatformSums) -> Vec<CurrencySection> {
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
        .map(|(currency, kinds)| CurrencySection {
            platforms: platform_totals(lang, platforms, currency),
            ..section(lang, zone, days, currency, &kinds)
        })
        .collect()
}

fn platform_totals(lang: Lang, platforms: &PlatformSums, currency: Currency) -> Vec<PlatformTotal> {
    let of_currency = platforms.iter().filter(|((_, of), _)| *of == currency);
    of_currency
        .map(|((provider, _), (count, amount))| PlatformTotal {
            name: format::provider(lang, *provider),
            count: *count,
            total: format::money(lang, Minor(*amount), currency),
        })
        .collect()
}

/// Number of orders, and amount.
type Sum = (i64, i64);

fn total(each: impl Iterator<Item = Sum>) -> Sum {
    each.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1))
}

fn section(
    lang: Lang,
    zone: &Zone,
    days: &[DaySums],
    currency: Currency,
    kinds: &[PaymentType],
) -> CurrencySection {
    let money = |minor: i64| format::money(lang, Minor(minor), currency);
    let of = |day: &DaySums, kind: PaymentType| day.sums.get(&(kind, currency)).copied();
    let kind_names: Vec<&str> = kinds.iter().map(|kind| names::payment(lang, *kind)).collect();
    let short = match lang {
        Lang::Tr => "%d.%m",
        Lang::En => "%d %b",
    };
    let (mut bars, mut rows) = (Vec::with_capacity(days.len()), Vec::with_capacity(days.len()));
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
        bars.push(Bar { name, parts });
        rows.push(DayRow {
            day: format::day(lang, zone, day.starts_at),
            count,
            amounts,
            total: money(amount),
        });
    }
    let of_all = |kind: PaymentType| total(days.iter().filter_map(|day| of(day, kind)));
    let types = kinds.iter().zip(&kind_names).map(|(kind, name)| {
        let (count, amount) = of_all(*kind);
        TypeTotal {
            class: class(*kind),
            name,
            count,
            total: money(amount),
        }
    });
    let (count, amount) = total(kinds.iter().map(|kind| of_all(*kind)));
    CurrencySection {
        currency,
        chart: Chart::draw(bars, |amount| format::without_decimals(&money(amount))),
        types: types.collect(),
        platforms: Vec::new(),
        rows,
        count,
        total: money(amount),
    }
}

/// The CSS class of a payment type.
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
