//! The history of an order: timeline, calls to the platform, webhook deliveries and received messages.

use super::changes;
use crate::flow::admin::accounts::Delivery;
use crate::panel::kit::layout::Layout;
use crate::panel::kit::{explain, names};
use crate::panel::words::Lang;
use crate::panel::words::{DeliveryWords, OrderWords};
use garson_core::money::Currency;
use garson_core::order::{CallKind, TimelineLine, TimelineReason};
use garson_store::tables::calls::{CallEnd, CallRecord};
use garson_store::tables::inbox::OrderMessage;

/// Longer messages are cut off.
const MAX_BODY: usize = 64 * 1024;

/// Why the status changed: a code, or the name of a cancellation reason.
fn why(lang: Lang, reason: &TimelineReason) -> String {
    match reason {
        TimelineReason::Text { text } => names::reason(lang, text),
        coded => explain::timeline_reason(lang, coded),
    }
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
        at: layout.timestamp(&line.at),
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
            at: layout.timestamp(&call.finished_at.unwrap_or(call.created_at)),
            attempts: call.attempts,
            next_attempt: match call.end {
                None => layout.timestamp(&call.due_at),
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
            at: layout.timestamp(&event.created_at),
            state,
            tone,
            reason: explain::reason(&t, event.reason.as_deref().unwrap_or_default()),
            body: readable(event.body.as_bytes()),
            attempts: delivery
                .attempts
                .into_iter()
                .map(|attempt| AttemptRow {
                    at: layout.timestamp(&attempt.at),
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
        at: layout.timestamp(&message.received_at),
        times: message.times,
        body: readable(&message.body),
        kind: message.kind,
    };
    messages.into_iter().map(row).collect()
}

/// Adds line breaks and indentation to JSON and changes nothing else, because numbers and key order matter to support.
fn readable(body: &[u8]) -> String {
    if body.len() > MAX_BODY {
        let head = body.get(..MAX_BODY).unwrap_or_default();
        return format!("{}…", String::from_utf8_lossy(head));
    }
    let text = String::from_utf8_lossy(body);
    match serde_json::from_slice::<serde::de::IgnoredAny>(body) {
        Ok(_) => indented(&text),
        Err(_) => text.into_owned(),
    }
}

fn indented(json: &str) -> String {
    let mut lines = String::with_capacity(json.len() * 2);
    let (mut depth, mut is_string, mut is_escaped) = (0_usize, false, false);
    let mut last = ' ';
    for c in json.chars() {
        if is_string {
            lines.push(c);
            is_string = is_escaped || c != '"';
            is_escaped = !is_escaped && c == '\\';
            last = c;
            continue;
        }
        let is_empty_inside = matches!((last, c), ('{', '}') | ('[', ']'));
        match c {
            ' ' | '\n' | '\r' | '\t' => continue,
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                if !is_empty_inside {
                    break_line(&mut lines, depth);
                }
            }
            _ if matches!(last, '{' | '[') => break_line(&mut lines, depth),
            _ => {}
        }
        lines.push(c);
        match c {
            '"' => is_string = true,
            '{' | '[' => depth += 1,
            ',' => break_line(&mut lines, depth),
            ':' => lines.push(' '),
            _ => {}
        }
        last = c;
    }
    lines
}

fn break_line(lines: &mut String, depth: usize) {
    lines.push('\n');
    lines.extend(std::iter::repeat_n("  ", depth.min(20)));
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn json_gets_line_breaks_and_nothing_else() {
        let json = r#"{"b":[1, 2.50,{}],"a":"x, {\"y\": [\\",  "e":[]}"#;
        let wanted = "{\n  \"b\": [\n    1,\n    2.50,\n    {}\n  ],\n  \"a\": \"x, {\\\"y\\\": [\\\\\",\n  \"e\": []\n}";
        assert_eq!(readable(json.as_bytes()), wanted);
        for other in ["not json", "{\"a\":", "<a>1</a>"] {
            assert_eq!(readable(other.as_bytes()), other);
        }
        assert_eq!(readable(&[0xff, b'a']), "\u{fffd}a");
    }
}
