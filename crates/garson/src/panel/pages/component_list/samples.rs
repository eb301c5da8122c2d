//! Sample orders of the component page: a card for every state.

use crate::flow::read::board::Card;
use crate::panel::words::Lang;
use garson_core::explanation::Explanation;
use garson_core::id::OrderId;
use garson_core::order::{CallKind, Courier, Flag, Item, OrderContent, ProviderSync, Status};
use garson_core::platform::Provider;
use garson_core::sample_order::{a_new_order, an_order};
use garson_core::time::{Timestamp, Zone};
use garson_store::lists::board::BoardOrder;
use garson_store::tables::order_notices::{Notice, NoticeKind};
use garson_ticket::render::text;
use garson_ticket::{Kind, Options, Source, Width, build};
use std::time::Duration;
use uuid::Uuid;

const RESTAURANT: &str = "Moda Lokantası";

fn minutes(count: u64) -> Duration {
    Duration::from_secs(count * 60)
}

/// The content of an order with options, notes and an allergy.
fn content() -> OrderContent {
    let mut content = a_new_order("1").content;
    let Some(first) = content.items.first_mut() else {
        return content;
    };
    "Adana dürüm".clone_into(&mut first.name);
    let first = first.clone();
    let item = |name: &str, note: Option<&str>| Item {
        name: name.to_owned(),
        note: note.map(str::to_owned),
        options: Vec::new(),
        ..first.clone()
    };
    content.items.push(item("Künefe", Some("Fıstık alerjim var")));
    content.items.push(item("Mercimek çorbası", None));
    content
}

/// An order with this number, in this state, that came some minutes ago.
fn card(number: u128, platform: &'static str, code: &str, status: Status, age: u64, now: Timestamp) -> Card {
    let mut order = an_order(code);
    order.id = OrderId(Uuid::from_u128(number));
    order.provider = Provider::new(platform);
    order.short_code = Some(code.to_owned());
    order.status = status;
    order.created_at = now.minus(minutes(age));
    order.sync = ProviderSync::Done;
    Card {
        shown: BoardOrder {
            order,
            content: content(),
            restaurant: RESTAURANT.to_owned(),
            escalated_at: None,
        },
        reasons: Vec::new(),
        is_held_up: false,
        notices: Vec::new(),
    }
}

fn notice(card: &Card, kind: NoticeKind, now: Timestamp) -> Notice {
    let is_refusal = kind == NoticeKind::Refused;
    Notice {
        order_id: card.shown.order.id,
        kind,
        call: is_refusal.then_some(CallKind::Verify),
        status: Status::Preparing,
        message: is_refusal.then(|| Explanation::answered(409, Some("Sipariş kapalı"))),
        at: now,
    }
}

/// One card for every state.
pub fn cards(now: Timestamp) -> Vec<Card> {
    let mut cards = Vec::from(new_cards(now));
    cards.extend(kitchen_cards(now));
    let mut on_the_way = card(8, "migros", "6107", Status::OnTheWay, 31, now);
    on_the_way.shown.order.sync = ProviderSync::Failed {
        message: Explanation::answered(503, None),
    };
    let mut flagged = card(9, "yemeksepeti", "342", Status::OnTheWay, 40, now);
    flagged.shown.order.flag = Some(Flag::IntegrationOff);
    cards.extend([
        on_the_way,
        flagged,
        card(10, "direct", "001", Status::Delivered, 55, now),
        card(11, "getir", "002", Status::Cancelled, 58, now),
    ]);
    cards
}

fn new_cards(now: Timestamp) -> [Card; 4] {
    let mut waiting = card(1, "getir", "417", Status::New, 1, now);
    waiting.shown.order.accept_by = Some(now.plus(minutes(4)));
    let mut urgent = card(2, "yemeksepeti", "68", Status::New, 6, now);
    urgent.shown.order.accept_by = Some(now.plus(Duration::from_secs(40)));
    urgent.shown.escalated_at = Some(now);
    let mut scheduled = card(3, "migros", "5083", Status::Scheduled, 3, now);
    scheduled.shown.order.scheduled_for = Some(now.plus(minutes(90)));
    let mut refused = card(4, "trendyol", "948213007919", Status::New, 5, now);
    refused.notices = vec![notice(&refused, NoticeKind::Refused, now)];
    [waiting, urgent, scheduled, refused]
}

fn kitchen_cards(now: Timestamp) -> [Card; 3] {
    let mut preparing = card(5, "getir", "003", Status::Preparing, 12, now);
    preparing.shown.content.fulfilment.courier = Courier::Platform;
    preparing.shown.content.fulfilment.promised_at = Some(now.plus(minutes(20)));
    let mut ready = card(6, "direct", "81C", Status::Preparing, 18, now);
    ready.shown.order.ready_at = Some(now);
    ready.shown.order.sync = ProviderSync::Pending { due_at: now };
    let mut cancelled = card(7, "trendyol", "18T", Status::CancelledByPlatform, 15, now);
    cancelled.notices = vec![notice(&cancelled, NoticeKind::Cancelled, now)];
    [preparing, ready, cancelled]
}

/// The order on whose card an action has failed.
pub fn failed(now: Timestamp) -> Card {
    card(12, "getir", "929946", Status::Preparing, 9, now)
}

pub fn kitchen(now: Timestamp) -> Vec<Card> {
    vec![
        card(13, "getir", "417", Status::Preparing, 4, now),
        card(14, "direct", "003", Status::Preparing, 12, now),
    ]
}

/// A ticket of every kind, as text.
pub fn tickets(lang: Lang, now: Timestamp) -> Vec<String> {
    let shown = card(15, "yemeksepeti", "68", Status::Preparing, 4, now).shown;
    let source = Source {
        order: &shown.order,
        content: &shown.content,
        restaurant: RESTAURANT,
        restaurant_address: None,
        platform: "Yemeksepeti",
        zone: &Zone::istanbul(),
        now,
    };
    let lang = match lang {
        Lang::Tr => garson_ticket::Lang::Tr,
        Lang::En => garson_ticket::Lang::En,
    };
    let ticket = |kind| {
        let options = Options {
            kind,
            width: Width::Mm58,
            lang,
            copy: None,
        };
        text::render(&build(&source, options))
    };
    [Kind::Kitchen, Kind::Courier, Kind::Customer].map(ticket).into()
}
