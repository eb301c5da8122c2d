//! What has happened to an order: its timeline, what its platform was told, what the account was told, and what came.

use super::changes;
use crate::flow::admin::accounts::Delivery;
use crate::panel::kit::frame::Frame;
use crate::panel::kit::lang::Lang;
use crate::panel::kit::{explain, names};
use crate::panel::pages::delivery::state_name;
use crate::panel::words::{DeliveryWords, OrderWords};
use garson_core::money::Currency;
use garson_core::order::{Actor, CallKind, TimelineLine};
use garson_store::tables::calls::{CallEnd, CallRecord};
use garson_store::tables::inbox::OrderMessage;

/// Of a message that is longer, this much is shown.
const LONGEST_BODY: usize = 64 * 1024;

pub fn actor(t: &OrderWords, actor: Actor) -> &'static str {
    match actor {
        Actor::Account => t.by_account,
        Actor::Platform => t.by_the_platform,
        Actor::Customer => t.by_customer,
        Actor::System => t.by_system,
    }
}

/// Why an order was moved: a sentence of ours, or the name of a reason.
fn why(lang: Lang, text: &str) -> String {
    match explain::attempt(lang, text) {
        same if same == text => names::reason(lang, text),
        said => said,
    }
}

pub struct TimelineRow {
    pub at: String,
    pub status: &'static str,
    pub tone: &'static str,
    pub by: &'static str,
    pub why: String,
    /// What a later version of the order has changed.
    pub changes: Vec<String>,
}

pub fn timeline(
    frame: &Frame,
    t: &OrderWords,
    currency: Currency,
    lines: &[TimelineLine],
) -> Vec<TimelineRow> {
    let row = |line: &TimelineLine| TimelineRow {
        at: frame.moment(&line.at),
        status: names::status(frame.lang, line.to),
        tone: super::tone(line.to),
        by: actor(t, line.by),
        why: why(frame.lang, line.why.as_deref().unwrap_or_default()),
        changes: line.revision.as_ref().map_or_else(Vec::new, |said| {
            changes::changes(frame, t, currency, &said.changes)
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
    /// When it is tried next.
    pub next: String,
    pub message: String,
}

pub fn calls(frame: &Frame, t: &OrderWords, calls: &[CallRecord]) -> Vec<CallRow> {
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
                CallKind::Tell(status) => format!("{}: {}", t.call_tell, names::status(frame.lang, status)),
            },
            state,
            tone,
            at: frame.moment(&call.finished_at.unwrap_or(call.created_at)),
            attempts: call.attempts,
            next: match call.end {
                None => frame.moment(&call.due_at),
                Some(_) => String::new(),
            },
            message: explain::attempt(frame.lang, call.message.as_deref().unwrap_or_default()),
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
    pub is_good: bool,
    pub took: i64,
}

pub fn deliveries(frame: &Frame, deliveries: Vec<Delivery>) -> Vec<DeliveryRow> {
    let t = DeliveryWords::of(frame.lang);
    let row = |delivery: Delivery| {
        let event = delivery.event;
        let (state, tone) = state_name(&t, event.state);
        DeliveryRow {
            id: event.id.to_string(),
            name: event.name,
            at: frame.moment(&event.created_at),
            state,
            tone,
            reason: explain::reason(&t, event.reason.as_deref().unwrap_or_default()),
            body: readable(event.body.as_bytes()),
            attempts: delivery
                .attempts
                .into_iter()
                .map(|attempt| AttemptRow {
                    at: frame.moment(&attempt.at),
                    is_good: attempt.status.is_some_and(|status| (200..300).contains(&status)),
                    explanation: explain::attempt(frame.lang, &attempt.explanation),
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

pub fn messages(frame: &Frame, messages: Vec<OrderMessage>) -> Vec<MessageRow> {
    let row = |message: OrderMessage| MessageRow {
        at: frame.moment(&message.received_at),
        times: message.times,
        body: readable(&message.body),
        kind: message.kind,
    };
    messages.into_iter().map(row).collect()
}

/// A body as people read it: JSON with its lines broken and nothing else changed, anything else as it is.
fn readable(body: &[u8]) -> String {
    if body.len() > LONGEST_BODY {
        let head = body.get(..LONGEST_BODY).unwrap_or_default();
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
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    let mut last = ' ';
    for c in json.chars() {
        if is_text {
            lines.push(c);
            is_text = is_escaped || c != '"';
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
            '"' => is_text = true,
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
