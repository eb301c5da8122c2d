//! The task of one attempt.

use super::attempt;
use super::in_flight::CancelReason;
use super::message::{EndedAttempt, Message};
use super::target::Target;
use super::trace::AttemptTrace;
use crate::app::App;
use garson_core::delivery::UndeliveredReason;
use garson_store::tables::deliveries::{Delivery, Outcome, Settlement};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

/// An attempt in flight. However it ends, the dispatcher gets a message.
pub struct AttemptTask {
    pub app: Arc<App>,
    pub messages: mpsc::UnboundedSender<Message>,
    pub ended: Option<EndedAttempt>,
}

impl AttemptTask {
    pub async fn run(
        mut self,
        delivery: Delivery,
        target: Arc<Target>,
        mut cancellation: oneshot::Receiver<CancelReason>,
    ) {
        let Some(receiver) = self.ended.as_ref().map(|ended| ended.receiver) else {
            return;
        };
        let account = receiver.account;
        let number = delivery.failures + 1;
        let (at, began) = (self.app.now(), Instant::now());
        let trace = AttemptTrace::of(&self.app, receiver, &delivery);
        let traceparent = trace.as_ref().and_then(AttemptTrace::header);
        let made = tokio::select! {
            biased;
            made = attempt::make(&self.app, account, &target, &delivery, traceparent) => match made {
                Some(made) => made,
                None => return,
            },
            Ok(reason) = &mut cancellation => match reason {
                CancelReason::Preempted => attempt::preempted(at, &target.url, began.elapsed()),
                CancelReason::AddressChanged => return,
            },
        };
        let end = match made.failure {
            None => Outcome::Delivered,
            Some(reason) => match self.pause_after(&target, number) {
                Some(pause) => Outcome::Retry {
                    due_at: self.app.now().plus(pause),
                    reason,
                },
                None => Outcome::Failed { reason },
            },
        };
        let is_accepted = made.failure.is_none();
        let reason = made.failure.map_or("none", UndeliveredReason::as_str);
        let age = self.app.now().since(delivery.created_at);
        let metrics = &self.app.metrics.delivery;
        metrics.count_attempt(made.failure, made.took);
        if is_accepted {
            metrics.count_time(age);
        }
        self.app
            .endpoint_stats
            .count(receiver.account, receiver.endpoint, &made.attempt, is_accepted);
        tracing::info!(
            event = %delivery.id,
            %account,
            endpoint = %receiver.endpoint,
            attempt = number,
            target = target.origin,
            status = made.attempt.status,
            millis = made.attempt.duration_ms,
            age_millis = u64::try_from(age.as_millis()).unwrap_or(u64::MAX),
            reason,
            "{}",
            if is_accepted { "delivered" } else { "not delivered" }
        );
        if let Some(trace) = trace {
            trace.add(&self.app, &delivery, &target, &made, &end);
        }
        let settlement = Settlement {
            id: delivery.id,
            order_id: delivery.order_id,
            outcome: end,
            attempt: Some(made.attempt),
            attempts_before: delivery.attempts,
        };
        if let Some(ended) = &mut self.ended {
            ended.result = Some((is_accepted, settlement));
        }
    }

    /// The pause after a number of failures; drawn once, and stored with the result.
    #[expect(clippy::disallowed_methods, reason = "needs real randomness")]
    fn pause_after(&self, target: &Target, failures: i64) -> Option<Duration> {
        let draw = getrandom::u32().unwrap_or_default();
        target
            .schedule(&self.app.schedule)
            .pause_after(usize::try_from(failures).ok()?, draw)
    }
}

impl Drop for AttemptTask {
    fn drop(&mut self) {
        if let Some(ended) = self.ended.take() {
            // The dispatcher may have stopped.
            let _ = self.messages.send(Message::Ended(ended));
        }
    }
}
