//! The notices of an account's orders, as a board shows them.

use crate::flow::Fault;
use garson_core::id::{AccountId, OrderId};
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::order_notices;
use garson_store::tables::order_notices::{Notice, NoticeKind};
use std::collections::{BTreeMap, BTreeSet};

/// Notices by order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notices(BTreeMap<OrderId, Vec<Notice>>);

impl Notices {
    pub fn of_account(tx: &mut Tx<'_>, account: AccountId, now: Timestamp) -> Result<Self, Fault> {
        Ok(Self::new(order_notices::of_account(tx, account, now)?))
    }

    pub fn of_order(tx: &mut Tx<'_>, order: OrderId, now: Timestamp) -> Result<Self, Fault> {
        Ok(Self::new(order_notices::of_orders(tx, &[order], now)?))
    }

    fn new(notices: Vec<Notice>) -> Self {
        let mut by_order: BTreeMap<OrderId, Vec<Notice>> = BTreeMap::new();
        for notice in notices {
            by_order.entry(notice.order_id).or_default().push(notice);
        }
        Self(by_order)
    }

    pub fn of(&self, order: OrderId) -> Vec<Notice> {
        self.0.get(&order).cloned().unwrap_or_default()
    }

    /// The orders that have any.
    pub fn orders(&self) -> BTreeSet<OrderId> {
        self.0.keys().copied().collect()
    }

    /// The orders that were cancelled while they were being prepared.
    pub fn cancelled(&self) -> Vec<OrderId> {
        self.0
            .keys()
            .copied()
            .filter(|id| self.is_cancelled(*id))
            .collect()
    }

    pub fn is_cancelled(&self, order: OrderId) -> bool {
        let notices = self.0.get(&order);
        notices.is_some_and(|notices| notices.iter().any(|it| it.kind == NoticeKind::Cancelled))
    }

    /// The orders whose notices are not the same in both.
    pub fn difference(&self, other: &Self) -> BTreeSet<OrderId> {
        let ids = self.0.keys().chain(other.0.keys());
        ids.copied()
            .filter(|id| self.0.get(id) != other.0.get(id))
            .collect()
    }
}
