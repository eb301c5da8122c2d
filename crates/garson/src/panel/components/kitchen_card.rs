//! An order's card on the kitchen screen: what to prepare, and one button.

use super::card_content::{ItemLines, MarkedText, first_name, is_long};
use super::order_notices::OrderNotices;
use crate::flow::read::board;
use crate::panel::kit::format;
use crate::panel::words::{BoardWords, CardWords, Lang};
use askama::Template;
use garson_core::order::Status;
use garson_core::time::{Timestamp, Zone};

#[derive(Template)]
#[template(path = "kitchen_card.html")]
pub struct KitchenCard {
    t: BoardWords,
    w: CardWords,
    csrf: String,
    back: String,
    id: String,
    /// An order that the kitchen has nothing to do with is sent without content, so that the script removes its card.
    pub is_shown: bool,
    provider_key: String,
    provider: String,
    code: String,
    is_long_code: bool,
    customer: String,
    restaurant: String,
    lines: ItemLines,
    note: Option<MarkedText>,
    promised: Option<String>,
    courier_pickup: Option<String>,
    no_cutlery: bool,
    seen: i64,
    created_ms: i64,
    sequence: i64,
    created: String,
    age_minutes: u64,
    notices: OrderNotices,
    /// It was cancelled while it was being prepared; there is nothing to mark as ready.
    is_cancelled: bool,
    error: Option<String>,
}

impl KitchenCard {
    pub fn new(lang: Lang, csrf: &str, back: &str, card: board::Card, now: Timestamp) -> Self {
        let (w, zone) = (CardWords::of(lang), Zone::istanbul());
        let is_for_kitchen = card.is_for_kitchen();
        let (order, content) = (card.shown.order, card.shown.content);
        let notices = OrderNotices::new(lang, csrf, &order, &card.notices, &zone, back);
        let is_cancelled = notices.cancelled_from == Some(Status::Preparing);
        let time = |at| format::time_or_timestamp(lang, &zone, at, now);
        let fulfilment = &content.fulfilment;
        Self {
            csrf: csrf.to_owned(),
            back: back.to_owned(),
            id: order.id.to_string(),
            // A cancelled order stays until that is acknowledged: the kitchen has to stop.
            is_shown: is_for_kitchen || is_cancelled,
            is_cancelled,
            notices,
            provider_key: order.provider.to_string(),
            provider: format::order_source(lang, order.provider, &content),
            customer: first_name(&content),
            restaurant: card.shown.restaurant,
            lines: ItemLines::new(&w, &content.items),
            note: MarkedText::of(content.note.as_ref()),
            promised: fulfilment.promised_at.or(order.scheduled_for).map(time),
            courier_pickup: fulfilment.courier_pickup_at.map(time),
            no_cutlery: fulfilment.flags.no_cutlery,
            seen: order.status.code(),
            created_ms: order.created_at.as_millis(),
            sequence: order.sequence,
            created: format::time_of_day(&zone, order.created_at),
            age_minutes: now.since(order.created_at).as_secs() / 60,
            is_long_code: is_long(order.short_code.as_ref().unwrap_or(&order.provider_order_id)),
            code: order.short_code.unwrap_or(order.provider_order_id),
            error: None,
            t: BoardWords::of(lang),
            w,
        }
    }

    #[must_use]
    pub fn with_error(mut self, error: String) -> Self {
        self.error = Some(error);
        self
    }
}
