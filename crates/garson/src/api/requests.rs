//! The request log: the last API calls of the account.

use super::envelope::Paged;
use super::paging::{PageParams, Query};
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::request_log;
use crate::http::error::{ApiError, Code};
use crate::http::path::API_PREFIX;
use crate::http::state::HttpState;
use axum::extract::State;
use garson_core::id::KeyId;
use garson_core::time::Timestamp;
use garson_store::lists::request_log::RequestFilter;
use garson_store::tables::request_log::LoggedCall;
use serde::Serialize;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// The longest path of a filter.
const MAX_PATH: usize = 200;

/// An API call.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestView {
    /// When it arrived.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    key: RequestKeyView,
    method: String,
    /// The path, without its beginning `/web-api/v1`.
    path: String,
    /// The names of the query's parameters; their values are not kept.
    parameters: Vec<String>,
    status: i64,
    /// The error's code.
    code: Option<String>,
    /// The time until the answer began, in milliseconds.
    duration_ms: i64,
    /// The length of the answer in bytes; null if it was not known.
    size: Option<i64>,
    /// The `X-Request-Id` of the answer.
    request_id: String,
    /// The network address that the call came from.
    address: Option<String>,
}

/// The key of a call.
#[derive(Serialize, ToSchema)]
pub struct RequestKeyView {
    #[schema(value_type = String, format = Uuid)]
    id: KeyId,
    /// Its label then; the last characters of a key without one.
    name: String,
}

impl From<LoggedCall> for RequestView {
    fn from(call: LoggedCall) -> Self {
        let names = call.query.as_deref().unwrap_or_default().split(',');
        Self {
            at: call.at,
            key: RequestKeyView {
                id: call.key,
                name: call.key_name,
            },
            method: call.method,
            path: call.path,
            parameters: names.filter(|name| !name.is_empty()).map(str::to_owned).collect(),
            status: call.status,
            code: call.code,
            duration_ms: call.duration_ms,
            size: call.size,
            request_id: call.request_id,
            address: call.address,
        }
    }
}

/// Which statuses.
#[derive(ToSchema)]
#[allow(dead_code)]
enum StatusClass {
    #[schema(rename = "2xx")]
    Successes,
    #[schema(rename = "4xx")]
    ClientErrors,
    #[schema(rename = "5xx")]
    ServerErrors,
    #[schema(rename = "failed")]
    Failed,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code)]
pub struct RequestParams {
    /// Only calls with such a status; `failed`: 400 and higher.
    #[param(inline)]
    status: Option<StatusClass>,
    /// Only calls with this key.
    #[param(rename = "keyId", format = Uuid)]
    key_id: Option<String>,
    /// Only calls whose path begins so, such as `/orders`.
    #[param(max_length = 200)]
    path: Option<String>,
}

fn filter(query: &Query) -> Result<RequestFilter, ApiError> {
    let wrong = |name, message| ApiError::invalid(Code::InvalidParameter, name, message);
    let statuses = match query.get("status")? {
        None => None,
        Some("2xx") => Some((200, 299)),
        Some("4xx") => Some((400, 499)),
        Some("5xx") => Some((500, 599)),
        Some("failed") => Some((400, 599)),
        Some(_) => return Err(wrong("status", "must be 2xx, 4xx, 5xx or failed")),
    };
    let key = query.get("keyId")?.map(str::parse::<KeyId>).transpose();
    let path = query.get("path")?;
    if path.is_some_and(|path| path.chars().count() > MAX_PATH) {
        return Err(wrong("path", "must be at most 200 characters"));
    }
    Ok(RequestFilter {
        key: key.map_err(|_| wrong("keyId", "must be a UUID"))?,
        statuses,
        path: path.map(|path| path.strip_prefix(API_PREFIX).unwrap_or(path).to_owned()),
    })
}

/// The last 1,000 API calls of the account, newest first.
///
/// A call is listed within two seconds after its answer; with several nodes, it may appear behind newer ones. Values of query strings, bodies and keys are not kept. Calls without a valid
/// key belong to no account and are not listed; neither are calls whose client did not wait for the answer.
#[utoipa::path(get, path = "/requests", tag = "Requests",
    params(RequestParams, PageParams), responses((status = 200, body = Paged<RequestView>)))]
pub async fn list_requests(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    query: Query,
) -> Result<Paged<RequestView>, ApiError> {
    let found = request_log::list(&state.app, caller.account, filter(&query)?, query.page()?).await?;
    Ok(Paged::new(found, RequestView::from))
}
