//! Replies to the shop's messages, and the callback that reports every status to it.

use super::names::CALLBACK_URL;
use crate::common::answer::refusal;
use garson_core::explanation::{Explanation, PlatformTask};
use garson_core::order::CallKind;
use garson_core::platform::{
    CallError, CallRequest, HookReply, HttpRequest, HttpResponse, IntakeOutcome, Link, Outcome,
    PlatformError, Success, Trust,
};
use garson_core::secret::Secret;
use serde_json::{Value, json};

pub fn reply(reception: &IntakeOutcome, request_id: &str) -> HookReply {
    let refuse = |status, code: &str, message: String, details: Value| HookReply {
        status,
        body: json!({
            "success": false,
            "error": { "code": code, "message": message, "details": details },
            "requestId": request_id,
        }),
    };
    match reception {
        IntakeOutcome::Taken { order_id } => HookReply {
            status: 200,
            body: json!({ "success": true, "data": { "orderId": order_id } }),
        },
        IntakeOutcome::Noted => HookReply {
            status: 200,
            body: json!({ "success": true, "data": null }),
        },
        IntakeOutcome::Conflict { order_id } => refuse(
            409,
            "duplicate_order_id",
            format!("The id is already used by order {order_id}, which has other content."),
            json!([]),
        ),
        IntakeOutcome::UnknownBranch { branch } => refuse(
            404,
            "unknown_store",
            format!("No integration with this key has the storeId {branch}."),
            json!([{ "field": "storeId", "message": "is not known" }]),
        ),
        IntakeOutcome::UnknownOrder { identity } => refuse(
            404,
            "order_not_found",
            format!("No order {identity} in this store."),
            json!([]),
        ),
        IntakeOutcome::Unreadable(found) if found.path == "$" => refuse(
            400,
            "broken_request",
            format!("The body {}.", found.message),
            json!([]),
        ),
        IntakeOutcome::Unreadable(found) => refuse(
            422,
            "invalid_field",
            format!("{} {}.", found.path, found.message),
            json!([{ "field": found.path, "message": found.message }]),
        ),
        IntakeOutcome::NotGenuine => refuse(
            401,
            "unauthorized",
            "The x-api-key header is missing or wrong.".to_owned(),
            json!([]),
        ),
    }
}

pub fn write(call_request: &CallRequest<'_>, link: &Link<'_>) -> Result<HttpRequest, PlatformError> {
    let (order, credentials) = (call_request.order, link.credentials);
    let CallKind::Tell(status) = call_request.call else {
        return Err(PlatformError::Unsupported {
            what: PlatformTask::Questions,
        });
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
        "Content-Type".to_owned(),
        Secret::new("application/json".to_owned()),
    );
    Ok(HttpRequest {
        method: "POST",
        url: url.expose().clone(),
        headers: std::iter::once(json).chain(key).collect(),
        body: Some(body.to_string().into_bytes()),
        trust: Trust::Account,
        limit: None,
    })
}

pub fn outcome(response: &HttpResponse) -> Outcome {
    let words = String::from_utf8_lossy(&response.body)
        .chars()
        .take(200)
        .collect::<String>();
    let message = Explanation::answered(response.status, Some(&words));
    match response.status {
        200..=299 => Ok(Success::Done),
        408 | 425 | 429 | 500..=599 => Err(CallError::later(message)),
        status => Err(refusal(status, message)),
    }
}
