//! How the attempts at an endpoint went.

use crate::api::envelope::Data;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::endpoints;
use crate::flow::admin::input::endpoint_id;
use crate::flow::deliver::stats;
use crate::flow::deliver::stats::{EndpointStatistics, success_per_mille};
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::explanation::Explanation;
use garson_core::time::Timestamp;
use garson_store::tables::endpoint_stats::HourStats;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// The automatic attempts of the last seven days.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointStatisticsView {
    attempts: i64,
    failures: i64,
    /// The part of the attempts that succeeded, from 0 to 1; null without attempts.
    success_rate: Option<f64>,
    #[serde(flatten)]
    latency: LatencyView,
    last_failure: Option<LastFailureView>,
    /// The hours with attempts, the oldest first.
    hours: Vec<HourView>,
}

/// How long attempts took, in milliseconds. Percentiles are upper bounds of classes of durations.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct LatencyView {
    mean_ms: Option<i64>,
    p50_ms: Option<i64>,
    p95_ms: Option<i64>,
}

#[derive(Serialize, ToSchema)]
struct LastFailureView {
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// What happened, in plain words.
    explanation: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct HourView {
    /// When the hour began.
    #[schema(value_type = String, format = DateTime)]
    from: Timestamp,
    attempts: i64,
    failures: i64,
    success_rate: Option<f64>,
    #[serde(flatten)]
    latency: LatencyView,
}

/// Per mille as a part of one.
#[allow(clippy::cast_precision_loss)]
fn part(per_mille: Option<i64>) -> Option<f64> {
    per_mille.map(|per_mille| per_mille as f64 / 1000.0)
}

impl From<&HourStats> for LatencyView {
    fn from(stats: &HourStats) -> Self {
        Self {
            mean_ms: stats.total_ms.checked_div(stats.attempts),
            p50_ms: stats.percentile_ms(50),
            p95_ms: stats.percentile_ms(95),
        }
    }
}

impl From<HourStats> for HourView {
    fn from(stats: HourStats) -> Self {
        Self {
            from: Timestamp::from_millis(stats.hour * 3_600_000),
            attempts: stats.attempts,
            failures: stats.failures,
            success_rate: part(success_per_mille(&stats)),
            latency: (&stats).into(),
        }
    }
}

impl From<EndpointStatistics> for EndpointStatisticsView {
    fn from(statistics: EndpointStatistics) -> Self {
        let total = &statistics.total;
        let last_failure = total.last_failure_at.map(|at| LastFailureView {
            at,
            explanation: total
                .last_failure
                .as_deref()
                .map(|stored| Explanation::read(stored).to_string())
                .unwrap_or_default(),
        });
        Self {
            attempts: total.attempts,
            failures: total.failures,
            success_rate: part(statistics.success_per_mille()),
            latency: total.into(),
            last_failure,
            hours: statistics.hours.into_iter().map(Into::into).collect(),
        }
    }
}

/// Success rate, latency and the last failure of an endpoint, by the hour.
#[utoipa::path(get, path = "/webhook-endpoints/{endpointId}/statistics", tag = "Webhook",
    params(("endpointId" = String, Path)), responses((status = 200, body = Data<EndpointStatisticsView>)))]
pub async fn get_endpoint_statistics(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(endpoint): Path<String>,
) -> Result<Data<EndpointStatisticsView>, ApiError> {
    let id = endpoint_id(&endpoint)?;
    endpoints::get(&state.app, caller.account, id).await?;
    let statistics = stats::read(&state.app, caller.account, id).await?;
    Ok(Data::new(statistics.into()))
}
