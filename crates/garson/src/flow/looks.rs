//! Orders that something has happened to are read from their platforms, where those are not polled: each once at a time,
//! and of each account only a few at the same time, however many messages come.

use super::attempt::look;
use super::fetch::{Catch, in_storage};
use super::line::{Contact, Share};
use super::missing::Missing;
use crate::app::App;
use crate::fair::{FairSlots, SlotLimits};
use crate::telemetry::CallOutcome;
use garson_core::id::OrderId;
use garson_core::order::Order;
use garson_core::platform::{PollStyle, Window};
use garson_store::integrations::Connected;
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
/// Orders that wait or are being read; a message about one more is only noted.
const MAX_PENDING: usize = 10_000;

/// The orders that are being read, or wait for it.
pub struct Looks {
    slots: Arc<FairSlots>,
    /// Whether each is to be read again, because something has happened since it was asked for.
    pending: Mutex<HashMap<OrderId, bool>>,
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

impl Looks {
    fn pending(&self) -> MutexGuard<'_, HashMap<OrderId, bool>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn admit(&self, order: OrderId) -> Admission {
        let mut pending = self.pending();
        if let Some(again) = pending.get_mut(&order) {
            *again = true;
            return Admission::Again;
        }
        if pending.len() >= MAX_PENDING {
            return Admission::Full;
        }
        pending.insert(order, false);
        Admission::Start
    }

    /// Has something happened to the order while it was read? It is forgotten otherwise.
    fn is_to_be_repeated(&self, order: OrderId) -> bool {
        let mut pending = self.pending();
        match pending.get_mut(&order) {
            Some(again) if *again => {
                *again = false;
                true
            }
            _ => {
                pending.remove(&order);
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
        self.app.looks.pending().remove(&self.order);
    }
}

/// Reads an order from its platform soon.
pub(super) fn look_soon(app: &Arc<App>, connected: Connected, order: Order) {
    let Some(mut contact) = app.contact(&connected).filter(|c| c.platform.capability().look) else {
        return;
    };
    match app.looks.admit(order.id) {
        Admission::Again => return,
        Admission::Full => {
            tracing::warn!(order = %order.id, "an order is not read from its platform: too many wait to be read");
            return;
        }
        Admission::Start => {}
    }
    contact.share = Some(Share {
        slots: Arc::clone(&app.looks.slots),
        account: connected.integration.account_id,
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
    let taken = match look(app, contact, order, until).await {
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

    #[test]
    fn an_order_is_read_once_at_a_time_and_again_if_something_happened() {
        let (looks, one) = (Looks::default(), order(1));
        assert_eq!(looks.admit(one), Admission::Start);
        assert_eq!(looks.admit(one), Admission::Again);
        assert_eq!(looks.admit(one), Admission::Again);
        assert!(looks.is_to_be_repeated(one));
        assert!(
            !looks.is_to_be_repeated(one),
            "a hundred messages are one repetition"
        );
        assert_eq!(looks.admit(one), Admission::Start);
    }

    #[test]
    fn the_orders_that_wait_are_bounded() {
        let looks = Looks::default();
        for n in 0..MAX_PENDING {
            assert_eq!(looks.admit(order(n)), Admission::Start);
        }
        assert_eq!(looks.admit(order(MAX_PENDING)), Admission::Full);
        assert_eq!(looks.admit(order(1)), Admission::Again);
        assert!(looks.is_to_be_repeated(order(1)));
        assert!(!looks.is_to_be_repeated(order(1)));
        assert_eq!(looks.admit(order(MAX_PENDING)), Admission::Start);
    }
}
