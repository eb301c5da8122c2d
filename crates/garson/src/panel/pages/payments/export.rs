//! Totals by day and payment type as files for spreadsheets.

use crate::flow::Fault;
use crate::flow::admin::audit::record_export;
use crate::flow::read::reports;
use crate::flow::read::reports::Days;
use crate::http::state::HttpState;
use crate::http::table_file::{Cell, FileFormat, Rows, download};
use crate::panel::components::report_filter::ReportFilter;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::{format, names};
use crate::panel::words::PaymentWords;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use garson_core::money::Minor;
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
        .route("/payments.csv", file(FileFormat::Csv))
        .route("/payments.xlsx", file(FileFormat::Xlsx))
}

/// A row for each day and payment type. There are at most 62 days.
async fn export(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
    file_format: FileFormat,
) -> Result<Response, PanelError> {
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let filter = ReportFilter::read(&user, &params)?;
    let days = Days::Between(filter.days.from.clone(), filter.days.to.clone());
    let found = reports::daily_payments(&api.app, user.account.id, filter.restaurant, days).await;
    let (zone, days) = match found {
        Ok(found) => found,
        // The page shows the error; a file of other days could go unnoticed.
        Err(Fault::Invalid { .. }) => return Ok(Redirect::to(&filter.url("/payments")).into_response()),
        Err(fault) => return Err(user.fail(fault)),
    };
    record_export(
        &api.app,
        user.by(),
        "payments",
        filter.restaurant,
        (&filter.days.from, &filter.days.to),
    )
    .await
    .map_err(|fault| user.fail(fault))?;
    let t = PaymentWords::of(user.lang);
    let mut rows = Vec::new();
    for day in &days {
        for ((kind, currency), (count, total)) in &day.sums {
            rows.push(vec![
                Cell::text(format::day(user.lang, &zone, day.starts_at)),
                Cell::text(names::payment(user.lang, *kind)),
                Cell::Number(*count),
                Cell::Amount(Minor(*total)),
                Cell::text(currency.as_str()),
            ]);
        }
    }
    let heading = [t.day, t.payment_type, t.count, t.total, t.currency];
    let today = zone.write(api.app.now(), "%Y-%m-%d");
    download(file_format, &format!("{}-{today}", t.file), &heading, Rows(rows))
        .await
        .map_err(|fault| user.fail(fault))
}
