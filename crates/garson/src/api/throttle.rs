//! The automatic throttle of a restaurant.

use super::envelope::Data;
use super::json_body::Json;
use crate::flow::Fault;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::restaurant_id;
use crate::flow::stores;
use crate::flow::stores::ThrottleInput;
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::field_problem::FieldProblem;
use garson_core::json::ObjectOnly;
use garson_core::store_control::{Requester, Throttle, ThrottleMeasure, ThrottleState};
use garson_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// The throttle of a restaurant: above a number of orders its stores become busy, above another they are closed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThrottleView {
    /// Whether there is one.
    enabled: bool,
    #[schema(value_type = Option<MeasureSchema>)]
    count_by: Option<&'static str>,
    busy_above: Option<u32>,
    busy_down_to: Option<u32>,
    close_above: Option<u32>,
    close_down_to: Option<u32>,
    minimum_minutes: Option<u32>,
    busy_minutes: Option<u32>,
    /// The step that the throttle is at now.
    #[schema(value_type = LevelSchema)]
    level: &'static str,
    #[schema(value_type = Option<String>, format = DateTime)]
    since: Option<Timestamp>,
    /// A user has opened the stores: the throttle is suspended until the number of orders has fallen.
    suspended: bool,
}

/// `open_orders`: orders that have not come to an end. `recent_orders`: orders that arrived in the last 15 minutes.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = ThrottleMeasure, rename_all = "snake_case")]
enum MeasureSchema {
    OpenOrders,
    RecentOrders,
}

#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = ThrottleLevel, rename_all = "snake_case")]
enum LevelSchema {
    None,
    Busy,
    Closed,
}

impl From<(Option<Throttle>, ThrottleState)> for ThrottleView {
    fn from((throttle, state): (Option<Throttle>, ThrottleState)) -> Self {
        let busy = throttle.and_then(|it| it.busy);
        let close = throttle.and_then(|it| it.close);
        Self {
            enabled: throttle.is_some(),
            count_by: throttle.map(|it| it.measure.as_str()),
            busy_above: busy.map(|it| it.above),
            busy_down_to: busy.map(|it| it.down_to),
            close_above: close.map(|it| it.above),
            close_down_to: close.map(|it| it.down_to),
            minimum_minutes: throttle.map(|it| it.minimum_minutes),
            busy_minutes: throttle.and_then(|it| it.busy_minutes),
            level: state.level.as_str(),
            since: state.since,
            suspended: state.is_suspended,
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThrottleRequest {
    /// False: there is no throttle, and what it had closed is opened again.
    enabled: bool,
    #[schema(value_type = Option<MeasureSchema>)]
    count_by: Option<String>,
    /// Above this number of orders the stores become busy, where the platform has busy mode.
    #[schema(minimum = 1, maximum = 500)]
    busy_above: Option<u32>,
    /// At this number of orders or fewer they are no longer busy; by default a fifth below `busyAbove`.
    #[schema(minimum = 0, maximum = 499)]
    busy_down_to: Option<u32>,
    /// Above this number of orders the stores are closed.
    #[schema(minimum = 1, maximum = 500)]
    close_above: Option<u32>,
    /// At this number of orders or fewer they are opened again; by default a fifth below `closeAbove`.
    #[schema(minimum = 0, maximum = 499)]
    close_down_to: Option<u32>,
    /// The minimum duration of a step in minutes.
    #[schema(minimum = 0, maximum = 240, default = 5)]
    minimum_minutes: Option<u32>,
    /// By how many minutes the delivery time is lengthened while the stores are busy.
    #[schema(minimum = 1, maximum = 240)]
    busy_minutes: Option<u32>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

impl ThrottleRequest {
    /// Fields are checked also where there is to be no throttle.
    fn check(&self) -> Result<(), Fault> {
        let limits = [
            ("busyAbove", self.busy_above, 1, 500),
            ("busyDownTo", self.busy_down_to, 0, 499),
            ("closeAbove", self.close_above, 1, 500),
            ("closeDownTo", self.close_down_to, 0, 499),
            ("minimumMinutes", self.minimum_minutes, 0, 240),
            ("busyMinutes", self.busy_minutes, 1, 240),
        ];
        for (field, number, min, max) in limits {
            if number.is_some_and(|number| !(min..=max).contains(&i64::from(number))) {
                return Err(Fault::invalid(field, FieldProblem::NotWholeNumber { min, max }));
            }
        }
        let names = ThrottleMeasure::ALL.map(ThrottleMeasure::as_str);
        match &self.count_by {
            Some(name) if !names.contains(&name.as_str()) => {
                let choices = names.join(", ");
                Err(Fault::invalid("countBy", FieldProblem::NotOneOf { choices }))
            }
            _ => Ok(()),
        }
    }

    fn parse(&self) -> Result<Option<Throttle>, Fault> {
        self.check()?;
        if !self.enabled {
            return Ok(None);
        }
        let input = ThrottleInput {
            count_by: self.count_by.clone(),
            busy_above: self.busy_above,
            busy_down_to: self.busy_down_to,
            close_above: self.close_above,
            close_down_to: self.close_down_to,
            minimum_minutes: self.minimum_minutes,
            busy_minutes: self.busy_minutes,
        };
        input.parse().map(Some)
    }
}

/// The automatic throttle of a restaurant.
#[utoipa::path(get, path = "/restaurants/{restaurantId}/throttle", tag = "Stores",
    params(("restaurantId" = String, Path)), responses((status = 200, body = Data<ThrottleView>)))]
pub async fn get_throttle(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
) -> Result<Data<ThrottleView>, ApiError> {
    let found = stores::get_throttle(&state.app, caller.account, restaurant_id(&restaurant)?).await?;
    Ok(Data::new(found.into()))
}

/// Set or remove the automatic throttle of a restaurant.
///
/// It never opens a store that a user has closed. If a user opens a store that the throttle has closed, the throttle is suspended until
/// the number of orders has fallen.
#[utoipa::path(put, path = "/restaurants/{restaurantId}/throttle", tag = "Stores",
    params(("restaurantId" = String, Path)), request_body = ThrottleRequest,
    responses((status = 200, body = Data<ThrottleView>)))]
pub async fn put_throttle(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
    Json(wanted): Json<ThrottleRequest>,
) -> Result<Data<ThrottleView>, ApiError> {
    let restaurant = restaurant_id(&restaurant)?;
    let throttle = wanted.parse()?;
    let requester = Requester::Key(caller.key);
    let set = stores::set_throttle(&state.app, caller.by(), restaurant, throttle, requester).await?;
    Ok(Data::new(set.into()))
}
