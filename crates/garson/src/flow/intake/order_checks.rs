//! Orders that something has happened to are read from their platforms, where those are not polled: each once at a time,
//! and of each account only a few at the same time, however many messages come.

use super::fetch::{Catch, in_storage};
use crate::app::App;
use crate::fair_slots::{FairSlots, SlotLimits};
use crate::flow::intake::missing_orders::Missing;
use crate::flow::platform_client::read_order;
use crate::flow::platform_client::{Contact, Share};
use crate::telemetry::CallOutcome;
use garson_core::id::{AccountId, OrderId};
use garson_core::order::Order;
use garson_core::platform::{PollStyle, Window};
use garson_store::tables::integrations::Connected;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Requests at the same time.
const SLOTS: SlotLimits = SlotLimits {
    total: 64,
    per_account: 8,
    failing: 64,
};
const REQUEST_DEADLINE: Duration = Duration::from_secs(10);
/// The same with waiting for a slot, and for the platform's limits.
const DEADLINE: Duration = Duration::from_secs(120);
/// Orders that wait or are being read, in all and of one account; a message about one more is only noted.
const MAX_PENDING: usize = 10_000;
const MAX_PENDING_OF_ACCOUNT: usize = 1_000;

/// The orders that are being read, or wait for it.
pub struct Looks {
    slots: Arc<FairSlots>,
    pending: Mutex<Pending>,
    /// Orders that their platforms do not list any more.
    pub missing: Missing,
}

impl Default for Looks {
    fn default() -> Self {
        Self {
            slots: FairSlots::new(SLOTS),
            pending: Mutex::default(),
            missing: Missing::default(),
        }
    }
}

/// What is to be done about an order that something has happened to.
#[derive(Debug, PartialEq, Eq)]
enum Admission {
    Start,
    /// It is being read, and will be read again.
    Again,
    Full,
}

#[derive(Default)]
struct Pending {
    orders: HashMap<OrderId, PendingLook>,
    of_accounts: HashMap<AccountId, usize>,
}

struct PendingLook {
    account: AccountId,
    /// It is to be read again, because something has happened since it was asked for.
    again: bool,
}

impl Pending {
    fn add(&mut self, account: AccountId, order: OrderId) {
        self.orders.insert(
            order,
            PendingLook {
                account,
                again: false,
            },
        );
        *self.of_accounts.entry(account).or_default() += 1;
    }

    fn remove(&mut self, order: OrderId) {
        let Some(PendingLook { account, .. }) = self.orders.remove(&order) else {
            return;
        };
        if let Entry::Occupied(mut count) = self.of_accounts.entry(account) {
            match *count.get() {
                0 | 1 => {
                    count.remove();
                }
                more => *count.get_mut() = more - 1,
            }
        }
    }

    fn has_room_for(&self, account: AccountId) -> bool {
        let of_account = self.of_accounts.get(&account).copied().unwrap_or_default();
        self.orders.len() < MAX_PENDING && of_account < MAX_PENDING_OF_ACCOUNT
    }
}

impl Looks {
    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn admit(&self, account: AccountId, order: OrderId) -> Admission {
        let mut pending = self.pending();
        if let Some(look) = pending.orders.get_mut(&order) {
            look.again = true;
            return Admission::Again;
        }
        if !pending.has_room_for(account) {
            return Admission::Full;
        }
        pending.add(account, order);
        Admission::Start
    }

    /// Has something happened to the order while it was read? It is forgotten otherwise.
    fn is_to_be_repeated(&self, order: OrderId) -> bool {
        let mut pending = self.pending();
        match pending.orders.get_mut(&order) {
            Some(look) if look.again => {
                look.again = false;
                true
            }
            _ => {
                pending.remove(order);
                false
            }
        }
    }
}

/// Forgets an order when reading it ends, however it ends.
struct Forget {
    app: Arc<App>,
    order: OrderId,
}

impl Drop for Forget {
    fn drop(&mut self) {
        self.app.looks.pending().remove(self.order);
    }
}

/// Reads an order from its platform soon.
pub(crate) fn look_soon(app: &Arc<App>, connected: Connected, order: Order) {
    let Some(mut contact) = app.contact(&connected).filter(|c| c.platform.capability().look) else {
        return;
    };
    let account = connected.integration.account_id;
    match app.looks.admit(account, order.id) {
        Admission::Again => return,
        Admission::Full => {
            tracing::warn!(order = %order.id, "an order is not read from its platform: too many wait to be read");
            return;
        }
        Admission::Start => {}
    }
    contact.share = Some(Share {
        slots: Arc::clone(&app.looks.slots),
        account,
        is_failing: false,
        request_deadline: REQUEST_DEADLINE,
    });
    let forget = Forget {
        app: Arc::clone(app),
        order: order.id,
    };
    tokio::spawn(read_until_settled(forget, connected, contact, order));
}

/// What is taken may have an order looked at in turn: the future must have a size.
fn read_until_settled(
    forget: Forget,
    connected: Connected,
    contact: Contact,
    order: Order,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let app = &forget.app;
        loop {
            read(app, &connected, &contact, &order).await;
            if !app.looks.is_to_be_repeated(order.id) {
                break;
            }
        }
    })
}

async fn read(app: &Arc<App>, connected: &Connected, contact: &Contact, order: &Order) {
    let (now, until) = (app.now(), Instant::now() + DEADLINE);
    let net = Catch {
        app,
        connected,
        contact,
        style: PollStyle::Changes,
        window: Window { from: now, to: now },
        until,
    };
    let taken = match read_order(app, contact, order, until).await {
        Ok(body) => net
            .take(vec![body], &mut HashSet::new())
            .await
            .map_err(in_storage),
        Err(trouble) => Err(trouble),
    };
    if let Err(trouble) = taken {
        let outcome = CallOutcome::from(&trouble).as_str();
        tracing::warn!(order = %order.id, outcome, "an order could not be read from its platform");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(n: usize) -> OrderId {
        OrderId(uuid::Uuid::from_u128(n as u128))
    }

    fn account(n: usize) -> AccountId {
        AccountId(uuid::Uuid::from_u128(n as u128))
    }

    #[test]
    fn an_order_is_read_once_at_a_time_and_again_if_something_happened() {
        let (looks, one, a) = (Looks::default(), order(1), account(1));
        assert_eq!(looks.admit(a, one), Admission::Start);
        assert_eq!(looks.admit(a, one), Admission::Again);
        assert_eq!(looks.admit(a, one), Admission::Again);
        assert!(looks.is_to_be_repeated(one));
        assert!(
            !looks.is_to_be_repeated(one),
            "a hundred messages are one repetition"
        );
        assert_eq!(looks.admit(a, one), Admission::Start);
    }

    #[test]
    fn the_orders_that_wait_are_bounded() {
        let looks = Looks::default();
        for n in 0..MAX_PENDING {
            assert_eq!(looks.admit(account(n % 20), order(n)), Admission::Start);
        }
        assert_eq!(looks.admit(account(1), order(MAX_PENDING)), Admission::Full);
        assert_eq!(looks.admit(account(1), order(1)), Admission::Again);
        assert!(looks.is_to_be_repeated(order(1)));
        assert!(!looks.is_to_be_repeated(order(1)));
        assert_eq!(looks.admit(account(1), order(MAX_PENDING)), Admission::Start);
    }

    #[test]
    fn an_account_whose_orders_wait_leaves_room_for_others() {
        let looks = Looks::default();
        for n in 0..MAX_PENDING_OF_ACCOUNT {
            assert_eq!(looks.admit(account(1), order(n)), Admission::Start);
        }
        let more = order(MAX_PENDING_OF_ACCOUNT);
        assert_eq!(looks.admit(account(1), more), Admission::Full);
        assert_eq!(looks.admit(account(2), more), Admission::Start);
        for n in 0..=MAX_PENDING_OF_ACCOUNT {
            // What has been removed already does not count twice.
            looks.pending().remove(order(n));
            looks.pending().remove(order(n));
        }
        assert!(looks.pending().of_accounts.is_empty());
        assert_eq!(looks.admit(account(1), more), Admission::Start);
    }
}
