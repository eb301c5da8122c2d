//! Opening hours of a restaurant, and how those of its platforms compare.

use super::envelope::Data;
use super::json_body::Json;
use crate::flow::Fault;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::{Line, restaurant_id};
use crate::flow::stores;
use crate::flow::stores::PlatformHours;
use crate::http::error::ApiError;
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::field_problem::FieldProblem;
use garson_core::json::ObjectOnly;
use garson_core::opening_hours::{
    HoursProblem, MAX_SPANS_PER_DAY, MAX_SPECIAL_DAYS, OpeningHours, Span, SpecialDay, TimeOfDay, Week,
    Weekday,
};
use garson_core::store_control::Requester;
use garson_core::time::{DEFAULT_TIMEZONE, Timestamp};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

const MAX_WEEKLY: usize = 7 * MAX_SPANS_PER_DAY;

/// The hours of a restaurant, and of its platforms.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HoursView {
    /// Null: the restaurant has no hours here.
    timezone: Option<String>,
    weekly: Vec<WeeklySpan>,
    special: Vec<SpecialDayView>,
    platforms: Vec<PlatformHoursView>,
}

/// Open on a day of the week. One that does not close after it opens closes on the next day.
#[derive(Serialize, ToSchema)]
struct WeeklySpan {
    #[schema(value_type = WeekdaySchema)]
    day: Weekday,
    #[schema(value_type = String)]
    opens: TimeOfDay,
    #[schema(value_type = String)]
    closes: TimeOfDay,
}

#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = Weekday, rename_all = "snake_case")]
enum WeekdaySchema {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

#[derive(Serialize, ToSchema)]
struct SpanView {
    #[schema(value_type = String)]
    opens: TimeOfDay,
    #[schema(value_type = String)]
    closes: TimeOfDay,
}

impl From<Span> for SpanView {
    fn from(span: Span) -> Self {
        Self {
            opens: span.opens,
            closes: span.closes,
        }
    }
}

/// A date with hours of its own.
#[derive(Serialize, ToSchema)]
struct SpecialDayView {
    #[schema(value_type = String, format = Date)]
    date: String,
    /// Empty: closed.
    spans: Vec<SpanView>,
    name: Option<String>,
}

/// How the hours of a platform compare with the restaurant's. Platforms have a week only; special days are followed by closing and
/// opening the store.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PlatformHoursView {
    provider: String,
    #[schema(value_type = HoursStateSchema)]
    state: &'static str,
    /// Why the platform refuses the hours, or does not have them yet.
    message: Option<String>,
    differences: Vec<DifferenceView>,
    /// When the platform's hours were read last.
    #[schema(value_type = Option<String>, format = DateTime)]
    checked_at: Option<Timestamp>,
}

/// `pending`: the hours have not been sent yet. `unknown`: they have not been read back yet. `unsupported`: the platform's hours cannot
/// be read or changed.
#[derive(ToSchema)]
#[allow(dead_code)]
#[schema(as = PlatformHoursState, rename_all = "snake_case")]
enum HoursStateSchema {
    Same,
    Different,
    Pending,
    Refused,
    Unknown,
    Unsupported,
}

/// A day on which the hours differ.
#[derive(Serialize, ToSchema)]
struct DifferenceView {
    #[schema(value_type = WeekdaySchema)]
    day: Weekday,
    ours: Vec<SpanView>,
    theirs: Vec<SpanView>,
}

fn spans(spans: &[Span]) -> Vec<SpanView> {
    spans.iter().copied().map(Into::into).collect()
}

impl From<PlatformHours> for PlatformHoursView {
    fn from(it: PlatformHours) -> Self {
        Self {
            provider: it.provider.to_string(),
            state: it.state.as_str(),
            message: it.message.map(|message| message.to_string()),
            differences: it
                .differences
                .iter()
                .map(|difference| DifferenceView {
                    day: difference.day,
                    ours: spans(&difference.ours),
                    theirs: spans(&difference.theirs),
                })
                .collect(),
            checked_at: it.checked_at,
        }
    }
}

impl From<stores::HoursView> for HoursView {
    fn from(view: stores::HoursView) -> Self {
        let hours = view.hours.as_ref();
        let weekly = hours.into_iter().flat_map(|hours| hours.week().spans());
        let special = hours.into_iter().flat_map(|hours| hours.special_days());
        Self {
            timezone: hours.map(|hours| hours.timezone().to_owned()),
            weekly: weekly
                .map(|(day, span)| WeeklySpan {
                    day,
                    opens: span.opens,
                    closes: span.closes,
                })
                .collect(),
            special: special
                .map(|day| SpecialDayView {
                    date: day.date.to_string(),
                    spans: spans(&day.spans),
                    name: day.name.clone(),
                })
                .collect(),
            platforms: view.platforms.into_iter().map(Into::into).collect(),
        }
    }
}

#[derive(Deserialize, ToSchema)]
pub struct HoursRequest {
    /// Europe/Istanbul without it.
    timezone: Option<String>,
    /// When the restaurant is open in a usual week; days that are missing are closed.
    #[schema(max_items = 42)]
    weekly: Vec<WeeklyRequest>,
    /// Dates with hours of their own.
    #[schema(max_items = 731)]
    special: Option<Vec<SpecialRequest>>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

#[derive(Deserialize, ToSchema)]
#[schema(as = WeeklySpanRequest)]
struct WeeklyRequest {
    #[schema(value_type = WeekdaySchema)]
    day: Weekday,
    /// 00:00 to 24:00.
    #[schema(value_type = String, pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$")]
    opens: TimeOfDay,
    #[schema(value_type = String, pattern = "^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$")]
    closes: TimeOfDay,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

#[derive(Deserialize, ToSchema)]
#[schema(as = SpecialDayRequest)]
struct SpecialRequest {
    #[schema(format = Date)]
    date: String,
    /// Empty or left out: closed.
    #[serde(default)]
    #[schema(max_items = 6)]
    spans: Vec<SpanRequest>,
    name: Option<Line>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

#[derive(Deserialize, ToSchema)]
struct SpanRequest {
    #[schema(value_type = String, pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$")]
    opens: TimeOfDay,
    #[schema(value_type = String, pattern = "^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$")]
    closes: TimeOfDay,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

impl HoursRequest {
    fn parse(self) -> Result<OpeningHours, Fault> {
        if self.weekly.len() > MAX_WEEKLY {
            let max = MAX_WEEKLY;
            return Err(Fault::invalid("weekly", FieldProblem::TooMany { max }));
        }
        let weekly = Week::new(
            self.weekly
                .into_iter()
                .map(|it| (it.day, Span::new(it.opens, it.closes))),
        );
        let special = self.special.unwrap_or_default();
        if special.len() > MAX_SPECIAL_DAYS {
            let max = MAX_SPECIAL_DAYS;
            return Err(Fault::invalid("special", FieldProblem::TooMany { max }));
        }
        let special: Result<Vec<SpecialDay>, Fault> = special
            .into_iter()
            .enumerate()
            .map(|(row, day)| {
                let date = day.date.parse();
                Ok(SpecialDay {
                    date: date
                        .map_err(|_| Fault::invalid(format!("special[{row}].date"), FieldProblem::NotDay))?,
                    spans: day
                        .spans
                        .into_iter()
                        .map(|span| Span::new(span.opens, span.closes))
                        .collect(),
                    name: day.name.map(Line::into_string).filter(|name| !name.is_empty()),
                })
            })
            .collect();
        let timezone = self.timezone.as_deref().unwrap_or(DEFAULT_TIMEZONE);
        OpeningHours::new(timezone, weekly, special?).map_err(|problem| match problem {
            HoursProblem::UnknownTimezone => Fault::invalid("timezone", FieldProblem::NotTimezone),
            HoursProblem::TooManySpecialDays | HoursProblem::RepeatedDate => {
                Fault::invalid("special", FieldProblem::text(problem.to_string()))
            }
            _ => Fault::invalid("weekly", FieldProblem::text(problem.to_string())),
        })
    }
}

/// Opening hours of a restaurant, compared with those of its platforms.
#[utoipa::path(get, path = "/restaurants/{restaurantId}/hours", tag = "Stores",
    params(("restaurantId" = String, Path)), responses((status = 200, body = Data<HoursView>)))]
pub async fn get_hours(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
) -> Result<Data<HoursView>, ApiError> {
    let found = stores::get_hours(&state.app, caller.account, restaurant_id(&restaurant)?).await?;
    Ok(Data::new(found.into()))
}

/// Replace the opening hours of a restaurant.
///
/// The week is written to the platforms that take hours. On special days the stores are closed and opened on time.
#[utoipa::path(put, path = "/restaurants/{restaurantId}/hours", tag = "Stores",
    params(("restaurantId" = String, Path)), request_body = HoursRequest,
    responses((status = 200, body = Data<HoursView>)))]
pub async fn put_hours(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(restaurant): Path<String>,
    Json(wanted): Json<HoursRequest>,
) -> Result<Data<HoursView>, ApiError> {
    let restaurant = restaurant_id(&restaurant)?;
    let hours = wanted.parse()?;
    let requester = Requester::Key(caller.key);
    let set = stores::set_hours(&state.app, caller.by(), restaurant, hours, requester).await?;
    Ok(Data::new(set.into()))
}
