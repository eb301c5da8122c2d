//! Checks of the key: it is the only proof that an event comes from Garson.

use super::endpoint::{Endpoint, Reply};
use super::events::{Events, created};
use super::report::{Finding, Verdict};
use garson_core::account::AuthorizationForm;
use garson_core::secret::Secret;

const COMPARE: &str =
    "Compare the whole Authorization header with the one you expect, in constant time, and answer 401.";

/// No Authorization header at all.
pub async fn missing(endpoint: &Endpoint, events: &Events) -> Finding {
    let event = created(&events.order("MISSING-KEY"));
    let reply = endpoint.post_with(event, None).await;
    judge("missing-key", "an event without a key", &reply)
}

/// Nearly correct keys, which a careless comparison accepts.
pub async fn wrong(endpoint: &Endpoint, events: &Events) -> Finding {
    let order = events.order("WRONG-KEY");
    let mut findings = Vec::new();
    for (what, key) in nearly(endpoint.key.expose()) {
        let authorization = endpoint.form.header(&Secret::new(key));
        let reply = endpoint.post_with(created(&order), Some(authorization)).await;
        findings.push(judge("wrong-key", what, &reply));
    }
    let worst = findings.into_iter().max_by_key(|finding| finding.verdict);
    match worst {
        Some(odd) if odd.verdict > Verdict::Pass => odd,
        _ => Finding::pass("wrong-key", "keys that are nearly right: all refused"),
    }
}

/// Keys that differ a little from the right one.
pub fn nearly(key: &str) -> Vec<(&'static str, String)> {
    let mut shorter = key.to_owned();
    let other = if shorter.pop() == Some('x') { 'y' } else { 'x' };
    let mut keys = vec![
        ("a key whose last character is wrong", format!("{shorter}{other}")),
        ("a key with one character more", format!("{key}x")),
    ];
    if !shorter.is_empty() {
        keys.push(("a key with one character less", shorter));
    }
    keys
}

/// Was it rejected?
fn judge(name: &'static str, what: &str, reply: &Reply) -> Finding {
    let seen = format!("{what}: {reply}");
    match reply.status() {
        Some(401 | 403) => Finding::pass(name, seen),
        Some(200..=299) => Finding::fail(name, seen, COMPARE),
        // A redirect has a check of its own.
        Some(300..=499) => Finding::warn(
            name,
            seen,
            "It was not taken, which is what counts; 401 would say why.",
        ),
        Some(_) => Finding::fail(
            name,
            seen,
            "A wrong key is the sender's error, not the server's: answer 401.",
        ),
        None => Finding::fail(
            name,
            seen,
            "Answer 401, so that the sender can tell a wrong key from an outage.",
        ),
    }
}

/// The correct key in the other form.
pub async fn other_form(endpoint: &Endpoint, events: &Events) -> Finding {
    const NAME: &str = "other-form";
    let (form, what) = match endpoint.form {
        AuthorizationForm::Bearer => (AuthorizationForm::Bare, "the key without `Bearer`"),
        AuthorizationForm::Bare => (AuthorizationForm::Bearer, "the key with `Bearer`"),
    };
    let event = created(&events.order("OTHER-FORM"));
    let reply = endpoint.post_with(event, Some(form.header(&endpoint.key))).await;
    let seen = format!("{what}: {reply}");
    match reply.status() {
        Some(200..=299) => Finding::warn(
            NAME,
            seen,
            "Taken too. That is harmless if you mean it; otherwise compare the whole header.",
        ),
        Some(300..=499) => Finding::pass(NAME, seen),
        _ => Finding::fail(
            NAME,
            seen,
            "Take it or answer 401; it must not be an error of the server.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wrong_key_is_right() {
        for key in ["x", "gsn_abc", "abcx"] {
            let keys = nearly(key);
            assert!(keys.len() >= 2 && keys.iter().all(|(_, wrong)| wrong != key && !wrong.is_empty()));
        }
    }
}
