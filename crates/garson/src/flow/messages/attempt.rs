//! One attempt to send a message, and the record of what came of it.

use super::send::send;
use super::sending::Sending;
use crate::app::App;
use garson_core::channel::Channel;
use garson_core::escalation::waits_for_acceptance;
use garson_core::explanation::{Explanation, MessageFailure};
use garson_core::order::TimelineReason;
use garson_core::time::Timestamp;
use garson_store::tables::messages::{ClaimedMessage, MessageState};
use garson_store::tables::{channels, escalation_steps, messages, orders};
use garson_store::{StoreError, Tx};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The pauses before the next attempts.
const PAUSES: [Duration; 2] = [Duration::from_secs(15), Duration::from_secs(60)];
/// A message that could not be sent for so long is of no use any more.
const USEFUL_FOR: Duration = Duration::from_secs(30 * 60);
/// How long the record of an outcome is tried while storage is unavailable, and the pause between tries.
const RECORD_FOR: Duration = Duration::from_secs(5 * 60);
const RECORD_PAUSE: Duration = Duration::from_secs(1);

/// What is written about an attempt.
#[derive(Clone, Debug)]
enum Verdict {
    End(MessageState, Option<Explanation>),
    Later(Explanation, Timestamp),
}

/// Sends a message that this node has claimed; returns whether it has failed, if it was tried at all.
pub async fn attempt(app: &Arc<App>, message: ClaimedMessage) -> Option<bool> {
    let (verdict, has_failed) = match prepare(app, &message).await {
        Ok(Some(channel)) => {
            let sending = match &message.content {
                Some(content) => send(app, message.account_id, &channel, message.id, content).await,
                None => Sending::Failed(MessageFailure::Unreadable.into()),
            };
            let has_failed = sending != Sending::Sent;
            (verdict(app, &message, sending), Some(has_failed))
        }
        Ok(None) => (Verdict::End(MessageState::Dropped, None), None),
        Err(Refused::Why(why)) => (Verdict::End(MessageState::Failed, Some(why.into())), None),
        Err(Refused::Store(error)) => {
            // Nothing was sent.
            let due_at = app.now().plus(RECORD_PAUSE);
            tracing::warn!(%error, "a message could not be prepared");
            (
                Verdict::Later(Explanation::text("storage is not available"), due_at),
                None,
            )
        }
    };
    record(app, message, verdict).await;
    has_failed
}

enum Refused {
    Why(MessageFailure),
    Store(StoreError),
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// The channel of a message; none when the message is no longer needed.
async fn prepare(app: &App, message: &ClaimedMessage) -> Result<Option<Channel>, Refused> {
    let (vault, account) = (Arc::clone(&app.vault), message.account_id);
    let (channel, order) = (message.channel_id, message.order_id);
    let (found, is_needed) = app
        .store
        .read(move |tx| {
            let is_needed = match order {
                Some(id) => orders::by_id(tx, id)?.is_some_and(|order| waits_for_acceptance(order.status)),
                None => true,
            };
            Ok::<_, StoreError>((channels::find(tx, &vault, account, channel)?, is_needed))
        })
        .await?;
    if !is_needed {
        return Ok(None);
    }
    if app.now().since(message.created_at) > USEFUL_FOR {
        return Err(Refused::Why(MessageFailure::TooLate));
    }
    found
        .map(Some)
        .ok_or(Refused::Why(MessageFailure::ChannelRemoved))
}

fn verdict(app: &App, message: &ClaimedMessage, sending: Sending) -> Verdict {
    match sending {
        Sending::Sent => Verdict::End(MessageState::Sent, None),
        Sending::Failed(why) => Verdict::End(MessageState::Failed, Some(why)),
        Sending::Unclear(why) => Verdict::End(MessageState::Unclear, Some(why)),
        Sending::NotYet(why) => {
            let tried = usize::try_from(message.attempts).unwrap_or(usize::MAX);
            match PAUSES.get(tried.saturating_sub(1)) {
                Some(pause) => Verdict::Later(why, app.now().plus(*pause)),
                None => Verdict::End(MessageState::Failed, Some(why)),
            }
        }
    }
}

/// Records the verdict as soon as storage allows.
async fn record(app: &Arc<App>, message: ClaimedMessage, verdict: Verdict) {
    let began = Instant::now();
    let (account, message) = (message.account_id, Arc::new(message));
    loop {
        let (now, message, verdict) = (app.now(), Arc::clone(&message), verdict.clone());
        let written = app
            .store
            .write(account, move |tx| match &verdict {
                Verdict::End(state, why) => end(tx, &message, *state, why.as_ref(), now),
                Verdict::Later(why, due_at) => messages::postpone(tx, &message, why, *due_at).map(drop),
            })
            .await;
        match written {
            Ok(()) => return,
            Err(error) if StoreError::is_temporary(&error) && began.elapsed() < RECORD_FOR => {
                tokio::time::sleep(RECORD_PAUSE).await;
            }
            Err(error) => {
                tracing::error!(%error, "the outcome of a message could not be recorded");
                return;
            }
        }
    }
}

fn end(
    tx: &mut Tx<'_>,
    message: &ClaimedMessage,
    state: MessageState,
    why: Option<&Explanation>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let order = match message.order_id {
        Some(id) => orders::lock(tx, id)?,
        None => None,
    };
    if !messages::finish(tx, message, state, why, now)? {
        return Ok(());
    }
    match order {
        Some(order) => add_line(tx, &order, message, state, now),
        None => Ok(()),
    }
}

/// Adds what came of a message to the timeline of its order.
pub fn add_line(
    tx: &mut Tx<'_>,
    order: &garson_core::order::Order,
    message: &ClaimedMessage,
    state: MessageState,
    now: Timestamp,
) -> Result<(), StoreError> {
    let channel = channels::name(tx, message.channel_id)?;
    let why = match state {
        MessageState::Sent => TimelineReason::EscalationMessageSent { channel },
        MessageState::Failed => TimelineReason::EscalationMessageFailed { channel },
        MessageState::Unclear => TimelineReason::EscalationMessageUnclear { channel },
        MessageState::Open | MessageState::Sending | MessageState::Dropped => return Ok(()),
    };
    escalation_steps::add_line(tx, order, why, now)
}
