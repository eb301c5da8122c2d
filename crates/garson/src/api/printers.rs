//! Printers that print agents serve: register, list, report, and ask for a ticket.

use super::envelope::{Data, Done};
use super::idempotency::NewId;
use super::json_body::Json;
use crate::flow::Fault;
use crate::flow::admin::api_auth::Caller;
use crate::flow::admin::input::{ForeignId, Line, Name, printer_id, restaurant_id};
use crate::flow::admin::printers;
use crate::flow::admin::printers::NewPrinter;
use crate::flow::fault::Thing;
use crate::http::error::{ApiError, Code};
use crate::http::state::HttpState;
use axum::extract::{Path, State};
use garson_core::field_problem::FieldProblem;
use garson_core::id::{OrderId, PrintJobId, PrinterId, RestaurantId};
use garson_core::json::{ObjectOnly, whole_or_none};
use garson_core::printer::{AgentNotes, PrintJob, Printer, PrinterReport, PrinterState};
use garson_core::time::Timestamp;
use garson_ticket::Kind;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Jobs that one report may name as printed.
const MAX_PRINTED: usize = 100;
/// Tickets that a printer may be said to have waiting, or orders that it may be said to have left out.
const MAX_COUNT: i64 = 1_000_000;
/// The largest difference of clocks that a report may have, in seconds: about thirty years.
const MAX_CLOCK: i64 = 1_000_000_000;

#[derive(Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StateView {
    Ready,
    PaperLow,
    NoPaper,
    CoverOpen,
    Offline,
    Unreachable,
    Fault,
}

impl From<StateView> for PrinterState {
    fn from(view: StateView) -> Self {
        match view {
            StateView::Ready => Self::Ready,
            StateView::PaperLow => Self::PaperLow,
            StateView::NoPaper => Self::NoPaper,
            StateView::CoverOpen => Self::CoverOpen,
            StateView::Offline => Self::Offline,
            StateView::Unreachable => Self::Unreachable,
            StateView::Fault => Self::Fault,
        }
    }
}

impl From<PrinterState> for StateView {
    fn from(state: PrinterState) -> Self {
        match state {
            PrinterState::Ready => Self::Ready,
            PrinterState::PaperLow => Self::PaperLow,
            PrinterState::NoPaper => Self::NoPaper,
            PrinterState::CoverOpen => Self::CoverOpen,
            PrinterState::Offline => Self::Offline,
            PrinterState::Unreachable => Self::Unreachable,
            PrinterState::Fault => Self::Fault,
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrinterView {
    #[schema(value_type = String, format = Uuid)]
    id: PrinterId,
    name: String,
    /// The restaurant whose orders it prints; null for all.
    #[schema(value_type = Option<String>, format = Uuid)]
    restaurant_id: Option<RestaurantId>,
    /// What its agent reported last.
    state: StateView,
    message: Option<String>,
    /// Tickets that wait for the printer.
    waiting: i64,
    /// Orders that were not printed in the last day, because the agent got them too late (`--max-age-minutes`).
    skipped: i64,
    /// By how many seconds the agent's clock is ahead of the service's, or behind if negative; null if it is right.
    clock_difference_seconds: Option<i64>,
    /// Has its agent reported within the last minute?
    is_connected: bool,
    #[schema(value_type = String, format = DateTime)]
    seen_at: Timestamp,
    /// When the state became what it is.
    #[schema(value_type = String, format = DateTime)]
    state_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

impl PrinterView {
    fn new(printer: Printer, now: Timestamp) -> Self {
        Self {
            is_connected: !printer.is_silent(now),
            id: printer.id,
            name: printer.name,
            restaurant_id: printer.restaurant_id,
            state: printer.state.into(),
            message: printer.notes.message,
            waiting: printer.waiting,
            skipped: printer.notes.skipped,
            clock_difference_seconds: printer.notes.clock_ahead,
            seen_at: printer.seen_at,
            state_at: printer.state_at,
            created_at: printer.created_at,
        }
    }
}

/// The printers that print agents serve.
#[utoipa::path(get, path = "/printers", tag = "Printing", responses((status = 200, body = Data<Vec<PrinterView>>)))]
pub async fn list_printers(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
) -> Result<Data<Vec<PrinterView>>, ApiError> {
    let now = state.app.now();
    let mut found = printers::list(&state.app, caller.account).await?;
    found.retain(|it| {
        it.restaurant_id
            .is_none_or(|id| caller.access.restaurants.has(id))
    });
    let views = found.into_iter().map(|printer| PrinterView::new(printer, now));
    Ok(Data::new(views.collect()))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrinterRequest {
    /// What people call it.
    name: Name,
    /// The restaurant whose orders it prints; all of the account's without one.
    restaurant_id: Option<ForeignId>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// Register a printer. A print agent does so once.
#[utoipa::path(post, path = "/printers", tag = "Printing", request_body = PrinterRequest,
    responses((status = 200, body = Data<PrinterView>)))]
pub async fn register_printer(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    NewId(new_id): NewId,
    Json(wanted): Json<PrinterRequest>,
) -> Result<Data<PrinterView>, ApiError> {
    let restaurant = wanted.restaurant_id.map(|id| restaurant_id(id.as_str()));
    let restaurant_id = restaurant.transpose()?;
    match restaurant_id {
        Some(id) => caller.must_have(id)?,
        None if caller.access.restaurants.is_all() => {}
        None => return Err(Fault::invalid("restaurantId", FieldProblem::Required).into()),
    }
    let new = NewPrinter {
        id: PrinterId(new_id),
        name: wanted.name.into_string(),
        restaurant_id,
    };
    let printer = printers::register(&state.app, caller.by(), new).await?;
    Ok(Data::new(PrinterView::new(printer, state.app.now())))
}

/// Remove a printer. Its agent registers it again if it still runs.
#[utoipa::path(delete, path = "/printers/{printerId}", tag = "Printing", params(("printerId" = String, Path)),
    responses((status = 200, body = Done)))]
pub async fn remove_printer(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Done, ApiError> {
    printers::remove(&state.app, caller.by(), printer_id(&id)?).await?;
    Ok(Done::new())
}

/// The id of a ticket to be printed.
#[derive(ToSchema)]
#[schema(as = PrintJobId, value_type = String, format = Uuid)]
#[allow(dead_code)]
struct JobIdSchema(PrintJobId);

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReportRequest {
    state: StateView,
    /// The agent's own words, for support.
    message: Option<Line>,
    /// Tickets that wait for the printer.
    #[serde(default, deserialize_with = "whole_or_none")]
    #[schema(value_type = Option<u32>, minimum = 0, maximum = 1_000_000)]
    waiting: Option<i64>,
    /// Orders that were not printed in the last day, because the agent got them too late.
    #[serde(default, deserialize_with = "whole_or_none")]
    #[schema(value_type = Option<u32>, minimum = 0, maximum = 1_000_000)]
    skipped: Option<i64>,
    /// By how many seconds the agent's clock is ahead of the service's (the `Date` of its answers), or behind if negative; left out
    /// if it is right.
    #[serde(default, deserialize_with = "whole_or_none")]
    #[schema(value_type = Option<i32>, minimum = -1_000_000_000, maximum = 1_000_000_000)]
    clock_difference_seconds: Option<i64>,
    /// The ids of `jobs` that are printed.
    #[schema(value_type = Option<Vec<JobIdSchema>>, max_items = 100)]
    printed: Option<Vec<PrintJobId>>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// What a person wants printed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobView {
    #[schema(value_type = String, format = Uuid)]
    id: PrintJobId,
    #[schema(value_type = String, format = Uuid)]
    order_id: OrderId,
    /// `kitchen`, `courier` or `customer`.
    kind: String,
}

impl From<PrintJob> for JobView {
    fn from(job: PrintJob) -> Self {
        Self {
            id: job.id,
            order_id: job.order_id,
            kind: job.kind,
        }
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = PrintJobs)]
pub struct Jobs {
    /// Tickets to be printed; each comes with every report until it is named in `printed`.
    jobs: Vec<JobView>,
}

/// Report the state of a printer, and receive what people want printed. An agent does so every few seconds.
#[utoipa::path(post, path = "/printers/{printerId}/report", tag = "Printing", params(("printerId" = String, Path)),
    request_body = ReportRequest, responses((status = 200, body = Data<Jobs>)))]
pub async fn report_printer(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(id): Path<String>,
    Json(given): Json<ReportRequest>,
) -> Result<Data<Jobs>, ApiError> {
    let wrong = |field, problem| Err(ApiError::invalid(Code::InvalidField, field, problem));
    let (waiting, skipped) = (given.waiting.unwrap_or(0), given.skipped.unwrap_or(0));
    for (field, number) in [("waiting", waiting), ("skipped", skipped)] {
        if !(0..=MAX_COUNT).contains(&number) {
            return wrong(field, "must be from 0 to 1000000");
        }
    }
    let clock_ahead = given.clock_difference_seconds;
    if clock_ahead.is_some_and(|seconds| !(-MAX_CLOCK..=MAX_CLOCK).contains(&seconds)) {
        return wrong("clockDifferenceSeconds", "must be from -1000000000 to 1000000000");
    }
    let printed = given.printed.unwrap_or_default();
    if printed.len() > MAX_PRINTED {
        return wrong("printed", "must have at most 100 ids");
    }
    let report = PrinterReport {
        state: given.state.into(),
        notes: AgentNotes {
            message: given
                .message
                .map(Line::into_string)
                .filter(|text| !text.is_empty()),
            skipped,
            clock_ahead,
        },
        waiting,
        printed,
    };
    let id = printer_id(&id)?;
    let restaurant = printers::restaurant(&state.app, caller.account, id).await?;
    // The printer of all restaurants prints orders of other ones, too.
    let is_own = restaurant.map_or(caller.access.restaurants.is_all(), |it| {
        caller.access.restaurants.has(it)
    });
    if !is_own {
        return Err(Fault::not_found(Thing::Printer, id).into());
    }
    let jobs = printers::report(&state.app, caller.account, id, report).await?;
    Ok(Data::new(Jobs {
        jobs: jobs.into_iter().map(Into::into).collect(),
    }))
}

#[derive(Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum KindView {
    #[default]
    Kitchen,
    Courier,
    Customer,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrintRequest {
    printer_id: ForeignId,
    /// Which ticket; the kitchen's if it is left out.
    kind: Option<KindView>,
    #[serde(flatten)]
    #[schema(ignore)]
    _object: ObjectOnly,
}

/// Print a ticket of an order on a printer. Its agent obeys within seconds; after an hour the request is dropped.
#[utoipa::path(post, path = "/orders/{orderId}/print", tag = "Printing",
    params(("orderId" = String, Path, description = "The record id, or the platform's order id")),
    request_body = PrintRequest, responses((status = 200, body = Done)))]
pub async fn print_order(
    State(state): State<Arc<HttpState>>,
    caller: Caller,
    Path(order_id): Path<String>,
    NewId(new_id): NewId,
    Json(wanted): Json<PrintRequest>,
) -> Result<Done, ApiError> {
    let printer = printer_id(wanted.printer_id.as_str())?;
    let restaurant = printers::restaurant(&state.app, caller.account, printer).await?;
    if restaurant.is_some_and(|it| !caller.access.restaurants.has(it)) {
        return Err(Fault::not_found(Thing::Printer, printer).into());
    }
    let kind = match wanted.kind.unwrap_or_default() {
        KindView::Kitchen => Kind::Kitchen,
        KindView::Courier => Kind::Courier,
        KindView::Customer => Kind::Customer,
    };
    let job = PrintJobId(new_id);
    printers::request_print(&state.app, caller.by(), order_id, printer, kind, job).await?;
    Ok(Done::new())
}
