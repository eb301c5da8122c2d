//! Last step of intake: records a message in one transaction, in its order and in the inbox.

mod job;
mod order;

pub(crate) use job::Recorded;

use self::job::IntakeJob;
use super::message::Understood;
use super::order_lookup;
use crate::app::App;
use crate::flow::Fault;
use crate::flow::admin::quotas;
use crate::telemetry::{IntakeSource, Link, MessageOutcome, Span, SpanId, SpanKind, Stopwatch, Trace};
use garson_core::platform::{HookRequest, IntakeOutcome, News, Platform, Provider, Which};
use garson_core::time::Timestamp;
use garson_store::{Partition, StoreError, Tx};
use std::sync::Arc;
use std::time::Instant;

/// Records a message, and notifies the workers that it concerns. Fails with a conflict if something that the message was
/// understood by has changed; nothing is written then.
pub(crate) async fn record(
    app: &Arc<App>,
    platform: &'static dyn Platform,
    request: Arc<HookRequest>,
    message: Understood,
    now: Timestamp,
) -> Result<Recorded, Fault> {
    let (lane, integration) = match message.integration() {
        Some(integration) => (Partition::from(integration.account_id), Some(integration.id)),
        None => (Partition::COMMON, None),
    };
    // A poll finds an order that we do not have, and a change that the message does not describe.
    let needs_poll = match &message {
        Understood::UnknownOrder { .. } => true,
        Understood::Addressed(addressed) => matches!(addressed.news, News::Look { .. }),
        Understood::InboxOnly { .. } => false,
    };
    let may_have_missed_order = matches!(
        &message,
        Understood::UnknownOrder {
            spans_accounts: true,
            ..
        }
    );
    let kind = request.kind;
    let account = message.integration().map(|it| it.account_id);
    refuse_over_quota(app, platform, &message).await?;
    let job = IntakeJob::new(platform, request, message, now)?;
    let began = Instant::now();
    let mut recorded = app.store.write(lane, move |tx| record_in(tx, &job)).await?;
    recorded.commit = began.elapsed();
    log(platform.provider(), kind, &recorded);
    if let Some(account) = account.filter(|_| recorded.is_new_order) {
        quotas::note_order(app, account);
    }
    if may_have_missed_order {
        app.early_message_stored.notify_one();
    }
    if let Some(integration) = integration {
        if needs_poll {
            app.poll_requests.poll_now(integration);
        }
        if recorded.may_call {
            app.call_waker.wake(integration);
        }
    }
    Ok(recorded)
}

/// Refuses a new order of an own shop when the account's quota of the day is used up. Orders of platforms are always accepted.
async fn refuse_over_quota(
    app: &App,
    platform: &'static dyn Platform,
    message: &Understood,
) -> Result<(), Fault> {
    let Understood::Addressed(addressed) = message else {
        return Ok(());
    };
    let (News::Order(sighting), true) = (&addressed.news, platform.capability().own_ids) else {
        return Ok(());
    };
    let integration = addressed.connected.integration.clone();
    let Err(refusal) = quotas::check_order(app, integration.account_id).await else {
        return Ok(());
    };
    let which = Which::Identity(sighting.order.identity.clone());
    let known = app
        .store
        .read(move |tx| order_lookup::find(tx, &integration, &which))
        .await?;
    // The same order again, or another version of it, is not a new one.
    if known.is_some() { Ok(()) } else { Err(refusal) }
}

fn record_in(tx: &mut Tx<'_>, job: &IntakeJob) -> Result<Recorded, Fault> {
    match &job.message {
        Understood::InboxOnly { outcome, .. } => job.finish(tx, outcome.clone()),
        Understood::UnknownOrder { which, among, .. } => {
            if order_lookup::find_among(tx, job.platform.provider(), which, among)?.is_some() {
                return Err(StoreError::conflict("an order came while a message about it was read").into());
            }
            job.finish_without_order(tx, which)
        }
        Understood::Addressed(addressed) => match (&addressed.news, &job.content) {
            (News::Order(sighting), Some(content)) => job.record_order(tx, addressed, sighting, content),
            (News::Changed { order, change }, _) => job.record_change(tx, addressed, order, change),
            _ => job.finish(tx, IntakeOutcome::Noted),
        },
    }
}

fn log(provider: Provider, kind: &str, recorded: &Recorded) {
    match &recorded.outcome {
        IntakeOutcome::Taken { .. } => {}
        IntakeOutcome::Noted => tracing::info!(%provider, kind, "stored a message that changes no order"),
        outcome => {
            let outcome = MessageOutcome::of(outcome, recorded.is_repeat).as_str();
            tracing::warn!(%provider, outcome, "stored a message that could not be applied");
        }
    }
}

/// Where a message came from, and when.
pub(crate) struct Arrival {
    pub source: IntakeSource,
    pub began: Stopwatch,
    /// What the platform traces it by.
    pub link: Option<Link>,
}

impl Arrival {
    /// A message that is fetched now.
    pub fn polled(app: &App) -> Self {
        Self {
            source: IntakeSource::Polled,
            began: Stopwatch::start(app.now()),
            link: None,
        }
    }

    /// A request of a platform.
    pub fn pushed(request: &HookRequest) -> Self {
        let mut headers = request.headers.iter();
        let header = headers.find(|(name, _)| name.eq_ignore_ascii_case("traceparent"));
        Self {
            source: IntakeSource::Pushed,
            began: Stopwatch::start(request.received_at),
            link: header.and_then(|(_, value)| Link::read(value)),
        }
    }
}

/// Counts a message by its outcome, and adds it to the trace of its order.
pub(crate) fn note(app: &App, provider: Provider, arrival: &Arrival, result: &Result<Recorded, Fault>) {
    let intake = &app.metrics.intake;
    let outcome = match result {
        Ok(recorded) => MessageOutcome::of(&recorded.outcome, recorded.is_repeat),
        Err(_) => MessageOutcome::Failed,
    };
    intake.count_message(provider, arrival.source, outcome);
    let Ok(recorded) = result else {
        return;
    };
    if recorded.is_new_order {
        intake.count_order(provider, arrival.source);
    }
    if let Some(trace) = recorded.order().and_then(|order| app.traces.of(order)) {
        trace_message(app, trace, provider, arrival, recorded, outcome);
    }
}

fn trace_message(
    app: &App,
    trace: Trace,
    provider: Provider,
    arrival: &Arrival,
    recorded: &Recorded,
    outcome: MessageOutcome,
) {
    let id = if recorded.is_new_order {
        trace.root()
    } else {
        SpanId::at(app.now())
    };
    let (name, kind) = match arrival.source {
        IntakeSource::Pushed => ("receive", SpanKind::Server),
        IntakeSource::Polled => ("poll", SpanKind::Internal),
    };
    let message = Span::new(trace, id, format!("{name} {provider}"), kind)
        .ending_now(&arrival.began)
        .caused_by(arrival.link)
        .with("garson.provider", provider)
        .with("garson.outcome", outcome.as_str());
    let commit = Span::new(trace, SpanId::at(app.now()), "commit", SpanKind::Internal)
        .below(id)
        .at_the_end_of(&message, recorded.commit);
    app.traces.add(message);
    app.traces.add(commit);
}
