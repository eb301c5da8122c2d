//! How things stand: platforms, queues and their lag, and what went wrong in the last day.

use crate::flow::admin::accounts::Delivery;
use crate::flow::read::status;
use crate::flow::read::status::{Connection, MOST, Queue, Status};
use crate::flow::upkeep::health::NotReady;
use crate::http::state::HttpState as Api;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::frame::{Frame, Place, has_page, page};
use crate::panel::kit::visitor::Visitor;
use crate::panel::kit::{explain, names};
use crate::panel::words::{DeliveryWords, StatusWords};
use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use garson_core::id::EventId;
use garson_core::order::CallKind;
use garson_store::tables::calls::FailedCall;
use garson_store::tables::inbox::{InboxState, OpenMessage};
use std::sync::Arc;
use std::time::Duration;

pub fn routes() -> Router<Arc<Api>> {
    Router::new().route("/status", get(show_status))
}

/// A platform of a restaurant.
struct Platform {
    restaurant: String,
    name: String,
    state: &'static str,
    tone: &'static str,
    last_order: String,
    last_error: Option<(String, String)>,
}

/// Something that waits.
struct Waiting {
    name: &'static str,
    count: String,
    is_empty: bool,
    lag_name: &'static str,
    lag: String,
}

/// An event that was not delivered.
struct Failed {
    id: EventId,
    at: String,
    name: String,
    what: String,
}

/// A call that a platform refused.
struct Refused {
    at: String,
    platform: String,
    call: String,
    order: String,
    href: Option<String>,
    what: String,
}

/// A message that could not be taken.
struct Kept {
    at: String,
    platform: String,
    branch: String,
    what: String,
}

/// How many, and some of them.
struct Problems<T> {
    count: String,
    newest: Vec<T>,
}

#[derive(Template)]
#[template(path = "status.html")]
struct StatusPage {
    frame: Frame,
    t: StatusWords,
    not_ready: Option<&'static str>,
    nodes: i64,
    has_webhook: bool,
    waiting: Vec<Waiting>,
    platforms: Vec<Platform>,
    has_more: bool,
    restaurants_href: &'static str,
    is_calm: bool,
    deliveries: Problems<Failed>,
    calls: Problems<Refused>,
    messages: Problems<Kept>,
}

/// A count as far as it was counted.
fn counted(t: &StatusWords, count: i64) -> String {
    if count < MOST {
        count.to_string()
    } else {
        format!("{MOST} {}", t.or_more)
    }
}

/// A time in its largest unit.
fn time(t: &StatusWords, time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} {}", t.seconds),
        seconds @ 120..7_200 => format!("{} {}", seconds / 60, t.minutes),
        seconds @ 7_200..172_800 => format!("{} {}", seconds / 3_600, t.hours),
        seconds => format!("{} {}", seconds / 86_400, t.days),
    }
}

fn waiting(t: &StatusWords, name: &'static str, lag_name: &'static str, queue: Queue) -> Waiting {
    Waiting {
        name,
        count: counted(t, queue.count),
        is_empty: queue.count == 0,
        lag_name,
        lag: match queue.lag {
            Some(lag) if !lag.is_zero() => time(t, lag),
            _ => t.on_time.to_owned(),
        },
    }
}

fn platform(frame: &Frame, t: &StatusWords, it: Connection) -> Platform {
    let Connection {
        restaurant,
        integration,
        is_in_trouble,
    } = it;
    let (state, tone) = match (integration.is_active, is_in_trouble) {
        (false, _) => (t.off, ""),
        (true, true) => (t.trouble, "bad"),
        (true, false) => (t.on, "good"),
    };
    let health = integration.health;
    Platform {
        restaurant,
        name: frame.provider(&integration.provider),
        state,
        tone,
        last_order: frame.moment_or(&health.last_order_at, t.no_order),
        last_error: health.last_error_at.map(|at| {
            (
                frame.moment(&at),
                explain::attempt(frame.lang, &health.last_error.unwrap_or_default()),
            )
        }),
    }
}

fn failed(frame: &Frame, delivery: Delivery) -> Failed {
    let d = DeliveryWords::of(frame.lang);
    let what = match (delivery.attempts.last(), &delivery.event.reason) {
        (Some(attempt), _) => explain::attempt(frame.lang, &attempt.explanation),
        (None, Some(reason)) => explain::reason(&d, reason),
        (None, None) => String::new(),
    };
    Failed {
        id: delivery.event.id,
        at: frame.moment(&delivery.event.created_at),
        name: delivery.event.name,
        what,
    }
}

fn refused(frame: &Frame, t: &StatusWords, call: FailedCall) -> Refused {
    Refused {
        at: frame.moment(&call.at),
        platform: frame.provider(&call.provider),
        call: match call.kind {
            CallKind::Verify => t.call_verify.to_owned(),
            CallKind::Cancel => t.call_cancel.to_owned(),
            CallKind::Ready => t.call_ready.to_owned(),
            CallKind::Tell(status) => format!("{}: {}", t.call_tell, names::status(frame.lang, status)),
        },
        order: call.short_code.unwrap_or(call.provider_order_id),
        href: has_page(Place::Orders).then(|| format!("/orders/{}", call.order_id)),
        what: explain::attempt(frame.lang, &call.message.unwrap_or_default()),
    }
}

fn kept(frame: &Frame, t: &StatusWords, message: OpenMessage) -> Kept {
    let state = match message.state.as_str() {
        state if state == InboxState::Unreadable.as_str() => t.unreadable,
        state if state == InboxState::Unmatched.as_str() => t.unmatched,
        _ => t.conflicting,
    };
    Kept {
        at: frame.moment(&message.received_at),
        platform: frame.provider(&message.provider),
        branch: message.branch.unwrap_or_default(),
        what: match message.reason {
            Some(reason) => format!("{state}: {reason}"),
            None => state.to_owned(),
        },
    }
}

async fn show_status(State(api): State<Arc<Api>>, visitor: Visitor) -> Result<Response, PanelError> {
    let found = status::status(&api.app, visitor.account.id)
        .await
        .map_err(|fault| visitor.fail(fault))?;
    Ok(page(&shown(Frame::new(&visitor, Place::Status), found)))
}

fn shown(frame: Frame, found: Status) -> StatusPage {
    let t = StatusWords::of(frame.lang);
    let problems = [
        found.failed_deliveries.count,
        found.failed_calls.count,
        found.kept_messages.count,
    ];
    StatusPage {
        not_ready: found.not_ready.map(|why| match why {
            NotReady::Storage(_) => t.storage_away,
            NotReady::NotJoined => t.not_joined,
            NotReady::WorkerFails(_) => t.worker_fails,
        }),
        nodes: found.nodes,
        has_webhook: found.has_webhook,
        waiting: vec![
            waiting(&t, t.undelivered, t.oldest, found.undelivered),
            waiting(&t, t.calls, t.overdue, found.open_calls),
        ],
        platforms: found
            .connections
            .into_iter()
            .map(|it| platform(&frame, &t, it))
            .collect(),
        has_more: found.has_more_connections,
        restaurants_href: if has_page(Place::Restaurants) {
            "/restaurants"
        } else {
            ""
        },
        is_calm: problems.iter().all(|count| *count == 0),
        deliveries: Problems {
            count: counted(&t, problems[0]),
            newest: found
                .failed_deliveries
                .newest
                .into_iter()
                .map(|it| failed(&frame, it))
                .collect(),
        },
        calls: Problems {
            count: counted(&t, problems[1]),
            newest: found
                .failed_calls
                .newest
                .into_iter()
                .map(|it| refused(&frame, &t, it))
                .collect(),
        },
        messages: Problems {
            count: counted(&t, problems[2]),
            newest: found
                .kept_messages
                .newest
                .into_iter()
                .map(|it| kept(&frame, &t, it))
                .collect(),
        },
        t,
        frame,
    }
}
