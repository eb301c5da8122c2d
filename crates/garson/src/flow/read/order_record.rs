//! Everything that is known of one order, for people who look into it.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::admin::accounts::{Delivery, list_deliveries};
use crate::flow::order_actions::reasons;
use crate::flow::read::order_detail::{OrderDetail, detail};
use garson_core::id::AccountId;
use garson_core::order::Reason;
use garson_core::restaurant::Config;
use garson_core::time::Zone;
use garson_store::lists::events::EventFilter;
use garson_store::lists::feed::{Direction, PageRequest};
use garson_store::tables::calls;
use garson_store::tables::calls::CallRecord;
use garson_store::tables::inbox;
use garson_store::tables::inbox::OrderMessage;
use garson_store::tables::order_notices;
use garson_store::tables::order_notices::Notice;
use garson_store::tables::restaurants;

/// Events that are shown with all attempts; an order has a handful.
const MOST_EVENTS: usize = 50;
/// Messages that are shown as they came; most orders have one or two.
const MOST_MESSAGES: i64 = 20;

/// The record of an order.
pub struct Record {
    pub detail: OrderDetail,
    pub restaurant: String,
    /// The restaurant's time zone.
    pub zone: Zone,
    pub calls: Vec<CallRecord>,
    /// Newest first.
    pub deliveries: Vec<Delivery>,
    /// What the platform sent, as far as it is kept.
    pub messages: Vec<OrderMessage>,
    /// With which it can be cancelled, as far as that is known without asking.
    pub reasons: Vec<Reason>,
    /// What its staff has to acknowledge.
    pub notices: Vec<Notice>,
}

/// The record of an order, by our id or the platform's.
pub async fn open(app: &App, account: AccountId, path_id: String) -> Result<Record, Fault> {
    let detail = detail(app, account, path_id).await?;
    let (id, restaurant_id) = (detail.order.id, detail.order.restaurant_id);
    let events = PageRequest {
        limit: MOST_EVENTS,
        cursor: None,
        direction: Direction::Older,
    };
    let deliveries =
        list_deliveries(app, account, EventFilter::default(), Some(id.to_string()), events).await?;
    let now = app.now();
    let (restaurant, config, calls, messages, notices) = app
        .store
        .read(move |tx| {
            let messages = inbox::of_order(tx, id, MOST_MESSAGES)?;
            let restaurant = restaurants::name(tx, restaurant_id)?;
            let config = restaurants::config(tx, restaurant_id)?;
            let notices = order_notices::of_orders(tx, &[id], now)?;
            let calls = calls::of_order(tx, id)?;
            Ok::<_, Fault>((restaurant, config, calls, messages, notices))
        })
        .await?;
    Ok(Record {
        reasons: reasons::known(app, &detail.order),
        detail,
        restaurant,
        zone: Config::read(config.as_deref()).unwrap_or_default().zone(),
        calls,
        deliveries: deliveries.items,
        messages,
        notices,
    })
}
