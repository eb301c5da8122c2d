//! The history of an order: timeline, calls to the platform, webhook deliveries and received messages.

use super::changes;
use crate::flow::admin::accounts::Delivery;
use crate::panel::kit::layout::Layout;
use crate::panel::kit::readable::readable;
use crate::panel::kit::{explain, format, names};
use crate::panel::words::Lang;
use crate::panel::words::{DeliveryWords, OrderWords};
use garson_core::money::Currency;
use garson_core::order::{CallKind, TimelineLine, TimelineReason};
use garson_core::time::Timestamp;
use garson_store::tables::calls::{CallEnd, CallRecord};
use garson_store::tables::inbox::OrderMessage;

/// Why the status changed: a code, or the name of a cancellation reason.
fn why(lang: Lang, reason: &TimelineReason) -> String {
    match reason {
        TimelineReason::Text { text } => names::reason(lang, text),
        coded => explain::timeline_reason(lang, coded),
    }
}

fn seconds(layout: &Layout, at: Timestamp) -> String {
    format::timestamp_with_seconds(layout.lang, &layout.zone, at)
}

pub struct TimelineRow {
    pub at: String,
    pub status: &'static str,
    pub tone: &'static str,
    pub by: &'static str,
    pub why: String,
    pub changes: Vec<String>,
}

pub fn timeline(
    layout: &Layout,
    t: &OrderWords,
    currency: Currency,
    lines: &[TimelineLine],
) -> Vec<TimelineRow> {
    let row = |line: &TimelineLine| TimelineRow {
        at: seconds(layout, line.at),
        status: names::status(layout.lang, line.to),
        tone: names::status_tone(line.to),
        by: names::actor(t, line.by),
        why: line
            .why
            .as_ref()
            .map_or_else(String::new, |reason| why(layout.lang, reason)),
        changes: line.revision.as_ref().map_or_else(Vec::new, |revision| {
            changes::changes(layout, t, currency, &revision.changes)
        }),
    };
    lines.iter().map(row).collect()
}

pub struct CallRow {
    pub what: String,
    pub state: &'static str,
    pub tone: &'static str,
    pub at: String,
    pub attempts: i64,
    pub next_attempt: String,
    pub message: String,
}

pub fn calls(layout: &Layout, t: &OrderWords, calls: &[CallRecord]) -> Vec<CallRow> {
    let row = |call: &CallRecord| {
        let (state, tone) = match call.end {
            None => (t.call_open, "warn"),
            Some(CallEnd::Done) => (t.call_done, "good"),
            Some(CallEnd::Failed) => (t.call_failed, "bad"),
            Some(CallEnd::Abandoned) => (t.call_abandoned, ""),
        };
        CallRow {
            what: match call.kind {
                CallKind::Verify => t.call_verify.to_owned(),
                CallKind::Cancel => t.call_cancel.to_owned(),
                CallKind::Ready => t.call_ready.to_owned(),
                CallKind::Tell(status) => format!("{}: {}", t.call_tell, names::status(layout.lang, status)),
            },
            state,
            tone,
            at: seconds(layout, call.finished_at.unwrap_or(call.created_at)),
            attempts: call.attempts,
            next_attempt: match call.end {
                None => seconds(layout, call.due_at),
                Some(_) => String::new(),
            },
            message: explain::optional_platform(layout.lang, call.message.as_ref()),
        }
    };
    calls.iter().map(row).collect()
}

pub struct DeliveryRow {
    pub id: String,
    pub name: String,
    pub at: String,
    pub state: &'static str,
    pub tone: &'static str,
    pub reason: String,
    pub body: String,
    pub attempts: Vec<AttemptRow>,
}

pub struct AttemptRow {
    pub at: String,
    pub explanation: String,
    pub is_success: bool,
    pub took: i64,
}

pub fn deliveries(layout: &Layout, deliveries: Vec<Delivery>) -> Vec<DeliveryRow> {
    let t = DeliveryWords::of(layout.lang);
    let row = |delivery: Delivery| {
        let event = delivery.event;
        let (state, tone) = names::delivery_state(&t, event.state);
        DeliveryRow {
            id: event.id.to_string(),
            name: event.name,
            at: seconds(layout, event.created_at),
            state,
            tone,
            reason: explain::reason(&t, event.reason.as_deref().unwrap_or_default()),
            body: readable(event.body.as_bytes()),
            attempts: delivery
                .attempts
                .into_iter()
                .map(|attempt| AttemptRow {
                    at: seconds(layout, attempt.at),
                    is_success: attempt.status.is_some_and(|status| (200..300).contains(&status)),
                    explanation: explain::text(layout.lang, &attempt.explanation),
                    took: attempt.duration_ms,
                })
                .collect(),
        }
    };
    deliveries.into_iter().map(row).collect()
}

pub struct MessageRow {
    pub at: String,
    pub kind: String,
    pub times: i64,
    pub body: String,
}

pub fn messages(layout: &Layout, messages: Vec<OrderMessage>) -> Vec<MessageRow> {
    let row = |message: OrderMessage| MessageRow {
        at: seconds(layout, message.received_at),
        times: message.times,
        body: readable(&message.body),
        kind: message.kind,
    };
    messages.into_iter().map(row).collect()
}
