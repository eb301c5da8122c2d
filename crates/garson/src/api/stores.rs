//! Stores on platforms: their state, and opening, closing and busy mode.

mod view;

use self::view::{Stores, WantedStateSchema};
use super::envelope::Data;
use super::json_body::Json;
use super::provider_field::PlatformKeys;
use crate::flow::Fault;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::restaurant_id;
use crate::flow::stores;
use crate::flow::stores::{RequestedEnd, StoreRequest};
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::field_problem::FieldProblem;
use garson_core::json::ObjectOnly;
use garson_core::store_control::{DesiredState, Requester};
use garson_core::store_status::ReasonCode;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// The reasons that an account can give.
const REASONS: [ReasonCode; 6] = [
    ReasonCode::KitchenBusy,
    ReasonCode::NoCouriers,
    ReasonCode::MenuUpdate,
    ReasonCode::TechnicalProblem,
    ReasonCode::Closed,
    ReasonCode::Other,
];
const MAX_REASON: usize = 200;

/// The restaurant's stores on its platforms.
///
/// Each is read after a change and every few minutes. Closing a store stops the platform from taking orders; switching the integration
/// off (its `isActive`) stops Garson from using the platform, and leaves the store as it is.
#[utoipa::path(get, path = "/restaurants/{restaurantId}/store", tag = "Stores",
    params(("restaurantId" = String, Path)), responses((status = 200, body = Data<Stores>)))]
pub async fn get_store(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
) -> Result<Data<Stores>, ApiError> {
    let found = stores::get(&state.app, caller.account, restaurant_id(&restaurant)?).await?;
    Ok(Data::new(Stores {
        platforms: found.into_iter().map(Into::into).collect(),
    }))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoreChangeRequest {
    #[schema(value_type = WantedStateSchema)]
    state: String,
    /// When the closing or the busy mode ends: a timestamp in the next 30 days, or `next_opening`. Not together with `minutes`.
    #[schema(
        pattern = r"^(next_opening|20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,3})?Z)$"
    )]
    until: Option<String>,
    /// After how many minutes it ends.
    #[schema(minimum = 1, maximum = 43200)]
    minutes: Option<u32>,
    /// With `busy`: by how many minutes the delivery time is lengthened. The platform's next longer choice is used.
    #[schema(minimum = 1, maximum = 240)]
    busy_minutes: Option<u32>,
    /// `kitchen_busy`, `no_couriers`, `menu_update`, `technical_problem`, `closed`, `other`, or the account's own words.
    #[schema(max_length = 200)]
    reason: Option<String>,
    /// Only on these platforms; by default on all connected ones.
    providers: Option<PlatformKeys>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

impl StoreChangeRequest {
    fn parse(self, requester: Requester) -> Result<StoreRequest, Fault> {
        let state = DesiredState::named(&self.state).ok_or_else(|| {
            let choices = DesiredState::ALL.map(DesiredState::as_str).join(", ");
            Fault::invalid("state", FieldProblem::NotOneOf { choices })
        })?;
        let end = match (self.until.as_deref(), self.minutes) {
            (None, None) => None,
            (Some(_), Some(_)) => {
                let problem = FieldProblem::text("is not possible together with minutes");
                return Err(Fault::invalid("until", problem));
            }
            (None, Some(minutes)) => Some(RequestedEnd::Minutes(minutes)),
            (Some("next_opening"), None) => Some(RequestedEnd::NextOpening),
            (Some(text), None) => {
                let problem = || {
                    FieldProblem::text("must be a timestamp such as 2026-03-01T12:00:00Z, or next_opening")
                };
                let at = text.parse().map_err(|_| Fault::invalid("until", problem()))?;
                Some(RequestedEnd::At(at))
            }
        };
        if self
            .busy_minutes
            .is_some_and(|minutes| !(1..=240).contains(&minutes))
        {
            let (min, max) = (1, 240);
            return Err(Fault::invalid(
                "busyMinutes",
                FieldProblem::NotWholeNumber { min, max },
            ));
        }
        let (reason, note) = read_reason(self.reason)?;
        Ok(StoreRequest {
            state,
            end,
            busy_minutes: self.busy_minutes,
            reason,
            note,
            providers: self.providers.map(|keys| keys.0),
            requester,
        })
    }
}

/// A known code, or free text.
fn read_reason(reason: Option<String>) -> Result<(Option<ReasonCode>, Option<String>), Fault> {
    let Some(text) = reason.filter(|text| !text.trim().is_empty()) else {
        return Ok((None, None));
    };
    if text.chars().count() > MAX_REASON {
        return Err(Fault::invalid(
            "reason",
            FieldProblem::TooLong { max: MAX_REASON },
        ));
    }
    let known = text.parse().ok().filter(|code| REASONS.contains(code));
    Ok(match known {
        Some(code) => (Some(code), None),
        None => (Some(ReasonCode::Other), Some(text)),
    })
}

/// Open or close the restaurant on its platforms, or set busy mode.
///
/// Waits up to ten seconds for the platforms; each has a `result`, and what is `pending` is completed in the
/// background. A closing with an end uses the platform's own timer only if it fits exactly; otherwise Garson opens the store at that
/// time, also after a restart.
#[utoipa::path(put, path = "/restaurants/{restaurantId}/store", tag = "Stores",
    params(("restaurantId" = String, Path)), request_body = StoreChangeRequest,
    responses((status = 200, body = Data<Stores>)))]
pub async fn put_store(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
    Json(body): Json<StoreChangeRequest>,
) -> Result<Data<Stores>, ApiError> {
    let restaurant = restaurant_id(&restaurant)?;
    let request = body.parse(Requester::Key(caller.key))?;
    let results = stores::change(&state.app, caller.by(), restaurant, request).await?;
    Ok(Data::new(Stores {
        platforms: results.into_iter().map(Into::into).collect(),
    }))
}
