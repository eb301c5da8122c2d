//! The audit log: a page with filters, and a file.

use crate::flow::Fault;
use crate::flow::admin::audit::{self, LogReader};
use crate::flow::admin::restaurants;
use crate::flow::read::period::resolve_period;
use crate::http::state::HttpState;
use crate::http::table_file::{Cell, FileFormat, RowSource, download};
use crate::panel::components::day_range::DayRange;
use crate::panel::components::restaurant_header::chosen_restaurant;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Choice, Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::paging;
use crate::panel::kit::paging::Pager;
use crate::panel::words::{AuditNames, AuditWords};
use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use garson_core::audit::{ActorKind, AuditEntry, RecordKind};
use garson_core::id::{KeyId, RestaurantId};
use garson_store::lists::audit::AuditFilter;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

const PATH: &str = "/audit";
const PAGE_SIZE: usize = 50;
const MAX_ID: usize = 100;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route(PATH, get(show_audit))
        .route("/audit.csv", get(export_audit))
}

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditPage {
    layout: Layout,
    t: AuditWords,
    filters: Vec<Field>,
    has_filters: bool,
    rows: Vec<Row>,
    pager: Pager,
    file: String,
    is_partly: bool,
}

struct Row {
    number: i64,
    at: String,
    actor: String,
    address: String,
    action: String,
    record: String,
    restaurant: String,
    changes: Vec<ChangedField>,
}

struct ChangedField {
    name: String,
    before: String,
    after: String,
}

/// What is needed to name what entries refer to.
struct Names {
    restaurants: HashMap<RestaurantId, String>,
    keys: HashMap<KeyId, String>,
    names: AuditNames,
    t: AuditWords,
}

impl Names {
    fn actor(&self, entry: &AuditEntry) -> String {
        let actor = &entry.entry.actor;
        let kind = self.names.actor(actor.kind);
        match (actor.kind, &actor.name, actor.id) {
            (ActorKind::User, Some(email), _) => email.clone(),
            (ActorKind::Key, _, Some(id)) => {
                let label = self
                    .keys
                    .get(&KeyId(id))
                    .map_or(self.t.removed_key, String::as_str);
                format!("{}: {label}", self.t.key)
            }
            (_, Some(name), _) => format!("{kind}: {name}"),
            _ => kind.to_owned(),
        }
    }

    fn restaurant(&self, id: Option<RestaurantId>) -> String {
        id.and_then(|id| self.restaurants.get(&id).cloned())
            .unwrap_or_default()
    }
}

fn row(layout: &Layout, names: &Names, it: &AuditEntry) -> Row {
    let entry = &it.entry;
    Row {
        number: it.number,
        at: layout.timestamp(&entry.at),
        actor: names.actor(it),
        address: entry.address.clone().unwrap_or_default(),
        action: names.names.action(entry.action),
        record: entry.record_id.clone().unwrap_or_default(),
        restaurant: names.restaurant(entry.restaurant_id),
        changes: changes(entry.before.as_deref(), entry.after.as_deref()),
    }
}

/// The fields of both sides, by name.
fn changes(before: Option<&str>, after: Option<&str>) -> Vec<ChangedField> {
    let read = |text: Option<&str>| -> Map<String, Value> {
        text.and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    };
    let (before, after) = (read(before), read(after));
    let fields: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let shown = |value: Option<&Value>| match value {
        None | Some(Value::Null) => "–".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    fields
        .into_iter()
        .map(|name| ChangedField {
            name: name.clone(),
            before: shown(before.get(name)),
            after: shown(after.get(name)),
        })
        .collect()
}

/// The filter of a query string.
struct AuditQuery {
    days: DayRange,
    actor: Option<ActorKind>,
    record: Option<RecordKind>,
    record_id: String,
    restaurant: Option<RestaurantId>,
}

impl AuditQuery {
    fn read(user: &CurrentUser, fields: &FormData) -> Result<Self, PanelError> {
        Ok(Self {
            days: DayRange::read(fields),
            actor: ActorKind::named(fields.get("actor")),
            record: RecordKind::named(fields.get("record")),
            record_id: fields.get("id").trim().chars().take(MAX_ID).collect(),
            restaurant: chosen_restaurant(user, fields)?,
        })
    }

    fn params<'a>(&'a self, restaurant: &'a str) -> [(&'a str, &'a str); 6] {
        [
            ("from", self.days.from.as_str()),
            ("to", self.days.to.as_str()),
            ("actor", self.actor.map(ActorKind::as_str).unwrap_or_default()),
            ("record", self.record.map(RecordKind::as_str).unwrap_or_default()),
            ("id", self.record_id.as_str()),
            ("restaurant", restaurant),
        ]
    }

    fn restaurant_text(&self) -> String {
        self.restaurant.map_or_else(String::new, |id| id.to_string())
    }

    async fn filter(&self, api: &HttpState, user: &CurrentUser) -> Result<AuditFilter, Fault> {
        let (from, to) = resolve_period(&api.app, user.account.id, self.days.period()).await?;
        Ok(AuditFilter {
            actor: self.actor,
            record: self.record,
            record_id: (!self.record_id.is_empty()).then(|| self.record_id.clone()),
            restaurant: self.restaurant,
            from,
            to,
            ..AuditFilter::default()
        })
    }

    fn fields(&self, user: &CurrentUser, names: &Names) -> Vec<Field> {
        let t = &names.t;
        let any = |name: &str, is_chosen| Choice::new("", name, is_chosen);
        let mut actors = vec![any(t.any_actor, self.actor.is_none())];
        actors.extend(
            ActorKind::ALL
                .iter()
                .map(|kind| Choice::new(kind.as_str(), names.names.actor(*kind), self.actor == Some(*kind))),
        );
        let mut records = vec![any(t.any_record, self.record.is_none())];
        records.extend(RecordKind::ALL.iter().map(|kind| {
            Choice::new(
                kind.as_str(),
                names.names.record(*kind),
                self.record == Some(*kind),
            )
        }));
        let mut branches: Vec<(RestaurantId, String)> = names
            .restaurants
            .iter()
            .map(|(id, name)| (*id, name.clone()))
            .collect();
        branches.sort();
        let mut restaurants = vec![any(t.any_restaurant, self.restaurant.is_none())];
        restaurants.extend(
            branches
                .into_iter()
                .map(|(id, name)| Choice::new(id.to_string(), name, self.restaurant == Some(id))),
        );
        let [from, to] = self.days.fields(user.lang, t.from, t.to);
        vec![
            from,
            to,
            Field::new("actor", t.actor, FieldKind::Select(actors)),
            Field::new("record", t.record, FieldKind::Select(records)),
            Field::text("id", t.record_id)
                .value(self.record_id.clone())
                .length(0, MAX_ID),
            Field::new("restaurant", t.restaurant, FieldKind::Select(restaurants)),
        ]
    }
}

async fn names(api: &HttpState, user: &CurrentUser) -> Result<Names, PanelError> {
    let fail = |fault| user.fail(fault);
    let (app, account) = (&api.app, user.account.id);
    Ok(Names {
        restaurants: restaurants::names(app, account)
            .await
            .map_err(fail)?
            .into_iter()
            .collect(),
        keys: audit::key_labels(app, account).await.map_err(fail)?,
        names: AuditNames::of(user.lang),
        t: AuditWords::of(user.lang),
    })
}

async fn show_audit(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
    RawQuery(raw_query): RawQuery,
) -> Result<Response, PanelError> {
    let params = FormData::parse(raw_query.unwrap_or_default().as_bytes());
    let query = AuditQuery::read(&user, &params)?;
    let request = paging::page_request(&params, PAGE_SIZE);
    let names = names(&api, &user).await?;
    let fail = |fault| user.fail(fault);
    let found = if query.days.is_invalid() {
        garson_store::lists::feed::Page::empty(request)
    } else {
        let filter = query.filter(&api, &user).await.map_err(fail)?;
        audit::list(&api.app, user.account.id, filter, request)
            .await
            .map_err(fail)?
    };
    let layout = user.layout(NavItem::Audit);
    let restaurant = query.restaurant_text();
    let params = query.params(&restaurant);
    Ok(page(&AuditPage {
        t: names.t,
        filters: query.fields(&user, &names),
        has_filters: paging::url(PATH, &params) != PATH,
        pager: paging::pager(PATH, &params, request, &found),
        file: paging::url("/audit.csv", &params),
        is_partly: found.next.is_some() && found.items.len() < PAGE_SIZE,
        rows: found.items.iter().map(|it| row(&layout, &names, it)).collect(),
        layout,
    }))
}

/// A running export.
struct Export {
    api: Arc<HttpState>,
    reader: LogReader,
    names: Names,
    layout: Layout,
}

impl RowSource for Export {
    async fn next_chunk(mut self) -> Result<(Vec<Vec<Cell>>, Option<Self>), Fault> {
        let entries = self.reader.next(&self.api.app).await?.unwrap_or_default();
        let rows = entries.iter().map(|it| self.row(it)).collect();
        Ok((rows, (!self.reader.is_done()).then_some(self)))
    }
}

impl Export {
    fn row(&self, it: &AuditEntry) -> Vec<Cell> {
        let entry = &it.entry;
        let shown = row(&self.layout, &self.names, it);
        vec![
            Cell::Number(it.number),
            Cell::text(entry.at.to_string()),
            Cell::text(shown.actor),
            Cell::text(shown.address),
            Cell::text(entry.action.to_string()),
            Cell::text(shown.record),
            Cell::text(shown.restaurant),
            Cell::optional(entry.before.clone()),
            Cell::optional(entry.after.clone()),
        ]
    }
}

async fn export_audit(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
    RawQuery(raw_query): RawQuery,
) -> Result<Response, PanelError> {
    let params = FormData::parse(raw_query.unwrap_or_default().as_bytes());
    let query = AuditQuery::read(&user, &params)?;
    let restaurant = query.restaurant_text();
    if query.days.is_invalid() {
        // The page shows the error; a file of other days could go unnoticed.
        return Ok(Redirect::to(&paging::url(PATH, &query.params(&restaurant))).into_response());
    }
    let fail = |fault| user.fail(fault);
    let filter = query.filter(&api, &user).await.map_err(fail)?;
    let days = (query.days.from.as_str(), query.days.to.as_str());
    audit::record_export(&api.app, user.by(), "audit log", query.restaurant, days)
        .await
        .map_err(fail)?;
    let names = names(&api, &user).await?;
    let t = names.t;
    let heading = [
        t.number,
        t.at,
        t.actor,
        t.address,
        t.action,
        t.record_id,
        t.restaurant,
        t.before,
        t.after,
    ];
    let export = Export {
        reader: LogReader::new(user.account.id, filter),
        layout: user.layout(NavItem::Audit),
        names,
        api,
    };
    download(FileFormat::Csv, t.file, &heading, export)
        .await
        .map_err(fail)
}
