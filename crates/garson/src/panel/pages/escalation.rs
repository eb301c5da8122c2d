//! Escalation of a restaurant: the steps for orders that are not accepted, and who is watching.

use crate::flow::Fault;
use crate::flow::admin::{channels, escalation, restaurants};
use crate::flow::presence;
use crate::flow::presence::NamedPresence;
use crate::http::state::HttpState;
use crate::panel::components::restaurant_header::{RestaurantHeader, Tab, restaurant_id, restaurant_layout};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Choice, Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::form_errors::FormErrors;
use crate::panel::kit::form_page::form_page;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::{EscalationWords, StatusWords};
use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use garson_core::channel::Channel;
use garson_core::escalation::{MAX_SECONDS, MAX_STEPS, Step, StepAction, When};
use garson_core::field_problem::FieldProblem;
use garson_core::id::RestaurantId;
use garson_core::presence::PresenceKind;
use std::collections::BTreeSet;
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new().route(
        "/restaurants/{id}/escalation",
        get(show_escalation).post(save_escalation),
    )
}

/// Empty rows after the existing ones.
const SPARE_ROWS: usize = 2;

#[derive(Template)]
#[template(path = "escalation.html")]
struct EscalationPage {
    layout: Layout,
    t: EscalationWords,
    header: RestaurantHeader,
    rows: Vec<StepRow>,
    is_empty: bool,
    has_channels: bool,
    watching: Vec<String>,
    problem: Option<String>,
}

/// The form fields of a step.
struct StepRow {
    action: Field,
    seconds: Field,
    when: Field,
    channel: Field,
    note: Field,
    unwatched: Field,
}

impl StepRow {
    fn fields(&mut self) -> impl Iterator<Item = &mut Field> {
        [
            &mut self.action,
            &mut self.seconds,
            &mut self.when,
            &mut self.channel,
            &mut self.note,
            &mut self.unwatched,
        ]
        .into_iter()
    }
}

fn field_name(row: usize, name: &str) -> String {
    format!("steps[{row}].{name}")
}

/// The stored value of a form field.
fn stored_value(step: &Step, field: &str) -> String {
    match (field, &step.action) {
        ("action", action) => action.as_str().to_owned(),
        ("seconds", _) => step.seconds.to_string(),
        ("when", _) => step.when.as_str().to_owned(),
        ("channelId", StepAction::Message { channel_id }) => channel_id.to_string(),
        ("note", StepAction::Cancel { note, .. }) => note.clone().unwrap_or_default(),
        ("reason", StepAction::Cancel { reason, .. }) => reason.clone().unwrap_or_default(),
        ("onlyIfUnwatched", _) if step.only_if_unwatched => "on".to_owned(),
        _ => String::new(),
    }
}

fn select(name: String, label: &str, chosen: &str, choices: &[(&str, &str)]) -> Field {
    let choices = choices
        .iter()
        .map(|(value, name)| Choice::new(*value, *name, *value == chosen));
    Field::new(name, label, FieldKind::Select(choices.collect()))
}

fn row(t: &EscalationWords, known: &[Channel], number: usize, value: impl Fn(&str) -> String) -> StepRow {
    let name = |field: &str| field_name(number, field);
    let ids: Vec<(String, String)> = known
        .iter()
        .map(|channel| (channel.id.to_string(), channel.name.clone()))
        .collect();
    let mut channels = vec![("", t.no_channel)];
    channels.extend(ids.iter().map(|(id, name)| (id.as_str(), name.as_str())));
    StepRow {
        action: select(
            name("action"),
            t.action,
            &value("action"),
            &[
                ("", t.no_action),
                ("ring", t.ring),
                ("message", t.message),
                ("verify", t.verify),
                ("cancel", t.cancel),
            ],
        ),
        seconds: Field::new(name("seconds"), t.seconds, FieldKind::Input("number")).value(value("seconds")),
        when: select(
            name("when"),
            t.when,
            &value("when"),
            &[
                (When::Age.as_str(), t.age),
                (When::BeforeAcceptBy.as_str(), t.before),
                (When::AfterAcceptBy.as_str(), t.after),
            ],
        ),
        channel: select(name("channelId"), t.channel, &value("channelId"), &channels),
        note: Field::text(name("note"), t.note)
            .length(0, 500)
            .value(value("note")),
        unwatched: Field::new(
            name("onlyIfUnwatched"),
            t.unwatched,
            FieldKind::Checkbox(!value("onlyIfUnwatched").is_empty()),
        ),
    }
}

/// A connection in a line, such as “Board · since 19:45”.
fn watching_line(layout: &Layout, it: &NamedPresence) -> String {
    let t = StatusWords::of(layout.lang);
    let kind = match it.presence.kind {
        PresenceKind::Board => t.watcher_board,
        PresenceKind::Stream => t.watcher_stream,
        PresenceKind::Poller => t.watcher_poller,
        PresenceKind::Printer => t.watcher_printer,
    };
    let key = it.key.as_ref().map(|key| format!(" ({key})")).unwrap_or_default();
    format!(
        "{kind}{key} · {}: {}",
        t.since,
        layout.timestamp(&it.presence.since)
    )
}

async fn show(
    api: &HttpState,
    user: &CurrentUser,
    id: RestaurantId,
    typed: Option<&FormData>,
    wrong: Option<FormErrors>,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let (app, account) = (&api.app, user.account.id);
    let restaurant = restaurants::get(app, account, id).await.map_err(fail)?;
    let steps = escalation::get(app, account, id).await.map_err(fail)?;
    let known = channels::list(app, account).await.map_err(fail)?;
    let mut watching = presence::of_restaurant(app, account, id).await.map_err(fail)?;
    watching.retain(|it| it.presence.kind.is_watching());
    let t = EscalationWords::of(user.lang);
    let layout = Layout {
        here: Tab::Escalation.path(id),
        ..restaurant_layout(user, &restaurant)
    };
    let sent = typed.and_then(|typed| sent_rows(typed).ok());
    let count = match sent.as_ref().and_then(BTreeSet::last) {
        Some(last) => last + 1,
        None => (steps.len() + SPARE_ROWS).min(MAX_STEPS),
    };
    let mut rows: Vec<StepRow> = (0..count)
        .map(|number| {
            row(&t, &known, number, |name| match typed {
                Some(typed) => typed.get(&field_name(number, name)).to_owned(),
                None => steps
                    .get(number)
                    .map(|step| stored_value(step, name))
                    .unwrap_or_default(),
            })
        })
        .collect();
    let problem = wrong
        .as_ref()
        .map(|wrong| wrong.mark(rows.iter_mut().flat_map(StepRow::fields)));
    let page = page(&EscalationPage {
        header: RestaurantHeader::new(user, &restaurant, Tab::Escalation),
        watching: watching.iter().map(|it| watching_line(&layout, it)).collect(),
        is_empty: steps.is_empty(),
        has_channels: !known.is_empty(),
        layout,
        t,
        rows,
        problem,
    });
    Ok(form_page(page, wrong.as_ref()))
}

async fn show_escalation(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    show(&api, &user, id, None, None).await
}

/// The rows of a form. One without rows, or with rows that the page does not have, is not what the page sends: saving it would
/// drop steps.
fn sent_rows(sent: &FormData) -> Result<BTreeSet<usize>, Fault> {
    let rows: Option<BTreeSet<usize>> = sent
        .with_prefix("steps[")
        .map(|(name, _)| {
            let (number, _) = name.split_once("].")?;
            (0..MAX_STEPS).find(|row| row.to_string() == number)
        })
        .collect();
    let rows = rows.ok_or_else(|| Fault::invalid("steps", FieldProblem::TooMany { max: MAX_STEPS }))?;
    if rows.is_empty() {
        return Err(Fault::invalid("steps", FieldProblem::Required));
    }
    Ok(rows)
}

fn choices(list: &[&str]) -> FieldProblem {
    FieldProblem::NotOneOf {
        choices: list.join(", "),
    }
}

fn parse_row(sent: &FormData, row: usize, stored: Option<&Step>) -> Result<Step, Fault> {
    let get = |name: &str| sent.get(&field_name(row, name)).to_owned();
    let invalid = |name: &str, problem| Fault::invalid(field_name(row, name), problem);
    let seconds = get("seconds");
    let (min, max) = (0, i64::from(MAX_SECONDS));
    let seconds = seconds
        .trim()
        .parse()
        .map_err(|_| invalid("seconds", FieldProblem::NotWholeNumber { min, max }))?;
    let action = match get("action").as_str() {
        "ring" => StepAction::Ring,
        "verify" => StepAction::Verify,
        "message" => StepAction::Message {
            channel_id: get("channelId")
                .parse()
                .map_err(|_| invalid("channelId", FieldProblem::Required))?,
        },
        "cancel" => StepAction::Cancel {
            // The form does not edit a reason that was set by the API.
            reason: match stored.map(|step| &step.action) {
                Some(StepAction::Cancel { reason, .. }) => reason.clone(),
                _ => None,
            },
            note: sent.non_empty(&field_name(row, "note")),
        },
        _ => {
            let known = ["ring", "message", "verify", "cancel"];
            return Err(invalid("action", choices(&known)));
        }
    };
    Ok(Step {
        when: When::named(&get("when"))
            .ok_or_else(|| invalid("when", choices(&When::ALL.map(When::as_str))))?,
        seconds,
        only_if_unwatched: sent.is_checked(&field_name(row, "onlyIfUnwatched")),
        action,
    })
}

async fn save_escalation(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let account = user.account.id;
    let stored = escalation::get(&api.app, account, id)
        .await
        .map_err(|fault| user.fail(fault))?;
    let rows = sent_rows(&fields);
    let wanted: Vec<usize> = rows
        .iter()
        .flatten()
        .copied()
        .filter(|row| !fields.get(&field_name(*row, "action")).is_empty())
        .collect();
    let steps: Result<Vec<Step>, Fault> = rows.and_then(|_| {
        let steps = wanted.iter();
        steps
            .map(|row| parse_row(&fields, *row, stored.get(*row)))
            .collect()
    });
    let saved = match steps {
        Ok(steps) => escalation::set(&api.app, user.by(), id, steps)
            .await
            .map_err(|fault| to_form_row(FormErrors::new(&user, fault), &wanted)),
        Err(fault) => Err(FormErrors::new(&user, fault)),
    };
    match saved {
        Ok(_) => {
            let t = EscalationWords::of(user.lang);
            Ok(user.redirect_with_notice(&Tab::Escalation.path(id), t.saved))
        }
        Err(wrong) => show(&api, &user, id, Some(&fields), Some(wrong?)).await,
    }
}

/// Maps the error to its row in the form, because empty rows are not sent.
fn to_form_row(wrong: Result<FormErrors, PanelError>, wanted: &[usize]) -> Result<FormErrors, PanelError> {
    let wrong = wrong?;
    let place = wrong
        .field()
        .strip_prefix("steps[")
        .and_then(|rest| rest.split_once(']'))
        .and_then(|(number, rest)| Some((*wanted.get(number.parse::<usize>().ok()?)?, rest)));
    let field = place.map(|(row, rest)| format!("steps[{row}]{rest}"));
    Ok(match field {
        Some(field) => wrong.moved_to(field),
        None => wrong,
    })
}
