//! Spans as the OpenTelemetry protocol (OTLP) sends them over HTTP, in its JSON form: ids are hexadecimal, large numbers are strings.

use super::span::{Attribute, Span, SpanKind};
use serde_json::{Value, json};

/// The status of a span that failed.
const ERROR: u8 = 2;
/// Flags of a span that is sampled.
const SAMPLED: u8 = 1;

/// A request with a batch of spans.
pub fn body(spans: &[Span], node: &str) -> Vec<u8> {
    let resource = [
        ("service.name", "garson"),
        ("service.version", env!("CARGO_PKG_VERSION")),
        ("service.instance.id", node),
    ];
    let resource: Vec<Value> = resource
        .iter()
        .map(|(key, value)| attribute(key, &Attribute::Text((*value).to_owned())))
        .collect();
    let request = json!({
        "resourceSpans": [{
            "resource": { "attributes": resource },
            "scopeSpans": [{
                "scope": { "name": "garson", "version": env!("CARGO_PKG_VERSION") },
                "spans": spans.iter().map(span).collect::<Vec<_>>(),
            }],
        }],
    });
    request.to_string().into_bytes()
}

fn span(span: &Span) -> Value {
    let attributes = span.attributes.iter();
    let mut written = json!({
        "traceId": span.trace.to_string(),
        "spanId": span.id.to_string(),
        "flags": SAMPLED,
        "name": span.name,
        "kind": kind(span.kind),
        "startTimeUnixNano": span.start.to_string(),
        "endTimeUnixNano": span.end.to_string(),
        "attributes": attributes.map(|(key, value)| attribute(key, value)).collect::<Vec<_>>(),
    });
    if let Some(parent) = span.parent {
        written["parentSpanId"] = json!(parent.to_string());
    }
    if let Some(why) = &span.failure {
        written["status"] = json!({ "code": ERROR, "message": why });
    }
    if let Some(link) = span.link {
        written["links"] = json!([{
            "traceId": format!("{:032x}", link.trace),
            "spanId": format!("{:016x}", link.span),
        }]);
    }
    written
}

fn attribute(key: &str, value: &Attribute) -> Value {
    let value = match value {
        Attribute::Text(text) => json!({ "stringValue": text }),
        Attribute::Number(number) => json!({ "intValue": number.to_string() }),
    };
    json!({ "key": key, "value": value })
}

fn kind(kind: SpanKind) -> u8 {
    match kind {
        SpanKind::Internal => 1,
        SpanKind::Server => 2,
        SpanKind::Client => 3,
        SpanKind::Producer => 4,
    }
}
