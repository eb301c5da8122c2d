//! Integrations: a restaurant's connections to platforms.

use super::envelope::{Data, Done};
use super::fields::TextMap;
use super::json_body::Json;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::{CredentialText, ForeignId, Patch, restaurant_id};
use crate::flow::admin::integrations;
use crate::flow::admin::integrations::IntegrationChange;
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::field_problem::FieldProblem;
use garson_core::integration::{BranchClaim, Integration};
use garson_core::json::ObjectOnly;
use garson_core::platform::CredentialKind;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{
    AdditionalProperties, KnownFormat, ObjectBuilder, Schema, SchemaFormat, SchemaType, Type,
};
use utoipa::{PartialSchema, ToSchema};

/// An integration. Credentials are written, never read back.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IntegrationView {
    provider: String,
    is_active: bool,
    /// What the platform calls this branch.
    remote_id: Option<String>,
    /// Whether the branch is known to be this account's; `null` without a `remoteId`. `unproven`: what the platform sends with the
    /// credentials of whoever runs the service does not reach this integration until its own credentials have worked there.
    /// `taken`: they have worked, but somebody else owns the branch; only whoever runs the service can change that.
    #[schema(value_type = Option<BranchSchema>)]
    branch: Option<&'static str>,
    has_credentials: bool,
    default_cancel_reason: Option<String>,
    health: HealthView,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct HealthView {
    #[schema(value_type = Option<String>, format = DateTime)]
    last_order_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    last_error_at: Option<Timestamp>,
    last_error: Option<String>,
}

/// What is known about the right to a branch.
#[derive(ToSchema)]
#[schema(as = BranchClaim, rename_all = "lowercase")]
#[allow(dead_code)]
enum BranchSchema {
    Unproven,
    Proven,
    Taken,
}

impl From<Integration> for IntegrationView {
    fn from(integration: Integration) -> Self {
        let branch = integrations::shown_claim(&integration).map(BranchClaim::as_str);
        let health = integration.health;
        Self {
            provider: integration.provider.to_string(),
            is_active: integration.is_active,
            remote_id: integration.remote_id,
            branch,
            has_credentials: integration.has_credentials,
            default_cancel_reason: integration.default_cancel_reason,
            health: HealthView {
                last_order_at: health.last_order_at,
                last_error_at: health.last_error_at,
                last_error: health.last_error.map(|error| error.to_string()),
            },
            created_at: integration.created_at,
            updated_at: integration.updated_at,
        }
    }
}

/// What can be written about an integration; what is missing stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IntegrationRequest {
    is_active: Option<bool>,
    #[serde(default)]
    #[schema(value_type = Option<ForeignId>)]
    remote_id: Patch<ForeignId>,
    /// What the platform needs; a credential set to null is removed. `GET /providers` names them. Secrets have at least eight
    /// visible ASCII characters, without spaces.
    #[schema(value_type = Option<CredentialsSchema>)]
    credentials: Option<BTreeMap<String, Option<Credential>>>,
    #[serde(default)]
    #[schema(value_type = Option<ForeignId>)]
    default_cancel_reason: Patch<ForeignId>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// A credential: a text, or an object of names to texts, which is kept as the text that it is in JSON.
struct Credential(String);

impl<'de> Deserialize<'de> for Credential {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Credential;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or an object of names to texts")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Credential, E> {
                CredentialText::parse(text.to_owned())
                    .map(|text| Credential(text.into_string()))
                    .map_err(FieldProblem::into_error)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Credential, A::Error> {
                let entries = TextMap::deserialize(MapAccessDeserializer::new(map))?;
                let text = serde_json::to_string(&entries.0).map_err(de::Error::custom)?;
                if text.len() <= 2000 {
                    Ok(Credential(text))
                } else {
                    Err(FieldProblem::TooLarge.into_error())
                }
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// What the platforms need, as their dialects name it.
struct CredentialsSchema;

impl PartialSchema for CredentialsSchema {
    fn schema() -> RefOr<Schema> {
        let mut object = ObjectBuilder::new()
            .schema_type(Type::Object)
            .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)));
        for field in garson_platforms::all()
            .iter()
            .flat_map(|platform| platform.credential_fields())
        {
            let mut value = ObjectBuilder::new()
                .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
                .min_length(Some(1))
                .max_length(Some(2000));
            value = match field.kind {
                CredentialKind::Address => value.format(Some(SchemaFormat::KnownFormat(KnownFormat::Uri))),
                CredentialKind::Headers => value
                    .schema_type(SchemaType::from_iter([Type::String, Type::Object, Type::Null]))
                    .description(Some(
                        "HTTP headers by name, as an object, or the same as JSON in a string",
                    )),
                _ => value,
            };
            object = object.property(field.name, value);
        }
        object.into()
    }
}

impl ToSchema for CredentialsSchema {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Credentials")
    }
}

impl From<IntegrationRequest> for IntegrationChange {
    fn from(request: IntegrationRequest) -> Self {
        let text = |patch: Patch<ForeignId>| Some(patch.into_option()?.map(ForeignId::into_string));
        let secret =
            |(name, value): (String, Option<Credential>)| (name, value.map(|text| Secret::new(text.0)));
        Self {
            is_active: request.is_active,
            remote_id: text(request.remote_id),
            credentials: request
                .credentials
                .map(|entries| entries.into_iter().map(secret).collect()),
            default_cancel_reason: text(request.default_cancel_reason),
        }
    }
}

/// One integration of a restaurant.
#[utoipa::path(get, path = "/restaurants/{restaurantId}/integrations/{provider}", tag = "Integrations",
    params(("restaurantId" = String, Path), ("provider" = String, Path, description = "A platform key")),
    responses((status = 200, body = Data<IntegrationView>)))]
pub async fn get_integration(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path((restaurant, provider)): Path<(String, String)>,
) -> Result<Data<IntegrationView>, ApiError> {
    let restaurant = restaurant_id(&restaurant)?;
    Ok(Data::new(
        integrations::get(&state.app, caller.account, restaurant, &provider)
            .await?
            .into(),
    ))
}

/// Connect a restaurant to a platform, or change the connection.
#[utoipa::path(put, path = "/restaurants/{restaurantId}/integrations/{provider}", tag = "Integrations",
    params(("restaurantId" = String, Path), ("provider" = String, Path, description = "A platform key")),
    request_body = IntegrationRequest, responses((status = 200, body = Data<IntegrationView>)))]
pub async fn put_integration(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path((restaurant, provider)): Path<(String, String)>,
    Json(wanted): Json<IntegrationRequest>,
) -> Result<Data<IntegrationView>, ApiError> {
    let restaurant = restaurant_id(&restaurant)?;
    let put = integrations::put(&state.app, caller.by(), restaurant, &provider, wanted.into()).await?;
    Ok(Data::new(put.into()))
}

/// Disconnect a restaurant from a platform. Its orders stay.
#[utoipa::path(delete, path = "/restaurants/{restaurantId}/integrations/{provider}", tag = "Integrations",
    params(("restaurantId" = String, Path), ("provider" = String, Path, description = "A platform key")),
    responses((status = 200, body = Done)))]
pub async fn delete_integration(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path((restaurant, provider)): Path<(String, String)>,
) -> Result<Done, ApiError> {
    integrations::delete(&state.app, caller.by(), restaurant_id(&restaurant)?, &provider).await?;
    Ok(Done::new())
}
