//! The checks, from simple to hostile.

use super::endpoint::{Endpoint, Reply};
use super::events::{Events, cancelled, created, moved, renamed, with_field};
use super::keys;
use super::report::Finding;
use crate::net::guard::is_clear_text;
use serde_json::json;
use std::sync::Arc;
use tokio::task::JoinSet;

/// All checks, in the order of the report.
const NAMES: [&str; 18] = [
    "valid-event",
    "in-time",
    "no-redirect",
    "missing-key",
    "wrong-key",
    "other-form",
    "duplicate",
    "out-of-order",
    "unknown-fields",
    "letters",
    "slow-body",
    "big-body",
    "broken-json",
    "get",
    "ten-at-once",
    "disconnect",
    "silent-connection",
    "clear-text",
];

const BIG: usize = 256 * 1024;
const AT_ONCE: usize = 10;

/// Runs the checks; those that need an endpoint that accepts events are skipped if it does not.
pub async fn run(endpoint: Endpoint, events: Events) -> Vec<Finding> {
    let endpoint = Arc::new(endpoint);
    let mut findings = match first_event(&endpoint, &events).await {
        Err(failure) => vec![failure],
        Ok(first) => {
            let mut findings = first.to_vec();
            findings.extend(further(&endpoint, &events).await);
            findings
        }
    };
    findings.push(clear_text(&endpoint));
    let found = |name| findings.iter().find(|finding| finding.name == name).cloned();
    NAMES
        .into_iter()
        .map(|name| found(name).unwrap_or_else(|| Finding::skip(name)))
        .collect()
}

/// The checks of an endpoint that accepts events.
async fn further(endpoint: &Arc<Endpoint>, events: &Events) -> Vec<Finding> {
    vec![
        keys::missing(endpoint, events).await,
        keys::wrong(endpoint, events).await,
        keys::other_form(endpoint, events).await,
        duplicate(endpoint, events).await,
        out_of_order(endpoint, events).await,
        unknown_fields(endpoint, events).await,
        letters(endpoint, events).await,
        slow_body(endpoint, events).await,
        big_body(endpoint, events).await,
        broken_json(endpoint, events).await,
        get(endpoint).await,
        ten_at_once(endpoint, events).await,
        disconnect(endpoint, events).await,
        silent_connection(endpoint, events).await,
        // Last, because it is about all events that were sent before.
        no_redirect(endpoint),
    ]
}

/// Two events of an order as Garson sends them; one problem is one failure.
async fn first_event(endpoint: &Endpoint, events: &Events) -> Result<[Finding; 2], Finding> {
    let order = events.order("VALID");
    let first = endpoint.post(created(&order)).await;
    check_taken(endpoint, &first)?;
    let second = endpoint.post(moved(&order)).await;
    check_taken(endpoint, &second)?;
    let slowest = if first.took > second.took { first } else { second };
    let limit = endpoint.limit;
    let seen = format!("{} ms of {} ms", slowest.took.as_millis(), limit.as_millis());
    let in_time = if slowest.took > limit / 2 {
        let advice = "That is close to the limit. Store the event, respond, and process it afterwards.";
        Finding::warn("in-time", seen, advice)
    } else {
        Finding::pass("in-time", seen)
    };
    Ok([Finding::pass("valid-event", slowest.to_string()), in_time])
}

fn check_taken(endpoint: &Endpoint, reply: &Reply) -> Result<(), Finding> {
    const VALID: &str = "valid-event";
    let seen = reply.to_string();
    match reply.status() {
        Some(200..=299) => Ok(()),
        Some(300..=399) => Err(no_redirect(endpoint)),
        Some(401 | 403) => Err(Finding::fail(
            VALID,
            seen,
            "The key was refused: is it the one that it expects, and --authorization the form?",
        )),
        Some(404 | 405) => Err(Finding::fail(
            VALID,
            seen,
            "Is this the address that takes POST requests with events?",
        )),
        Some(_) => Err(Finding::fail(
            VALID,
            seen,
            "Answer 2xx once the event is stored. If only restaurants that it knows are taken: --restaurant-id ID.",
        )),
        None if reply.is_timeout() => Err(Finding::fail(
            "in-time",
            seen,
            "Garson gives up after 10 s and sends the event again. Store it, answer, and work on it afterwards.",
        )),
        None => Err(Finding::fail(
            VALID,
            seen,
            "Is it running, and is the address right? An https address needs a certificate that the public trusts, or \
             --trusted-certificates FILE.",
        )),
    }
}

/// Fails if one of these was not accepted.
fn all_taken(name: &'static str, what: &str, reply: &[Reply], advice: &'static str) -> Finding {
    if let Some(reply) = reply.iter().find(|reply| !reply.is_success()) {
        return Finding::fail(name, format!("{what}: {reply}"), advice);
    }
    let slowest = reply.iter().max_by_key(|reply| reply.took);
    let slowest = slowest.map(Reply::to_string).unwrap_or_default();
    let taken = if reply.len() > 1 {
        "all taken, the slowest "
    } else {
        ""
    };
    Finding::pass(name, format!("{what}: {taken}{slowest}"))
}

async fn duplicate(endpoint: &Endpoint, events: &Events) -> Finding {
    let event = created(&events.order("DUPLICATE"));
    let reply = [endpoint.post(event.clone()).await, endpoint.post(event).await];
    all_taken(
        "duplicate",
        "the same event twice",
        &reply,
        "Events come at least once. When you know veri.id already, do nothing and answer 200.",
    )
}

async fn out_of_order(endpoint: &Endpoint, events: &Events) -> Finding {
    let order = events.order("OUT-OF-ORDER");
    let reply = [
        endpoint.post(moved(&order)).await,
        endpoint.post(created(&order)).await,
    ];
    all_taken(
        "out-of-order",
        "sequence 2, then 1",
        &reply,
        "After failures a later event may come first. Take both; keep the state of the highest sequence.",
    )
}

async fn unknown_fields(endpoint: &Endpoint, events: &Events) -> Finding {
    let order = events.order("UNKNOWN");
    let more = json!({ "since": "a later version", "list": [1, 2, { "deep": null }] });
    let with_more = with_field(&created(&order), "garsonCheck", more);
    let unknown = renamed(&moved(&order), "garson.check");
    let reply = [endpoint.post(with_more).await, endpoint.post(unknown).await];
    all_taken(
        "unknown-fields",
        "a new field, then a new olay",
        &reply,
        "New fields and events will come: ignore what you do not know, and answer 200.",
    )
}

async fn letters(endpoint: &Endpoint, events: &Events) -> Finding {
    let order = events.order("LETTERS");
    let note = "Çiğ köfte acılı olsun, IĞDIR'dan İnci'ye: \"şöyle\" \\ bol 🌯🧿👩‍🍳 \u{2028} ğüşıöç";
    let reply = [
        endpoint.post(created(&order)).await,
        endpoint.post(cancelled(&order, note)).await,
    ];
    all_taken(
        "letters",
        "Turkish letters and emoji",
        &reply,
        "Read the body as UTF-8, whatever the system's locale; emoji need four bytes (utf8mb4 in MySQL).",
    )
}

async fn slow_body(endpoint: &Endpoint, events: &Events) -> Finding {
    let reply = endpoint.post_slowly(&created(&events.order("SLOW"))).await;
    all_taken(
        "slow-body",
        "a body that takes 2 s to come",
        &[reply],
        "Read until Content-Length bytes are there; a first read need not hold all of them.",
    )
}

async fn big_body(endpoint: &Endpoint, events: &Events) -> Finding {
    const NAME: &str = "big-body";
    let event = created(&events.order("BIG"));
    let reply = endpoint
        .post(with_field(&event, "garsonCheck", "x".repeat(BIG).into()))
        .await;
    let seen = format!("a body of 256 kB: {reply}");
    match reply.status() {
        Some(200..=299) => Finding::pass(NAME, seen),
        Some(413) => Finding::warn(
            NAME,
            seen,
            "Refused in good order. Events are far smaller, but leave room for 64 kB.",
        ),
        _ => Finding::fail(
            NAME,
            seen,
            "Take it, or answer 413 when it is more than you want to read.",
        ),
    }
}

async fn broken_json(endpoint: &Endpoint, events: &Events) -> Finding {
    const NAME: &str = "broken-json";
    let order = events.order("BROKEN");
    let mut broken = created(&order);
    broken.truncate(broken.len() / 2);
    let reply = endpoint.post(broken).await;
    let after = endpoint.post(created(&order)).await;
    if !after.is_success() {
        let seen = format!("a valid event after broken JSON: {after}");
        return Finding::fail(
            NAME,
            seen,
            "One bad request must not keep the next one from being taken.",
        );
    }
    let seen = format!("half a document: {reply}, and a valid event after it is taken");
    match reply.status() {
        Some(400..=499) => Finding::pass(NAME, seen),
        Some(200..=399) => Finding::warn(
            NAME,
            seen,
            "Answer 400: what was acknowledged is not sent again, and nobody could read this.",
        ),
        _ => Finding::fail(NAME, seen, "Answer 400 when a body cannot be read."),
    }
}

async fn get(endpoint: &Endpoint) -> Finding {
    const NAME: &str = "get";
    let reply = endpoint.get().await;
    let seen = format!("GET: {reply}");
    match reply.status() {
        Some(400..=499) => Finding::pass(NAME, seen),
        Some(200..=399) => Finding::warn(
            NAME,
            seen,
            "Harmless if it only shows something; make sure that it takes no event. 405 is the usual answer.",
        ),
        _ => Finding::fail(NAME, seen, "Answer 405 to what is not a POST."),
    }
}

async fn ten_at_once(endpoint: &Arc<Endpoint>, events: &Events) -> Finding {
    let mut sending = JoinSet::new();
    for n in 1..=AT_ONCE {
        let event = created(&events.order(&format!("AT-ONCE-{n}")));
        let endpoint = Arc::clone(endpoint);
        sending.spawn(async move { endpoint.post(event).await });
    }
    let reply = sending.join_all().await;
    all_taken(
        "ten-at-once",
        "ten events at once",
        &reply,
        "Different orders come side by side. Let each request wait its turn instead of failing it.",
    )
}

async fn disconnect(endpoint: &Endpoint, events: &Events) -> Finding {
    let order = events.order("DISCONNECT");
    let advice = "A sender that goes away must cost one request, not the server.";
    if let Err(error) = endpoint.post_half(&created(&order)).await {
        return Finding::fail("disconnect", format!("half an event: {error}"), advice);
    }
    let reply = endpoint.post(created(&order)).await;
    all_taken("disconnect", "a valid event after half of one", &[reply], advice)
}

async fn silent_connection(endpoint: &Endpoint, events: &Events) -> Finding {
    const NAME: &str = "silent-connection";
    let advice = "A client that sends nothing must not make others wait: handle connections side by side, with a time limit for requests.";
    let event = created(&events.order("SILENT"));
    let held = match endpoint.open_silent(&event).await {
        Ok(held) => held,
        Err(error) => return Finding::fail(NAME, format!("silent connections: {error}"), advice),
    };
    // On a connection of its own: one that the receiver serves already would show nothing.
    let reply = endpoint.post_alone(&event).await;
    drop(held);
    all_taken(
        NAME,
        "a valid event beside two silent connections",
        &[reply],
        advice,
    )
}

fn no_redirect(endpoint: &Endpoint) -> Finding {
    match endpoint.redirect() {
        None => Finding::pass("no-redirect", "no event was answered with a redirect"),
        Some(status) => Finding::fail(
            "no-redirect",
            format!("an event was answered with {status}"),
            "Garson follows no redirect. Register the final address, and do not send wrong keys to a login page.",
        ),
    }
}

fn clear_text(endpoint: &Endpoint) -> Finding {
    if is_clear_text(&endpoint.target) {
        let advice = "The key is sent unencrypted: anyone on the network path can read it. Use https.";
        Finding::warn("clear-text", "plain http to a public host", advice)
    } else {
        Finding::pass("clear-text", "the key is not sent unencrypted over the internet")
    }
}
