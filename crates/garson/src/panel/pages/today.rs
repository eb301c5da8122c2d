//! The summary of a day: figures, charts and tables, compared with the day before and the same weekday of the week before.

mod view;

use crate::flow::Fault;
use crate::flow::read::day_summary::{self, WhichDay};
use crate::http::state::HttpState;
use crate::panel::components::chart;
use crate::panel::components::first_steps::FirstSteps;
use crate::panel::components::report_filter::restaurant_choices;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::{format, paging};
use crate::panel::words::TodayWords;
use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use axum::routing::get;
use garson_core::id::RestaurantId;
use std::sync::Arc;
use view::{CancelRow, Figure, HourSection, SummaryTable};

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new().route("/today", get(show_day))
}

/// A link to a day.
struct DayTab {
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
    tabs: Vec<DayTab>,
    restaurant: Field,
    date: Field,
    is_invalid: bool,
    is_empty: bool,
    first_steps: Option<FirstSteps>,
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
    let (account, lang) = (user.account.id, user.lang);
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let only: Option<RestaurantId> = params.get("restaurant").parse().ok();
    let (wanted, tab) = match params.get("day") {
        "" | "today" => (WhichDay::Today, "today"),
        "yesterday" => (WhichDay::Yesterday, "yesterday"),
        day => (WhichDay::Named(day.to_owned()), ""),
    };
    let found = day_summary::read(&api.app, account, only, wanted).await;
    let is_invalid = matches!(found, Err(Fault::Invalid { .. }));
    let found = if is_invalid {
        day_summary::read(&api.app, account, only, WhichDay::Today).await
    } else {
        found
    };
    let summary = found.map_err(|fault| user.fail(fault))?;
    let (choices, names) = restaurant_choices(&api, &user, only).await?;
    let is_empty = summary.stats.sales.is_empty() && summary.stats.cancels.is_empty();
    let first_steps = if is_empty {
        FirstSteps::read(&api, &user).await?
    } else {
        None
    };
    let t = TodayWords::of(lang);
    let id = only.map_or_else(String::new, |id| id.to_string());
    let tab = |word: &'static str, name| DayTab {
        href: paging::url("/today", &[("restaurant", &id), ("day", word)]),
        name,
        is_current: tab == word || (is_invalid && word == "today"),
    };
    Ok(page(&TodayPage {
        layout: user.layout(NavItem::Today).in_zone(summary.zone.clone()),
        day_name: format::day(lang, &summary.zone, summary.starts_at),
        tabs: vec![tab("today", t.today), tab("yesterday", t.yesterday)],
        restaurant: Field::new("restaurant", t.restaurant, FieldKind::Select(choices)),
        date: Field::new("day", t.day, FieldKind::Input("date")).value(&summary.day),
        is_invalid,
        is_empty,
        first_steps,
        figures: view::figures(lang, &summary),
        hours: view::hours(lang, &summary),
        tables: view::tables(lang, &summary, &names),
        cancellations: view::cancellations(lang, &summary),
        width: chart::WIDTH,
        height: chart::HEIGHT,
        t,
    }))
}
