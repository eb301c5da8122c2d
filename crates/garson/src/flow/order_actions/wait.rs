//! Waiting for a call of an order that another request or the call runner makes.

use super::transition::Transition;
use crate::app::App;
use crate::flow::Fault;
use crate::flow::fault::Thing;
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::id::{CallId, OrderId};
use garson_core::order::{Action, Order, Refusal};
use garson_store::tables::calls::{CallEnd, LeaseHolder};
use garson_store::tables::{calls, orders};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The pauses between reads of the database: another node may make the call, and its end wakes no waiter here.
#[derive(Default)]
struct Pauses(u32);

impl Pauses {
    fn next(&mut self) -> Duration {
        self.0 = (self.0 + 1).min(5);
        Duration::from_millis(100) * self.0
    }
}

/// Waits until no call of an order blocks a question. It only reads.
pub async fn wait_until_unblocked(app: &Arc<App>, order: OrderId, until: Instant) -> Result<(), Fault> {
    let waiter = app.call_waiters.register(order);
    let mut pauses = Pauses::default();
    loop {
        let mut ended = pin!(waiter.ended());
        ended.as_mut().enable();
        let holder = Arc::clone(app);
        let in_the_way = app
            .store
            .read(move |tx| calls::blocking_call(tx, order, holder.maker().unwrap_or_else(LeaseHolder::none)))
            .await?;
        if in_the_way.is_none() {
            return Ok(());
        }
        if Instant::now() >= until {
            return Err(Fault::ProviderTimeout);
        }
        // After either the end or the pause, the database is read again.
        let _ = tokio::time::timeout(pauses.next(), ended).await;
    }
}

/// Waits for the end of a question that another request is putting; none when it was withdrawn before it was put.
pub async fn wait_for_question(
    app: &App,
    call: CallId,
    order: &Order,
    action: &Action,
    until: Instant,
) -> Result<Option<Transition>, Fault> {
    let (id, before) = (order.id, order.status);
    let waiter = app.call_waiters.register(id);
    let mut pauses = Pauses::default();
    loop {
        let mut ended = pin!(waiter.ended());
        ended.as_mut().enable();
        let (end, after) = app
            .store
            .read(move |tx| Ok::<_, Fault>((calls::end(tx, call)?, orders::by_id(tx, id)?)))
            .await?;
        let after = after.ok_or_else(|| Fault::not_found(Thing::Order, id))?;
        match end {
            Some((CallEnd::Done, _)) => return Ok(Some(Transition { before, after })),
            Some((CallEnd::Failed, message)) => {
                return Err(Fault::ProviderRefused {
                    message: message.unwrap_or_default(),
                });
            }
            Some((CallEnd::Abandoned, Some(Explanation::Platform(PlatformFailure::Withdrawn)))) => {
                return Ok(None);
            }
            Some((CallEnd::Abandoned, message)) => {
                return match action {
                    Action::Cancel { .. } if after.status.is_cancelled() => {
                        Ok(Some(Transition { before, after }))
                    }
                    _ if after.status.is_cancelled() => {
                        Err(Fault::Refused(Refusal::IsCancelled(after.status)))
                    }
                    _ => Err(Fault::ProviderUnreachable {
                        message: message.unwrap_or_default(),
                    }),
                };
            }
            None if Instant::now() >= until => return Err(Fault::ProviderTimeout),
            None => {
                // After either the end or the pause, the database is read again.
                let _ = tokio::time::timeout(pauses.next(), ended).await;
            }
        }
    }
}
