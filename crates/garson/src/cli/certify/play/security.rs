//! Scenarios about keys and signatures: the only proof that an event comes from Garson.

use crate::cli::certify::trial::{Step, Trial, failed};
use crate::cli::check_receiver::endpoint::Reply;
use crate::cli::check_receiver::events::{Events, created, with_field};
use crate::cli::check_receiver::keys::nearly;
use garson_core::clock::{Clock, SystemClock};
use garson_core::secret::Secret;
use serde_json::Value;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);

pub async fn wrong_key(trial: &mut Trial<'_>) -> Step {
    let pos = trial.pos()?;
    let (id, event) = event(trial, "WRONG-KEY");
    let mut wrong: Vec<(&'static str, Option<Secret<String>>)> = vec![("without a key", None)];
    for (what, key) in nearly(trial.world.key.expose()) {
        wrong.push((what, Some(pos.endpoint.form.header(&Secret::new(key)))));
    }
    let mut accepted = None;
    for (what, authorization) in wrong {
        let reply = pos.post_with_key(&id, &event, authorization).await;
        if !matches!(reply.status(), Some(401 | 403)) {
            accepted = accepted.or(Some(format!("an event, {what}: {reply}")));
        }
        trial.record(&event, what, reply);
    }
    accepted.map_or(Ok(()), failed)
}

pub async fn signature(trial: &mut Trial<'_>) -> Step {
    let pos = trial.pos()?;
    let now = SystemClock.now();
    let (id, event) = event(trial, "SIGNATURE");
    let changed = with_field(&event, "status", 500.into());
    let missing = pos.post_unsigned(&event).await;
    let tampered = pos.post_signed_as(&id, &changed, &event, now).await;
    let old = pos.post_signed_as(&id, &event, &event, now.minus(HOUR)).await;
    let good = pos.post(&id, &event).await;
    let refused = |reply: &Reply| matches!(reply.status(), Some(400..=499));
    let results = [
        (&event, "not signed", refused(&missing), missing),
        (
            &changed,
            "changed after it was signed",
            refused(&tampered),
            tampered,
        ),
        (&event, "with a signature from an hour ago", refused(&old), old),
        (&event, "well signed", good.is_success(), good),
    ];
    let mut problem = None;
    for (body, what, is_right, reply) in results {
        if !is_right {
            problem = problem.or(Some(format!("an event, {what}: {reply}")));
        }
        trial.record(body, what, reply);
    }
    problem.map_or(Ok(()), failed)
}

/// An event of an order that does not exist, with its id.
fn event(trial: &Trial<'_>, purpose: &str) -> (String, String) {
    let [shop, _] = &trial.world.shops;
    let event = created(&Events::new(shop.restaurant, SystemClock.now()).order(purpose));
    // Our own JSON always parses.
    let document: Value = serde_json::from_str(&event).unwrap_or_default();
    let id = document["veri"]["id"].as_str().unwrap_or_default().to_owned();
    (id, event)
}
