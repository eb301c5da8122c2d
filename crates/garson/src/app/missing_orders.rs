//! When to check orders that are open here and missing from their platform's list: at growing intervals, until the platform
//! has said often enough that it has no such order.

use garson_core::id::{IntegrationId, OrderId};
use garson_core::order::Order;
use garson_core::time::Timestamp;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// Checks in one round of polling.
const MAX_CHECKS: usize = 20;
const FIRST_PAUSE: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);
/// So many answers in a row that there is no such order, over some twenty minutes, are final.
const NOT_FOUND_LIMIT: u32 = 8;

#[derive(Debug, Default)]
pub struct MissingOrders(Mutex<HashMap<IntegrationId, HashMap<OrderId, CheckPlan>>>);

#[derive(Clone, Copy, Debug, Default)]
struct CheckPlan {
    checks: u32,
    /// Answers in a row that there is no such order.
    not_found: u32,
    next_at: Timestamp,
}

/// The result of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckResult {
    Found,
    NotFound,
    /// It is unknown whether the platform has the order.
    Failed,
}

impl MissingOrders {
    /// The missing orders of an integration that are due, those that have waited longest first. Orders that are no longer
    /// missing are forgotten.
    pub(crate) fn due<'a>(
        &self,
        integration: IntegrationId,
        missing: &[&'a Order],
        now: Timestamp,
    ) -> Vec<&'a Order> {
        let mut all = self.0.lock();
        if missing.is_empty() {
            all.remove(&integration);
            return Vec::new();
        }
        let plans = all.entry(integration).or_default();
        let ids: HashSet<OrderId> = missing.iter().map(|order| order.id).collect();
        plans.retain(|id, _| ids.contains(id));
        let next_at = |order: &Order| plans.get(&order.id).map(|plan| plan.next_at);
        // A time further ahead than any pause was planned before the clock was set back.
        let is_due = |at: Timestamp| at <= now || at > now.plus(LONGEST_PAUSE);
        let mut due: Vec<_> = missing
            .iter()
            .copied()
            .filter(|order| next_at(order).is_none_or(is_due))
            .collect();
        due.sort_by_key(|order| next_at(order));
        due.truncate(MAX_CHECKS);
        due
    }

    /// Plans the next check; returns `true` if the platform has finally no such order.
    pub(crate) fn note(
        &self,
        integration: IntegrationId,
        order: OrderId,
        result: CheckResult,
        now: Timestamp,
    ) -> bool {
        let mut all = self.0.lock();
        let plan = all.entry(integration).or_default().entry(order).or_default();
        let pause = FIRST_PAUSE * 2_u32.saturating_pow(plan.checks.min(10));
        plan.next_at = now.plus(pause.min(LONGEST_PAUSE));
        plan.checks = plan.checks.saturating_add(1);
        plan.not_found = match result {
            CheckResult::Found => 0,
            CheckResult::NotFound => plan.not_found.saturating_add(1),
            CheckResult::Failed => plan.not_found,
        };
        plan.not_found >= NOT_FOUND_LIMIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use garson_core::testing::an_order;
    use uuid::Uuid;

    const INTEGRATION: IntegrationId = IntegrationId(Uuid::nil());

    fn order(n: u128) -> Order {
        Order {
            id: OrderId(Uuid::from_u128(n)),
            ..an_order("1")
        }
    }

    /// The times, in seconds, at which an order is checked that is missing in every round, and whether the checks end.
    fn checks(rounds: u32, every: u32, result: impl Fn(u32) -> CheckResult) -> (Vec<u32>, bool) {
        let (missing, order) = (MissingOrders::default(), order(1));
        let mut times = Vec::new();
        for round in 0..rounds {
            let now = Timestamp::default().plus(Duration::from_secs(u64::from(round * every)));
            if missing.due(INTEGRATION, &[&order], now).is_empty() {
                continue;
            }
            times.push(round * every);
            let count = u32::try_from(times.len()).unwrap();
            if missing.note(INTEGRATION, order.id, result(count), now) {
                return (times, true);
            }
        }
        (times, false)
    }

    #[test]
    fn unknown_order_is_checked_at_growing_intervals_and_then_given_up() {
        let (times, ended) = checks(10_000, 5, |_| CheckResult::NotFound);
        assert_eq!(times, [0, 10, 30, 70, 150, 310, 630, 1270]);
        assert!(ended);
    }

    #[test]
    fn found_or_unreadable_order_is_checked_forever() {
        for result in [CheckResult::Found, CheckResult::Failed] {
            let (times, ended) = checks(17_280, 5, |_| result);
            assert!(!ended && times.len() < 110, "{} checks in a day", times.len());
        }
        // Finding the order restarts the count.
        let (_, ended) = checks(2_000, 5, |n| match n % 7 {
            0 => CheckResult::Found,
            _ => CheckResult::NotFound,
        });
        assert!(!ended);
    }

    #[test]
    fn longest_waiting_orders_come_first_and_others_are_forgotten() {
        let missing = MissingOrders::default();
        let orders: Vec<Order> = (0..30).map(order).collect();
        let all: Vec<&Order> = orders.iter().collect();
        let now = Timestamp::default();
        let first = missing.due(INTEGRATION, &all, now);
        assert_eq!(first.len(), MAX_CHECKS);
        for order in &first {
            missing.note(INTEGRATION, order.id, CheckResult::Failed, now);
        }
        let second = missing.due(INTEGRATION, &all, now.plus(FIRST_PAUSE));
        assert!(
            second
                .iter()
                .take(10)
                .all(|order| !first.iter().any(|f| f.id == order.id))
        );
        assert_eq!(second.len(), MAX_CHECKS);
        missing.due(INTEGRATION, &all[..1], now);
        assert_eq!(missing.0.lock()[&INTEGRATION].len(), 1);
        missing.due(INTEGRATION, &[], now);
        assert!(missing.0.lock().is_empty());
    }

    #[test]
    fn setting_the_clock_back_delays_no_check() {
        let (missing, order) = (MissingOrders::default(), order(1));
        let now = Timestamp::default().plus(LONGEST_PAUSE * 10);
        missing.note(INTEGRATION, order.id, CheckResult::Failed, now);
        assert!(missing.due(INTEGRATION, &[&order], now).is_empty());
        assert_eq!(missing.due(INTEGRATION, &[&order], Timestamp::default()).len(), 1);
    }
}
