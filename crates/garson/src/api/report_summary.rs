//! The summary of some days: totals, times and cancellations, as JSON or as a file for spreadsheets.

use super::envelope::Data;
use super::paging::{DayText, Query, RestaurantParam};
use crate::flow::Fault;
use crate::flow::admin::api_auth::Caller;
use crate::flow::read::period_summary;
use crate::flow::read::period_summary::PeriodSummary;
use crate::http::error::{ApiError, Code};
use crate::http::state::HttpState;
use crate::http::table_file::{Cell, FileFormat, Rows, download};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use garson_core::id::RestaurantId;
use garson_core::money::{Currency, Minor};
use garson_core::payment::PaymentType;
use garson_core::platform::Provider;
use garson_core::time::{Timestamp, Zone};
use garson_store::totals::stats::{Stats, Tally, Times};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Sales and cancellations of a period. Cancelled orders count only among the cancellations.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportSummary {
    /// The first day.
    from: String,
    /// The last day.
    to: String,
    #[schema(value_type = String, format = DateTime)]
    starts_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    ends_at: Timestamp,
    totals: Vec<CurrencySales>,
    by_platform: Vec<PlatformSales>,
    by_restaurant: Vec<RestaurantSales>,
    by_payment_type: Vec<PaymentSales>,
    by_day: Vec<DaySales>,
    by_hour: Vec<HourSales>,
    time_to_accept: SummaryTimes,
    time_to_prepare: SummaryTimes,
    cancellations: Vec<SummaryCancellation>,
}

#[derive(Clone, Copy, Serialize, ToSchema)]
pub struct CurrencySales {
    #[schema(value_type = String)]
    currency: Currency,
    count: i64,
    /// In minor units.
    total: i64,
}

#[derive(Serialize, ToSchema)]
pub struct PlatformSales {
    #[schema(value_type = String)]
    provider: Provider,
    #[serde(flatten)]
    sales: CurrencySales,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestaurantSales {
    #[schema(value_type = String)]
    restaurant_id: RestaurantId,
    name: String,
    #[serde(flatten)]
    sales: CurrencySales,
}

#[derive(Serialize, ToSchema)]
pub struct PaymentSales {
    #[serde(rename = "type")]
    #[schema(value_type = String)]
    kind: PaymentType,
    name: &'static str,
    #[serde(flatten)]
    sales: CurrencySales,
}

#[derive(Serialize, ToSchema)]
pub struct DaySales {
    day: String,
    #[serde(flatten)]
    sales: CurrencySales,
}

#[derive(Serialize, ToSchema)]
pub struct HourSales {
    /// The hour of the day where the restaurant is, from 0 to 23; of all days together.
    #[schema(minimum = 0, maximum = 23)]
    hour: u8,
    #[serde(flatten)]
    sales: CurrencySales,
}

/// How long something took. Orders that it is not known of do not count.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SummaryTimes {
    count: i64,
    /// Null without any order.
    average_seconds: Option<i64>,
    /// Null without any order. It is interpolated and may differ a little from the exact one.
    median_seconds: Option<i64>,
}

#[derive(Serialize, ToSchema)]
pub struct SummaryCancellation {
    #[schema(value_type = String)]
    provider: Provider,
    /// Who cancelled: `account`, `platform`, `customer`, or `system`.
    by: String,
    /// Null if none was given.
    reason: Option<String>,
    #[serde(flatten)]
    sales: CurrencySales,
}

fn sales(currency: Currency, (count, total): Tally) -> CurrencySales {
    CurrencySales {
        currency,
        count,
        total,
    }
}

/// The sales of some orders by a part of their key, and by currency.
fn grouped<K: Ord>(
    stats: &Stats,
    key: impl Fn(Provider, PaymentType) -> K,
) -> impl Iterator<Item = (K, CurrencySales)> {
    let mut groups: BTreeMap<(K, Currency), Tally> = BTreeMap::new();
    for ((provider, kind, currency), (count, total)) in &stats.sales {
        let tally = groups.entry((key(*provider, *kind), *currency)).or_default();
        tally.0 += count;
        tally.1 += total;
    }
    groups
        .into_iter()
        .map(|((key, currency), tally)| (key, sales(currency, tally)))
}

fn times(times: &Times) -> SummaryTimes {
    let seconds = |millis: i64| (millis + 500) / 1000;
    SummaryTimes {
        count: times.count(),
        average_seconds: times.average().map(seconds),
        median_seconds: times.median().map(seconds),
    }
}

impl From<PeriodSummary> for ReportSummary {
    fn from(found: PeriodSummary) -> Self {
        let by_day = found.by_day.iter().flat_map(|(day, stats)| {
            grouped(stats, |_, _| ()).map(|((), sales)| DaySales {
                day: day.clone(),
                sales,
            })
        });
        let by_hour = found.by_hour.iter().flat_map(|(hour, stats)| {
            let hour = hour.parse().unwrap_or_default();
            grouped(stats, |_, _| ()).map(move |((), sales)| HourSales { hour, sales })
        });
        let cancellations = found
            .stats
            .cancels
            .iter()
            .map(|(key, tally)| SummaryCancellation {
                provider: key.provider,
                by: key.by.clone(),
                reason: Some(key.reason.clone()).filter(|reason| !reason.is_empty()),
                sales: sales(key.currency, *tally),
            });
        Self {
            totals: grouped(&found.stats, |_, _| ()).map(|(_, sales)| sales).collect(),
            by_platform: grouped(&found.stats, |provider, _| provider)
                .map(|(provider, sales)| PlatformSales { provider, sales })
                .collect(),
            by_payment_type: grouped(&found.stats, |_, kind| kind)
                .map(|(kind, sales)| PaymentSales {
                    kind,
                    name: kind.name(),
                    sales,
                })
                .collect(),
            by_day: by_day.collect(),
            by_hour: by_hour.collect(),
            time_to_accept: times(&found.stats.accept),
            time_to_prepare: times(&found.stats.prepare),
            cancellations: cancellations.collect(),
            by_restaurant: found
                .by_restaurant
                .into_iter()
                .map(|(restaurant_id, name, currency, tally)| RestaurantSales {
                    restaurant_id,
                    name,
                    sales: sales(currency, tally),
                })
                .collect(),
            from: found.from,
            to: found.to,
            starts_at: found.starts_at,
            ends_at: found.ends_at,
        }
    }
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[allow(dead_code)]
pub enum SummaryFormat {
    Json,
    Csv,
    Xlsx,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code)]
pub struct SummaryParams {
    /// The first day; the last one if it is left out.
    #[param(value_type = Option<DayText>, inline, example = "2026-01-31")]
    from: Option<String>,
    /// The last day; today if it is left out. A period has at most 62 days, fewer if the account has more than 100 restaurants.
    #[param(value_type = Option<DayText>, inline, example = "2026-01-31")]
    to: Option<String>,
    /// JSON (the default), or a table for spreadsheets.
    #[param(inline)]
    format: Option<SummaryFormat>,
}

/// A file for spreadsheets.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[allow(dead_code)]
pub struct SummaryFile(Vec<u8>);

/// Sum up the orders of some days: totals by platform, restaurant, payment type, day and hour, times, and cancellations.
///
/// Days are business days of the restaurant (`config.dayEndsAt`, `config.timezone`). An order belongs to the day on which it
/// arrived here. The table of `format=csv` and `format=xlsx` has a row for each group.
#[utoipa::path(get, path = "/reports/summary", tag = "Reports", params(RestaurantParam, SummaryParams),
    responses((status = 200, content((Data<ReportSummary> = "application/json"), (String = "text/csv"),
        (SummaryFile = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")))))]
pub async fn get_report_summary(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    query: Query,
) -> Result<Response, ApiError> {
    let wrong = |name, message| ApiError::invalid(Code::InvalidParameter, name, message);
    let day = |name: &'static str| match query.get(name)? {
        Some(day) if Zone::istanbul().start_of_day(day).is_none() => {
            Err(wrong(name, "must be a day such as 2026-03-01"))
        }
        day => Ok(day.map(str::to_owned)),
    };
    let format = match query.get("format")? {
        None | Some("json") => None,
        Some("csv") => Some(FileFormat::Csv),
        Some("xlsx") => Some(FileFormat::Xlsx),
        Some(_) => return Err(wrong("format", "must be json, csv or xlsx")),
    };
    let (restaurant, from, to) = (query.restaurant()?, day("from")?, day("to")?);
    let found = period_summary::read(&state.app, caller.account, restaurant, from, to).await;
    let summary = ReportSummary::from(found.map_err(|fault| match fault {
        // It is a parameter, not a field of a body.
        Fault::Invalid { field, problem } => {
            ApiError::invalid(Code::InvalidParameter, &field, &problem.to_string())
        }
        fault => fault.into(),
    })?);
    let Some(format) = format else {
        return Ok(Data::new(summary).into_response());
    };
    let name = format!("summary-{}-{}", summary.from, summary.to);
    Ok(download(format, &name, &HEADING, Rows(rows(summary))).await?)
}

const HEADING: [&str; 8] = [
    "group",
    "key",
    "name",
    "currency",
    "count",
    "total",
    "averageSeconds",
    "medianSeconds",
];

/// A row for each group.
fn rows(summary: ReportSummary) -> Vec<Vec<Cell>> {
    let row = |group: &str, key: String, name: Option<String>, sales: CurrencySales| {
        vec![
            Cell::text(group),
            Cell::text(key),
            Cell::optional(name),
            Cell::text(sales.currency.as_str()),
            Cell::Number(sales.count),
            Cell::Amount(Minor(sales.total)),
            Cell::Empty,
            Cell::Empty,
        ]
    };
    let mut rows = Vec::new();
    let period = format!("{} {}", summary.from, summary.to);
    rows.extend(
        summary
            .totals
            .iter()
            .map(|it| row("total", period.clone(), None, *it)),
    );
    for it in summary.by_platform {
        rows.push(row("platform", it.provider.to_string(), None, it.sales));
    }
    for it in summary.by_restaurant {
        rows.push(row(
            "restaurant",
            it.restaurant_id.to_string(),
            Some(it.name),
            it.sales,
        ));
    }
    for it in summary.by_payment_type {
        rows.push(row(
            "paymentType",
            it.kind.as_str().to_owned(),
            Some(it.name.to_owned()),
            it.sales,
        ));
    }
    for it in summary.by_day {
        rows.push(row("day", it.day, None, it.sales));
    }
    for it in summary.by_hour {
        rows.push(row("hour", format!("{:02}:00", it.hour), None, it.sales));
    }
    for it in summary.cancellations {
        let key = format!("{} {}", it.provider, it.by);
        rows.push(row("cancellation", key, it.reason, it.sales));
    }
    for (group, times) in [
        ("timeToAccept", summary.time_to_accept),
        ("timeToPrepare", summary.time_to_prepare),
    ] {
        let seconds = |value: Option<i64>| value.map_or(Cell::Empty, Cell::Number);
        rows.push(vec![
            Cell::text(group),
            Cell::text(period.clone()),
            Cell::Empty,
            Cell::Empty,
            Cell::Number(times.count),
            Cell::Empty,
            seconds(times.average_seconds),
            seconds(times.median_seconds),
        ]);
    }
    rows
}
