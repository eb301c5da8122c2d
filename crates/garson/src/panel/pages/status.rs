//! The status page: platforms, queues and their lag, and the problems of the last day.

use crate::flow::admin::accounts::Delivery;
use crate::flow::admin::{printers, restaurants};
use crate::flow::presence::NamedPresence;
use crate::flow::read::status;
use crate::flow::read::status::{Connection, MOST, Queue, Status};
use crate::flow::upkeep::health::NotReady;
use crate::http::state::HttpState;
use crate::panel::components::printers::PrinterTable;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::layout::{Layout, page};
use crate::panel::kit::navigation::NavItem;
use crate::panel::kit::short_id::ShortId;
use crate::panel::kit::time_ago::TimeAgo;
use crate::panel::kit::{explain, names};
use crate::panel::words::{DeliveryWords, StatusWords};
use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use garson_core::id::EventId;
use garson_core::order::CallKind;
use garson_core::presence::PresenceKind;
use garson_store::tables::calls::FailedCall;
use garson_store::tables::inbox::{InboxState, OpenMessage};
use std::sync::Arc;
use std::time::Duration;

pub fn routes() -> Router<Arc<HttpState>> {
    Router::new().route("/status", get(show_status))
}

struct PlatformRow {
    restaurant: String,
    name: String,
    state: &'static str,
    tone: &'static str,
    last_order: TimeAgo,
    last_error: Option<(TimeAgo, String)>,
}

/// The backlog of a queue.
struct QueueCard {
    name: &'static str,
    count: String,
    is_empty: bool,
    lag_name: &'static str,
    lag: String,
}

struct FailedDeliveryRow {
    id: EventId,
    at: String,
    name: String,
    what: String,
}

struct RefusedCallRow {
    at: String,
    platform: String,
    call: String,
    order: ShortId,
    href: String,
    what: String,
}

/// A message of a platform that could not be processed.
struct OpenMessageRow {
    at: String,
    platform: String,
    branch: String,
    what: String,
}

/// The number of problems, and the newest of them.
struct ProblemList<T> {
    count: String,
    newest: Vec<T>,
}

#[derive(Template)]
#[template(path = "status.html")]
struct StatusPage {
    layout: Layout,
    t: StatusWords,
    not_ready: Option<&'static str>,
    nodes: i64,
    has_webhook: bool,
    queues: Vec<QueueCard>,
    platforms: Vec<PlatformRow>,
    printers: PrinterTable,
    has_more: bool,
    has_no_problems: bool,
    has_platform_problems: bool,
    deliveries: ProblemList<FailedDeliveryRow>,
    calls: ProblemList<RefusedCallRow>,
    messages: ProblemList<OpenMessageRow>,
    watching: Vec<WatcherRow>,
}

/// A connected board or program.
struct WatcherRow {
    kind: String,
    key: String,
    restaurant: String,
    since: TimeAgo,
}

fn watcher_row(
    layout: &Layout,
    t: &StatusWords,
    (it, restaurant): (NamedPresence, Option<String>),
) -> WatcherRow {
    let kind = match it.presence.kind {
        PresenceKind::Board => t.watcher_board,
        PresenceKind::Stream => t.watcher_stream,
        PresenceKind::Poller => t.watcher_poller,
        PresenceKind::Printer => t.watcher_printer,
    };
    WatcherRow {
        kind: match it.presence.connections {
            1 => kind.to_owned(),
            count => format!("{kind} × {count}"),
        },
        key: layout.given_name(&it.key.unwrap_or_default()).to_owned(),
        restaurant: restaurant.unwrap_or_else(|| t.all_restaurants.to_owned()),
        since: layout.time_ago(&it.presence.since),
    }
}

/// Counting stops at `MOST`.
fn count_text(t: &StatusWords, count: i64) -> String {
    if count < MOST {
        count.to_string()
    } else {
        format!("{MOST} {}", t.or_more)
    }
}

/// A duration in its largest unit.
fn duration_text(t: &StatusWords, duration: Duration) -> String {
    match duration.as_secs() {
        seconds @ 0..120 => format!("{seconds} {}", t.seconds),
        seconds @ 120..7_200 => format!("{} {}", seconds / 60, t.minutes),
        seconds @ 7_200..172_800 => format!("{} {}", seconds / 3_600, t.hours),
        seconds => format!("{} {}", seconds / 86_400, t.days),
    }
}

fn queue_card(t: &StatusWords, name: &'static str, lag_name: &'static str, queue: Queue) -> QueueCard {
    QueueCard {
        name,
        count: count_text(t, queue.count),
        is_empty: queue.count == 0,
        lag_name,
        lag: match queue.lag {
            Some(lag) if !lag.is_zero() => duration_text(t, lag),
            _ => t.on_time.to_owned(),
        },
    }
}

fn platform_row(layout: &Layout, t: &StatusWords, it: Connection) -> PlatformRow {
    let Connection {
        restaurant,
        integration,
        is_in_trouble,
        has_recent_error: _,
    } = it;
    let (state, tone) = match (integration.is_active, is_in_trouble) {
        (false, _) => (t.off, ""),
        (true, true) => (t.trouble, "bad"),
        (true, false) => (t.on, "good"),
    };
    let health = integration.health;
    PlatformRow {
        restaurant,
        name: layout.provider(&integration.provider),
        state,
        tone,
        last_order: layout.time_ago_or(&health.last_order_at, t.no_order),
        last_error: health.last_error_at.map(|at| {
            (
                layout.time_ago(&at),
                explain::optional_platform(layout.lang, health.last_error.as_ref()),
            )
        }),
    }
}

fn failed_delivery_row(layout: &Layout, delivery: Delivery) -> FailedDeliveryRow {
    let d = DeliveryWords::of(layout.lang);
    let what = match (delivery.attempts.last(), &delivery.event.reason) {
        (Some(attempt), _) => explain::text(layout.lang, &attempt.explanation),
        (None, Some(reason)) => explain::reason(&d, reason),
        (None, None) => String::new(),
    };
    FailedDeliveryRow {
        id: delivery.event.id,
        at: layout.timestamp(&delivery.event.created_at),
        name: delivery.event.name,
        what,
    }
}

fn refused_call_row(layout: &Layout, t: &StatusWords, call: FailedCall) -> RefusedCallRow {
    RefusedCallRow {
        at: layout.timestamp(&call.at),
        platform: layout.provider(&call.provider),
        call: match call.kind {
            CallKind::Verify => t.call_verify.to_owned(),
            CallKind::Cancel => t.call_cancel.to_owned(),
            CallKind::Ready => t.call_ready.to_owned(),
            CallKind::Tell(status) => format!("{}: {}", t.call_tell, names::status(layout.lang, status)),
        },
        order: ShortId::new(call.short_code.unwrap_or(call.provider_order_id)),
        href: format!("/orders/{}", call.order_id),
        what: explain::optional_platform(layout.lang, call.message.as_ref()),
    }
}

fn open_message_row(layout: &Layout, t: &StatusWords, message: OpenMessage) -> OpenMessageRow {
    let state = match message.state.as_str() {
        state if state == InboxState::Unreadable.as_str() => t.unreadable,
        state if state == InboxState::Unmatched.as_str() => t.unmatched,
        _ => t.conflicting,
    };
    OpenMessageRow {
        at: layout.timestamp(&message.received_at),
        platform: layout.provider(&message.provider),
        branch: message.branch.unwrap_or_default(),
        what: match message.reason {
            Some(reason) => format!("{state}: {reason}"),
            None => state.to_owned(),
        },
    }
}

async fn show_status(State(api): State<Arc<HttpState>>, user: CurrentUser) -> Result<Response, PanelError> {
    let (app, account) = (&api.app, user.account.id);
    let fail = |fault| user.fail(fault);
    let found = status::status(app, account).await.map_err(fail)?;
    let found_printers = printers::list(app, account).await.map_err(fail)?;
    let names = restaurants::names(app, account).await.map_err(fail)?;
    let layout = user.layout(NavItem::Status);
    let table = PrinterTable::new(&layout, found_printers, &names, app.now());
    Ok(page(&status_page(layout, found, table)))
}

fn status_page(layout: Layout, found: Status, printers: PrinterTable) -> StatusPage {
    let t = StatusWords::of(layout.lang);
    let problems = [
        found.failed_deliveries.count,
        found.failed_calls.count,
        found.kept_messages.count,
    ];
    let has_platform_problems = found
        .connections
        .iter()
        .any(|it| it.is_in_trouble || it.has_recent_error);
    StatusPage {
        not_ready: found.not_ready.map(|why| match why {
            NotReady::Storage(_) => t.storage_away,
            NotReady::NotJoined => t.not_joined,
            NotReady::WorkerFails(_) => t.worker_fails,
        }),
        nodes: found.nodes,
        has_webhook: found.has_webhook,
        queues: vec![
            queue_card(&t, t.undelivered, t.oldest, found.undelivered),
            queue_card(&t, t.calls, t.overdue, found.open_calls),
        ],
        platforms: found
            .connections
            .into_iter()
            .map(|it| platform_row(&layout, &t, it))
            .collect(),
        has_more: found.has_more_connections,
        has_no_problems: problems.iter().all(|count| *count == 0) && !has_platform_problems,
        has_platform_problems,
        printers,
        watching: found
            .watching
            .into_iter()
            .map(|it| watcher_row(&layout, &t, it))
            .collect(),
        deliveries: ProblemList {
            count: count_text(&t, problems[0]),
            newest: found
                .failed_deliveries
                .newest
                .into_iter()
                .map(|it| failed_delivery_row(&layout, it))
                .collect(),
        },
        calls: ProblemList {
            count: count_text(&t, problems[1]),
            newest: found
                .failed_calls
                .newest
                .into_iter()
                .map(|it| refused_call_row(&layout, &t, it))
                .collect(),
        },
        messages: ProblemList {
            count: count_text(&t, problems[2]),
            newest: found
                .kept_messages
                .newest
                .into_iter()
                .map(|it| open_message_row(&layout, &t, it))
                .collect(),
        },
        t,
        layout,
    }
}
