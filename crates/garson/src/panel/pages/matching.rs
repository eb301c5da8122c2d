//! Payment matching of a restaurant: the POS's payment types, and the platforms' types that they match.

use crate::flow::Fault;
use crate::flow::admin::input::{
    MatchingHeaders, Patch, PaymentMatchInput, RestaurantInput, payment_matches,
};
use crate::flow::admin::payment_matching;
use crate::flow::admin::payment_matching::PosPaymentType;
use crate::flow::admin::restaurants;
use crate::http::state::HttpState;
use crate::panel::components::restaurant_header::{RestaurantHeader, Tab, restaurant_id, restaurant_layout};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::explain;
use crate::panel::kit::form::{Choice, Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::form_errors::FormErrors;
use crate::panel::kit::form_input::{optional, required};
use crate::panel::kit::form_page::form_page;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::names;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::MatchingWords;
use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use garson_core::field_problem::{FieldProblem, HeaderProblem};
use garson_core::id::RestaurantId;
use garson_core::payment::PaymentType;
use garson_core::permission::Permission;
use garson_core::restaurant::{PaymentMatch, RestaurantFields};
use std::collections::BTreeMap;
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
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
/// Empty rows after the existing ones.
const SPARE_ROWS: usize = 3;

#[derive(Template)]
#[template(path = "matching.html")]
struct MatchingPage {
    layout: Layout,
    t: MatchingWords,
    header: RestaurantHeader,
    source: Vec<Field>,
    /// Why the POS's types could not be read.
    types_problem: Option<String>,
    rows: Vec<MatchRow>,
    is_empty: bool,
    problem: Option<String>,
}

/// The form fields of a match.
struct MatchRow {
    platform: Field,
    kind: Field,
    code: Field,
    matched: Field,
}

impl MatchRow {
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

fn field_name(row: usize, name: &str) -> String {
    format!("matches[{row}].{name}")
}

/// The stored value of a form field.
fn stored_value(found: &PaymentMatch, field: &str) -> String {
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
    layout: &Layout,
    t: &MatchingWords,
    types: &[PosPaymentType],
    number: usize,
    value: impl Fn(&str) -> String,
) -> MatchRow {
    let choice = |value: &str, name: String, chosen: &str| Choice::new(value, name, value == chosen);
    let provider = value("provider");
    let platforms = garson_platforms::all().iter().map(|platform| {
        let key = platform.provider();
        choice(key.as_str(), layout.provider(&key), &provider)
    });
    let kind = value("type");
    let kinds = PaymentType::ALL
        .iter()
        .map(|it| choice(it.as_str(), names::payment(layout.lang, *it).to_owned(), &kind));
    let kinds = std::iter::once(choice("", t.any_kind.to_owned(), &kind)).chain(kinds);
    let (platforms, kinds) = (platforms.collect(), kinds.collect());
    MatchRow {
        platform: Field::new(
            field_name(number, "provider"),
            t.platform,
            FieldKind::Select(platforms),
        ),
        kind: Field::new(field_name(number, "type"), t.kind, FieldKind::Select(kinds)),
        code: Field::text(field_name(number, "providerCode"), t.code)
            .length(0, 100)
            .value(value("providerCode")),
        matched: matched(t, types, number, value("matchedId")),
    }
}

/// A select of the POS's types; a text field for the id if they are unknown.
fn matched(t: &MatchingWords, types: &[PosPaymentType], number: usize, value: String) -> Field {
    let name = field_name(number, "matchedId");
    if types.is_empty() {
        return Field::text(name, t.matched).length(0, 100).value(value);
    }
    let mut choices = vec![Choice::new("", t.no_match, value.is_empty())];
    let known = types
        .iter()
        .map(|it| Choice::new(it.id.clone(), it.name.clone(), it.id == value));
    choices.extend(known);
    // A match stays visible after the POS has removed its type.
    if !choices.iter().any(|choice| choice.is_chosen) {
        choices.push(Choice::new(value.clone(), value, true));
    }
    Field::new(name, t.matched, FieldKind::Select(choices))
}

/// Where the POS lists its types. Headers are secrets: not even typed ones are shown again.
fn source(t: &MatchingWords, fields: &RestaurantFields, typed: Option<&FormData>) -> Vec<Field> {
    let stored = fields.payment_matching_url.clone().unwrap_or_default();
    let url = typed.map_or(stored, |typed| typed.get(URL).to_owned());
    let has_headers = fields.payment_matching_headers.is_some();
    let hint = if has_headers {
        format!("{} {}", t.headers_kept, t.headers_hint)
    } else {
        t.headers_hint.to_owned()
    };
    let mut source = vec![
        Field::new(URL, t.url, FieldKind::Input("url"))
            .length(0, 2048)
            .value(url),
        Field::new(HEADERS, t.headers, FieldKind::Textarea).hint(hint),
    ];
    if has_headers {
        source.push(Field::new(FORGET, t.headers_remove, FieldKind::Checkbox(false)));
    }
    source
}

async fn show(
    api: &HttpState,
    user: &CurrentUser,
    id: RestaurantId,
    typed: Option<&FormData>,
    wrong: Option<FormErrors>,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let account = user.account.id;
    let restaurant = restaurants::get(&api.app, account, id).await.map_err(fail)?;
    let found = payment_matching::show(&api.app, account, id)
        .await
        .map_err(fail)?;
    let t = MatchingWords::of(user.lang);
    let layout = Layout {
        here: Tab::Payments.path(id),
        ..restaurant_layout(user, &restaurant)
    };
    let typed_rows = typed.filter(|typed| row_count(typed) > 0);
    let typed_source = typed.filter(|_| typed_rows.is_none());
    let mut rows: Vec<MatchRow> = match typed_rows {
        Some(typed) => (0..row_count(typed))
            .map(|number| {
                row(&layout, &t, &found.types, number, |name| {
                    typed.get(&field_name(number, name)).to_owned()
                })
            })
            .collect(),
        None => (0..found.matches.len() + SPARE_ROWS)
            .map(|number| {
                row(&layout, &t, &found.types, number, |name| {
                    found
                        .matches
                        .get(number)
                        .map(|it| stored_value(it, name))
                        .unwrap_or_default()
                })
            })
            .collect(),
    };
    let mut source = source(&t, &restaurant.fields, typed_source);
    let marked = rows
        .iter_mut()
        .flat_map(MatchRow::fields)
        .chain(source.iter_mut());
    let problem = wrong.as_ref().map(|wrong| wrong.mark(marked));
    let has_url = restaurant.fields.payment_matching_url.is_some();
    let page = page(&MatchingPage {
        header: RestaurantHeader::new(user, &restaurant, Tab::Payments),
        types_problem: found.problem.map(|why| {
            if has_url {
                format!("{} {}", t.problem, explain::matching_problem(user.lang, &why))
            } else {
                t.no_url.to_owned()
            }
        }),
        is_empty: found.matches.is_empty(),
        layout,
        t,
        source,
        rows,
        problem,
    });
    Ok(form_page(page, wrong.as_ref()))
}

async fn show_matching(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    show(&api, &user, id, None, None).await
}

/// The number of rows in the form.
fn row_count(sent: &FormData) -> usize {
    (0..=500 + SPARE_ROWS)
        .take_while(|row| sent.with_prefix(&field_name(*row, "matchedId")).next().is_some())
        .count()
}

fn parse_row(sent: &FormData, row: usize) -> Result<PaymentMatchInput, Fault> {
    let kind = field_name(row, "type");
    let payment_type = |key: String| {
        PaymentType::named(&key)
            .ok_or_else(|| Fault::invalid(&kind, FieldProblem::text("is not a payment type")))
    };
    Ok(PaymentMatchInput {
        provider: sent.get(&field_name(row, "provider")).to_owned(),
        payment_type: sent.non_empty(&kind).map(payment_type).transpose()?,
        provider_code: optional(sent, &field_name(row, "providerCode"))?,
        matched_id: required(sent, &field_name(row, "matchedId"))?,
    })
}

async fn save_matches(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let wanted: Vec<usize> = (0..row_count(&fields))
        .filter(|row| !fields.get(&field_name(*row, "matchedId")).is_empty())
        .collect();
    let inputs: Result<Vec<PaymentMatchInput>, Fault> =
        wanted.iter().map(|row| parse_row(&fields, *row)).collect();
    let parsed = match inputs {
        Ok(inputs) => {
            payment_matches(inputs).map_err(|fault| to_form_row(FormErrors::new(&user, fault), &wanted))
        }
        Err(fault) => Err(FormErrors::new(&user, fault)),
    };
    let set = match parsed {
        Ok(matches) => payment_matching::set(&api.app, user.by(), id, matches)
            .await
            .map_err(|fault| FormErrors::new(&user, fault)),
        Err(wrong) => Err(wrong),
    };
    match set {
        Ok(_) => {
            let t = MatchingWords::of(user.lang);
            Ok(user.redirect_with_notice(&Tab::Payments.path(id), t.saved))
        }
        Err(wrong) => show(&api, &user, id, Some(&fields), Some(wrong?)).await,
    }
}

/// Maps the error to its row in the form, because empty rows are not sent. An error of a whole row is shown at its code.
fn to_form_row(wrong: Result<FormErrors, PanelError>, wanted: &[usize]) -> Result<FormErrors, PanelError> {
    let wrong = wrong?;
    let place = wrong
        .field()
        .strip_prefix("matches[")
        .and_then(|rest| rest.split_once(']'))
        .and_then(|(number, rest)| Some((wanted.get(number.parse::<usize>().ok()?)?, rest)));
    Ok(match place {
        Some((row, "")) => {
            let field = field_name(*row, "providerCode");
            wrong.moved_to(field)
        }
        Some((row, rest)) => {
            let field = format!("matches[{row}]{rest}");
            wrong.moved_to(field)
        }
        None => wrong,
    })
}

/// Parses lines of `Name: value`.
fn headers(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let pair = |line: &str| {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        (name.trim().to_owned(), value.trim().to_owned())
    };
    lines.map(pair).collect()
}

/// The address and headers that the form describes.
fn parse_source(sent: &FormData) -> Result<RestaurantInput, Fault> {
    let mut input = RestaurantInput {
        payment_matching_url: sent.non_empty(URL).into(),
        ..RestaurantInput::default()
    };
    if let Some(lines) = sent.non_empty(HEADERS) {
        let is_broken = |line: &str| !line.trim().is_empty() && !line.contains(':');
        if lines.lines().any(is_broken) {
            return Err(Fault::invalid(HEADERS, HeaderProblem::InvalidName));
        }
        input.payment_matching_headers = Patch::Set(MatchingHeaders::parse(headers(&lines))?);
    } else if sent.is_checked(FORGET) {
        input.payment_matching_headers = Patch::Clear;
    }
    Ok(input)
}

async fn save_source(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let saved = match parse_source(&fields) {
        Ok(input) => {
            let before = restaurants::get(&api.app, user.account.id, id)
                .await
                .map_err(|fault| user.fail(fault))?;
            if input.redirects_stored_headers(&before.fields) && !user.may(Permission::ManagePrimaryKey) {
                return Err(user.fail(Fault::NotAllowed));
            }
            let apply = move |fields: &mut RestaurantFields| input.apply(fields);
            restaurants::update(&api.app, user.by(), id, apply)
                .await
                .map_err(|fault| FormErrors::new(&user, fault))
        }
        Err(fault) => Err(FormErrors::new(&user, fault)),
    };
    match saved {
        Ok(_) => {
            let t = MatchingWords::of(user.lang);
            Ok(user.redirect_with_notice(&Tab::Payments.path(id), t.source_saved))
        }
        Err(wrong) => show(&api, &user, id, Some(&fields), Some(wrong?)).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_lines() {
        assert_eq!(
            headers("X-Key: a:b\r\n\r\n Accept :x \n"),
            [("X-Key", "a:b"), ("Accept", "x")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into()
        );
    }
}
