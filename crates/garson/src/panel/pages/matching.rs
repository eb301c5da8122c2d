//! Payment matching of a restaurant: where the till lists its payment types, and what they stand for on the platforms.

use super::restaurants::answer;
use crate::api::{Api, ApiError, MatchesRequest, RestaurantChange, RestaurantRequest, payment_matches};
use crate::flow::Fault;
use crate::flow::admin::payment_matching;
use crate::flow::admin::payment_matching::PosPaymentType;
use crate::flow::admin::restaurants;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::explain;
use crate::panel::kit::fields::Fields;
use crate::panel::kit::form::{Choice, Field, Kind};
use crate::panel::kit::form_errors::{Wrong, read, text};
use crate::panel::kit::frame::{Frame, Place, page};
use crate::panel::kit::names;
use crate::panel::kit::restaurant_header::{About, Tab, restaurant_id};
use crate::panel::kit::visitor::{Sent, Visitor};
use crate::panel::words::MatchingWords;
use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use garson_core::field_problem::HeaderProblem;
use garson_core::id::RestaurantId;
use garson_core::payment::PaymentType;
use garson_core::restaurant::{PaymentMatch, RestaurantFields};
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub fn routes() -> Router<Arc<Api>> {
    Router::new()
        .route(
            "/restaurants/{id}/payments",
            get(show_matching).post(save_matches),
        )
        .route("/restaurants/{id}/payments/source", post(save_source))
}

const URL: &str = "paymentMatchingUrl";
const HEADERS: &str = "paymentMatchingHeaders";
const FORGET: &str = "forgetHeaders";
/// Empty rows after those that are there.
const SPARE: usize = 3;

#[derive(Template)]
#[template(path = "matching.html")]
struct MatchingPage {
    frame: Frame,
    t: MatchingWords,
    about: About,
    source: Vec<Field>,
    /// Why the till's types are not known.
    unknown: Option<String>,
    rows: Vec<Row>,
    is_empty: bool,
    problem: Option<String>,
}

/// A match as a part of the form.
struct Row {
    platform: Field,
    kind: Field,
    code: Field,
    matched: Field,
}

impl Row {
    fn fields(&mut self) -> impl Iterator<Item = &mut Field> {
        [
            &mut self.matched,
            &mut self.code,
            &mut self.kind,
            &mut self.platform,
        ]
        .into_iter()
    }
}

fn at(row: usize, name: &str) -> String {
    format!("matches[{row}].{name}")
}

/// What a match says, by the names of its fields.
fn kept(found: &PaymentMatch, field: &str) -> String {
    match field {
        "provider" => found.provider.to_string(),
        "type" => found
            .payment_type
            .map(|it| it.as_str().to_owned())
            .unwrap_or_default(),
        "providerCode" => found.provider_code.clone().unwrap_or_default(),
        _ => found.matched_id.clone(),
    }
}

fn row(
    frame: &Frame,
    t: &MatchingWords,
    types: &[PosPaymentType],
    number: usize,
    value: impl Fn(&str) -> String,
) -> Row {
    let choice = |value: &str, name: String, chosen: &str| Choice::new(value, name, value == chosen);
    let provider = value("provider");
    let platforms = garson_platforms::all().iter().map(|platform| {
        let key = platform.provider();
        choice(key.as_str(), frame.provider(&key), &provider)
    });
    let kind = value("type");
    let kinds = PaymentType::ALL
        .iter()
        .map(|it| choice(it.as_str(), names::payment(frame.lang, *it).to_owned(), &kind));
    let kinds = std::iter::once(choice("", t.any_kind.to_owned(), &kind)).chain(kinds);
    let (platforms, kinds) = (platforms.collect(), kinds.collect());
    Row {
        platform: Field::new(at(number, "provider"), t.platform, Kind::Select(platforms)),
        kind: Field::new(at(number, "type"), t.kind, Kind::Select(kinds)),
        code: Field::text(at(number, "providerCode"), t.code)
            .between(0, 100)
            .value(value("providerCode")),
        matched: matched(t, types, number, value("matchedId")),
    }
}

/// One of the till's types, where they are known; its id, where they are not.
fn matched(t: &MatchingWords, types: &[PosPaymentType], number: usize, value: String) -> Field {
    let name = at(number, "matchedId");
    if types.is_empty() {
        return Field::text(name, t.matched).between(0, 100).value(value);
    }
    let mut choices = vec![Choice::new("", t.no_match, value.is_empty())];
    let known = types
        .iter()
        .map(|it| Choice::new(it.id.clone(), it.name.clone(), it.id == value));
    choices.extend(known);
    // What is matched stays to be seen, although the till does not have it any more.
    if !choices.iter().any(|choice| choice.is_chosen) {
        choices.push(Choice::new(value.clone(), value, true));
    }
    Field::new(name, t.matched, Kind::Select(choices))
}

/// The fields that say where the till lists its types. Headers are secrets: what was typed is not shown again either.
fn source(t: &MatchingWords, fields: &RestaurantFields, typed: Option<&Fields>) -> Vec<Field> {
    let kept = fields.payment_matching_url.clone().unwrap_or_default();
    let url = typed.map_or(kept, |typed| typed.get(URL).to_owned());
    let has_headers = fields.payment_matching_headers.is_some();
    let hint = match has_headers {
        true => format!("{} {}", t.headers_kept, t.headers_hint),
        false => t.headers_hint.to_owned(),
    };
    let mut source = vec![
        Field::new(URL, t.url, Kind::Input("url"))
            .between(0, 2048)
            .value(url),
        Field::new(HEADERS, t.headers, Kind::Area).hint(hint),
    ];
    if has_headers {
        source.push(Field::new(FORGET, t.headers_remove, Kind::Tick(false)));
    }
    source
}

async fn show(
    api: &Api,
    visitor: &Visitor,
    id: RestaurantId,
    typed: Option<&Fields>,
    wrong: Option<Wrong>,
) -> Result<Response, PanelError> {
    let fail = |fault| visitor.fail(fault);
    let account = visitor.account.id;
    let restaurant = restaurants::get(&api.app, account, id).await.map_err(fail)?;
    let found = payment_matching::show(&api.app, account, id)
        .await
        .map_err(fail)?;
    let t = MatchingWords::of(visitor.lang);
    let frame = Frame {
        here: Tab::Payments.path(id),
        ..Frame::new(visitor, Place::Restaurants)
    };
    let typed_rows = typed.filter(|typed| count_of(typed) > 0);
    let is_source = typed.filter(|_| typed_rows.is_none());
    let mut rows: Vec<Row> = match typed_rows {
        Some(typed) => (0..count_of(typed))
            .map(|number| {
                row(&frame, &t, &found.types, number, |name| {
                    typed.get(&at(number, name)).to_owned()
                })
            })
            .collect(),
        None => (0..found.matches.len() + SPARE)
            .map(|number| {
                row(&frame, &t, &found.types, number, |name| {
                    found
                        .matches
                        .get(number)
                        .map(|it| kept(it, name))
                        .unwrap_or_default()
                })
            })
            .collect(),
    };
    let mut source = source(&t, &restaurant.fields, is_source);
    let marked = rows.iter_mut().flat_map(Row::fields).chain(source.iter_mut());
    let problem = wrong.as_ref().map(|wrong| wrong.mark(marked));
    let has_url = restaurant.fields.payment_matching_url.is_some();
    let shown = page(&MatchingPage {
        about: About::new(visitor, &restaurant, Tab::Payments),
        unknown: found.problem.map(|why| match has_url {
            true => format!("{} {}", t.problem, explain::matching_problem(visitor.lang, &why)),
            false => t.no_url.to_owned(),
        }),
        is_empty: found.matches.is_empty(),
        frame,
        t,
        source,
        rows,
        problem,
    });
    Ok(answer(shown, wrong.as_ref()))
}

async fn show_matching(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    visitor: Visitor,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&visitor, &id)?;
    show(&api, &visitor, id, None, None).await
}

/// How many rows the form had.
fn count_of(sent: &Fields) -> usize {
    (0..=500 + SPARE)
        .take_while(|row| sent.below(&at(*row, "matchedId")).next().is_some())
        .count()
}

async fn save_matches(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    Sent { visitor, fields }: Sent,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&visitor, &id)?;
    let wanted: Vec<usize> = (0..count_of(&fields))
        .filter(|row| !fields.get(&at(*row, "matchedId")).is_empty())
        .collect();
    let body = |row: &usize| {
        json!({
            "provider": fields.get(&at(*row, "provider")),
            "type": text(&fields, &at(*row, "type")),
            "providerCode": text(&fields, &at(*row, "providerCode")),
            "matchedId": fields.get(&at(*row, "matchedId")),
        })
    };
    let bodies: Vec<Value> = wanted.iter().map(body).collect();
    let set = match read::<MatchesRequest>(&json!({ "matches": bodies })).and_then(payment_matches) {
        Ok(matches) => payment_matching::set(&api.app, visitor.account.id, id, matches)
            .await
            .map_err(|fault| Wrong::new(&visitor, fault)),
        Err(error) => Err(in_its_row(Wrong::new(&visitor, error), &wanted)),
    };
    match set {
        Ok(_) => {
            let t = MatchingWords::of(visitor.lang);
            Ok(visitor.done(&Tab::Payments.path(id), t.saved))
        }
        Err(wrong) => show(&api, &visitor, id, Some(&fields), Some(wrong?)).await,
    }
}

/// Empty rows are not sent on, so those that are have other numbers. What is about a whole row is said at its code.
fn in_its_row(wrong: Result<Wrong, PanelError>, wanted: &[usize]) -> Result<Wrong, PanelError> {
    let wrong = wrong?;
    let place = wrong
        .field()
        .strip_prefix("matches[")
        .and_then(|rest| rest.split_once(']'))
        .and_then(|(number, rest)| Some((wanted.get(number.parse::<usize>().ok()?)?, rest)));
    Ok(match place {
        Some((row, "")) => {
            let field = at(*row, "providerCode");
            wrong.moved_to(field)
        }
        Some((row, rest)) => {
            let field = format!("matches[{row}]{rest}");
            wrong.moved_to(field)
        }
        None => wrong,
    })
}

/// Lines of „Name: value“ as an object.
fn headers(text: &str) -> Value {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let pair = |line: &str| {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        (name.trim().to_owned(), Value::String(value.trim().to_owned()))
    };
    Value::Object(lines.map(pair).collect())
}

/// What the form says of the till, by the API's own rules.
fn understood(sent: &Fields) -> Result<RestaurantChange, ApiError> {
    let mut body = Map::new();
    // A name has to be there, and stays as it is.
    body.insert("name".to_owned(), "-".into());
    body.insert(URL.to_owned(), text(sent, URL));
    if let Some(lines) = sent.given(HEADERS) {
        // A line without a colon has no value to send.
        let is_broken = |line: &str| !line.trim().is_empty() && !line.contains(':');
        if lines.lines().any(is_broken) {
            return Err(Fault::invalid(HEADERS, HeaderProblem::InvalidName).into());
        }
        body.insert(HEADERS.to_owned(), headers(&lines));
    } else if sent.is_ticked(FORGET) {
        body.insert(HEADERS.to_owned(), Value::Null);
    }
    read::<RestaurantRequest>(&Value::Object(body)).and_then(RestaurantChange::check)
}

async fn save_source(
    State(api): State<Arc<Api>>,
    Path(id): Path<String>,
    Sent { visitor, fields }: Sent,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&visitor, &id)?;
    let saved = match understood(&fields) {
        Ok(change) => {
            let apply = move |fields: &mut RestaurantFields| {
                let name = fields.name.clone();
                change.apply(fields);
                fields.name = name;
            };
            restaurants::update(&api.app, visitor.account.id, id, apply)
                .await
                .map_err(|fault| Wrong::new(&visitor, fault))
        }
        Err(error) => Err(Wrong::new(&visitor, error)),
    };
    match saved {
        Ok(_) => {
            let t = MatchingWords::of(visitor.lang);
            Ok(visitor.done(&Tab::Payments.path(id), t.source_saved))
        }
        Err(wrong) => show(&api, &visitor, id, Some(&fields), Some(wrong?)).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_lines() {
        assert_eq!(
            headers("X-Key: a:b\r\n\r\n Accept :x \n"),
            json!({ "X-Key": "a:b", "Accept": "x" })
        );
    }
}
