//! Menus that are sent to a platform as a whole, where the operator has switched it on: the form, what came of them, and the
//! platform's own log.

use crate::flow::Fault;
use crate::flow::admin::integrations::platform;
use crate::flow::admin::restaurants;
use crate::flow::products::catalogs;
use crate::http::state::HttpState;
use crate::panel::components::restaurant_header::{RestaurantHeader, Tab, products_layout, restaurant_id};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Choice, Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::live_parts::{Parts, follow_parts, markup};
use crate::panel::kit::time_ago::TimeAgo;
use crate::panel::kit::user_form::UserForm;
use crate::panel::kit::{explain, field_problem};
use crate::panel::words::CatalogWords;
use askama::Template;
use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use axum::routing::get;
use garson_core::catalog::{CatalogLogEntry, CatalogStage, CatalogState};
use garson_core::explanation::PlatformTask;
use garson_core::id::{CatalogPushId, RestaurantId};
use garson_core::platform::{Platform, PlatformError};
use garson_core::restaurant::Restaurant;
use garson_core::store_control::Requester;
use garson_core::time::Timestamp;
use garson_store::tables::catalogs::PushedCatalog;
use std::sync::Arc;

/// Sent menus on the page.
const LIMIT: usize = 20;
/// Details of one that are shown.
const DETAILS: usize = 20;

pub fn routes() -> Router<Arc<HttpState>> {
    let one = "/restaurants/{id}/catalog";
    Router::new()
        .route(one, get(show_catalogs).post(push_catalog))
        .route(&format!("{one}/stream"), get(follow_catalogs))
}

/// The page, if menus of the restaurant can be sent.
pub fn link(api: &HttpState, restaurant: &Restaurant) -> Option<String> {
    let is_offered = !catalogs::targets(&api.app, restaurant).is_empty();
    is_offered.then(|| path(restaurant.id))
}

fn path(restaurant: RestaurantId) -> String {
    format!("/restaurants/{restaurant}/catalog")
}

#[derive(Template)]
#[template(path = "catalogs.html")]
struct CatalogsPage {
    layout: Layout,
    t: CatalogWords,
    header: RestaurantHeader,
    /// None where no menu can be read.
    form: Option<PushForm>,
    pushes: CatalogPushes,
    logs: Vec<LogView>,
    stream: String,
}

struct PushForm {
    from: Field,
    to: Field,
}

/// The last menus that were sent, which the live stream replaces.
#[derive(Template)]
#[template(path = "catalog_pushes.html")]
struct CatalogPushes {
    t: CatalogWords,
    rows: Vec<PushRow>,
}

struct PushRow {
    id: String,
    at: TimeAgo,
    from: String,
    to: String,
    products: i64,
    tone: &'static str,
    state: &'static str,
    message: String,
    details: Vec<String>,
}

/// The log of one platform.
struct LogView {
    key: String,
    provider: String,
    /// None: it was not asked for.
    entries: Option<Vec<LogRow>>,
    problem: Option<String>,
}

struct LogRow {
    at: String,
    id: String,
    tone: &'static str,
    state: &'static str,
    message: String,
}

impl PushRow {
    fn new(layout: &Layout, t: &CatalogWords, pushed: &PushedCatalog) -> Self {
        let progress = &pushed.progress;
        let (tone, state) = match progress.stage {
            CatalogStage::Pending => ("warn", t.pending),
            CatalogStage::Submitted => ("warn", t.submitted),
            CatalogStage::InProgress => ("warn", t.in_progress),
            CatalogStage::Done => ("good", t.done),
            CatalogStage::DoneWithErrors => ("bad", t.done_with_errors),
            CatalogStage::Failed => ("bad", t.failed),
            CatalogStage::Unclear => ("bad", t.unclear),
        };
        let own = || explain::optional_platform(layout.lang, progress.message.as_ref());
        Self {
            id: pushed.id.to_string(),
            at: layout.time_ago(&pushed.created_at),
            from: layout.provider(&pushed.source),
            to: layout.provider(&pushed.provider),
            products: pushed.products,
            tone,
            state,
            message: progress.report.clone().unwrap_or_else(own),
            details: progress.details.iter().take(DETAILS).cloned().collect(),
        }
    }
}

impl LogRow {
    fn new(layout: &Layout, t: &CatalogWords, entry: &CatalogLogEntry) -> Self {
        let (tone, state) = match entry.import.state {
            CatalogState::InProgress => ("warn", t.in_progress),
            CatalogState::Done => ("good", t.done),
            CatalogState::DoneWithErrors => ("bad", t.done_with_errors),
            CatalogState::Failed => ("bad", t.failed),
            CatalogState::Unknown => ("", t.unknown),
        };
        Self {
            at: layout.timestamp_or(&entry.created_at, t.unknown),
            id: entry.import.import_id.clone(),
            tone,
            state,
            message: entry.import.message.clone().unwrap_or_default(),
        }
    }
}

impl CatalogPushes {
    fn new(layout: &Layout, t: CatalogWords, pushed: &[PushedCatalog]) -> Self {
        Self {
            rows: pushed.iter().map(|it| PushRow::new(layout, &t, it)).collect(),
            t,
        }
    }

    /// The newest result, for the live region.
    fn said(&self) -> String {
        let newest = self.rows.first();
        newest.map_or_else(String::new, |it| format!("{} → {}: {}", it.from, it.to, it.state))
    }
}

/// The form, unless there is no platform whose menu could be sent.
fn push_form(
    layout: &Layout,
    t: &CatalogWords,
    restaurant: &Restaurant,
    targets: &[&'static dyn Platform],
) -> Option<PushForm> {
    let has_menu = |it: &&&garson_core::integration::Integration| {
        garson_platforms::of(it.provider).is_some_and(|platform| platform.capability().menu)
    };
    let all: Vec<_> = restaurant.integrations.iter().collect();
    let choice = |provider| Choice::new(format!("{provider}"), layout.provider(&provider), false);
    let sources: Vec<Choice> = all
        .iter()
        .filter(has_menu)
        .map(|it| choice(it.provider))
        .collect();
    let targets = targets.iter().map(|it| choice(it.provider())).collect();
    (!sources.is_empty()).then(|| PushForm {
        from: Field::new("from", t.from, FieldKind::Select(sources)),
        to: Field::new("to", t.to, FieldKind::Select(targets)),
    })
}

/// The restaurant and where its menus can be sent to. Elsewhere there is no such page.
async fn find(
    api: &HttpState,
    user: &CurrentUser,
    id: RestaurantId,
) -> Result<(Restaurant, Vec<&'static dyn Platform>), PanelError> {
    let restaurant = restaurants::get(&api.app, user.account.id, id)
        .await
        .map_err(|fault| user.fail(fault))?;
    let targets = catalogs::targets(&api.app, &restaurant);
    if targets.is_empty() {
        let what = PlatformTask::PushCatalog;
        return Err(user.fail(Fault::Platform(PlatformError::Unsupported { what })));
    }
    Ok((restaurant, targets))
}

async fn last_pushes(
    api: &HttpState,
    user: &CurrentUser,
    id: RestaurantId,
) -> Result<Vec<PushedCatalog>, PanelError> {
    let found = catalogs::list(&api.app, user.account.id, id, None, LIMIT).await;
    Ok(found.map_err(|fault| user.fail(fault))?.catalogs)
}

async fn show_catalogs(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let (restaurant, targets) = find(&api, &user, id).await?;
    let (t, layout) = (CatalogWords::of(user.lang), products_layout(&user, &restaurant));
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let mut logs = Vec::new();
    for target in &targets {
        let is_wanted = target.provider().as_str() == params.get("log");
        logs.push(log_view(&api, &user, (&layout, &t), id, *target, is_wanted).await);
    }
    // The log may have settled some of them.
    let pushed = last_pushes(&api, &user, id).await?;
    Ok(page(&CatalogsPage {
        header: RestaurantHeader::new(&user, &restaurant, Tab::Products),
        form: push_form(&layout, &t, &restaurant, &targets),
        pushes: CatalogPushes::new(&layout, t, &pushed),
        stream: format!("{}/stream", path(id)),
        logs,
        layout,
        t,
    }))
}

async fn log_view(
    api: &HttpState,
    user: &CurrentUser,
    (layout, t): (&Layout, &CatalogWords),
    id: RestaurantId,
    target: &'static dyn Platform,
    is_wanted: bool,
) -> LogView {
    let provider = target.provider();
    let mut view = LogView {
        key: provider.to_string(),
        provider: layout.provider(&provider),
        entries: None,
        problem: None,
    };
    if !is_wanted {
        return view;
    }
    match catalogs::imports(&api.app, user.account.id, id, target).await {
        Ok(found) => {
            let rows = found.iter().map(|entry| LogRow::new(layout, t, entry));
            view.entries = Some(rows.collect());
        }
        Err(fault) => view.problem = Some(format!("{} {}", t.log_failed, user.fail(fault).text())),
    }
    view
}

async fn follow_catalogs(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let (restaurant, _) = find(&api, &user, id).await?;
    let (shared, viewer, restaurant) = (Arc::clone(&api), user.clone(), Arc::new(restaurant));
    let render = move || {
        let (api, user, restaurant) = (Arc::clone(&shared), viewer.clone(), Arc::clone(&restaurant));
        async move { parts(&api, &user, &restaurant, api.app.now()).await }
    };
    follow_parts(&api, &user, render).await
}

async fn parts(
    api: &HttpState,
    user: &CurrentUser,
    restaurant: &Restaurant,
    now: Timestamp,
) -> Result<Parts, PanelError> {
    let pushed = last_pushes(api, user, restaurant.id).await?;
    let layout = Layout {
        now: Some(now),
        ..products_layout(user, restaurant)
    };
    let is_open = |it: &PushedCatalog| !it.progress.stage.is_final();
    Ok(Parts {
        is_pending: pushed.iter().any(is_open),
        markup: markup(&CatalogPushes::new(&layout, CatalogWords::of(user.lang), &pushed)),
    })
}

async fn push_catalog(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let t = CatalogWords::of(user.lang);
    find(&api, &user, id).await?;
    let here = path(id);
    if fields.get("confirm").is_empty() {
        return Ok(user.redirect_with_error(&here, t.not_confirmed));
    }
    let fail = |fault| user.fail(fault);
    let source = platform(fields.get("from")).map_err(fail)?.provider();
    let target = platform(fields.get("to")).map_err(fail)?;
    let made = (CatalogPushId::at(api.app.now()), Requester::Panel);
    let pushed = catalogs::create(&api.app, user.by(), id, made, source, target).await;
    Ok(match pushed {
        Ok(pushed) => match pushed.progress.stage {
            CatalogStage::Pending => user.redirect_with_notice(&here, t.is_pending),
            CatalogStage::Failed | CatalogStage::Unclear => user.redirect_with_error(&here, t.has_failed),
            _ => user.redirect_with_notice(&here, t.was_sent),
        },
        Err(Fault::Invalid { problem, .. }) => {
            user.redirect_with_error(&here, field_problem::text(user.lang, &problem))
        }
        Err(fault @ (Fault::NotConnected { .. } | Fault::Platform(_))) => {
            user.redirect_with_error(&here, user.fail(fault).text())
        }
        Err(fault) => return Err(user.fail(fault)),
    })
}
