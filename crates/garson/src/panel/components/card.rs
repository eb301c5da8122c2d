//! An order's card on the live board.

use super::card_content::{ItemLines, MarkedText, PaymentLine, first_name, is_long};
use super::order_actions::OrderActions;
use super::order_notices::OrderNotices;
use crate::flow::read::board;
use crate::panel::kit::{explain, format, names};
use crate::panel::words::{BoardWords, CardWords, Lang};
use askama::Template;
use garson_core::order::{Courier, Flag, ProviderSync, Status};
use garson_core::time::{Timestamp, Zone};

/// The columns of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoardColumn {
    New,
    Preparing,
    OnTheWay,
    Done,
}

impl BoardColumn {
    pub const ALL: [Self; 4] = [Self::New, Self::Preparing, Self::OnTheWay, Self::Done];

    pub fn of(status: Status) -> Self {
        match status {
            Status::Scheduled | Status::ScheduledAccepted | Status::New => Self::New,
            Status::Preparing => Self::Preparing,
            Status::OnTheWay => Self::OnTheWay,
            Status::Delivered | Status::Cancelled | Status::CancelledByPlatform => Self::Done,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Preparing => "preparing",
            Self::OnTheWay => "on-the-way",
            Self::Done => "done",
        }
    }
}

#[derive(Template)]
#[template(path = "card.html")]
pub struct Card {
    t: BoardWords,
    w: CardWords,
    id: String,
    pub column: BoardColumn,
    /// Selects the colour.
    provider_key: String,
    provider: String,
    code: String,
    is_long_code: bool,
    customer: String,
    restaurant: String,
    payment: PaymentLine,
    courier: &'static str,
    lines: ItemLines,
    note: Option<MarkedText>,
    promised: Option<String>,
    courier_pickup: Option<String>,
    pickup_code: Option<String>,
    no_cutlery: bool,
    /// For the script, which shows the age.
    created_ms: i64,
    /// Cards may arrive out of order: the script drops one that is older than the card it would replace.
    sequence: i64,
    created: String,
    age_minutes: u64,
    /// The order has to be accepted.
    pub is_waiting: bool,
    deadline: Option<Deadline>,
    scheduled_for: Option<String>,
    actions: OrderActions,
    notices: OrderNotices,
    /// CSS class and text.
    state: Option<(&'static str, &'static str)>,
    sync_failed: Option<String>,
    is_syncing: bool,
    /// The platform has to be notified but cannot be reached.
    is_held_up: bool,
    is_ready: bool,
    /// The escalation wants it to ring urgently.
    is_escalated: bool,
    flag: Option<&'static str>,
    /// Why the last action failed.
    error: Option<String>,
}

/// The time by which an order has to be accepted.
struct Deadline {
    by_ms: i64,
    minutes_left: i64,
    /// Of the bar that shrinks: seconds from the arrival to the deadline, and how many of them are left.
    seconds: i64,
    seconds_left: i64,
}

impl Deadline {
    fn new(by: Timestamp, created_at: Timestamp, now: Timestamp) -> Self {
        let seconds = (by.as_millis() - created_at.as_millis()) / 1000;
        let left = by.as_millis() - now.as_millis();
        Self {
            by_ms: by.as_millis(),
            minutes_left: left.div_euclid(60_000),
            seconds: seconds.max(1),
            seconds_left: (left / 1000).clamp(0, seconds.max(1)),
        }
    }
}

impl Card {
    /// A card on the board at the path `back`.
    pub fn new(lang: Lang, csrf: &str, back: &str, card: board::Card, now: Timestamp) -> Self {
        let (t, w) = (BoardWords::of(lang), CardWords::of(lang));
        let zone = Zone::istanbul();
        let deadline = card.deadline();
        let board::Card {
            shown,
            reasons,
            is_held_up,
            notices,
        } = card;
        let reasons = names::reasons(lang, reasons);
        let (order, content) = (shown.order, shown.content);
        let fulfilment = &content.fulfilment;
        // A scheduled order is promised for the scheduled time.
        let promised = fulfilment
            .promised_at
            .filter(|at| Some(*at) != order.scheduled_for);
        let time = |at| format::time_or_timestamp(lang, &zone, at, now);
        let code = order
            .short_code
            .clone()
            .unwrap_or_else(|| order.provider_order_id.clone());
        let notices = OrderNotices::new(lang, csrf, &order, &notices, &zone, back);
        Self {
            actions: OrderActions::on_card(lang, csrf, &order, &content, reasons, back.to_owned()),
            id: order.id.to_string(),
            // A cancelled order stays in its place until that is acknowledged.
            column: BoardColumn::of(notices.cancelled_from.unwrap_or(order.status)),
            notices,
            provider_key: order.provider.to_string(),
            provider: format::order_source(lang, order.provider, &content),
            restaurant: shown.restaurant,
            customer: first_name(&content),
            payment: PaymentLine::new(lang, &w, &content),
            promised: promised.map(time),
            courier_pickup: fulfilment.courier_pickup_at.map(time),
            pickup_code: fulfilment.pickup_code.clone(),
            no_cutlery: fulfilment.flags.no_cutlery,
            courier: match fulfilment.courier {
                Courier::Platform => t.courier_platform,
                Courier::Restaurant => t.courier_restaurant,
                Courier::None => t.courier_none,
            },
            lines: ItemLines::new(&w, &content.items),
            note: MarkedText::of(content.note.as_ref()),
            created_ms: order.created_at.as_millis(),
            sequence: order.sequence,
            created: format::time_of_day(&zone, order.created_at),
            age_minutes: now.since(order.created_at).as_secs() / 60,
            is_waiting: awaits_acceptance(order.status),
            deadline: deadline.map(|by| Deadline::new(by, order.created_at, now)),
            scheduled_for: order.scheduled_for.map(time),
            state: state(order.status, &t),
            is_syncing: matches!(order.sync, ProviderSync::Pending { .. }),
            is_held_up,
            is_escalated: awaits_acceptance(order.status) && shown.escalated_at.is_some(),
            is_ready: order.status == Status::Preparing && order.ready_at.is_some(),
            sync_failed: match order.sync {
                ProviderSync::Failed { message } => Some(explain::platform(lang, &message)),
                _ => None,
            },
            flag: order.flag.map(|flag| match flag {
                Flag::IntegrationOff => t.flag_integration_off,
                Flag::PackageExpired => t.flag_package_expired,
                Flag::UnknownToPlatform => t.flag_unknown_to_platform,
            }),
            is_long_code: is_long(&code),
            code,
            error: None,
            t,
            w,
        }
    }

    /// Whether it shows what its platform refused.
    pub fn has_refusal(&self) -> bool {
        self.notices.has_refusal()
    }

    #[must_use]
    pub fn with_error(mut self, error: String) -> Self {
        self.error = Some(error);
        self
    }

    fn is_urgent(&self) -> bool {
        self.sync_failed.is_some()
            || self.is_held_up
            || self.has_refusal()
            || self.error.is_some()
            || self.is_escalated
            || self.deadline.as_ref().is_some_and(|it| it.minutes_left < 1)
    }
}

fn awaits_acceptance(status: Status) -> bool {
    matches!(status, Status::New | Status::Scheduled)
}

/// The CSS class and the text of a status that the column does not already tell.
fn state(status: Status, t: &BoardWords) -> Option<(&'static str, &'static str)> {
    match status {
        Status::Scheduled => Some(("warn", t.scheduled)),
        Status::ScheduledAccepted => Some(("good", t.scheduled_accepted)),
        Status::Delivered => Some(("good", t.delivered)),
        Status::Cancelled => Some(("bad", t.cancelled)),
        Status::CancelledByPlatform => Some(("bad", t.cancelled_by_platform)),
        Status::New | Status::Preparing | Status::OnTheWay => None,
    }
}
