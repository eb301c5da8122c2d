//! The OpenAPI document, generated from the code. The panel's reference page shows it.

mod examples;
mod shops;
mod tidy;

pub(super) use examples::of_event;
pub(super) use tidy::names as schema_names;

use super::order_items::{DetailedItem, OrderItem};
use super::routes::Operations;
use crate::http::error::ErrorBody;
use crate::http::path::API_PREFIX;
use axum::http::StatusCode;
use garson_core::event;
use utoipa::openapi::path::{
    HttpMethod, Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn, PathsBuilder,
};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{AnyOfBuilder, ArrayItems, ObjectBuilder, Schema, Type};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    Components, ContentBuilder, InfoBuilder, LicenseBuilder, OpenApi, PathItem, Paths, Ref, RefOr, Required,
    Response, ResponseBuilder, ServerBuilder,
};
use utoipa::{OpenApi as _, PartialSchema, ToSchema};

/// The meaning of each error status; any operation may return them.
pub const ERRORS: [(&str, &str); 15] = [
    ("400", "The request is broken"),
    ("401", "No key, or a wrong one"),
    (
        "403",
        "The key may not do this, the account is disabled, or it has reached a quota",
    ),
    ("404", "It is not there, or it is another account's"),
    ("405", "The path does not take this method"),
    ("408", "The body took too long"),
    ("409", "It conflicts with the state of the record"),
    ("413", "The body is larger than 1 MiB"),
    ("415", "The body is not JSON"),
    ("422", "A field or parameter is wrong"),
    ("429", "Too many requests; Retry-After says how long to wait"),
    ("500", "Something went wrong here"),
    ("502", "The platform or target cannot be reached"),
    ("503", "Storage is not available"),
    ("504", "The platform did not answer in time"),
];

/// The tags of operations.
const TAGS: [(&str, &str); 20] = [
    (
        "Orders",
        "Orders that reached the restaurants: list, read, verify, advance, cancel.",
    ),
    (
        "Printing",
        "Tickets of orders, and the printers that print agents serve.",
    ),
    (
        "Reports",
        "What accounting still has to take, the stamp that it has, and sums.",
    ),
    ("Businesses", "The top-level records of an account."),
    ("Restaurants", "Branches that take orders."),
    ("Integrations", "A restaurant's connections to platforms."),
    (
        "Stores",
        "Whether platforms take orders for a restaurant: open, busy, closed, throttle, opening hours, history.",
    ),
    ("Packages", "Which platforms a restaurant may use, and when."),
    ("Payment matching", "What the POS calls the ways of paying."),
    ("Providers", "The platforms, and menus on them."),
    (
        "Products",
        "Products on all platforms together: availability, menus and how they differ, prices.",
    ),
    (
        "Webhook",
        "Where events are sent, what came of it, and sending again.",
    ),
    ("Events", "The same events, for those without a public address."),
    (
        "Escalation",
        "What happens when an order is not accepted, by which channels people are informed, and who is watching.",
    ),
    ("Keys", "The account's API keys."),
    ("Requests", "The last API calls of the account."),
    ("Users", "The people who sign in to the panel."),
    ("Audit", "Who did what, from where, and what it changed."),
    ("Privacy", "Personal data of customers: find, export, erase."),
    (
        "Shops",
        "The way in for a restaurant's own shop, app or phone desk (the platform `direct`).",
    ),
];

/// The events that an account receives: name, id of the webhook's operation, description.
pub(super) const EVENTS: [(&str, &str, &str); 8] = [
    (
        event::CREATED,
        "on_order_created",
        "A new order has come from a connected platform.",
    ),
    (
        event::MOVED,
        "on_order_status_changed",
        "An order has moved to another status.",
    ),
    (
        event::CANCELLED,
        "on_order_cancelled",
        "An order is cancelled, by the account, the customer or the platform.",
    ),
    (
        event::UPDATED,
        "on_order_updated",
        "A platform has changed the lines, sums or payment of an order. Only for accounts with `orderUpdates`.",
    ),
    (
        event::INTEGRATION_TOGGLED,
        "on_integration_toggled",
        "An integration of a restaurant is switched on or off.",
    ),
    (
        event::STORE_CHANGED,
        "on_store_changed",
        "A restaurant has opened, closed or become busy on a platform. Only for accounts with it in `optionalEvents`.",
    ),
    (
        event::PRODUCT_CHANGED,
        "on_product_changed",
        "A product or option can be ordered on a platform again, or no longer. Only for accounts with it in `optionalEvents`.",
    ),
    (
        event::MENU_CHANGED,
        "on_menu_changed",
        "The menu of a platform has changed. Only for accounts with it in `optionalEvents`.",
    ),
];

const EVENT: &str = "Sent to the account's webhook address with its primary API key in `Authorization`. Anything but 2xx is \
tried again. The same event may come more than once, with the same `veri.id`.";

const DESCRIPTION: &str = "Orders of delivery platforms, in one place: list them, verify them, advance them, cancel \
them, account for them.\n\nEvery answer is an object with `success`. Errors carry `error.code` for programs and \
`error.message` for people. Amounts are whole minor units (kuruş); timestamps are RFC 3339 in UTC. POSTs take an \
`Idempotency-Key`: the same key with the same request gets the first answer again for 24 hours. Unknown body fields \
are ignored.";

/// The finished document.
#[must_use]
pub fn document() -> OpenApi {
    finish(OpenApi::default().nest(API_PREFIX, Operations::openapi()))
}

fn finish(mut document: OpenApi) -> OpenApi {
    document.info = InfoBuilder::new()
        .title("Garson")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(DESCRIPTION))
        .license(Some(
            LicenseBuilder::new()
                .name("Apache-2.0")
                .identifier(Some("Apache-2.0"))
                .build(),
        ))
        .build();
    document.servers = Some(vec![
        ServerBuilder::new()
            .url("/")
            .description(Some("The server that answers this document"))
            .build(),
    ]);
    let tag = |(name, about): (&str, &str)| TagBuilder::new().name(name).description(Some(about)).build();
    document.tags = Some(TAGS.into_iter().map(tag).collect());
    document.merge(shops::Shops::openapi());
    document.webhooks = Some(webhooks());
    let components = document.components.get_or_insert_default();
    add_detailed_items(components);
    let mut schemas = vec![(ErrorBody::name().into_owned(), ErrorBody::schema())];
    ErrorBody::schemas(&mut schemas);
    components.schemas.extend(schemas);
    components.responses.extend(error_responses());
    let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    components
        .security_schemes
        .insert("apiKey".to_owned(), bearer.into());
    let shop_key = ApiKey::Header(ApiKeyValue::with_description(
        "x-api-key",
        "The `inboundKey` of the shop's integration",
    ));
    components
        .security_schemes
        .insert("shopKey".to_owned(), SecurityScheme::ApiKey(shop_key).into());
    document.security = Some(vec![SecurityRequirement::new("apiKey", Vec::<String>::new())]);
    for item in document.paths.paths.values_mut() {
        if let Some(operation) = &mut item.post
            && operation.security.is_none()
        {
            operation
                .parameters
                .get_or_insert_default()
                .push(idempotency_key().into());
        }
        for operation in operations(item) {
            add_errors(operation);
            describe(operation);
        }
    }
    tidy::refer(&mut document);
    tidy::remove_unused(&mut document);
    document
}

/// Adds to an operation what all have: a description, and an example of its body.
fn describe(operation: &mut Operation) {
    if operation.description.as_ref().is_none_or(String::is_empty) {
        operation.description = operation.summary.clone();
    }
    let id = operation.operation_id.clone().unwrap_or_default();
    let Some(RefOr::T(body)) = &mut operation.request_body else {
        return;
    };
    for content in body.content.values_mut() {
        let RefOr::T(content) = content else { continue };
        content.example = examples::of_request(&id);
        // An optional body is not a nullable one: generated clients would send null.
        let named = match &content.schema {
            Some(RefOr::T(Schema::OneOf(either))) => either
                .items
                .iter()
                .find(|it| matches!(it, RefOr::Ref(_)))
                .cloned(),
            _ => None,
        };
        if named.is_some() {
            content.schema = named;
            body.required = Some(Required::False);
        }
    }
}

/// With `include=detail` the items of the list of orders carry more. The larger one is named first: clients take the first that fits.
fn add_detailed_items(components: &mut Components) {
    let detailed = DetailedItem::name().into_owned();
    let either = AnyOfBuilder::new()
        .item(Ref::from_schema_name(&detailed))
        .item(Ref::from_schema_name(OrderItem::name()));
    let mut schemas = vec![(detailed, DetailedItem::schema())];
    DetailedItem::schemas(&mut schemas);
    components.schemas.extend(schemas);
    if let Some(RefOr::T(Schema::Object(page))) = components.schemas.get_mut("Paged_OrderItem")
        && let Some(RefOr::T(Schema::Array(list))) = page.properties.get_mut("data")
    {
        list.items = ArrayItems::RefOrSchema(Box::new(either.into()));
    }
}

/// What is sent to the account's webhook address.
fn webhooks() -> Paths {
    let webhook = |paths: PathsBuilder, (name, id, about): (&str, &str, &str)| {
        let content = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name("Event")))
            .example(Some(examples::of_event(name)))
            .build();
        let body = RequestBodyBuilder::new()
            .content("application/json", content)
            .required(Some(Required::True))
            .build();
        let taken = ResponseBuilder::new()
            .description("It is taken; the body does not matter")
            .build();
        let operation = OperationBuilder::new()
            .operation_id(Some(id))
            .tag("Events")
            .summary(Some(about))
            .description(Some(EVENT))
            .request_body(Some(body))
            .response("200", taken)
            .build();
        paths.path(name, PathItem::new(HttpMethod::Post, operation))
    };
    EVENTS.into_iter().fold(PathsBuilder::new(), webhook).build()
}

fn idempotency_key() -> Parameter {
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .max_length(Some(200));
    ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "The same key with the same request gets the first answer again, for 24 hours",
        ))
        .schema(Some(schema))
        .build()
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [
        &mut item.get,
        &mut item.put,
        &mut item.post,
        &mut item.patch,
        &mut item.delete,
    ]
    .into_iter()
    .filter_map(Option::as_mut)
}

/// The responses that operations share. Copies in each of them would be half of the document, and of clients generated from it.
fn error_responses() -> impl Iterator<Item = (String, RefOr<Response>)> {
    let error = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(ErrorBody::name())))
        .build();
    ERRORS.into_iter().map(move |(status, meaning)| {
        let response = ResponseBuilder::new()
            .description(meaning)
            .content("application/json", error.clone())
            .build();
        (error_name(status), response.into())
    })
}

/// The name of an error's response: `NotFound` for 404.
fn error_name(status: &str) -> String {
    let known = StatusCode::from_bytes(status.as_bytes()).ok();
    let reason = known.and_then(|status| status.canonical_reason());
    reason.unwrap_or(status).replace(' ', "")
}

fn add_errors(operation: &mut Operation) {
    for (status, _) in ERRORS {
        operation
            .responses
            .responses
            .entry(status.to_owned())
            .or_insert_with(|| RefOr::Ref(Ref::from_response_name(error_name(status))));
    }
    for response in operation.responses.responses.values_mut() {
        if let utoipa::openapi::RefOr::T(response) = response
            && response.description.is_empty()
        {
            response.description = "Done".to_owned();
        }
    }
}

/// The document with the address at which this service is reached, if that is known.
pub(super) fn served_at(public_url: &str) -> OpenApi {
    let mut document = document();
    if !public_url.is_empty() {
        document.servers = Some(vec![
            ServerBuilder::new()
                .url(public_url.trim_end_matches('/'))
                .description(Some("This service"))
                .build(),
        ]);
    }
    document
}

#[cfg(test)]
mod tests;
