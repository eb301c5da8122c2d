//! Printers of an account: registered by print agents, which report their state and receive tickets that people want printed.

use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::find_order::find_one;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::{AccountId, PrintJobId, PrinterId, RestaurantId};
use garson_core::printer::{AgentNotes, PrintJob, Printer, PrinterReport, PrinterState};
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::{accounts, printers, restaurants};
use garson_ticket::Kind;
use serde_json::{Value, json};
use std::time::Duration;

/// Printers of one account.
pub const MAX_PRINTERS: usize = 100;
/// Tickets that may wait for one printer because people want them.
const MAX_JOBS: usize = 100;
/// A ticket that was wanted longer ago is no longer printed.
pub const KEEP_PRINT_JOBS: Duration = Duration::from_secs(60 * 60);
/// How often a report without news is stored; well below the time after which an agent counts as silent.
const STORE_INTERVAL: Duration = Duration::from_secs(15);
/// Jobs that an agent gets with one report.
const JOBS_AT_ONCE: i64 = 20;

/// What an agent says when it registers a printer.
pub struct NewPrinter {
    pub id: PrinterId,
    pub name: String,
    pub restaurant_id: Option<RestaurantId>,
}

/// Registers a printer.
pub async fn register(app: &App, by: By, new: NewPrinter) -> Result<Printer, Fault> {
    let (account, now) = (by.account, app.now());
    let printer = Printer {
        id: new.id,
        restaurant_id: new.restaurant_id,
        name: new.name,
        state: PrinterState::Ready,
        notes: AgentNotes::default(),
        waiting: 0,
        created_at: now,
        seen_at: now,
        state_at: now,
    };
    app.store
        .write(account, move |tx| {
            // Two agents at once count one after the other.
            accounts::lock(tx, account)?;
            if let Some(restaurant) = printer.restaurant_id
                && !restaurants::exists(tx, account, restaurant)?
            {
                return Err(Fault::not_found(Thing::Restaurant, restaurant));
            }
            // The id exists if an earlier run of the same idempotent request got this far.
            if let Some(known) = printers::find(tx, account, printer.id)? {
                return Ok(known);
            }
            if printers::list(tx, account)?.len() >= MAX_PRINTERS {
                return Err(Fault::TooManyPrints);
            }
            printers::add(tx, account, &printer)?;
            by.record(tx, recorded(Verb::Created, &printer).after(fields(&printer)), now);
            Ok(printer.clone())
        })
        .await
}

pub async fn list(app: &App, account: AccountId) -> Result<Vec<Printer>, Fault> {
    app.store.read(move |tx| Ok(printers::list(tx, account)?)).await
}

/// The printers that people must do something about.
pub async fn in_trouble(
    app: &App,
    account: AccountId,
    restaurant: Option<RestaurantId>,
) -> Result<Vec<Printer>, Fault> {
    let now = app.now();
    let mut found = list(app, account).await?;
    let is_shown = |printer: &Printer| {
        let of_another =
            restaurant.is_some() && printer.restaurant_id.is_some() && printer.restaurant_id != restaurant;
        printer.needs_attention(now) && !of_another
    };
    found.retain(is_shown);
    Ok(found)
}

/// Stores what an agent reports, and returns what people want printed. A report that says nothing new is stored now and then
/// only: agents report every few seconds.
pub async fn report(
    app: &App,
    account: AccountId,
    id: PrinterId,
    report: PrinterReport,
) -> Result<Vec<PrintJob>, Fault> {
    let now = app.now();
    let since = now.minus(KEEP_PRINT_JOBS);
    let (known, jobs) = app
        .store
        .read(move |tx| {
            Ok::<_, Fault>((
                find(tx, account, id)?,
                printers::jobs(tx, id, since, JOBS_AT_ONCE)?,
            ))
        })
        .await?;
    if is_stored(&known, &report, now) {
        return Ok(jobs);
    }
    app.store
        .write(account, move |tx| {
            find(tx, account, id)?;
            printers::report(tx, id, &report, now)?;
            Ok(printers::jobs(tx, id, since, JOBS_AT_ONCE)?)
        })
        .await
}

/// The restaurant whose orders a printer prints; none if it prints those of all.
pub async fn restaurant(app: &App, account: AccountId, id: PrinterId) -> Result<Option<RestaurantId>, Fault> {
    app.store
        .read(move |tx| Ok(find(tx, account, id)?.restaurant_id))
        .await
}

fn find(tx: &mut Tx<'_>, account: AccountId, id: PrinterId) -> Result<Printer, Fault> {
    printers::find(tx, account, id)?.ok_or_else(|| Fault::not_found(Thing::Printer, id))
}

fn recorded(verb: Verb, printer: &Printer) -> Recorded {
    let action = Recorded::new(RecordKind::Printer, verb).id(printer.id);
    match printer.restaurant_id {
        Some(restaurant) => action.restaurant(restaurant),
        None => action,
    }
}

fn fields(printer: &Printer) -> Value {
    json!({ "name": printer.name })
}

/// Was the same reported just now?
fn is_stored(known: &Printer, report: &PrinterReport, now: Timestamp) -> bool {
    let is_same = (known.state, &known.notes, known.waiting) == (report.state, &report.notes, report.waiting);
    is_same && report.printed.is_empty() && now.since(known.seen_at) < STORE_INTERVAL
}

pub async fn remove(app: &App, by: By, id: PrinterId) -> Result<(), Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            let printer = find(tx, account, id)?;
            if !printers::remove(tx, account, id)? {
                return Err(Fault::not_found(Thing::Printer, id));
            }
            by.record(
                tx,
                recorded(Verb::Deleted, &printer).before(fields(&printer)),
                now,
            );
            Ok(())
        })
        .await
}

/// Asks the agent of a printer to print a ticket of an order. While the same request waits, another one changes nothing.
pub async fn request_print(
    app: &App,
    by: By,
    order: String,
    printer: PrinterId,
    kind: Kind,
    id: PrintJobId,
) -> Result<(), Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            let order = find_one(tx, account, &order)?;
            find(tx, account, printer)?;
            let since = now.minus(KEEP_PRINT_JOBS);
            if printers::is_waiting(tx, printer, order.id, kind.as_str(), since)? {
                return Ok(());
            }
            let limit = i64::try_from(MAX_JOBS).unwrap_or(i64::MAX);
            if printers::count_jobs(tx, printer, limit)? >= MAX_JOBS {
                return Err(Fault::TooManyPrints);
            }
            let job = PrintJob {
                id,
                printer_id: printer,
                order_id: order.id,
                kind: kind.as_str().to_owned(),
                created_at: now,
            };
            printers::add_job(tx, account, &job)?;
            let action = Recorded::new(RecordKind::Order, Verb::Printed)
                .id(order.id)
                .restaurant(order.restaurant_id);
            let fields = json!({ "printerId": printer, "kind": kind.as_str() });
            by.record(tx, action.after(fields), now);
            Ok(())
        })
        .await
}
