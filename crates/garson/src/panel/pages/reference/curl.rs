//! Examples of requests with curl.

use serde_json::Value;
use std::fmt::Write;
use utoipa::openapi::path::Operation;
use utoipa::openapi::{Content, RefOr, Required};

/// Stands for the address of this server until the page is sent.
pub const SERVER: &str = "https://server.invalid";

/// The example of the request's body, indented.
pub fn request_example(operation: &Operation) -> Option<String> {
    let Some(RefOr::T(body)) = &operation.request_body else {
        return None;
    };
    body.content.values().find_map(|content| match content {
        RefOr::T(Content {
            example: Some(example),
            ..
        }) => indented(example),
        _ => None,
    })
}

fn indented(value: &Value) -> Option<String> {
    serde_json::to_string_pretty(value).ok()
}

/// A command that makes the request. Ids in the path are left for the reader to replace.
pub fn example(method: &str, path: &str, operation: &Operation, is_shop: bool) -> String {
    let path = path.replace(['{', '}'], "");
    let mut command = "curl".to_owned();
    if method != "GET" {
        let _ = write!(command, " -X {method}");
    }
    let _ = write!(command, " '{SERVER}{path}{}'", required_query(operation));
    let key = if is_shop {
        "x-api-key: $SHOP_KEY"
    } else {
        "Authorization: Bearer $GARSON_KEY"
    };
    let _ = write!(command, " \\\n  -H \"{key}\"");
    if let Some(body) = request_example(operation) {
        // A quote would end the argument.
        let body = body.replace('\'', "'\\''");
        let _ = write!(
            command,
            " \\\n  -H 'Content-Type: application/json' \\\n  -d '{body}'"
        );
    }
    command
}

/// The query parameters without which the request fails.
fn required_query(operation: &Operation) -> String {
    let mut query = String::new();
    for parameter in operation.parameters.as_deref().unwrap_or_default() {
        let RefOr::T(parameter) = parameter else { continue };
        let is_query = matches!(parameter.parameter_in, utoipa::openapi::path::ParameterIn::Query);
        if is_query && parameter.required == Required::True {
            let mark = if query.is_empty() { '?' } else { '&' };
            let _ = write!(query, "{mark}{0}={0}", parameter.name);
        }
    }
    query
}
