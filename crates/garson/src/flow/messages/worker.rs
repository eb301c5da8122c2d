//! The worker that sends messages: claims as many as slots allow, starts them, and gives their slots back.

use super::attempt::{add_line, attempt};
use super::slots::{Slot, Slots};
use crate::app::App;
use garson_core::channel::ChannelKind;
use garson_core::id::ChannelId;
use garson_store::StoreError;
use garson_store::tables::messages::{ClaimedMessage, MessageState, Queue};
use garson_store::tables::{messages, orders};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{JoinError, JoinSet};

/// How often queues are read: another node may have written messages.
const INTERVAL: Duration = Duration::from_secs(1);
/// Queues read in a turn; the next turn continues after them.
const QUEUES: usize = 500;
/// Messages of dead nodes that are ended in a turn.
const INTERRUPTED: i64 = 100;

type Ended = (Slot, Option<bool>);

/// Sends messages until the service stops.
pub async fn run(app: Arc<App>) {
    let mut worker = MessageWorker::default();
    let mut stopping = app.stopping.subscribe();
    while !*stopping.borrow_and_update() {
        let turn = worker.turn(&app).await;
        app.workers.note_turn(&turn);
        if let Err(error) = turn {
            tracing::warn!(%error, "messages cannot be sent");
        }
        tokio::select! {
            Some(ended) = worker.running.join_next(), if !worker.running.is_empty() => worker.record_end(ended),
            () = app.wake_messages.notified() => {}
            () = tokio::time::sleep(INTERVAL) => {}
            _ = stopping.changed() => {}
        }
    }
    while worker.running.join_next().await.is_some() {}
}

/// Sends messages that are due and waits for them; `false` when there were none.
pub async fn step(app: &Arc<App>) -> Result<bool, StoreError> {
    let mut worker = MessageWorker::default();
    let begun = worker.turn(app).await?;
    while worker.running.join_next().await.is_some() {}
    Ok(begun > 0)
}

#[derive(Default)]
struct MessageWorker {
    slots: Slots,
    running: JoinSet<Ended>,
    /// The last queue that was read.
    after: Option<ChannelId>,
}

impl MessageWorker {
    fn record_end(&mut self, ended: Result<Ended, JoinError>) {
        match ended {
            Ok((slot, has_failed)) => self.slots.release(slot, has_failed),
            Err(error) => tracing::error!(%error, "sending a message panicked"),
        }
    }

    /// Starts as many due messages as slots allow; returns how many.
    async fn turn(&mut self, app: &Arc<App>) -> Result<usize, StoreError> {
        while let Some(ended) = self.running.try_join_next() {
            self.record_end(ended);
        }
        let Some(node) = app.store.node_id().filter(|_| app.node_lease.is_valid()) else {
            return Ok(0);
        };
        end_interrupted(app).await?;
        let (after, now) = (self.after, app.now());
        let queues = app
            .store
            .read(move |tx| messages::queues(tx, after, QUEUES))
            .await?;
        self.after = queues.last().map(|queue| queue.channel_id);
        if queues.len() < QUEUES {
            self.after = None;
        }
        let mut begun = 0;
        for queue in queues.into_iter().filter(|queue| queue.due_at <= now) {
            let slots = self.take_slots(&queue);
            if slots.is_empty() {
                continue;
            }
            let (channel, wanted) = (queue.channel_id, slots.len());
            let claimed = app
                .store
                .write(queue.account_id, move |tx| {
                    messages::claim(tx, channel, node, now, wanted)
                })
                .await;
            let claimed = match claimed {
                Ok(claimed) => claimed,
                Err(error) => {
                    slots.into_iter().for_each(|slot| self.slots.release(slot, None));
                    return Err(error);
                }
            };
            begun += claimed.len();
            let mut claimed = claimed.into_iter();
            for slot in slots {
                match claimed.next() {
                    Some(message) => self.spawn(app, slot, message),
                    None => self.slots.release(slot, None),
                }
            }
        }
        Ok(begun)
    }

    fn take_slots(&mut self, queue: &Queue) -> Vec<Slot> {
        // A removed channel's messages only have to be ended.
        let kind = queue.kind.unwrap_or(ChannelKind::Http);
        let mut slots = Vec::new();
        while let Some(slot) = self.slots.take(queue.channel_id, queue.account_id, kind) {
            slots.push(slot);
        }
        slots
    }

    fn spawn(&mut self, app: &Arc<App>, slot: Slot, message: ClaimedMessage) {
        let app = Arc::clone(app);
        // In its own task: a panic must not lose the slot.
        let sending = async move { attempt(&app, message).await };
        self.running
            .spawn(async move { (slot, tokio::spawn(sending).await.unwrap_or(Some(true))) });
    }
}

/// Ends the messages whose node died while it sent them, each with its line on the timeline. They may have been sent, so they are
/// not sent again.
async fn end_interrupted(app: &App) -> Result<(), StoreError> {
    let found = app
        .store
        .read(|tx| messages::interrupted(tx, INTERRUPTED))
        .await?;
    if found.is_empty() {
        return Ok(());
    }
    tracing::warn!(
        count = found.len(),
        "messages were being sent when their process ended"
    );
    let now = app.now();
    for message in found {
        app.store
            .write(message.account_id, move |tx| {
                let order = match message.order_id {
                    Some(id) => orders::lock(tx, id)?,
                    None => None,
                };
                match order {
                    _ if !messages::end_interrupted(tx, &message, now)? => Ok::<_, StoreError>(()),
                    Some(order) => add_line(tx, &order, &message, MessageState::Unclear, now),
                    None => Ok(()),
                }
            })
            .await?;
    }
    Ok(())
}
