//! Notes answered API calls for the log of their account.

use super::path::API_PREFIX;
use crate::app::App;
use crate::flow::admin::api_auth::Caller;
use axum::body::HttpBody;
use axum::extract::Request;
use axum::response::Response;
use garson_core::time::Timestamp;
use garson_store::tables::request_log::LoggedCall;
use http::Method;
use std::time::Instant;

/// Longer paths are cut off.
const MAX_PATH: usize = 200;

/// The parameters of the API's query strings. The log has their names only, and no other names: both may be personal data.
pub const PARAMETERS: &[&str] = &[
    "action",
    "actor",
    "actorId",
    "available",
    "between",
    "client",
    "codepage",
    "copy",
    "cursor",
    "difference",
    "dir",
    "format",
    "from",
    "include",
    "keyId",
    "kind",
    "lang",
    "limit",
    "open",
    "orderId",
    "path",
    "preparationMinutes",
    "provider",
    "recordId",
    "restaurantId",
    "search",
    "since",
    "state",
    "status",
    "to",
    "updatedSince",
    "wait",
    "width",
];

/// A call that is not answered yet.
pub struct StartedCall {
    at: Timestamp,
    began: Instant,
    method: Method,
    path: String,
    query: Option<String>,
}

impl StartedCall {
    pub fn of(app: &App, request: &Request) -> Self {
        let path = request.uri().path();
        let path = path.strip_prefix(API_PREFIX).unwrap_or(path);
        Self {
            at: app.now(),
            began: Instant::now(),
            method: request.method().clone(),
            path: path.chars().take(MAX_PATH).collect(),
            query: request.uri().query().and_then(parameter_names),
        }
    }

    /// Notes the call. Of an answer that is a stream, the time until it begins counts.
    pub fn answered(
        self,
        app: &App,
        caller: &Caller,
        id: &str,
        response: &Response,
        code: Option<&'static str>,
    ) {
        let size = response.body().size_hint().exact();
        let call = LoggedCall {
            number: 0,
            at: self.at,
            key: caller.key,
            key_name: caller.key_name.as_ref().to_owned(),
            method: self.method.as_str().to_owned(),
            path: self.path,
            query: self.query,
            status: i64::from(response.status().as_u16()),
            code: code.map(str::to_owned),
            duration_ms: i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX),
            size: size.and_then(|size| i64::try_from(size).ok()),
            request_id: id.to_owned(),
            address: caller.address.map(|address| address.to_string()),
        };
        let dropped = app.request_log.add(caller.account, app.now(), call);
        app.metrics.requests.count_unlogged(dropped);
    }
}

/// The known parameters of a query string, without repetitions.
fn parameter_names(query: &str) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for (given, _) in url::form_urlencoded::parse(query.as_bytes()) {
        let known = PARAMETERS.iter().find(|name| **name == given);
        if let Some(name) = known
            && !names.contains(name)
        {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| names.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_names_of_a_query_are_noted() {
        let noted = |query: &str| parameter_names(query);
        assert_eq!(
            noted("limit=5&search=Ay%C5%9Fe&limit=6").as_deref(),
            Some("limit,search")
        );
        assert_eq!(noted("05321234567=1&Ay%C5%9Fe&"), None);
    }
}
