//! The stores of a restaurant on its platforms: state, pause and throttle; opening hours and history are pages below it.

mod history;
mod history_text;
mod hours;
mod hours_form;
mod throttle;

use crate::app::store_overview::RestaurantStores;
use crate::flow::admin::restaurants;
use crate::flow::stores;
use crate::flow::stores::StoreView;
use crate::http::state::HttpState;
use crate::panel::components::restaurant_header::{RestaurantHeader, Tab, products_layout, restaurant_id};
use crate::panel::components::store_state::{StateText, reason_text, until};
use crate::panel::components::store_strip::PauseForm;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::Field;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::form_errors::FormErrors;
use crate::panel::kit::form_page::form_page;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::live_parts::{Parts, follow_parts, markup};
use crate::panel::kit::time_ago::TimeAgo;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::{StorePageWords, StoreWords};
use askama::Template;
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use garson_core::id::RestaurantId;
use garson_core::restaurant::{Config, Restaurant};
use garson_core::store_control::{DesiredState, Requester, Timer};
use garson_core::store_status::{StoreActor, StoreState};
use garson_core::time::Timestamp;
use std::sync::Arc;

pub fn routes() -> Router<Arc<HttpState>> {
    let one = "/restaurants/{id}/store";
    Router::new()
        .route(one, get(show_store))
        .route(&format!("{one}/stream"), get(follow_store))
        .route(&format!("{one}/throttle"), post(save_throttle))
        .route(
            &format!("{one}/hours"),
            get(hours::show_hours).post(hours::save_hours),
        )
        .route(&format!("{one}/hours/write"), post(hours::write_hours))
        .route(&format!("{one}/history"), get(history::show_history))
}

#[derive(Template)]
#[template(path = "store.html")]
struct StorePage {
    layout: Layout,
    t: StorePageWords,
    s: StoreWords,
    header: RestaurantHeader,
    /// The page among those of the stores.
    current: &'static str,
    cards: StoreCards,
    pause: Option<PauseForm>,
    throttle: Vec<Field>,
    throttle_level: ThrottleLevel,
    problem: Option<String>,
    /// The address of the live parts.
    stream: String,
}

/// The platforms' cards, which the live stream replaces.
#[derive(Template)]
#[template(path = "store_cards.html")]
struct StoreCards {
    layout: Layout,
    t: StorePageWords,
    restaurant: RestaurantId,
    integrations: String,
    cards: Vec<StoreCard>,
}

/// What the throttle has done, which the live stream replaces.
#[derive(Template)]
#[template(path = "throttle_level.html")]
struct ThrottleLevel {
    t: StorePageWords,
    level: &'static str,
}

impl StoreCards {
    fn new(
        layout: Layout,
        (t, s): (StorePageWords, &StoreWords),
        restaurant: RestaurantId,
        views: &[StoreView],
    ) -> Self {
        Self {
            cards: views.iter().map(|view| card(&layout, &t, s, view)).collect(),
            integrations: Tab::Integrations.path(restaurant),
            restaurant,
            layout,
            t,
        }
    }

    fn is_empty(&self) -> bool {
        self.cards.is_empty()
    }

    /// All states in one line, for the live region.
    fn said(&self) -> String {
        let line = |it: &StoreCard| Some(it.shown.as_ref()?.text.line(&it.name));
        let lines: Vec<String> = self.cards.iter().filter_map(line).collect();
        lines.join(". ")
    }
}

/// A platform that the restaurant is connected to.
struct StoreCard {
    key: String,
    name: String,
    is_off: bool,
    is_locked: bool,
    /// None where its store cannot be controlled.
    shown: Option<CardState>,
}

struct CardState {
    text: StateText,
    since: Option<TimeAgo>,
    until: Option<String>,
    by: Option<&'static str>,
    reason: Option<String>,
    checked: TimeAgo,
    desired: Option<String>,
    timer: Option<&'static str>,
    opens: Option<&'static str>,
}

/// Who is responsible for a state.
fn actor(t: &StorePageWords, by: StoreActor) -> &'static str {
    match by {
        StoreActor::Account => t.account,
        StoreActor::Platform => t.platform,
        StoreActor::Schedule => t.schedule,
        StoreActor::Throttle => t.throttle,
    }
}

fn card(layout: &Layout, t: &StorePageWords, s: &StoreWords, view: &StoreView) -> StoreCard {
    let provider = view.integration.provider;
    let is_off = !view.is_connected();
    StoreCard {
        key: provider.to_string(),
        name: layout.provider(&provider),
        is_off,
        is_locked: view.store.as_ref().is_some_and(|store| store.actual.is_locked),
        shown: card_state(layout, t, s, view).filter(|_| !is_off),
    }
}

fn card_state(layout: &Layout, t: &StorePageWords, s: &StoreWords, view: &StoreView) -> Option<CardState> {
    let shown = view.shown()?;
    let store = view.store.as_ref();
    let now = layout.now.unwrap_or_default();
    let desired = shown.desired.as_ref().map(|desired| {
        let state = match desired.state {
            DesiredState::Open => s.open,
            DesiredState::Busy => s.busy,
            DesiredState::Closed => s.closed,
        };
        let end = desired
            .until
            .map(|at| format!(" · {}", until(layout.lang, &layout.zone, at, now)));
        format!("{state}{} ({})", end.unwrap_or_default(), actor(t, desired.by))
    });
    let outcome = store.and_then(|store| store.control.outcome.as_ref());
    let has_end = matches!(shown.state, StoreState::Closed | StoreState::Busy);
    Some(CardState {
        text: StateText::new(layout.lang, &layout.zone, &shown, now),
        since: store
            .and_then(|store| store.actual.since)
            .map(|at| layout.time_ago(&at)),
        until: has_end.then(|| layout.timestamp_or(&shown.until, t.no_end)),
        by: shown.by.map(|by| actor(t, by)),
        reason: shown.note.clone().or_else(|| {
            let reason = shown.reason.as_ref()?;
            Some(reason_text(layout.lang, reason))
        }),
        checked: layout.time_ago_or(&store.and_then(|store| store.checked_at), t.not_checked),
        desired,
        timer: outcome
            .and_then(|it| it.timer)
            .filter(|_| has_end)
            .map(|timer| match timer {
                Timer::Platform => t.timer_platform,
                Timer::Garson => t.timer_garson,
            }),
        opens: match shown.state {
            StoreState::Busy if shown.can_open() => Some(s.end_busy),
            _ if shown.can_open() => Some(s.reopen),
            _ => None,
        },
    })
}

/// The stores that can be controlled now, as the form needs them.
fn controlled(restaurant: &Restaurant, views: &[StoreView]) -> Vec<RestaurantStores> {
    let stores: Vec<_> = views
        .iter()
        .filter(|view| view.is_connected())
        .filter_map(StoreView::shown)
        .collect();
    if stores.is_empty() {
        return Vec::new();
    }
    let config = Config::read(restaurant.fields.config.as_deref()).unwrap_or_default();
    vec![RestaurantStores {
        id: restaurant.id,
        name: restaurant.fields.name.clone(),
        timezone: config.timezone,
        stores,
    }]
}

fn store_layout(user: &CurrentUser, restaurant: &Restaurant, now: Timestamp) -> Layout {
    Layout {
        here: Tab::Store.path(restaurant.id),
        now: Some(now),
        ..products_layout(user, restaurant)
    }
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
    let views = stores::get(app, account, id).await.map_err(fail)?;
    let (set, level) = stores::get_throttle(app, account, id).await.map_err(fail)?;
    let (t, s) = (StorePageWords::of(user.lang), StoreWords::of(user.lang));
    let layout = store_layout(user, &restaurant, app.now());
    let mut fields = throttle::fields(&t, set.as_ref(), typed);
    let problem = wrong.as_ref().map(|wrong| wrong.mark(&mut fields));
    let stores = controlled(&restaurant, &views);
    let page = page(&StorePage {
        header: RestaurantHeader::new(user, &restaurant, Tab::Store),
        current: "status",
        cards: StoreCards::new(store_layout(user, &restaurant, app.now()), (t, &s), id, &views),
        pause: PauseForm::new(user.lang, &user.csrf, &layout.here, &stores, true),
        throttle: fields,
        throttle_level: ThrottleLevel {
            level: throttle::level(&t, level),
            t,
        },
        problem,
        stream: format!("{}/stream", Tab::Store.path(id)),
        layout,
        t,
        s,
    });
    Ok(form_page(page, wrong.as_ref()))
}

async fn show_store(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    show(&api, &user, id, None, None).await
}

/// The parts of the page that change, for as long as it is open.
async fn follow_store(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let (shared, viewer) = (Arc::clone(&api), user.clone());
    let render = move || {
        let (api, user) = (Arc::clone(&shared), viewer.clone());
        async move { parts(&api, &user, id).await }
    };
    // Nothing is followed that is not there.
    parts(&api, &user, id).await?;
    follow_parts(&api, &user, render).await
}

async fn parts(api: &HttpState, user: &CurrentUser, id: RestaurantId) -> Result<Parts, PanelError> {
    let fail = |fault| user.fail(fault);
    let (app, account) = (&api.app, user.account.id);
    let restaurant = restaurants::get(app, account, id).await.map_err(fail)?;
    let views = stores::get(app, account, id).await.map_err(fail)?;
    let (_, level) = stores::get_throttle(app, account, id).await.map_err(fail)?;
    let (t, s) = (StorePageWords::of(user.lang), StoreWords::of(user.lang));
    let layout = store_layout(user, &restaurant, app.now());
    let level = ThrottleLevel {
        level: throttle::level(&t, level),
        t,
    };
    let is_pending = |view: &StoreView| view.shown().is_some_and(|shown| shown.is_pending());
    let is_pending = views.iter().any(is_pending);
    let cards = StoreCards::new(layout, (t, &s), id, &views);
    Ok(Parts {
        markup: markup(&cards) + &markup(&level),
        is_pending,
    })
}

async fn save_throttle(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, fields }: UserForm,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let saved = match throttle::parse(&fields) {
        Ok(throttle) => stores::set_throttle(&api.app, user.by(), id, throttle, Requester::Panel)
            .await
            .map(drop),
        Err(fault) => Err(fault),
    };
    match saved {
        Ok(()) => {
            let t = StorePageWords::of(user.lang);
            Ok(user.redirect_with_notice(&Tab::Store.path(id), t.throttle_saved))
        }
        Err(fault) => {
            let wrong = FormErrors::new(&user, fault)?;
            show(&api, &user, id, Some(&fields), Some(wrong)).await
        }
    }
}
