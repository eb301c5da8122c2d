//! A platform's message comes in: it is identified, understood and recorded, and only then answered.

use super::identify::{identify, identify_cached};
use super::message::Understood;
use super::order_checks::record_and_check;
use super::record::{Arrival, Recorded, note};
use super::understand::{understand, understand_new_order};
use crate::app::App;
use crate::flow::Fault;
use crate::telemetry::{IntakeSource, MessageOutcome};
use garson_core::platform::{HookRequest, IntakeOutcome, Platform};
use garson_store::StoreErrorKind;
use std::sync::Arc;

/// The cache is used on the connection's thread, so longer bodies are left to a reader of the store.
const MAX_CACHED_BODY: usize = 64 * 1024;

/// Receives a message; the outcome says how to reply.
pub async fn receive(
    app: &Arc<App>,
    platform: &'static dyn Platform,
    mut request: HookRequest,
) -> Result<IntakeOutcome, Fault> {
    request.received_at = app.now();
    let arrival = Arrival::pushed(&request);
    let request = Arc::new(request);
    let mut result = match understand_from_cache(app, platform, &request) {
        Some(message) => {
            let now = request.received_at;
            record_and_check(app, platform, Arc::clone(&request), message, now).await
        }
        None => receive_from_store(app, platform, &request).await,
    };
    if matches!(&result, Err(Fault::Store(error)) if error.kind == StoreErrorKind::Conflict) {
        // The data that the message was understood by has changed, and nothing was written.
        result = receive_from_store(app, platform, &request).await;
    }
    note(app, platform.provider(), &arrival, &result);
    result.map(|recorded| recorded.outcome)
}

/// Rejects a message that presents no known credentials.
pub fn reject(app: &App, platform: &dyn Platform) -> IntakeOutcome {
    let outcome = IntakeOutcome::NotGenuine;
    let counted = MessageOutcome::of(&outcome, false);
    app.metrics
        .intake
        .count_message(platform.provider(), IntakeSource::Pushed, counted);
    outcome
}

fn understand_from_cache(
    app: &App,
    platform: &'static dyn Platform,
    request: &HookRequest,
) -> Option<Understood> {
    if request.body.len() > MAX_CACHED_BODY {
        return None;
    }
    let identified = identify_cached(app, platform, request)?;
    understand_new_order(app, platform, &identified, request.received_at)
}

async fn receive_from_store(
    app: &Arc<App>,
    platform: &'static dyn Platform,
    request: &Arc<HookRequest>,
) -> Result<Recorded, Fault> {
    let (reader, asked, now) = (Arc::clone(app), Arc::clone(request), request.received_at);
    let message = app
        .store
        .read_without_snapshot(move |tx| match identify(tx, &reader, platform, &asked)? {
            Some(identified) => understand(tx, &reader, platform, identified, now).map(Some),
            None => Ok(None),
        })
        .await?;
    match message {
        Some(message) => record_and_check(app, platform, Arc::clone(request), message, now).await,
        None => Ok(Recorded::not_genuine()),
    }
}
