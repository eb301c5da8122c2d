//! A restaurant's packages: which platforms it may use, and when. All of them are one form, which replaces them.

use super::restaurants::answer;
use crate::api::{Api, ApiError, PackagesRequest, packages};
use crate::flow::Fault;
use crate::flow::admin::restaurants;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::fields::Fields;
use crate::panel::kit::form::{Field, Kind};
use crate::panel::kit::form_errors::{Wrong, read};
use crate::panel::kit::frame::{Frame, Place, page};
use crate::panel::kit::restaurant_header::{About, Tab, restaurant_id};
use crate::panel::kit::visitor::{Sent, Visitor};
use crate::panel::words::PackageWords;
use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use garson_core::field_problem::FieldProblem;
use garson_core::id::RestaurantId;
use garson_core::restaurant::{Config, Package};
use garson_core::time::{Timestamp, Zone};
use serde_json::{Value, json};
use std::sync::Arc;

pub fn routes() -> Router<Arc<Api>> {
    Router::new().route(
        "/restaurants/{id}/packages",
        get(list_packages).post(save_packages),
    )
}

#[derive(Template)]
#[template(path = "packages.html")]
struct PackagesPage {
    frame: Frame,
    t: PackageWords,
    about: About,
    rows: Vec<Row>,
    problem: Option<String>,
    is_empty: bool,
}

/// A package as a part of the form.
struct Row {
    /// Colour and word for how it stands; nothing for one that is not there yet.
    state: Option<(&'static str, &'static str)>,
    name: Field,
    all: Field,
    /// One for each platform.
    platforms: Vec<Field>,
    starts: Field,
    ends: Field,
    /// The exact moments behind the days, which stay when the days do.
    kept: (Field, Field),
    remove: Option<Field>,
}

impl Row {
    fn fields(&mut self) -> impl Iterator<Item = &mut Field> {
        [&mut self.name, &mut self.all, &mut self.starts, &mut self.ends].into_iter()
    }
}

const DAY: &str = "%Y-%m-%d";

fn at(row: usize, name: &str) -> String {
    format!("packages[{row}].{name}")
}

/// A row of the form, from what stands in its fields.
fn row(frame: &Frame, t: &PackageWords, number: usize, is_new: bool, value: impl Fn(&str) -> String) -> Row {
    let tick = |name: String, label: String| {
        let is_ticked = !value(&name).is_empty();
        Field::new(name, label, Kind::Tick(is_ticked))
    };
    let name = Field::text(at(number, "name"), t.name).between(0, 200);
    let day = |name: &str, label: &str, hint: &str| {
        let name = at(number, name);
        let value = value(&name);
        Field::new(name, label, Kind::Input("date"))
            .hint(hint)
            .value(value)
    };
    let kept = |name: &str| {
        let name = at(number, name);
        let value = value(&name);
        Field::new(name, "", Kind::Input("hidden")).value(value)
    };
    let platform = |platform: &&'static dyn garson_core::platform::Platform| {
        let provider = platform.provider();
        let name = at(number, &format!("providers.{provider}"));
        tick(name, frame.provider(&provider))
    };
    let named = value(&name.name);
    Row {
        state: None,
        name: name.value(named).hint(if is_new { t.new_hint } else { "" }),
        all: tick(at(number, "all"), t.all.to_owned()),
        platforms: garson_platforms::all().iter().map(platform).collect(),
        starts: day("startsAt", t.starts, t.starts_hint),
        ends: day("endsAt", t.ends, t.ends_hint),
        kept: (kept("keptStart"), kept("keptEnd")),
        remove: (!is_new).then(|| tick(at(number, "remove"), t.remove.to_owned())),
    }
}

/// The last day on which it holds: it ends when the day does.
fn last_day(zone: &Zone, end: Timestamp) -> String {
    zone.write(end.minus(std::time::Duration::from_millis(1)), DAY)
}

/// What the form shows of a package that is kept.
fn kept_value(package: &Package, zone: &Zone, field: &str) -> String {
    let moment = |at: Option<Timestamp>| at.map(|at| at.to_string()).unwrap_or_default();
    match field {
        "name" => package.name.clone(),
        "all" if package.providers.is_none() => "on".to_owned(),
        "startsAt" => zone.write(package.starts_at, DAY),
        "endsAt" => package.ends_at.map(|end| last_day(zone, end)).unwrap_or_default(),
        "keptStart" => moment(Some(package.starts_at)),
        "keptEnd" => moment(package.ends_at),
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
    api: &Api,
    visitor: &Visitor,
    id: RestaurantId,
    typed: Option<&Fields>,
    wrong: Option<Wrong>,
) -> Result<Response, PanelError> {
    let restaurant = restaurants::get(&api.app, visitor.account.id, id)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    let (t, frame) = (
        PackageWords::of(visitor.lang),
        Frame::new(visitor, Place::Restaurants),
    );
    let zone = zone_of(restaurant.fields.config.as_deref());
    let mut known: Vec<&Package> = restaurant.packages.iter().collect();
    known.sort_by_key(|package| (package.starts_at, &package.name));
    let mut rows: Vec<Row> = match typed {
        Some(typed) => {
            let count = count_of(typed);
            let value = |name: &str| typed.get(name).to_owned();
            (0..count)
                .map(|number| row(&frame, &t, number, number + 1 == count, value))
                .collect()
        }
        None => {
            let shown = known.iter().enumerate().map(|(number, package)| Row {
                state: Some(state(&t, package, api.app.now())),
                ..row(&frame, &t, number, false, |name| {
                    kept_value(package, &zone, name.split_once("].").map_or("", |(_, rest)| rest))
                })
            });
            let all = at(known.len(), "all");
            let fresh = row(&frame, &t, known.len(), true, |name| {
                if name == all {
                    "on".to_owned()
                } else {
                    String::new()
                }
            });
            shown.chain([fresh]).collect()
        }
    };
    let problem = wrong
        .as_ref()
        .map(|wrong| wrong.mark(rows.iter_mut().flat_map(Row::fields)));
    let shown = page(&PackagesPage {
        about: About::new(visitor, &restaurant, Tab::Packages),
        is_empty: known.is_empty(),
        frame,
        t,
        rows,
        problem,
    });
    Ok(answer(shown, wrong.as_ref()))
}

fn zone_of(config: Option<&str>) -> Zone {
    Config::read(config).unwrap_or_default().zone()
}

async fn list_packages(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    visitor: Visitor,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&visitor, &id)?;
    show(&api, &visitor, id, None, None).await
}

/// How many rows the form had.
fn count_of(sent: &Fields) -> usize {
    (0..=50)
        .take_while(|row| sent.below(&at(*row, "name")).next().is_some())
        .count()
}

/// The moment that a day stands for: the very one that was there, as long as nobody chose another day.
fn moment(
    t: &PackageWords,
    sent: &Fields,
    (day, kept): (&str, &str),
    shown: impl Fn(Timestamp) -> String,
    of_day: impl Fn(&str) -> Option<Timestamp>,
) -> Result<Value, Fault> {
    let given = sent.get(day);
    if given.is_empty() {
        return Ok(Value::Null);
    }
    let before: Option<Timestamp> = sent.get(kept).parse().ok();
    let moment = before.filter(|at| shown(*at) == given).or_else(|| of_day(given));
    moment
        .map(|at| Value::String(at.to_string()))
        .ok_or_else(|| Fault::invalid(day, FieldProblem::text(t.wrong_day)))
}

/// A row as the API would be told of it.
fn body(t: &PackageWords, sent: &Fields, zone: &Zone, row: usize) -> Result<Value, Fault> {
    let (start, end) = (at(row, "startsAt"), at(row, "endsAt"));
    let (kept_start, kept_end) = (at(row, "keptStart"), at(row, "keptEnd"));
    let providers: Vec<String> = sent
        .below(&at(row, "providers."))
        .map(|(key, _)| key.to_owned())
        .collect();
    let is_all = sent.is_ticked(&at(row, "all"));
    Ok(json!({
        "name": sent.get(&at(row, "name")),
        "providers": if is_all { Value::Null } else { providers.into() },
        "startsAt": moment(
            t, sent, (&start, &kept_start), |at| zone.write(at, DAY), |day| zone.start_of_day(day),
        )?,
        "endsAt": moment(
            t, sent, (&end, &kept_end), |at| last_day(zone, at), |day| zone.end_of_day(day),
        )?,
    }))
}

async fn save_packages(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    Sent { visitor, fields }: Sent,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&visitor, &id)?;
    let t = PackageWords::of(visitor.lang);
    let restaurant = restaurants::get(&api.app, visitor.account.id, id)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    let zone = zone_of(restaurant.fields.config.as_deref());
    let count = count_of(&fields);
    // The last one is new: without a name there is none.
    let is_wanted = |row: &usize| {
        let is_blank = row + 1 == count && fields.get(&at(*row, "name")).is_empty();
        !is_blank && !fields.is_ticked(&at(*row, "remove"))
    };
    let wanted: Vec<usize> = (0..count).filter(is_wanted).collect();
    let bodies: Result<Vec<Value>, Fault> = wanted.iter().map(|row| body(&t, &fields, &zone, *row)).collect();
    let understood = match bodies {
        Ok(bodies) => read::<PackagesRequest>(&json!({ "packages": bodies }))
            .and_then(|wanted| packages(wanted, api.app.now()))
            .map_err(|error| in_its_row(Wrong::new(&visitor, error), &wanted)),
        Err(fault) => Err(Wrong::new(&visitor, ApiError::from(fault))),
    };
    let set = match understood {
        Ok(packages) => restaurants::set_packages(&api.app, visitor.account.id, id, packages)
            .await
            .map_err(|fault| Wrong::new(&visitor, fault)),
        Err(wrong) => Err(wrong),
    };
    match set {
        Ok(_) => Ok(visitor.done(&Tab::Packages.path(id), t.saved)),
        Err(wrong) => show(&api, &visitor, id, Some(&fields), Some(wrong?)).await,
    }
}

/// Rows that are removed are not sent on, so those that are have other numbers.
fn in_its_row(wrong: Result<Wrong, PanelError>, wanted: &[usize]) -> Result<Wrong, PanelError> {
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
