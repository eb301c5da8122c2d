//! Orders that are open here and that their platform does not list any more, or lists as cancelled: each is read from the platform,
//! at growing intervals. One that cannot be found there is flagged in the end, and left alone, or is cancelled as the list says.

use super::fetch::{Catch, in_storage};
use crate::flow::order_actions::attempt::look;
use crate::flow::{Fault, persist};
use crate::telemetry::CallOutcome;
use garson_core::id::{IntegrationId, OrderId};
use garson_core::order::{Actor, CallKind, Change, Flag, Input, Order, TimelineReason};
use garson_core::platform::Trouble;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::{order_flags, orders};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Orders are looked at one by one, so many in a round.
const MAX_LOOKS: usize = 20;
const FIRST_PAUSE: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);
/// After so many answers in a row that there is no such order, over some twenty minutes, there is none.
const ENOUGH_DENIALS: u32 = 8;

/// When orders that are missing from their platforms' lists are looked at next.
#[derive(Debug, Default)]
pub struct Missing(Mutex<HashMap<IntegrationId, HashMap<OrderId, Wait>>>);

#[derive(Clone, Copy, Debug, Default)]
struct Wait {
    looks: u32,
    /// Answers in a row that there is no such order.
    denials: u32,
    next_at: Timestamp,
}

/// What is done with an order after enough answers that there is no such order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDenial {
    Flag,
    /// The platform lists it as cancelled.
    Cancel,
}

/// What came of looking at an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looked {
    Shown,
    Denied,
    /// Nobody knows.
    Failed,
}

impl Missing {
    /// Those of an integration's missing orders that are due, those that have waited longest first; what is not missing any
    /// more is forgotten.
    fn due<'a>(&self, integration: IntegrationId, missing: &[&'a Order], now: Timestamp) -> Vec<&'a Order> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if missing.is_empty() {
            all.remove(&integration);
            return Vec::new();
        }
        let waits = all.entry(integration).or_default();
        let ids: HashSet<OrderId> = missing.iter().map(|order| order.id).collect();
        waits.retain(|id, _| ids.contains(id));
        let next_at = |order: &Order| waits.get(&order.id).map(|wait| wait.next_at);
        // One that lies further ahead than any pause was planned by a clock that has been set back.
        let is_due = |at: Timestamp| at <= now || at > now.plus(LONGEST_PAUSE);
        let mut due: Vec<_> = missing
            .iter()
            .copied()
            .filter(|order| next_at(order).is_none_or(is_due))
            .collect();
        due.sort_by_key(|order| next_at(order));
        due.truncate(MAX_LOOKS);
        due
    }

    /// Plans the next look; `true` when there is to be none, because the platform does not know the order.
    fn note(&self, integration: IntegrationId, order: OrderId, looked: Looked, now: Timestamp) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = all.entry(integration).or_default().entry(order).or_default();
        let pause = FIRST_PAUSE * 2_u32.saturating_pow(wait.looks.min(10));
        wait.next_at = now.plus(pause.min(LONGEST_PAUSE));
        wait.looks = wait.looks.saturating_add(1);
        wait.denials = match looked {
            Looked::Shown => 0,
            Looked::Denied => wait.denials.saturating_add(1),
            Looked::Failed => wait.denials,
        };
        wait.denials >= ENOUGH_DENIALS
    }
}

impl Catch<'_> {
    /// Reads those of the missing orders that are due, and takes what has become of them.
    pub(crate) async fn look_at_missing(
        &self,
        missing: &[&Order],
        on_denial: OnDenial,
    ) -> Result<(), Trouble> {
        let (integration, known) = (self.connected.integration.id, &self.app.looks.missing);
        for order in known.due(integration, missing, self.app.now()) {
            let looked = match look(self.app, self.contact, order, self.until).await {
                Ok(body) => {
                    self.take(vec![body], &mut HashSet::new())
                        .await
                        .map_err(in_storage)?;
                    Looked::Shown
                }
                // The list was complete, so the round is not in vain for one order that cannot be read.
                Err(trouble) => {
                    let outcome = CallOutcome::from(&trouble).as_str();
                    tracing::info!(order = %order.id, outcome, "an open order could not be read from its platform");
                    match trouble.is_refusal_of_order() {
                        true => Looked::Denied,
                        false => Looked::Failed,
                    }
                }
            };
            if known.note(integration, order.id, looked, self.app.now()) {
                match on_denial {
                    OnDenial::Flag => {
                        self.flag(
                            order,
                            Some(Flag::UnknownToPlatform),
                            TimelineReason::UnknownToPlatform,
                        )
                        .await?;
                    }
                    OnDenial::Cancel => self.cancel(order).await.map_err(in_storage)?,
                }
            }
        }
        Ok(())
    }

    /// Cancels an order by the list alone, which does not say why or by whom.
    async fn cancel(&self, order: &Order) -> Result<(), Fault> {
        let (id, account, now) = (order.id, order.account_id, self.app.now());
        let contact = self.contact.clone();
        let word = contact.platform.word_after(CallKind::Cancel, order);
        let report = Input::Report(Change::Cancelled {
            by: Actor::Platform,
            reason: None,
            note: None,
            provider_status: word.map(str::to_owned),
        });
        let write = move |tx: &mut Tx<'_>| -> Result<(), Fault> {
            let Some(order) = orders::lock(tx, id)? else {
                return Ok(());
            };
            persist::apply_and_write(tx, &contact, &order, &report, None, now).map(drop)
        };
        self.app.store.write(account, write).await
    }

    /// Takes the flag from orders that the platform shows again.
    pub(crate) async fn unflag(&self, open: &[Order], seen: &HashSet<String>) -> Result<(), Trouble> {
        let is_back = |order: &&Order| is_flagged(order) && seen.contains(&order.identity);
        for order in open.iter().filter(is_back) {
            self.flag(order, None, TimelineReason::KnownToPlatformAgain)
                .await?;
        }
        Ok(())
    }

    async fn flag(&self, order: &Order, flag: Option<Flag>, why: TimelineReason) -> Result<(), Trouble> {
        let (id, account, now) = (order.id, order.account_id, self.app.now());
        let write = move |tx: &mut Tx<'_>| order_flags::set(tx, id, flag, why.clone(), now);
        let changed = self.app.store.write(account, write).await;
        if changed.map_err(|error| in_storage(error.into()))? {
            let is_known = flag.is_none();
            tracing::warn!(order = %id, is_known, "whether a platform knows an open order has changed");
        }
        Ok(())
    }
}

/// Is it flagged as one that its platform does not know? It is not looked for any more.
pub(crate) fn is_flagged(order: &Order) -> bool {
    order.flag == Some(Flag::UnknownToPlatform)
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::testing::an_order;
    use uuid::Uuid;

    const NOBODY: IntegrationId = IntegrationId(Uuid::nil());

    fn order(n: u128) -> Order {
        Order {
            id: OrderId(Uuid::from_u128(n)),
            ..an_order("1")
        }
    }

    /// When an order is looked at that is missing from each of many rounds, in seconds, and whether it ends there.
    fn looks(rounds: u32, every: u32, looked: impl Fn(u32) -> Looked) -> (Vec<u32>, bool) {
        let (missing, order) = (Missing::default(), order(1));
        let mut times = Vec::new();
        for round in 0..rounds {
            let now = Timestamp::default().plus(Duration::from_secs(u64::from(round * every)));
            if missing.due(NOBODY, &[&order], now).is_empty() {
                continue;
            }
            times.push(round * every);
            let count = u32::try_from(times.len()).unwrap();
            if missing.note(NOBODY, order.id, looked(count), now) {
                return (times, true);
            }
        }
        (times, false)
    }

    #[test]
    fn an_order_that_is_not_known_is_looked_at_less_and_less_and_then_no_more() {
        let (times, ended) = looks(10_000, 5, |_| Looked::Denied);
        assert_eq!(times, [0, 10, 30, 70, 150, 310, 630, 1270]);
        assert!(ended);
    }

    #[test]
    fn an_order_that_is_known_or_cannot_be_read_is_looked_at_for_ever() {
        for looked in [Looked::Shown, Looked::Failed] {
            let (times, ended) = looks(17_280, 5, |_| looked);
            assert!(!ended && times.len() < 110, "{} looks in a day", times.len());
        }
        // An answer in between begins the count anew.
        let (_, ended) = looks(2_000, 5, |n| match n % 7 {
            0 => Looked::Shown,
            _ => Looked::Denied,
        });
        assert!(!ended);
    }

    #[test]
    fn those_that_have_waited_longest_come_first_and_others_are_forgotten() {
        let missing = Missing::default();
        let orders: Vec<Order> = (0..30).map(order).collect();
        let all: Vec<&Order> = orders.iter().collect();
        let now = Timestamp::default();
        let first = missing.due(NOBODY, &all, now);
        assert_eq!(first.len(), MAX_LOOKS);
        for order in &first {
            missing.note(NOBODY, order.id, Looked::Failed, now);
        }
        let second = missing.due(NOBODY, &all, now.plus(FIRST_PAUSE));
        assert!(
            second
                .iter()
                .take(10)
                .all(|order| !first.iter().any(|f| f.id == order.id))
        );
        assert_eq!(second.len(), MAX_LOOKS);
        missing.due(NOBODY, &all[..1], now);
        assert_eq!(missing.0.lock().unwrap()[&NOBODY].len(), 1);
        missing.due(NOBODY, &[], now);
        assert!(missing.0.lock().unwrap().is_empty());
    }

    #[test]
    fn a_clock_that_is_set_back_puts_nothing_off() {
        let (missing, order) = (Missing::default(), order(1));
        let now = Timestamp::default().plus(LONGEST_PAUSE * 10);
        missing.note(NOBODY, order.id, Looked::Failed, now);
        assert!(missing.due(NOBODY, &[&order], now).is_empty());
        assert_eq!(missing.due(NOBODY, &[&order], Timestamp::default()).len(), 1);
    }
}
