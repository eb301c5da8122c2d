//! A restaurant's packages: which platforms it may use, and when. One form replaces all of them.

use crate::flow::Fault;
use crate::flow::admin::input::{PackageInput, packages};
use crate::flow::admin::restaurants;
use crate::http::state::HttpState;
use crate::panel::components::restaurant_header::{
    RestaurantHeader, Tab, restaurant_id, restaurant_layout, zone_of,
};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::form_errors::FormErrors;
use crate::panel::kit::form_input::required;
use crate::panel::kit::form_page::form_page;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::names;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::{Lang, PackageWords};
use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use garson_core::field_problem::FieldProblem;
use garson_core::id::RestaurantId;
use garson_core::restaurant::Package;
use garson_core::time::{Timestamp, Zone};
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new().route(
        "/restaurants/{id}/packages",
        get(list_packages).post(save_packages),
    )
}

#[derive(Template)]
#[template(path = "packages.html")]
struct PackagesPage {
    layout: Layout,
    t: PackageWords,
    header: RestaurantHeader,
    rows: Vec<PackageRow>,
    problem: Option<String>,
    is_empty: bool,
}

/// The form fields of a package.
struct PackageRow {
    /// CSS class and text; `None` for a new package.
    state: Option<(&'static str, &'static str)>,
    name: Field,
    all: Field,
    /// One for each platform.
    platforms: Vec<Field>,
    starts: Field,
    ends: Field,
    /// The exact stored times: they stay unless another day is chosen.
    stored_times: (Field, Field),
    remove: Option<Field>,
}

impl PackageRow {
    fn fields(&mut self) -> impl Iterator<Item = &mut Field> {
        [&mut self.name, &mut self.all, &mut self.starts, &mut self.ends].into_iter()
    }
}

const DAY: &str = "%Y-%m-%d";

fn field_name(row: usize, name: &str) -> String {
    format!("packages[{row}].{name}")
}

fn row(
    layout: &Layout,
    t: &PackageWords,
    number: usize,
    is_new: bool,
    value: impl Fn(&str) -> String,
) -> PackageRow {
    let checkbox = |name: String, label: String| {
        let is_checked = !value(&name).is_empty();
        Field::new(name, label, FieldKind::Checkbox(is_checked))
    };
    let name = Field::text(field_name(number, "name"), t.name).length(0, 200);
    let day = |name: &str, label: &str, hint: &str| {
        let name = field_name(number, name);
        let value = value(&name);
        Field::new(name, label, FieldKind::Input("date"))
            .hint(hint)
            .value(value)
    };
    let hidden = |name: &str| {
        let name = field_name(number, name);
        let value = value(&name);
        Field::new(name, "", FieldKind::Input("hidden")).value(value)
    };
    let platform = |platform: &&'static dyn garson_core::platform::Platform| {
        let provider = platform.provider();
        let name = field_name(number, &format!("providers.{provider}"));
        checkbox(name, layout.provider(&provider))
    };
    let named = value(&name.name);
    PackageRow {
        state: None,
        name: name.value(named).hint(if is_new { t.new_hint } else { "" }),
        all: checkbox(field_name(number, "all"), t.all.to_owned()),
        platforms: garson_platforms::all().iter().map(platform).collect(),
        starts: day("startsAt", t.starts, t.starts_hint),
        ends: day("endsAt", t.ends, t.ends_hint),
        stored_times: (hidden("keptStart"), hidden("keptEnd")),
        remove: (!is_new).then(|| checkbox(field_name(number, "remove"), t.remove.to_owned())),
    }
}

/// The last day of a package: it ends at midnight after it.
fn last_day(zone: &Zone, end: Timestamp) -> String {
    zone.write(end.minus(std::time::Duration::from_millis(1)), DAY)
}

/// The stored value of a form field.
fn stored_value(lang: Lang, package: &Package, zone: &Zone, field: &str) -> String {
    let timestamp = |at: Option<Timestamp>| at.map(|at| at.to_string()).unwrap_or_default();
    match field {
        "name" => names::given_name(lang, &package.name).to_owned(),
        "all" if package.providers.is_none() => "on".to_owned(),
        "startsAt" => zone.write(package.starts_at, DAY),
        "endsAt" => package.ends_at.map(|end| last_day(zone, end)).unwrap_or_default(),
        "keptStart" => timestamp(Some(package.starts_at)),
        "keptEnd" => timestamp(package.ends_at),
        _ => {
            let only = package.providers.iter().flatten();
            let is_in = |key: &str| only.clone().any(|provider| provider.as_str() == key);
            let key = field.strip_prefix("providers.");
            key.filter(|key| is_in(key))
                .map(|_| "on".to_owned())
                .unwrap_or_default()
        }
    }
}

fn state(t: &PackageWords, package: &Package, now: Timestamp) -> (&'static str, &'static str) {
    match (package.has_begun(now), package.is_over(now)) {
        (_, true) => ("", t.over),
        (true, false) => ("good", t.current),
        (false, false) => ("warn", t.coming),
    }
}

async fn show(
    api: &HttpState,
    user: &CurrentUser,
    id: RestaurantId,
    typed: Option<&FormData>,
    wrong: Option<FormErrors>,
) -> Result<Response, PanelError> {
    let restaurant = restaurants::get(&api.app, user.account.id, id)
        .await
        .map_err(|fault| user.fail(fault))?;
    let (t, layout) = (PackageWords::of(user.lang), restaurant_layout(user, &restaurant));
    let zone = zone_of(&restaurant);
    let mut known: Vec<&Package> = restaurant.packages.iter().collect();
    known.sort_by_key(|package| (package.starts_at, &package.name));
    let mut rows: Vec<PackageRow> = match typed {
        Some(typed) => {
            let count = row_count(typed);
            let value = |name: &str| typed.get(name).to_owned();
            (0..count)
                .map(|number| row(&layout, &t, number, number + 1 == count, value))
                .collect()
        }
        None => {
            let existing = known.iter().enumerate().map(|(number, package)| PackageRow {
                state: Some(state(&t, package, api.app.now())),
                ..row(&layout, &t, number, false, |name| {
                    let field = name.split_once("].").map_or("", |(_, rest)| rest);
                    stored_value(layout.lang, package, &zone, field)
                })
            });
            let all = field_name(known.len(), "all");
            let new = row(&layout, &t, known.len(), true, |name| {
                if name == all {
                    "on".to_owned()
                } else {
                    String::new()
                }
            });
            existing.chain([new]).collect()
        }
    };
    let problem = wrong
        .as_ref()
        .map(|wrong| wrong.mark(rows.iter_mut().flat_map(PackageRow::fields)));
    let page = page(&PackagesPage {
        header: RestaurantHeader::new(user, &restaurant, Tab::Packages),
        is_empty: known.is_empty(),
        layout,
        t,
        rows,
        problem,
    });
    Ok(form_page(page, wrong.as_ref()))
}

async fn list_packages(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    show(&api, &user, id, None, None).await
}

/// The number of rows in the form.
fn row_count(sent: &FormData) -> usize {
    (0..=50)
        .take_while(|row| sent.with_prefix(&field_name(*row, "name")).next().is_some())
        .count()
}

/// The timestamp of a day: the stored one, unless another day was chosen.
fn day_timestamp(
    t: &PackageWords,
    sent: &FormData,
    (day, stored): (&str, &str),
    shown: impl Fn(Timestamp) -> String,
    of_day: impl Fn(&str) -> Option<Timestamp>,
) -> Result<Option<Timestamp>, Fault> {
    let given = sent.get(day);
    if given.is_empty() {
        return Ok(None);
    }
    let before: Option<Timestamp> = sent.get(stored).parse().ok();
    let timestamp = before.filter(|at| shown(*at) == given).or_else(|| of_day(given));
    timestamp
        .map(Some)
        .ok_or_else(|| Fault::invalid(day, FieldProblem::text(t.wrong_day)))
}

fn parse_row(t: &PackageWords, sent: &FormData, zone: &Zone, row: usize) -> Result<PackageInput, Fault> {
    let (start, end) = (field_name(row, "startsAt"), field_name(row, "endsAt"));
    let (stored_start, stored_end) = (field_name(row, "keptStart"), field_name(row, "keptEnd"));
    let providers: Vec<String> = sent
        .with_prefix(&field_name(row, "providers."))
        .map(|(key, _)| key.to_owned())
        .collect();
    let is_all = sent.is_checked(&field_name(row, "all"));
    Ok(PackageInput {
        starts_at: day_timestamp(
            t,
            sent,
            (&start, &stored_start),
            |at| zone.write(at, DAY),
            |day| zone.start_of_day(day),
        )?,
        ends_at: day_timestamp(
            t,
            sent,
            (&end, &stored_end),
            |at| last_day(zone, at),
            |day| zone.end_of_day(day),
        )?,
        name: required(sent, &field_name(row, "name"))?,
        providers: (!is_all).then_some(providers),
    })
}

async fn save_packages(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let t = PackageWords::of(user.lang);
    let restaurant = restaurants::get(&api.app, user.account.id, id)
        .await
        .map_err(|fault| user.fail(fault))?;
    let zone = zone_of(&restaurant);
    let count = row_count(&fields);
    // The last row is for a new package; without a name it is ignored.
    let is_wanted = |row: &usize| {
        let is_blank = row + 1 == count && fields.get(&field_name(*row, "name")).is_empty();
        !is_blank && !fields.is_checked(&field_name(*row, "remove"))
    };
    let wanted: Vec<usize> = (0..count).filter(is_wanted).collect();
    let inputs: Result<Vec<PackageInput>, Fault> = wanted
        .iter()
        .map(|row| parse_row(&t, &fields, &zone, *row))
        .collect();
    let parsed = match inputs {
        Ok(inputs) => packages(inputs, api.app.now())
            .map_err(|fault| to_form_row(FormErrors::new(&user, fault), &wanted)),
        Err(fault) => Err(FormErrors::new(&user, fault)),
    };
    let set = match parsed {
        Ok(packages) => restaurants::set_packages(&api.app, user.by(), id, packages)
            .await
            .map_err(|fault| FormErrors::new(&user, fault)),
        Err(wrong) => Err(wrong),
    };
    match set {
        Ok(_) => Ok(user.redirect_with_notice(&Tab::Packages.path(id), t.saved)),
        Err(wrong) => show(&api, &user, id, Some(&fields), Some(wrong?)).await,
    }
}

/// Maps the error to its row in the form, because removed rows are not sent.
fn to_form_row(wrong: Result<FormErrors, PanelError>, wanted: &[usize]) -> Result<FormErrors, PanelError> {
    let wrong = wrong?;
    let place = wrong
        .field()
        .strip_prefix("packages[")
        .and_then(|rest| rest.split_once(']'))
        .and_then(|(number, rest)| Some((wanted.get(number.parse::<usize>().ok()?)?, rest.to_owned())));
    Ok(match place {
        Some((row, rest)) => wrong.moved_to(format!("packages[{row}]{rest}")),
        None => wrong,
    })
}
