//! Payment matching: the POS's own payment types beside the platforms'.

use super::envelope::Data;
use super::json_body::Json;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input;
use crate::flow::admin::input::{ForeignId, PaymentMatchInput, restaurant_id};
use crate::flow::admin::payment_matching;
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::json::ObjectOnly;
use garson_core::payment::PaymentType;
use garson_core::restaurant::PaymentMatch;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MatchingView {
    /// The POS's own payment types.
    types: Vec<PosTypeView>,
    /// Why they are not known, in plain words.
    problem: Option<String>,
    matches: Vec<MatchView>,
}

#[derive(Serialize, ToSchema)]
struct PosTypeView {
    id: String,
    name: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MatchView {
    provider: String,
    #[serde(rename = "type")]
    #[schema(value_type = Option<String>)]
    kind: Option<PaymentType>,
    provider_code: Option<String>,
    matched_id: String,
}

impl From<PaymentMatch> for MatchView {
    fn from(found: PaymentMatch) -> Self {
        Self {
            provider: found.provider.to_string(),
            kind: found.payment_type,
            provider_code: found.provider_code,
            matched_id: found.matched_id,
        }
    }
}

/// The POS's payment types, asked for now, and what is matched to them.
#[utoipa::path(get, path = "/restaurants/{restaurantId}/payment-matching", tag = "Payment matching",
    params(("restaurantId" = String, Path)), responses((status = 200, body = Data<MatchingView>)))]
pub async fn get_payment_matching(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
) -> Result<Data<MatchingView>, ApiError> {
    let shown = payment_matching::show(&state.app, caller.account, restaurant_id(&restaurant)?).await?;
    Ok(Data::new(MatchingView {
        types: shown
            .types
            .into_iter()
            .map(|t| PosTypeView {
                id: t.id,
                name: t.name,
            })
            .collect(),
        problem: shown.problem.map(|problem| problem.to_string()),
        matches: shown.matches.into_iter().map(Into::into).collect(),
    }))
}

#[derive(Deserialize, ToSchema)]
pub struct MatchesRequest {
    /// All matches of the restaurant; those that are not named are removed.
    #[schema(max_items = 500)]
    matches: Vec<MatchRequest>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// A payment of a platform, by our type or by the platform's own code, and what the POS calls it.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MatchRequest {
    provider: String,
    #[serde(rename = "type")]
    #[schema(value_type = Option<PaymentTypeSchema>)]
    kind: Option<PaymentType>,
    provider_code: Option<ForeignId>,
    matched_id: ForeignId,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// A way of paying.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = PaymentType, rename_all = "snake_case")]
enum PaymentTypeSchema {
    OnlineCard,
    CardOnDelivery,
    Cash,
    MealCardOnline,
    MealCardOnDelivery,
    Voucher,
    Wallet,
    Other,
}

impl From<MatchRequest> for PaymentMatchInput {
    fn from(request: MatchRequest) -> Self {
        Self {
            provider: request.provider,
            payment_type: request.kind,
            provider_code: request.provider_code,
            matched_id: request.matched_id,
        }
    }
}

/// Replace the matches of a restaurant.
#[utoipa::path(put, path = "/restaurants/{restaurantId}/payment-matching", tag = "Payment matching",
    params(("restaurantId" = String, Path)), request_body = MatchesRequest,
    responses((status = 200, body = Data<Vec<MatchView>>)))]
pub async fn put_payment_matching(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
    Json(wanted): Json<MatchesRequest>,
) -> Result<Data<Vec<MatchView>>, ApiError> {
    let restaurant = restaurant_id(&restaurant)?;
    let inputs = wanted.matches.into_iter().map(Into::into).collect();
    let matches = input::payment_matches(inputs)?;
    let set = payment_matching::set(&state.app, caller.by(), restaurant, matches).await?;
    Ok(Data::new(set.into_iter().map(Into::into).collect()))
}
