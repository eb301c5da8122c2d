//! The document that describes the API, made from the code, and the page that shows it.

use super::error::ErrorBody;
use super::{Api, PREFIX, routes};
use axum::Router;
use axum::middleware::from_fn;
use std::sync::Arc;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    ContentBuilder, InfoBuilder, LicenseBuilder, OpenApi, PathItem, Ref, Required, ResponseBuilder,
};
use utoipa::{PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_swagger_ui::{Config, SwaggerUi};

/// What an error of each status means; every operation may answer them.
const ERRORS: [(&str, &str); 14] = [
    ("400", "The request is broken"),
    ("401", "No key, or a wrong one"),
    ("403", "Only the primary key of the account may do this"),
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
];

const DESCRIPTION: &str = "Orders of delivery platforms, in one place: list them, verify them, advance them, cancel \
them, account for them.\n\nEvery answer is an object with `success`. Errors carry `error.code` for programs and \
`error.message` for people. Amounts are whole minor units (kuruş); moments are RFC 3339 in UTC. POSTs take an \
`Idempotency-Key`: the same key with the same request gets the first answer again for 24 hours. Unknown body fields \
are ignored.";

/// The finished document.
#[must_use]
pub fn document() -> OpenApi {
    let (_, document) = OpenApiRouter::<Arc<Api>>::new()
        .nest(PREFIX, routes())
        .split_for_parts();
    finish(document)
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
    let components = document.components.get_or_insert_default();
    let mut schemas = vec![(ErrorBody::name().into_owned(), ErrorBody::schema())];
    ErrorBody::schemas(&mut schemas);
    components.schemas.extend(schemas);
    let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    components
        .security_schemes
        .insert("apiKey".to_owned(), bearer.into());
    document.security = Some(vec![SecurityRequirement::new("apiKey", Vec::<String>::new())]);
    for item in document.paths.paths.values_mut() {
        if let Some(operation) = &mut item.post {
            operation
                .parameters
                .get_or_insert_default()
                .push(idempotency_key().into());
        }
        for operation in operations(item) {
            add_errors(operation);
        }
    }
    document
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
    [&mut item.get, &mut item.put, &mut item.post, &mut item.delete]
        .into_iter()
        .filter_map(Option::as_mut)
}

fn add_errors(operation: &mut Operation) {
    let error = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(ErrorBody::name())))
        .build();
    for (status, meaning) in ERRORS {
        let response = ResponseBuilder::new()
            .description(meaning)
            .content("application/json", error.clone())
            .build();
        operation
            .responses
            .responses
            .entry(status.to_owned())
            .or_insert(response.into());
    }
    for response in operation.responses.responses.values_mut() {
        if let utoipa::openapi::RefOr::T(response) = response
            && response.description.is_empty()
        {
            response.description = "Done".to_owned();
        }
    }
}

/// Serves the document at `/openapi.json` and a page to read it at `/docs`, without anything from elsewhere.
pub fn router(document: OpenApi) -> Router<Arc<Api>> {
    let page = SwaggerUi::new("/docs")
        .url("/openapi.json", finish(document))
        .config(
            Config::new(["/openapi.json"])
                .validator_url("none")
                .try_it_out_enabled(true),
        );
    Router::new()
        .merge(page)
        .route_layer(from_fn(crate::panel::protect_docs))
}
