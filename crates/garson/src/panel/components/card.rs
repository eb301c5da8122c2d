//! An order's card on the live board.

use super::order_actions::OrderActions;
use crate::flow::read::board;
use crate::panel::kit::{explain, format, names};
use crate::panel::words::{BoardWords, Lang};
use askama::Template;
use garson_core::order::{Courier, Flag, Item, ProviderSync, Status};
use garson_core::time::{Timestamp, Zone};

/// Items beyond these are only counted.
const MAX_ITEMS: usize = 4;

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
    id: String,
    pub column: BoardColumn,
    /// Selects the colour.
    provider_key: String,
    provider: String,
    code: String,
    restaurant: String,
    total: String,
    courier: &'static str,
    items: Vec<String>,
    note: String,
    /// For the script, which shows the age.
    created_ms: i64,
    /// Cards may arrive out of order: the script drops one that is older than the card it would replace.
    sequence: i64,
    created: String,
    age_minutes: u64,
    accept_by_ms: Option<i64>,
    accept_in_minutes: Option<i64>,
    scheduled_for: Option<String>,
    actions: OrderActions,
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

impl Card {
    /// A card on the board at the path `back`.
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
        let accept_by = awaits_acceptance(order.status)
            .then_some(order.accept_by)
            .flatten();
        Self {
            actions: OrderActions::on_card(lang, csrf, &order, reasons, back.to_owned()),
            id: order.id.to_string(),
            column: BoardColumn::of(order.status),
            provider_key: order.provider.to_string(),
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
            scheduled_for: order.scheduled_for.map(|at| format::timestamp(lang, &zone, at)),
            state: state(order.status, &t),
            is_syncing: matches!(order.sync, ProviderSync::Pending { .. }),
            is_held_up,
            is_escalated: awaits_acceptance(order.status) && shown.escalated_at.is_some(),
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

    #[must_use]
    pub fn with_error(mut self, error: String) -> Self {
        self.error = Some(error);
        self
    }

    fn is_urgent(&self) -> bool {
        self.sync_failed.is_some()
            || self.is_held_up
            || self.error.is_some()
            || self.is_escalated
            || self.accept_in_minutes.is_some_and(|minutes| minutes < 1)
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

fn items(items: &[Item]) -> Vec<String> {
    let mut lines: Vec<String> = items
        .iter()
        .take(MAX_ITEMS)
        .map(|item| format!("{} × {}", item.quantity, item.name))
        .collect();
    if items.len() > MAX_ITEMS {
        lines.push(format!("+{}", items.len() - MAX_ITEMS));
    }
    lines
}
