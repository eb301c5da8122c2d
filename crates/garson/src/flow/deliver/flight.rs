//! An attempt from its beginning to its end.

use super::attempt::{self, Target};
use super::dispatcher::Note;
use super::flights::Cancel;
use crate::app::App;
use garson_core::delivery::UndeliveredReason;
use garson_core::id::{AccountId, EventId, NodeId};
use garson_store::tables::deliveries::{Delivery, Outcome, Settlement};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

/// An attempt that has ended.
pub struct Ended {
    pub account: AccountId,
    pub node: NodeId,
    pub id: EventId,
    pub place: i64,
    /// Nothing when the attempt broke down, or does not count.
    pub result: Option<(bool, Settlement)>,
}

/// An attempt under way. However it ends, the dispatcher hears of it.
pub struct Flight {
    pub app: Arc<App>,
    pub notes: mpsc::UnboundedSender<Note>,
    pub ended: Option<Ended>,
}

impl Flight {
    pub async fn fly(
        mut self,
        delivery: Delivery,
        target: Arc<Target>,
        mut cancelled: oneshot::Receiver<Cancel>,
    ) {
        let Some(account) = self.ended.as_ref().map(|ended| ended.account) else {
            return;
        };
        let number = delivery.failures + 1;
        let (at, began) = (self.app.now(), Instant::now());
        let made = tokio::select! {
            biased;
            made = attempt::make(&self.app, account, &target, delivery.body) => made,
            Ok(why) = &mut cancelled => match why {
                Cancel::Preempted => attempt::preempted(at, &target.url, began.elapsed()),
                Cancel::Moved => return,
            },
        };
        let end = match made.failure {
            None => Outcome::Delivered,
            Some(reason) => match self.pause_after(number) {
                Some(pause) => Outcome::Retry {
                    due_at: self.app.now().plus(pause),
                    reason,
                },
                None => Outcome::Failed { reason },
            },
        };
        let took = made.failure.is_none();
        let reason = made.failure.map_or("none", UndeliveredReason::as_str);
        let age = self.app.now().since(delivery.created_at);
        let metrics = &self.app.metrics.delivery;
        metrics.count_attempt(made.failure, made.took);
        if took {
            metrics.count_time(age);
        }
        tracing::info!(
            event = %delivery.id,
            %account,
            attempt = number,
            target = target.origin,
            status = made.attempt.status,
            millis = made.attempt.duration_ms,
            age_millis = u64::try_from(age.as_millis()).unwrap_or(u64::MAX),
            reason,
            "{}",
            if took { "delivered" } else { "not delivered" }
        );
        let settlement = Settlement {
            id: delivery.id,
            order_id: delivery.order_id,
            outcome: end,
            attempt: Some(made.attempt),
            attempts_before: delivery.attempts,
        };
        if let Some(ended) = &mut self.ended {
            ended.result = Some((took, settlement));
        }
    }
}

impl Flight {
    /// The pause after so many failures; drawn once, and written down with the result.
    fn pause_after(&self, failures: i64) -> Option<Duration> {
        let draw = getrandom::u32().unwrap_or_default();
        self.app
            .schedule
            .pause_after(usize::try_from(failures).ok()?, draw)
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        if let Some(ended) = self.ended.take() {
            drop(self.notes.send(Note::Ended(ended)));
        }
    }
}
