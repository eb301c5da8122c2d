//! From our words to the shop's: answers to its messages, and the callback that tells it of every status.

use super::CALLBACK_URL;
use garson_core::integration::Credentials;
use garson_core::order::{CallKind, Order};
use garson_core::platform::{HookReply, HttpRequest, HttpResponse, Outcome, PlatformError, Reception, Trust};
use garson_core::secret::Secret;
use serde_json::{Value, json};

pub fn reply(reception: &Reception, request_id: &str) -> HookReply {
    let refuse = |status, code: &str, message: String, details: Value| HookReply {
        status,
        body: json!({
            "success": false,
            "error": { "code": code, "message": message, "details": details },
            "requestId": request_id,
        }),
    };
    match reception {
        Reception::Taken { order_id } => HookReply {
            status: 200,
            body: json!({ "success": true, "data": { "orderId": order_id } }),
        },
        Reception::Conflict { order_id } => refuse(
            409,
            "duplicate_order_id",
            format!("The id is already used by order {order_id}, which has other content."),
            json!([]),
        ),
        Reception::UnknownBranch { branch } => refuse(
            404,
            "unknown_store",
            format!("No integration with this key has the storeId {branch}."),
            json!([{ "field": "storeId", "message": "is not known" }]),
        ),
        Reception::UnknownOrder { identity } => refuse(
            404,
            "order_not_found",
            format!("No order {identity} in this store."),
            json!([]),
        ),
        Reception::Unreadable(found) if found.path == "$" => refuse(
            400,
            "broken_request",
            format!("The body {}.", found.message),
            json!([]),
        ),
        Reception::Unreadable(found) => refuse(
            422,
            "invalid_field",
            format!("{} {}.", found.path, found.message),
            json!([{ "field": found.path, "message": found.message }]),
        ),
        Reception::NotGenuine => refuse(
            401,
            "unauthorized",
            "The x-api-key header is missing or wrong.".to_owned(),
            json!([]),
        ),
    }
}

pub fn write(call: CallKind, order: &Order, credentials: &Credentials) -> Result<HttpRequest, PlatformError> {
    let CallKind::Tell(status) = call else {
        return Err(PlatformError::Unsupported { what: "be asked" });
    };
    let url = credentials
        .get(CALLBACK_URL)
        .ok_or(PlatformError::MissingCredential { name: CALLBACK_URL })?;
    let body = json!({
        "providerOrderId": order.provider_order_id,
        "orderId": order.id,
        "status": status.code(),
        "statusName": status.name(),
        "updatedAt": order.updated_at,
    });
    let key = super::verify::inbound_secret(credentials)
        .and_then(|key| String::from_utf8(key.expose().clone()).ok())
        .map(|key| ("x-api-key".to_owned(), Secret::new(key)));
    let json = (
        "content-type".to_owned(),
        Secret::new("application/json".to_owned()),
    );
    Ok(HttpRequest {
        method: "POST",
        url: url.expose().clone(),
        headers: std::iter::once(json).chain(key).collect(),
        body: Some(body.to_string().into_bytes()),
        trust: Trust::Account,
    })
}

pub fn outcome(response: &HttpResponse) -> Outcome {
    let words = String::from_utf8_lossy(&response.body)
        .chars()
        .take(200)
        .collect::<String>();
    let message = format!("answered {}: {words}", response.status);
    match response.status {
        200..=299 => Outcome::Done,
        408 | 425 | 429 | 500..=599 => Outcome::Later { message },
        _ => Outcome::Refused { message },
    }
}
