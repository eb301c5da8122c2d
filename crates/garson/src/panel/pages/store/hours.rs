//! Opening hours of a restaurant: the editor, and how the hours of the platforms differ.

use super::hours_form::{HoursForm, SpanText, SpecialText, Wrong, day_name, spans_text};
use crate::flow::admin::restaurants;
use crate::flow::stores;
use crate::flow::stores::{HoursState, HoursView, PlatformHours};
use crate::http::state::HttpState;
use crate::panel::components::restaurant_header::{
    RestaurantHeader, Tab, products_layout, restaurant_id, zone_of,
};
use crate::panel::components::store_state::answer;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::time_ago::TimeAgo;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::{HoursWords, StorePageWords, StoreWords};
use askama::Template;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use garson_core::id::RestaurantId;
use garson_core::opening_hours::{SpecialDay, Weekday};
use garson_core::restaurant::{Config, Restaurant};
use garson_core::store_control::Requester;
use garson_core::time::CalendarDay;
use http::StatusCode;
use std::fmt::Display;
use std::sync::Arc;

#[derive(Template)]
#[template(path = "hours.html")]
struct HoursPage {
    layout: Layout,
    t: StorePageWords,
    s: StoreWords,
    h: HoursWords,
    header: RestaurantHeader,
    current: &'static str,
    timezone: String,
    days: Vec<(&'static str, Vec<SpanText>)>,
    special: Vec<SpecialText>,
    has_hours: bool,
    platforms: Vec<PlatformRow>,
    /// The invalid field; empty: none.
    wrong: String,
    problem: Option<String>,
    notice: Option<&'static str>,
}

impl HoursPage {
    fn is_wrong(
        &self,
        row: impl Display,
        number: impl Display,
        field: impl Display,
        span: impl Display,
    ) -> bool {
        self.wrong == format!("{row}{number}.{field}{span}")
    }

    fn is_wrong_special(&self, number: impl Display, field: impl Display) -> bool {
        self.wrong == format!("s{number}.{field}")
    }
}

struct PlatformRow {
    key: String,
    name: String,
    tone: &'static str,
    state: &'static str,
    message: Option<String>,
    checked: Option<TimeAgo>,
    /// Day, here, there.
    differences: Vec<(&'static str, String, String)>,
}

fn path(id: RestaurantId) -> String {
    format!("{}/hours", Tab::Store.path(id))
}

fn platform_row(layout: &Layout, h: &HoursWords, it: &PlatformHours) -> PlatformRow {
    let (tone, state) = match it.state {
        HoursState::Same => ("good", h.same),
        HoursState::Different => ("bad", h.different),
        HoursState::Pending => ("warn", h.pending),
        HoursState::Refused => ("bad", h.refused),
        HoursState::Unknown => ("", h.unknown),
        HoursState::Unsupported => ("", h.unsupported),
    };
    PlatformRow {
        key: it.provider.to_string(),
        name: layout.provider(&it.provider),
        tone,
        state,
        message: it.message.as_ref().map(|message| answer(layout.lang, message)),
        checked: it.checked_at.as_ref().map(|at| layout.time_ago(at)),
        differences: it
            .differences
            .iter()
            .map(|difference| {
                (
                    day_name(h, difference.day),
                    spans_text(h, &difference.ours),
                    spans_text(h, &difference.theirs),
                )
            })
            .collect(),
    }
}

/// What is shown besides the stored hours.
#[derive(Default)]
struct Shown {
    form: Option<HoursForm>,
    wrong: Option<Wrong>,
    notice: Option<&'static str>,
    has_more_rows: bool,
}

/// A restaurant with its hours, and the first special day that has not passed.
struct Loaded {
    restaurant: Restaurant,
    view: HoursView,
    first_day: Option<CalendarDay>,
}

impl Loaded {
    async fn read(api: &HttpState, user: &CurrentUser, id: RestaurantId) -> Result<Self, PanelError> {
        let fail = |fault| user.fail(fault);
        let (app, account) = (&api.app, user.account.id);
        let restaurant = restaurants::get(app, account, id).await.map_err(fail)?;
        let view = stores::get_hours(app, account, id).await.map_err(fail)?;
        let zone = zone_of(&restaurant);
        // A span that started yesterday may not have ended.
        let first_day = zone.day_of(app.now()).and_then(CalendarDay::yesterday);
        Ok(Self {
            restaurant,
            view,
            first_day,
        })
    }

    fn stored_form(&self) -> HoursForm {
        match &self.view.hours {
            Some(hours) => HoursForm::of(hours, self.first_day),
            None => HoursForm {
                timezone: Config::read(self.restaurant.fields.config.as_deref())
                    .unwrap_or_default()
                    .timezone,
                ..HoursForm::default()
            },
        }
    }

    /// Special days that the form does not show.
    fn past(&self) -> Vec<SpecialDay> {
        let days = self.view.hours.iter().flat_map(|hours| hours.special_days());
        let is_past = |day: &&SpecialDay| self.first_day.is_some_and(|first| day.date < first);
        days.filter(is_past).cloned().collect()
    }
}

fn show(user: &CurrentUser, loaded: &Loaded, shown: Shown) -> Response {
    let id = loaded.restaurant.id;
    let h = HoursWords::of(user.lang);
    let layout = Layout {
        here: path(id),
        ..products_layout(user, &loaded.restaurant)
    };
    let is_wrong = shown.wrong.is_some();
    let form = shown.form.unwrap_or_else(|| loaded.stored_form());
    let form = form.with_spare(shown.has_more_rows);
    let (wrong, problem) = match shown.wrong {
        Some(Wrong { field, text }) => (field, Some(text)),
        None => (String::new(), None),
    };
    let page = page(&HoursPage {
        header: RestaurantHeader::new(user, &loaded.restaurant, Tab::Store),
        t: StorePageWords::of(user.lang),
        s: StoreWords::of(user.lang),
        current: "hours",
        timezone: form.timezone,
        days: Weekday::ALL
            .into_iter()
            .zip(form.week)
            .map(|(day, spans)| (day_name(&h, day), spans))
            .collect(),
        special: form.special,
        has_hours: loaded.view.hours.is_some(),
        platforms: loaded
            .view
            .platforms
            .iter()
            .map(|it| platform_row(&layout, &h, it))
            .collect(),
        wrong,
        problem,
        notice: shown.notice,
        h,
        layout,
    });
    if is_wrong {
        (StatusCode::UNPROCESSABLE_ENTITY, page).into_response()
    } else {
        page
    }
}

pub async fn show_hours(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let loaded = Loaded::read(&api, &user, id).await?;
    Ok(show(&user, &loaded, Shown::default()))
}

/// Saves the hours, or changes the form only: copies Monday, adds rows.
pub async fn save_hours(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let h = HoursWords::of(user.lang);
    let loaded = Loaded::read(&api, &user, id).await?;
    let mut form = HoursForm::read(&fields);
    match fields.get("do") {
        "copy" => {
            form.copy_monday();
            let shown = Shown {
                form: Some(form),
                notice: Some(h.copied),
                ..Shown::default()
            };
            return Ok(show(&user, &loaded, shown));
        }
        "rows" => {
            let shown = Shown {
                form: Some(form),
                has_more_rows: true,
                ..Shown::default()
            };
            return Ok(show(&user, &loaded, shown));
        }
        _ => {}
    }
    match form.parse(&h, &loaded.past()) {
        Ok(hours) => {
            stores::set_hours(&api.app, user.by(), id, hours, Requester::Panel)
                .await
                .map_err(|fault| user.fail(fault))?;
            Ok(user.redirect_with_notice(&path(id), h.saved))
        }
        Err(wrong) => {
            let shown = Shown {
                form: Some(form),
                wrong: Some(wrong),
                ..Shown::default()
            };
            Ok(show(&user, &loaded, shown))
        }
    }
}

pub async fn write_hours(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let h = HoursWords::of(user.lang);
    let view = stores::write_hours_again(&api.app, user.by(), id, Requester::Panel)
        .await
        .map_err(|fault| user.fail(fault))?;
    if view.hours.is_none() {
        return Ok(user.redirect_with_error(&path(id), h.no_hours));
    }
    Ok(user.redirect_with_notice(&path(id), h.written))
}
