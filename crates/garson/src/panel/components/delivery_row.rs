//! A row of a delivery log.

use crate::flow::admin::accounts::Delivery;
use crate::flow::admin::{accounts, restaurants};
use crate::http::state::HttpState;
use crate::panel::kit::current_user::CurrentUser;
use crate::panel::kit::error::PanelError;
use crate::panel::kit::explain;
use crate::panel::kit::layout::Layout;
use crate::panel::kit::short_id::ShortId;
use crate::panel::kit::{format, names};
use crate::panel::words::DeliveryWords;
use garson_core::id::{EventId, OrderId, RestaurantId};
use std::collections::HashMap;

/// A row of the log.
pub struct LogRow {
    pub id: EventId,
    pub name: String,
    pub at: String,
    pub restaurant: String,
    pub order: Option<OrderLink>,
    pub state: &'static str,
    pub tone: &'static str,
    pub reason: String,
    pub attempts: usize,
    pub last_attempt: String,
}

pub struct OrderLink {
    pub href: String,
    pub code: ShortId,
}

/// The names of the restaurants and orders of some deliveries.
pub struct NameLookup {
    restaurants: HashMap<RestaurantId, String>,
    orders: HashMap<OrderId, String>,
}

impl NameLookup {
    pub async fn read(
        api: &HttpState,
        user: &CurrentUser,
        deliveries: &[Delivery],
    ) -> Result<Self, PanelError> {
        let (app, account) = (&api.app, user.account.id);
        let fail = |fault| user.fail(fault);
        let orders = deliveries.iter().filter_map(|it| it.event.order_id).collect();
        let restaurants = restaurants::names(app, account).await.map_err(fail)?;
        Ok(Self {
            restaurants: restaurants.into_iter().collect(),
            orders: accounts::order_codes(app, account, orders).await.map_err(fail)?,
        })
    }
}

impl LogRow {
    pub fn new(layout: &Layout, lookup: &NameLookup, delivery: Delivery) -> Self {
        let t = DeliveryWords::of(layout.lang);
        let event = delivery.event;
        let (state, tone) = names::delivery_state(&t, event.state);
        let last = delivery.attempts.last();
        Self {
            id: event.id,
            at: format::timestamp_with_seconds(layout.lang, &layout.zone, event.created_at),
            restaurant: lookup
                .restaurants
                .get(&event.restaurant_id)
                .cloned()
                .unwrap_or_default(),
            order: event.order_id.and_then(|id| {
                let code = ShortId::new(lookup.orders.get(&id)?);
                let href = format!("/orders/{id}");
                Some(OrderLink { href, code })
            }),
            reason: event
                .reason
                .map_or_else(String::new, |it| explain::reason(&t, &it)),
            attempts: delivery.attempts.len(),
            last_attempt: last.map_or_else(String::new, |it| explain::text(layout.lang, &it.explanation)),
            name: event.name,
            state,
            tone,
        }
    }
}
