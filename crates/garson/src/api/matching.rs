//! Payment matching: the POS's own payment types beside the platforms'.

use super::auth::Caller;
use super::envelope::Data;
use super::fields::ForeignId;
use super::{Api, ApiError, restaurants};
use crate::flow::admin::{integrations, payment_matching};
use crate::http::body::Json;
use crate::http::error::Code;
use axum::extract::{Path, State};
use garson_core::field_problem::FieldProblem;
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
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(restaurant): Path<String>,
) -> Result<Data<MatchingView>, ApiError> {
    let shown = payment_matching::show(&api.app, caller.account, restaurants::id(&restaurant)?).await?;
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

fn payment_match(wanted: MatchRequest, at: &str) -> Result<PaymentMatch, ApiError> {
    if wanted.kind.is_none() && wanted.provider_code.is_none() {
        let problem = FieldProblem::NoPaymentTypeOrCode;
        return Err(ApiError::problem(Code::InvalidField, at, problem));
    }
    Ok(PaymentMatch {
        provider: integrations::platform(&wanted.provider)?.provider(),
        payment_type: wanted.kind,
        provider_code: wanted.provider_code.map(|code| code.0),
        matched_id: wanted.matched_id.0,
    })
}

/// All matches that a request wants.
pub fn matches(wanted: MatchesRequest) -> Result<Vec<PaymentMatch>, ApiError> {
    if wanted.matches.len() > 500 {
        let problem = FieldProblem::TooMany { max: 500 };
        return Err(ApiError::problem(Code::InvalidField, "matches", problem));
    }
    let mut matches: Vec<PaymentMatch> = Vec::new();
    for (n, wanted) in wanted.matches.into_iter().enumerate() {
        let at = format!("matches[{n}]");
        let wanted = payment_match(wanted, &at)?;
        let same = |other: &PaymentMatch| {
            (other.provider, other.payment_type, &other.provider_code)
                == (wanted.provider, wanted.payment_type, &wanted.provider_code)
        };
        if let Some(first) = matches.iter().position(same) {
            let problem = FieldProblem::SamePaymentAs { row: first };
            return Err(ApiError::problem(Code::InvalidField, &at, problem));
        }
        matches.push(wanted);
    }
    Ok(matches)
}

/// Replace the matches of a restaurant.
#[utoipa::path(put, path = "/restaurants/{restaurantId}/payment-matching", tag = "Payment matching",
    params(("restaurantId" = String, Path)), request_body = MatchesRequest,
    responses((status = 200, body = Data<Vec<MatchView>>)))]
pub async fn put_payment_matching(
    State(api): State<Arc<Api>>,
    caller: Caller,
    Path(restaurant): Path<String>,
    Json(wanted): Json<MatchesRequest>,
) -> Result<Data<Vec<MatchView>>, ApiError> {
    let restaurant = restaurants::id(&restaurant)?;
    let matches = matches(wanted)?;
    let set = payment_matching::set(&api.app, caller.account, restaurant, matches).await?;
    Ok(Data::new(set.into_iter().map(Into::into).collect()))
}
