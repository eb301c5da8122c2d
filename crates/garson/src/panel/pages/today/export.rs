//! The summary of a day as a file for spreadsheets: a row for each number of the page.

use super::chosen_day::{chosen_day, day_url};
use super::view::{by, cancel_names};
use crate::flow::Fault;
use crate::flow::admin::audit::record_export;
use crate::flow::read::day_summary::{self, DaySummary};
use crate::http::state::HttpState;
use crate::http::table_file::{Cell, FileFormat, Rows, download};
use crate::panel::components::report_filter::{RestaurantNames, restaurant_choices};
use crate::panel::components::restaurant_header::chosen_restaurant;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::{format, names};
use crate::panel::words::{Lang, TodayWords};
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use garson_core::money::{Currency, Minor};
use garson_store::totals::stats::{Tally, Times};
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    let file = |file_format| {
        get(
            move |state: State<Arc<HttpState>>, user: CurrentUser, query: RawQuery| {
                export(state, user, query, file_format)
            },
        )
    };
    Router::new()
        .route("/today.csv", file(FileFormat::Csv))
        .route("/today.xlsx", file(FileFormat::Xlsx))
}

async fn export(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
    file_format: FileFormat,
) -> Result<Response, PanelError> {
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let only = chosen_restaurant(&user, &params)?;
    let (wanted, _) = chosen_day(&params);
    let summary = match day_summary::read(&api.app, user.account.id, only, wanted).await {
        Ok(summary) => summary,
        // The page shows the error; a file of another day could go unnoticed.
        Err(Fault::Invalid { .. }) => {
            let page = day_url("/today", only, params.get("day"));
            return Ok(Redirect::to(&page).into_response());
        }
        Err(fault) => return Err(user.fail(fault)),
    };
    let day = summary.day.clone();
    record_export(&api.app, user.by(), "day summary", only, (&day, &day))
        .await
        .map_err(|fault| user.fail(fault))?;
    let (_, names) = restaurant_choices(&api, &user, only).await?;
    let t = TodayWords::of(user.lang);
    let name = format!("{}-{}", t.file, summary.day);
    let heading = [
        t.section,
        t.name,
        t.orders,
        t.total,
        t.currency,
        t.average,
        t.median_seconds,
    ];
    let rows = Rows(rows(user.lang, &summary, &names));
    download(file_format, &name, &heading, rows)
        .await
        .map_err(|fault| user.fail(fault))
}

fn sales_row(
    section: &str,
    name: impl Into<String>,
    currency: Currency,
    (count, amount): Tally,
) -> Vec<Cell> {
    vec![
        Cell::text(section),
        Cell::text(name),
        Cell::Number(count),
        Cell::Amount(Minor(amount)),
        Cell::text(currency.as_str()),
        Cell::Empty,
        Cell::Empty,
    ]
}

/// In whole seconds.
fn times_row(section: &str, times: &Times) -> Vec<Cell> {
    let seconds = |millis: Option<i64>| millis.map_or(Cell::Empty, |it| Cell::Number((it + 500) / 1000));
    vec![
        Cell::text(section),
        Cell::Empty,
        Cell::Number(times.count()),
        Cell::Empty,
        Cell::Empty,
        seconds(times.average()),
        seconds(times.median()),
    ]
}

fn rows(lang: Lang, summary: &DaySummary, restaurants: &RestaurantNames) -> Vec<Vec<Cell>> {
    let (t, stats) = (TodayWords::of(lang), &summary.stats);
    let mut rows = Vec::new();
    for (currency, tally) in by(stats, |key| key.2) {
        rows.push(sales_row(t.sales, summary.day.as_str(), currency, tally));
    }
    for (start, hour) in &summary.hours {
        for (currency, tally) in by(hour, |key| key.2) {
            let name = format::time_of_day(&summary.zone, *start);
            rows.push(sales_row(t.by_hour, name, currency, tally));
        }
    }
    for ((platform, currency), tally) in by(stats, |key| (key.0, key.2)) {
        let name = format::provider(lang, platform);
        rows.push(sales_row(t.by_platform, name, currency, tally));
    }
    for ((kind, currency), tally) in by(stats, |key| (key.1, key.2)) {
        let name = names::payment(lang, kind);
        rows.push(sales_row(t.by_payment, name, currency, tally));
    }
    for ((id, currency), tally) in &summary.restaurants {
        let name = restaurants.get(id).cloned().unwrap_or_default();
        rows.push(sales_row(t.by_restaurant, name, *currency, *tally));
    }
    for (key, tally) in &stats.cancels {
        let (reason, who, platform) = cancel_names(lang, key);
        let parts = [reason, who, platform];
        let name: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        rows.push(sales_row(t.cancellations, name.join(" · "), key.currency, *tally));
    }
    rows.push(times_row(t.accept_time, &stats.accept));
    rows.push(times_row(t.prepare_time, &stats.prepare));
    rows
}
