//! The summary of a day: figures, charts and tables, compared with the day before and the same weekday of the week before.

mod chosen_day;
mod export;
mod view;

use crate::flow::Fault;
use crate::flow::read::day_summary;
use crate::http::state::HttpState;
use crate::panel::components::chart;
use crate::panel::components::first_steps::FirstSteps;
use crate::panel::components::report_filter::restaurant_choices;
use crate::panel::components::restaurant_header::chosen_restaurant;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::format;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::words::{ComponentWords, TodayWords};
use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use chosen_day::{chosen_day, day_url};
use http::StatusCode;
use std::sync::Arc;
use view::{CancelRow, Figure, HourSection, SummaryTable};

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/today", get(show_day))
        .merge(export::routes())
}

/// A link to a day, or to its file.
struct DayLink {
    href: String,
    name: &'static str,
    is_current: bool,
}

#[derive(Template)]
#[template(path = "today.html")]
struct TodayPage {
    layout: Layout,
    t: TodayWords,
    day_name: String,
    tabs: Vec<DayLink>,
    restaurant: Field,
    date: Field,
    /// The day is none, so that nothing is shown.
    is_invalid: bool,
    is_empty: bool,
    first_steps: Option<FirstSteps>,
    /// Files for spreadsheets.
    files: Vec<DayLink>,
    figures: Vec<Figure>,
    hours: Vec<HourSection>,
    tables: Vec<SummaryTable>,
    cancellations: Vec<CancelRow>,
    width: i64,
    height: i64,
}

async fn show_day(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let only = chosen_restaurant(&user, &params)?;
    let (wanted, tab) = chosen_day(&params);
    let t = TodayWords::of(user.lang);
    let (choices, names) = restaurant_choices(&api, &user, only).await?;
    let link = |path, day: &str, name| DayLink {
        href: day_url(path, only, day),
        name,
        is_current: tab == day,
    };
    let empty_page = TodayPage {
        layout: user.layout(NavItem::Today),
        day_name: String::new(),
        tabs: vec![
            link("/today", "today", t.today),
            link("/today", "yesterday", t.yesterday),
        ],
        restaurant: Field::new("restaurant", t.restaurant, FieldKind::Select(choices)),
        date: Field::new("day", t.day, FieldKind::Input("date")),
        is_invalid: false,
        is_empty: false,
        first_steps: None,
        files: Vec::new(),
        figures: Vec::new(),
        hours: Vec::new(),
        tables: Vec::new(),
        cancellations: Vec::new(),
        width: chart::WIDTH,
        height: chart::HEIGHT,
        t,
    };
    let summary = match day_summary::read(&api.app, user.account.id, only, wanted).await {
        Ok(summary) => summary,
        // Figures of another day could go unnoticed.
        Err(Fault::Invalid { .. }) => {
            let error = ComponentWords::of(user.lang).not_a_day;
            let shown = page(&TodayPage {
                date: empty_page.date.value(params.get("day")).error(Some(error)),
                is_invalid: true,
                ..empty_page
            });
            return Ok((StatusCode::UNPROCESSABLE_ENTITY, shown).into_response());
        }
        Err(fault) => return Err(user.fail(fault)),
    };
    let is_empty = summary.stats.sales.is_empty() && summary.stats.cancels.is_empty();
    let first_steps = if is_empty {
        FirstSteps::read(&api, &user).await?
    } else {
        None
    };
    let lang = user.lang;
    Ok(page(&TodayPage {
        layout: empty_page.layout.in_zone(summary.zone.clone()),
        day_name: format::day(lang, &summary.zone, summary.starts_at),
        date: empty_page.date.value(&summary.day),
        is_empty,
        first_steps,
        files: vec![
            link("/today.csv", &summary.day, empty_page.t.csv),
            link("/today.xlsx", &summary.day, empty_page.t.xlsx),
        ],
        figures: view::figures(lang, &summary),
        hours: view::hours(lang, &summary),
        tables: view::tables(lang, &summary, &names),
        cancellations: view::cancellations(lang, &summary),
        ..empty_page
    }))
}
