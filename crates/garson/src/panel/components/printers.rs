//! Printers as the panel shows them: a notice on the board, a table on the status page, a choice on the order page.

use crate::panel::kit::layout::Layout;
use crate::panel::kit::time_ago::TimeAgo;
use crate::panel::words::PrintWords;
use askama::Template;
use garson_core::id::RestaurantId;
use garson_core::printer::{AgentNotes, Printer, PrinterState};
use garson_core::time::Timestamp;

/// The name and the CSS class of what a printer is doing.
pub fn state_of(t: &PrintWords, printer: &Printer, now: Timestamp) -> (&'static str, &'static str) {
    if printer.is_silent(now) {
        return (t.silent, "bad");
    }
    match printer.state {
        PrinterState::Ready => (t.ready, "good"),
        PrinterState::PaperLow => (t.paper_low, "warn"),
        PrinterState::NoPaper => (t.no_paper, "bad"),
        PrinterState::CoverOpen => (t.cover_open, "bad"),
        PrinterState::Offline => (t.offline, "bad"),
        PrinterState::Unreachable => (t.unreachable, "bad"),
        PrinterState::Fault => (t.fault, "bad"),
    }
}

/// Orders that were left out, and a wrong clock, as sentences.
fn notes(t: &PrintWords, notes: &AgentNotes) -> Vec<String> {
    let mut lines = Vec::new();
    if notes.skipped > 0 {
        lines.push(format!("{}: {}", t.skipped, notes.skipped));
    }
    if let Some(ahead) = notes.clock_ahead {
        let minutes = (ahead.unsigned_abs() + 30) / 60;
        let direction = if ahead > 0 { t.clock_ahead } else { t.clock_behind };
        lines.push(format!("{} {minutes} {} {direction}.", t.clock, t.minutes));
    }
    lines
}

/// The printers that cannot print, above the board. The script loads it again now and then.
#[derive(Template)]
#[template(path = "printer_notice.html")]
pub struct PrinterNotice {
    t: PrintWords,
    /// The path under which the script loads it.
    path: String,
    printers: Vec<NoticeLine>,
}

struct NoticeLine {
    name: String,
    state: &'static str,
    since: String,
    waiting: i64,
}

impl PrinterNotice {
    pub fn new(
        layout: &Layout,
        restaurant: Option<RestaurantId>,
        printers: &[Printer],
        now: Timestamp,
    ) -> Self {
        let t = PrintWords::of(layout.lang);
        let line = |printer: &Printer| NoticeLine {
            name: printer.name.clone(),
            state: state_of(&t, printer, now).0,
            since: layout.timestamp(if printer.is_silent(now) {
                &printer.seen_at
            } else {
                &printer.state_at
            }),
            waiting: printer.waiting,
        };
        let filter = restaurant.map_or_else(String::new, |id| format!("?restaurant={id}"));
        Self {
            path: format!("/printers/notice{filter}"),
            printers: printers.iter().map(line).collect(),
            t,
        }
    }
}

/// All printers, on the status page.
#[derive(Template)]
#[template(path = "printer_table.html")]
pub struct PrinterTable {
    t: PrintWords,
    csrf: String,
    pub printers: Vec<PrinterRow>,
}

pub struct PrinterRow {
    id: String,
    name: String,
    restaurant: String,
    state: (&'static str, &'static str),
    message: String,
    /// What the agent says besides, in the user's language.
    notes: Vec<String>,
    waiting: i64,
    seen: TimeAgo,
}

impl PrinterTable {
    pub fn new(
        layout: &Layout,
        printers: Vec<Printer>,
        restaurants: &[(RestaurantId, String)],
        now: Timestamp,
    ) -> Self {
        let t = PrintWords::of(layout.lang);
        let name_of = |id: Option<RestaurantId>| {
            let found = restaurants.iter().find(|(other, _)| Some(*other) == id);
            found.map_or_else(|| t.all_restaurants.to_owned(), |(_, name)| name.clone())
        };
        let row = |printer: Printer| PrinterRow {
            id: printer.id.to_string(),
            restaurant: name_of(printer.restaurant_id),
            state: state_of(&t, &printer, now),
            notes: notes(&t, &printer.notes),
            message: printer.notes.message.unwrap_or_default(),
            waiting: printer.waiting,
            seen: layout.time_ago(&printer.seen_at),
            name: printer.name,
        };
        Self {
            csrf: layout.csrf.clone(),
            printers: printers.into_iter().map(row).collect(),
            t,
        }
    }
}

/// Links to the tickets of an order, and a form that sends one to a printer.
#[derive(Template)]
#[template(path = "print_section.html")]
pub struct PrintSection {
    t: PrintWords,
    csrf: String,
    id: String,
    /// Id and name with the state.
    printers: Vec<(String, String)>,
}

impl PrintSection {
    pub fn new(
        layout: &Layout,
        order: &str,
        restaurant: RestaurantId,
        printers: Vec<Printer>,
        now: Timestamp,
    ) -> Self {
        let t = PrintWords::of(layout.lang);
        let of_order = printers
            .into_iter()
            .filter(|printer| printer.restaurant_id.is_none_or(|id| id == restaurant));
        let choice = |printer: Printer| {
            let (state, _) = state_of(&t, &printer, now);
            (printer.id.to_string(), format!("{} · {state}", printer.name))
        };
        Self {
            csrf: layout.csrf.clone(),
            id: order.to_owned(),
            printers: of_order.map(choice).collect(),
            t,
        }
    }
}
