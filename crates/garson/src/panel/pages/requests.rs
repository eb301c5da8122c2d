//! The request log: the account's last API calls, to see what a program sent and what it was answered.

use crate::flow::admin::{audit, request_log};
use crate::http::state::HttpState;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::form::{Choice, Field, FieldKind};
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::paging;
use crate::panel::kit::paging::Pager;
use crate::panel::words::RequestWords;
use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use axum::routing::get;
use garson_core::id::KeyId;
use garson_store::lists::request_log::RequestFilter;
use garson_store::tables::request_log::LoggedCall;
use std::collections::HashMap;
use std::sync::Arc;

const PATH: &str = "/requests";
const PAGE_SIZE: usize = 50;
const FAILED: &str = "failed";

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new().route(PATH, get(show_requests))
}

#[derive(Template)]
#[template(path = "requests.html")]
struct RequestsPage {
    layout: Layout,
    t: RequestWords,
    filters: Vec<Field>,
    has_filters: bool,
    rows: Vec<Row>,
    pager: Pager,
}

struct Row {
    at: String,
    method: String,
    path: String,
    parameters: String,
    status: i64,
    is_failed: bool,
    code: String,
    duration: String,
    key: String,
    request_id: String,
    address: String,
}

fn row(layout: &Layout, call: LoggedCall) -> Row {
    Row {
        at: layout.timestamp(&call.at),
        method: call.method,
        path: call.path,
        parameters: call.query.unwrap_or_default().replace(',', "&"),
        status: call.status,
        is_failed: call.status >= 400,
        code: call.code.unwrap_or_default(),
        duration: format!("{} ms", call.duration_ms),
        key: call.key_name,
        request_id: call.request_id,
        address: call.address.unwrap_or_default(),
    }
}

/// The filter of a query string. What is not understood does not narrow the list.
struct RequestQuery {
    is_failed: bool,
    key: Option<KeyId>,
}

impl RequestQuery {
    fn read(fields: &FormData) -> Self {
        Self {
            is_failed: fields.get("status") == FAILED,
            key: fields.get("key").parse().ok(),
        }
    }

    fn filter(&self) -> RequestFilter {
        RequestFilter {
            key: self.key,
            statuses: self.is_failed.then_some((400, 599)),
            path: None,
        }
    }

    fn fields(&self, t: &RequestWords, keys: HashMap<KeyId, String>) -> Vec<Field> {
        let statuses = vec![
            Choice::new("", t.any_status, !self.is_failed),
            Choice::new(FAILED, t.failed, self.is_failed),
        ];
        let mut names: Vec<(String, KeyId)> = keys.into_iter().map(|(id, name)| (name, id)).collect();
        // A link may name a key that was revoked since.
        if let Some(key) = self.key
            && names.iter().all(|(_, id)| *id != key)
        {
            names.push((t.removed_key.to_owned(), key));
        }
        names.sort();
        let mut choices = vec![Choice::new("", t.any_key, self.key.is_none())];
        choices.extend(
            names
                .into_iter()
                .map(|(name, id)| Choice::new(id.to_string(), name, self.key == Some(id))),
        );
        vec![
            Field::new("status", t.status, FieldKind::Select(statuses)),
            Field::new("key", t.key, FieldKind::Select(choices)),
        ]
    }
}

async fn show_requests(
    State(api): State<Arc<HttpState>>,
    user: CurrentUser,
    RawQuery(raw_query): RawQuery,
) -> Result<Response, PanelError> {
    let params = FormData::parse(raw_query.unwrap_or_default().as_bytes());
    let query = RequestQuery::read(&params);
    let request = paging::page_request(&params, PAGE_SIZE);
    let fail = |fault| user.fail(fault);
    let account = user.account.id;
    let found = request_log::list(&api.app, account, query.filter(), request)
        .await
        .map_err(fail)?;
    let keys = audit::key_labels(&api.app, account).await.map_err(fail)?;
    let layout = user.layout(NavItem::Requests);
    let t = RequestWords::of(user.lang);
    let key = query.key.map_or_else(String::new, |key| key.to_string());
    let status = if query.is_failed { FAILED } else { "" };
    let params = [("status", status), ("key", key.as_str())];
    Ok(page(&RequestsPage {
        filters: query.fields(&t, keys),
        has_filters: paging::url(PATH, &params) != PATH,
        pager: paging::pager(PATH, &params, request, &found),
        rows: found.items.into_iter().map(|call| row(&layout, call)).collect(),
        t,
        layout,
    }))
}
