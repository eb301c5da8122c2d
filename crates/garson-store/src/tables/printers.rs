//! Printers with what their agents report, and tickets that people want printed.

use crate::tables::json::to_json;
use crate::tables::row::{columns, each, insert, value};
use crate::{Result, StoreError, Tx, params};
use garson_core::id::{AccountId, OrderId, PrinterId, RestaurantId};
use garson_core::printer::{AgentNotes, PrintJob, Printer, PrinterReport, PrinterState};
use garson_core::time::Timestamp;

columns! {
    const COLUMNS = "" of printers {
        id, restaurant_id, name, state: String, message: Option<String>, waiting, created_at, seen_at, state_at
    }
    fn printer() -> Printer {
        let state = PrinterState::named(&state).ok_or_else(|| StoreError::corrupt("the state of a printer is unknown"))?;
        let notes = read_notes(message);
        Ok(Printer { id, restaurant_id, name, state, notes, waiting, created_at, seen_at, state_at })
    }
}

columns! {
    const JOB_COLUMNS = "" of print_jobs { id, printer_id, order_id, kind, created_at }
    fn print_job() -> PrintJob {
        Ok(PrintJob { id, printer_id, order_id, kind, created_at })
    }
}

/// The column `message` holds the agent's words alone, as it always did, or JSON if there is more to keep.
fn notes_text(notes: &AgentNotes) -> Result<Option<String>> {
    let has_only_words = notes.skipped == 0 && notes.clock_ahead.is_none();
    match &notes.message {
        None if has_only_words => Ok(None),
        Some(words) if has_only_words && !words.starts_with('{') => Ok(Some(words.clone())),
        _ => to_json("notes of a printer", notes).map(Some),
    }
}

fn read_notes(text: Option<String>) -> AgentNotes {
    let notes = text
        .as_deref()
        .filter(|text| text.starts_with('{'))
        .and_then(|text| serde_json::from_str(text).ok());
    notes.unwrap_or(AgentNotes {
        message: text,
        ..AgentNotes::default()
    })
}

pub fn add(tx: &mut Tx<'_>, account: AccountId, printer: &Printer) -> Result<()> {
    let notes = notes_text(&printer.notes)?;
    insert!(
        tx,
        printers {
            id: &printer.id,
            account_id: &account,
            restaurant_id: printer.restaurant_id.as_ref(),
            name: &printer.name,
            state: printer.state.as_str(),
            message: notes.as_ref(),
            waiting: printer.waiting,
            created_at: printer.created_at,
            seen_at: printer.seen_at,
            state_at: printer.state_at,
        }
    )?;
    Ok(())
}

pub fn list(tx: &mut Tx<'_>, account: AccountId) -> Result<Vec<Printer>> {
    let sql = format!("SELECT {COLUMNS} FROM printers WHERE account_id = ?1 ORDER BY name, id");
    tx.query(&sql, params![&account], each(printer))
}

pub fn find(tx: &mut Tx<'_>, account: AccountId, id: PrinterId) -> Result<Option<Printer>> {
    let sql = format!("SELECT {COLUMNS} FROM printers WHERE account_id = ?1 AND id = ?2");
    tx.query_opt(&sql, params![&account, &id], each(printer))
}

/// Stores what an agent reports, and removes the jobs that it has printed.
pub fn report(tx: &mut Tx<'_>, id: PrinterId, report: &PrinterReport, at: Timestamp) -> Result<()> {
    let notes = notes_text(&report.notes)?;
    tx.execute(
        "UPDATE printers SET state_at = CASE WHEN state = ?2 THEN state_at ELSE ?5 END,
             state = ?2, message = ?3, waiting = ?4, seen_at = ?5 WHERE id = ?1",
        params![&id, report.state.as_str(), notes.as_ref(), report.waiting, at],
    )?;
    for job in &report.printed {
        tx.execute(
            "DELETE FROM print_jobs WHERE printer_id = ?1 AND id = ?2",
            params![&id, job],
        )?;
    }
    Ok(())
}

/// Removes a printer with its jobs; `false` when the account has no such printer.
pub fn remove(tx: &mut Tx<'_>, account: AccountId, id: PrinterId) -> Result<bool> {
    let removed = tx.execute(
        "DELETE FROM printers WHERE account_id = ?1 AND id = ?2",
        params![&account, &id],
    )?;
    if removed == 1 {
        tx.execute("DELETE FROM print_jobs WHERE printer_id = ?1", params![&id])?;
    }
    Ok(removed == 1)
}

/// Removes the printers of a deleted restaurant.
pub(crate) fn remove_of_restaurant(tx: &mut Tx<'_>, restaurant: RestaurantId) -> Result<()> {
    tx.execute(
        "DELETE FROM print_jobs WHERE printer_id IN (SELECT id FROM printers WHERE restaurant_id = ?1)",
        params![&restaurant],
    )?;
    tx.execute(
        "DELETE FROM printers WHERE restaurant_id = ?1",
        params![&restaurant],
    )?;
    Ok(())
}

pub fn add_job(tx: &mut Tx<'_>, account: AccountId, job: &PrintJob) -> Result<()> {
    insert!(
        tx,
        print_jobs {
            id: &job.id,
            account_id: &account,
            printer_id: &job.printer_id,
            order_id: &job.order_id,
            kind: &job.kind,
            created_at: job.created_at,
        }
    )?;
    Ok(())
}

/// The jobs of a printer that are not older than a timestamp, oldest first.
pub fn jobs(tx: &mut Tx<'_>, printer: PrinterId, since: Timestamp, limit: i64) -> Result<Vec<PrintJob>> {
    let sql = format!(
        "SELECT {JOB_COLUMNS} FROM print_jobs WHERE printer_id = ?1 AND created_at >= ?2 ORDER BY id LIMIT ?3"
    );
    tx.query(&sql, params![&printer, since, limit], each(print_job))
}

/// Does the same request wait already? A second press of the button is not a second ticket.
pub fn is_waiting(
    tx: &mut Tx<'_>,
    printer: PrinterId,
    order: OrderId,
    kind: &str,
    since: Timestamp,
) -> Result<bool> {
    let found = tx.query_opt(
        "SELECT created_at FROM print_jobs
         WHERE order_id = ?1 AND printer_id = ?2 AND kind = ?3 AND created_at >= ?4 LIMIT 1",
        params![&order, &printer, kind, since],
        value::<i64>,
    )?;
    Ok(found.is_some())
}

/// How many jobs of a printer wait, counted up to a limit.
pub fn count_jobs(tx: &mut Tx<'_>, printer: PrinterId, limit: i64) -> Result<usize> {
    let sql = "SELECT created_at FROM print_jobs WHERE printer_id = ?1 LIMIT ?2";
    Ok(tx.query(sql, params![&printer, limit], value::<i64>)?.len())
}

/// Removes a chunk of jobs from before a timestamp, and returns how many.
pub fn sweep(tx: &mut Tx<'_>, before: Timestamp, limit: i64) -> Result<u64> {
    tx.execute(
        "DELETE FROM print_jobs WHERE id IN (SELECT id FROM print_jobs WHERE created_at < ?1 LIMIT ?2)",
        params![before, limit],
    )
}
