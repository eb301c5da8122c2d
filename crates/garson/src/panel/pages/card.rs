//! A card of the live board: what is needed to act on an order at a glance.

use crate::flow::read::board;
use crate::panel::kit::frame::{Place, has_page};
use crate::panel::kit::lang::Lang;
use crate::panel::kit::{explain, format, names};
use crate::panel::words::BoardWords;
use askama::Template;
use garson_core::order::{Courier, Flag, Order, ProviderSync, Reason, Status};
use garson_core::time::{Timestamp, Zone};

/// The columns of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    New,
    Preparing,
    OnTheWay,
    Done,
}

impl Column {
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

/// A card as it is shown.
#[derive(Template)]
#[template(path = "card.html")]
pub struct Card {
    t: BoardWords,
    id: String,
    /// The page of the order.
    href: Option<String>,
    pub column: Column,
    /// The platform's key, for its colour, and its name.
    key: String,
    provider: String,
    code: String,
    restaurant: String,
    total: String,
    courier: &'static str,
    items: Vec<String>,
    note: String,
    /// Milliseconds since 1970, for the script that counts.
    created_ms: i64,
    /// How far the order has come: a card that was overtaken on its way does not take a newer one's place.
    sequence: i64,
    created: String,
    age_minutes: u64,
    accept_by_ms: Option<i64>,
    accept_in_minutes: Option<i64>,
    scheduled_for: Option<String>,
    doing: Doing,
    state: Option<(&'static str, &'static str)>,
    sync_failed: Option<String>,
    is_syncing: bool,
    /// Its platform is in trouble.
    is_held_up: bool,
    is_ready: bool,
    flag: Option<&'static str>,
    /// What could not be done just now.
    error: Option<String>,
}

/// What can be done with an order now: a form that comes back to where it was sent from.
#[derive(Template)]
#[template(path = "doing.html")]
pub struct Doing {
    t: BoardWords,
    csrf: String,
    id: String,
    back: String,
    /// The status that it is shown with: a step is taken from there or not at all.
    seen: i64,
    step: Option<Next>,
    may_be_ready: bool,
    pub may_be_cancelled: bool,
    /// Those that are known without asking; the script of the board asks for the others.
    reasons: Vec<Reason>,
    is_live: bool,
}

impl Doing {
    /// On the page of the order.
    pub fn alone(lang: Lang, csrf: &str, order: &Order, reasons: Vec<Reason>) -> Self {
        let back = format!("/orders/{}", order.id);
        Self {
            is_live: false,
            ..Self::new(lang, csrf, order, names::reasons(lang, reasons), back)
        }
    }

    fn new(lang: Lang, csrf: &str, order: &Order, reasons: Vec<Reason>, back: String) -> Self {
        let t = BoardWords::of(lang);
        Self {
            csrf: csrf.to_owned(),
            id: order.id.to_string(),
            back,
            seen: order.status.code(),
            step: next(order.status, &t),
            may_be_ready: order.status == Status::Preparing && order.ready_at.is_none(),
            may_be_cancelled: !order.status.is_over(),
            reasons,
            is_live: true,
            t,
        }
    }
}

/// What can be done next with one press.
pub struct Next {
    action: &'static str,
    label: &'static str,
}

impl Card {
    /// A card on the board at an address.
    pub fn new(lang: Lang, csrf: &str, back: &str, card: board::Card, now: Timestamp) -> Self {
        let t = BoardWords::of(lang);
        let zone = Zone::istanbul();
        let board::Card {
            shown,
            reasons,
            is_held_up,
        } = card;
        let reasons = names::reasons(lang, reasons);
        let (order, content) = (shown.order, shown.content);
        let accept_by = waits(order.status).then_some(order.accept_by).flatten();
        Self {
            doing: Doing::new(lang, csrf, &order, reasons, back.to_owned()),
            id: order.id.to_string(),
            href: has_page(Place::Orders).then(|| format!("/orders/{}", order.id)),
            column: Column::of(order.status),
            key: order.provider.to_string(),
            provider: format::provider(lang, order.provider),
            restaurant: shown.restaurant,
            total: format::money(lang, order.total, order.currency),
            courier: match content.fulfilment.courier {
                Courier::Platform => t.courier_platform,
                Courier::Restaurant => t.courier_restaurant,
                Courier::None => t.courier_none,
            },
            items: items(&content.items),
            note: content.note.unwrap_or_default(),
            created_ms: order.created_at.as_millis(),
            sequence: order.sequence,
            created: format::time_of_day(&zone, order.created_at),
            age_minutes: now.since(order.created_at).as_secs() / 60,
            accept_by_ms: accept_by.map(Timestamp::as_millis),
            accept_in_minutes: accept_by.map(|by| (by.as_millis() - now.as_millis()).div_euclid(60_000)),
            scheduled_for: order.scheduled_for.map(|at| format::moment(lang, &zone, at)),
            state: state(order.status, &t),
            is_syncing: matches!(order.sync, ProviderSync::Pending { .. }),
            is_held_up,
            is_ready: order.status == Status::Preparing && order.ready_at.is_some(),
            sync_failed: match order.sync {
                ProviderSync::Failed { message } => Some(explain::text(lang, &message)),
                _ => None,
            },
            flag: order.flag.map(|flag| match flag {
                Flag::IntegrationOff => t.flag_integration_off,
                Flag::PackageExpired => t.flag_package_expired,
                Flag::UnknownToPlatform => t.flag_unknown_to_platform,
            }),
            code: order.short_code.unwrap_or(order.provider_order_id),
            error: None,
            t,
        }
    }

    /// The same card, saying what could not be done.
    #[must_use]
    pub fn saying(mut self, error: String) -> Self {
        self.error = Some(error);
        self
    }

    /// Must somebody look at it at once?
    fn is_red(&self) -> bool {
        self.sync_failed.is_some()
            || self.is_held_up
            || self.error.is_some()
            || self.accept_in_minutes.is_some_and(|minutes| minutes < 1)
    }
}

/// Does the platform wait for a yes?
fn waits(status: Status) -> bool {
    matches!(status, Status::New | Status::Scheduled)
}

fn next(status: Status, t: &BoardWords) -> Option<Next> {
    let (action, label) = match status {
        Status::New => ("verify", t.verify),
        Status::Scheduled => ("verify", t.pre_approve),
        Status::Preparing => ("next", t.next_on_the_way),
        Status::OnTheWay => ("next", t.next_delivered),
        _ => return None,
    };
    Some(Next { action, label })
}

/// What the column does not say of a status, with its colour.
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

/// The first lines of what was ordered.
fn items(items: &[garson_core::order::Item]) -> Vec<String> {
    const SHOWN: usize = 4;
    let lines = items.iter().take(SHOWN);
    let mut shown: Vec<String> = lines
        .map(|item| format!("{} × {}", item.quantity, item.name))
        .collect();
    if items.len() > SHOWN {
        shown.push(format!("+{}", items.len() - SHOWN));
    }
    shown
}
