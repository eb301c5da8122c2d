//! Menus of a restaurant: when they were read, their versions, and how they differ.

mod view;

use crate::flow::Fault;
use crate::flow::admin::restaurants;
use crate::flow::products::differences::{DifferenceFilter, of_platforms, since};
use crate::flow::products::menus;
use crate::flow::products::menus::MenuState;
use crate::http::state::HttpState;
use crate::panel::components::restaurant_header::{RestaurantHeader, Tab, products_layout, restaurant_id};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::explain;
use crate::panel::kit::form::Choice;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::paging::url;
use crate::panel::kit::time_ago::TimeAgo;
use crate::panel::kit::user_form::UserForm;
use crate::panel::words::DifferenceWords;
use askama::Template;
use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use axum::routing::{get, post};
use garson_core::id::RestaurantId;
use garson_core::menu_difference::DifferenceKind;
use std::sync::Arc;
use std::time::Duration;
use view::{DayView, PlatformView, kind_name};

/// Differences on a page; since yesterday for each platform.
const LIMIT: usize = 50;
const DAY: Duration = Duration::from_secs(86_400);
/// How long the page waits for menus that are read now.
const WAIT: Duration = Duration::from_secs(8);
/// Versions that are shown of each menu.
const VERSIONS: usize = 30;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new()
        .route("/restaurants/{id}/differences", get(list_differences))
        .route("/restaurants/{id}/menus/read", post(read_menus))
}

#[derive(Template)]
#[template(path = "menu_differences.html")]
struct DifferencesPage {
    layout: Layout,
    t: DifferenceWords,
    header: RestaurantHeader,
    menus: Vec<MenuRow>,
    /// `platforms` or `days`.
    between: Vec<Choice>,
    kinds: Vec<Choice>,
    found: Found,
    first: Option<String>,
    next: Option<String>,
}

enum Found {
    Platforms(Vec<PlatformView>),
    Days(Vec<DayView>),
}

/// A platform's menu and its versions.
struct MenuRow {
    key: String,
    provider: String,
    read_at: TimeAgo,
    tone: &'static str,
    state: &'static str,
    message: String,
    versions: Vec<VersionRow>,
}

struct VersionRow {
    number: i64,
    at: String,
    products: i64,
}

fn path(restaurant: RestaurantId) -> String {
    format!("/restaurants/{restaurant}/differences")
}

async fn list_differences(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let id = restaurant_id(&user, &id)?;
    let (app, account) = (&api.app, user.account.id);
    let restaurant = restaurants::get(app, account, id).await.map_err(fail)?;
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let (t, layout) = (
        DifferenceWords::of(user.lang),
        products_layout(&user, &restaurant),
    );
    let kind = DifferenceKind::named(params.get("kind"));
    let is_days = params.get("between") == "days";
    let filter = DifferenceFilter {
        kind,
        is_option: None,
    };
    let mut next = None;
    let found = if is_days {
        let earlier = app.now().minus(DAY);
        let found = since(app, account, id, filter, earlier, LIMIT)
            .await
            .map_err(fail)?;
        Found::Days(
            found
                .into_iter()
                .map(|it| DayView::new(&layout, &t, id, it))
                .collect(),
        )
    } else {
        let after = params.get("after").parse().ok();
        let page = match of_platforms(app, account, id, filter.clone(), after, LIMIT).await {
            // The product after which the page begins is gone.
            Err(Fault::UnknownPlace { .. }) => of_platforms(app, account, id, filter, None, LIMIT).await,
            page => page,
        }
        .map_err(fail)?;
        next = page.next;
        let view = |it| PlatformView::new(&layout, &t, id, it);
        Found::Platforms(page.found.into_iter().map(view).collect())
    };
    let kind_word = kind.map_or("", DifferenceKind::as_str);
    let link = |after: &str| url(&path(id), &[("kind", kind_word), ("after", after)]);
    let kinds = DifferenceKind::ALL.into_iter();
    let kinds = kinds.map(|it| Choice::new(it.as_str(), kind_name(&t, it), kind == Some(it)));
    Ok(page(&DifferencesPage {
        menus: menu_rows(&api, &user, &layout, &t, id).await?,
        between: vec![
            Choice::new("platforms", t.between_platforms, !is_days),
            Choice::new("days", t.between_days, is_days),
        ],
        kinds: [Choice::new("", t.every_kind, kind.is_none())]
            .into_iter()
            .chain(kinds)
            .collect(),
        first: (!params.get("after").is_empty()).then(|| link("")),
        next: next.map(|after| link(&after.to_string())),
        header: RestaurantHeader::new(&user, &restaurant, Tab::Products),
        found,
        layout,
        t,
    }))
}

async fn menu_rows(
    api: &HttpState,
    user: &CurrentUser,
    layout: &Layout,
    t: &DifferenceWords,
    restaurant: RestaurantId,
) -> Result<Vec<MenuRow>, PanelError> {
    let fail = |fault| user.fail(fault);
    let (app, account) = (&api.app, user.account.id);
    let mut rows = Vec::new();
    for state in menus::states(app, account, restaurant).await.map_err(fail)? {
        let versions = if state.is_readable {
            menus::versions(app, account, restaurant, state.provider)
                .await
                .map_err(fail)?
        } else {
            Vec::new()
        };
        let version = |it: &menus::VersionSummary| VersionRow {
            number: it.number,
            at: layout.timestamp(&it.read_at),
            products: it.products,
        };
        let (tone, name) = menu_state(t, &state);
        rows.push(MenuRow {
            key: state.provider.to_string(),
            provider: layout.provider(&state.provider),
            read_at: layout.time_ago_or(&state.read_at, t.never),
            tone,
            state: name,
            message: state
                .message
                .as_ref()
                .map_or_else(String::new, |it| explain::text(layout.lang, it)),
            versions: versions.iter().take(VERSIONS).map(version).collect(),
        });
    }
    Ok(rows)
}

fn menu_state(t: &DifferenceWords, state: &MenuState) -> (&'static str, &'static str) {
    if !state.is_readable {
        ("", t.unreadable)
    } else if state.is_due {
        ("warn", t.due)
    } else if state.message.is_some() {
        ("bad", t.failed)
    } else if state.read_at.is_none() {
        ("", t.never)
    } else {
        ("good", t.fine)
    }
}

async fn read_menus(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    UserForm { user, .. }: UserForm,
) -> Result<Response, PanelError> {
    let id = restaurant_id(&user, &id)?;
    let t = DifferenceWords::of(user.lang);
    let states = menus::request_read(&api.app, user.account.id, id, WAIT)
        .await
        .map_err(|fault| user.fail(fault))?;
    let text = if states.iter().any(|it| it.is_due) {
        t.read_going_on
    } else {
        t.read_requested
    };
    let back = match user.here.as_str() {
        "/" => path(id),
        here => here.to_owned(),
    };
    let failed = states.iter().any(|it| it.is_readable && it.message.is_some());
    Ok(if failed {
        user.redirect_with_error(&path(id), t.some_failed)
    } else {
        user.redirect_with_notice(&back, text)
    })
}
