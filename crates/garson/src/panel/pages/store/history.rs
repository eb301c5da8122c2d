//! The history of a restaurant: who changed what on its platforms.

use super::history_text::what;
use crate::flow::admin::{keys, restaurants};
use crate::flow::stores;
use crate::http::state::HttpState;
use crate::panel::components::restaurant_header::{RestaurantHeader, Tab, products_layout, restaurant_id};
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::format;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::paging::{Pager, page_request, pager};
use crate::panel::words::{RestaurantHistoryWords, StorePageWords, StoreWords};
use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use garson_core::account::ApiKey;
use garson_core::restaurant_history::{HistoryAction, HistoryEntry};
use garson_core::store_status::StoreActor;
use std::sync::Arc;

const PAGE: usize = 50;

#[derive(Template)]
#[template(path = "restaurant_history.html")]
struct HistoryPage {
    layout: Layout,
    t: StorePageWords,
    s: StoreWords,
    h: RestaurantHistoryWords,
    header: RestaurantHeader,
    current: &'static str,
    rows: Vec<HistoryRow>,
    pager: Pager,
}

struct HistoryRow {
    at: String,
    who: String,
    /// Key and name.
    platform: Option<(String, String)>,
    what: String,
    detail: String,
    is_bad: bool,
}

fn who(layout: &Layout, h: &RestaurantHistoryWords, keys: &[ApiKey], entry: &HistoryEntry) -> String {
    let name = match (entry.by, entry.key) {
        (StoreActor::Platform, _) => h.by_platform,
        (StoreActor::Schedule, _) => h.by_schedule,
        (StoreActor::Throttle, _) => h.by_throttle,
        (StoreActor::Account, Some(id)) => {
            let label = match keys.iter().find(|key| key.id == id) {
                Some(key) => match &key.label {
                    Some(label) => layout.given_name(label).to_owned(),
                    None => format!("…{}", key.hint),
                },
                None => h.deleted_key.to_owned(),
            };
            return format!("{} ({label})", h.key);
        }
        (StoreActor::Account, None) if is_by_service(entry.action) => h.service,
        (StoreActor::Account, None) => h.panel,
    };
    name.to_owned()
}

/// Actions of the service itself, not of a user.
fn is_by_service(action: HistoryAction) -> bool {
    matches!(
        action,
        HistoryAction::StoreRetried
            | HistoryAction::HoursResult
            | HistoryAction::ProductRefused
            | HistoryAction::ProductRestored
            | HistoryAction::PricesResult
    )
}

fn row(layout: &Layout, h: &RestaurantHistoryWords, keys: &[ApiKey], entry: &HistoryEntry) -> HistoryRow {
    let (what, detail, is_bad) = what(layout, h, entry);
    HistoryRow {
        at: format::timestamp_with_seconds(layout.lang, &layout.zone, entry.at),
        who: who(layout, h, keys, entry),
        platform: entry
            .provider
            .map(|provider| (provider.to_string(), layout.provider(&provider))),
        what,
        detail,
        is_bad,
    }
}

pub async fn show_history(
    State(api): State<Arc<HttpState>>,
    Path(id): Path<String>,
    user: CurrentUser,
    RawQuery(query): RawQuery,
) -> Result<Response, PanelError> {
    let fail = |fault| user.fail(fault);
    let id = restaurant_id(&user, &id)?;
    let (app, account) = (&api.app, user.account.id);
    let params = FormData::parse(query.unwrap_or_default().as_bytes());
    let restaurant = restaurants::get(app, account, id).await.map_err(fail)?;
    let request = page_request(&params, PAGE);
    let found = stores::list_history(app, account, id, request)
        .await
        .map_err(fail)?;
    let keys = keys::list(app, account).await.map_err(fail)?;
    let layout = products_layout(&user, &restaurant);
    let h = RestaurantHistoryWords::of(user.lang);
    let path = format!("{}/history", Tab::Store.path(id));
    Ok(page(&HistoryPage {
        header: RestaurantHeader::new(&user, &restaurant, Tab::Store),
        t: StorePageWords::of(user.lang),
        s: StoreWords::of(user.lang),
        current: "history",
        pager: pager(&path, &[], request, &found),
        rows: found
            .items
            .iter()
            .map(|entry| row(&layout, &h, &keys, entry))
            .collect(),
        h,
        layout,
    }))
}
