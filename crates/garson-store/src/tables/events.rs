//! Events with their exact bodies, how their delivery stands, and every attempt at it.

use crate::engine::{Insert, Param, Row};
use crate::lists::feed;
use crate::lists::feed::{AnyOf, EVERYWHERE, Feed, Page, PageRequest, Scope, page};
use crate::tables::accounts::Places;
use crate::tables::deliveries;
use crate::tables::deliveries::Delivery;
use crate::{Result, StoreError, Tx, params};
use garson_core::delivery::{DeliveryState, UndeliveredReason};
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, EventId, OrderId, RestaurantId};
use garson_core::time::Timestamp;
use std::sync::LazyLock;

/// An event to be written.
pub struct EventToWrite<'a> {
    pub id: EventId,
    pub account_id: AccountId,
    pub restaurant_id: RestaurantId,
    pub order_id: Option<OrderId>,
    pub sequence: Option<i64>,
    pub name: &'a str,
    pub body: &'a str,
}

const INSERT: Insert<'_> = Insert {
    constants: &[("attempts", "0"), ("failures", "0")],
    ..Insert::into(
        "events",
        "id, account_id, restaurant_id, order_id, position, sequence, name, body, state, reason, held, due_at, created_at",
    )
};

/// Writes an event; where there is somewhere to send it, its delivery is due now, or after the event before it in its order.
pub fn write(tx: &mut Tx<'_>, event: &EventToWrite<'_>, places: &mut Places) -> Result<()> {
    let place = places.take();
    let held = match event.order_id.zip(event.sequence) {
        Some((order, sequence)) if places.has_webhook && sequence > 1 => {
            deliveries::must_wait(tx, order, sequence)?
        }
        _ => false,
    };
    let (state, reason) = match (places.has_webhook, held) {
        (true, false) => (DeliveryState::Pending, UndeliveredReason::Waiting),
        (true, true) => (DeliveryState::Pending, UndeliveredReason::Earlier),
        (false, _) => (DeliveryState::Skipped, UndeliveredReason::NoUrl),
    };
    tx.insert(
        &INSERT,
        params![
            &event.id,
            &event.account_id,
            &event.restaurant_id,
            event.order_id.as_ref(),
            place,
            event.sequence,
            event.name,
            event.body,
            state.as_str(),
            reason.as_str(),
            held,
            places.has_webhook.then_some(places.at),
            places.at,
        ],
    )?;
    if places.has_webhook && !held {
        tx.hand_off_delivery(event.account_id, || Delivery {
            id: event.id,
            order_id: event.order_id,
            place,
            attempts: 0,
            failures: 0,
            body: event.body.to_owned(),
            created_at: places.at,
        });
    }
    Ok(())
}

/// An event as it is kept.
#[derive(Clone, Debug)]
pub struct StoredEvent {
    pub id: EventId,
    pub restaurant_id: RestaurantId,
    pub order_id: Option<OrderId>,
    pub name: String,
    pub body: String,
    pub state: DeliveryState,
    pub reason: Option<String>,
    pub attempts: i64,
    /// When the next attempt is due, if it waits for one.
    pub due_at: Option<Timestamp>,
    pub created_at: Timestamp,
}

const COLUMNS: &str =
    "position, id, restaurant_id, order_id, name, body, state, reason, attempts, created_at, due_at";

fn event(row: &Row<'_>) -> Result<StoredEvent> {
    let state: String = row.get(6)?;
    Ok(StoredEvent {
        id: row.get(1)?,
        restaurant_id: row.get(2)?,
        order_id: row.get(3)?,
        name: row.get(4)?,
        body: row.get(5)?,
        state: DeliveryState::named(&state)
            .ok_or_else(|| StoreError::corrupt("an event has an unknown state"))?,
        reason: row.get(7)?,
        attempts: row.get(8)?,
        created_at: row.get(9)?,
        due_at: row.get(10)?,
    })
}

/// A page of an account's events.
pub fn list(tx: &mut Tx<'_>, account: AccountId, request: PageRequest) -> Result<Page<StoredEvent>> {
    list_in(tx, account, None, request)
}

/// A page of an account's events, in one state of delivery or in any.
pub fn list_in(
    tx: &mut Tx<'_>,
    account: AccountId,
    state: Option<DeliveryState>,
    request: PageRequest,
) -> Result<Page<StoredEvent>> {
    page_of(tx, Scope::Account(account), state, request)
}

fn page_of(
    tx: &mut Tx<'_>,
    scope: Scope,
    state: Option<DeliveryState>,
    request: PageRequest,
) -> Result<Page<StoredEvent>> {
    let select = format!("SELECT {COLUMNS} FROM events");
    // The conditions are those of the indexes.
    let (condition, any_of) = match state {
        None => ("", None),
        Some(DeliveryState::Pending) => (" AND state = 'pending'", None),
        Some(other) => (
            " AND state <> 'pending'",
            Some(AnyOf {
                columns: &["state"],
                values: vec![vec![Param::from(other.as_str())]],
                is_indexed_by_restaurant: false,
            }),
        ),
    };
    let feed = Feed {
        select: &select,
        scope,
        conditions: &[condition],
        any_of,
        passes_over: matches!(state, Some(DeliveryState::Pending | DeliveryState::Failed)),
        between: EVERYWHERE,
    };
    page(tx, &feed, request, event)
}

/// An event as it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldEvent {
    pub place: i64,
    pub name: String,
    pub body: String,
    /// The order that it is about, if it is about one.
    pub order_id: Option<OrderId>,
}

/// The account's events after a place, oldest first.
pub fn after(tx: &mut Tx<'_>, account: AccountId, place: i64, limit: usize) -> Result<Vec<ToldEvent>> {
    let feed = Feed {
        select: "SELECT position, name, body, order_id FROM events",
        scope: Scope::Account(account),
        conditions: &[""],
        any_of: None,
        passes_over: false,
        between: EVERYWHERE,
    };
    feed::after(tx, &feed, place, limit, |row| {
        Ok(ToldEvent {
            place: row.get(0)?,
            name: row.get(1)?,
            body: row.get(2)?,
            order_id: row.get(3)?,
        })
    })
}

/// The place of an event.
pub fn place(tx: &mut Tx<'_>, account: AccountId, id: EventId) -> Result<Option<i64>> {
    let sql = "SELECT position FROM events WHERE account_id = ?1 AND id = ?2";
    tx.query_opt(sql, params![&account, &id], |row| row.get(0))
}

/// The events of one order, newest first.
pub fn of_order(tx: &mut Tx<'_>, order: OrderId) -> Result<Vec<StoredEvent>> {
    let sql = format!("SELECT {COLUMNS} FROM events WHERE order_id = ?1 ORDER BY sequence DESC");
    tx.query(&sql, params![&order], event)
}

/// A page of the events of one order.
pub fn list_of_order(
    tx: &mut Tx<'_>,
    order: OrderId,
    state: Option<DeliveryState>,
    request: PageRequest,
) -> Result<Page<StoredEvent>> {
    page_of(tx, Scope::Order(order), state, request)
}

pub fn find(tx: &mut Tx<'_>, account: AccountId, id: EventId) -> Result<Option<StoredEvent>> {
    let columns = COLUMNS
        .split(", ")
        .map(|column| format!("e.{column}"))
        .collect::<Vec<_>>()
        .join(", ");
    let sql = format!(
        "SELECT {columns} FROM events e JOIN restaurants r ON r.id = e.restaurant_id AND r.deleted_at IS NULL
         WHERE e.account_id = ?1 AND e.id = ?2"
    );
    tx.query_opt(&sql, params![&account, &id], event)
}

/// One try to hand an event over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attempt {
    pub number: i64,
    pub at: Timestamp,
    pub url: String,
    pub status: Option<i64>,
    pub duration_ms: i64,
    pub split: Split,
    pub explanation: Explanation,
}

/// Where the time of an attempt went, in microseconds; nothing for what did not happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Split {
    pub name: Option<i64>,
    pub connect: Option<i64>,
    pub tls: Option<i64>,
    pub first_byte: Option<i64>,
}

/// Notes an attempt in the log of its event.
pub fn note_attempt(tx: &mut Tx<'_>, id: EventId, attempt: &Attempt) -> Result<()> {
    let sql = "UPDATE events SET attempts = attempts + 1 WHERE id = ?1";
    // The event may have been deleted while the attempt was under way.
    match tx.write_one(sql, params![&id])? {
        true => write_attempts(tx, &[(id, attempt)]),
        false => Ok(()),
    }
}

/// Is exactly this attempt in the log of its event?
pub(crate) fn is_attempt_written(tx: &mut Tx<'_>, id: EventId, attempt: &Attempt) -> Result<bool> {
    let sql = "SELECT number FROM attempts
               WHERE event_id = ?1 AND at = ?2 AND duration_ms = ?3 AND url = ?4 AND explanation = ?5";
    let explanation = attempt.explanation.stored();
    let params = params![&id, attempt.at, attempt.duration_ms, &attempt.url, &explanation];
    let found = tx.query(sql, params, |row| row.get::<i64>(0))?;
    Ok(!found.is_empty())
}

/// The most attempts that are written at once.
pub(crate) const MOST_ATTEMPTS: usize = 16;
const ATTEMPT_COLUMNS: usize = 10;
/// The statements that write so many attempts.
static INSERT_ATTEMPTS: LazyLock<Vec<String>> =
    LazyLock::new(|| (0..=MOST_ATTEMPTS).map(insert_attempts).collect());

fn insert_attempts(count: usize) -> String {
    let row = |n: usize| {
        let marks: Vec<String> = (2..=ATTEMPT_COLUMNS)
            .map(|mark| format!("?{}", n + mark))
            .collect();
        let id = n + 1;
        format!(
            "(?{id}, (SELECT attempts FROM events WHERE id = ?{id}), {})",
            marks.join(", ")
        )
    };
    let rows: Vec<String> = (0..count).map(|n| row(n * ATTEMPT_COLUMNS)).collect();
    format!(
        "INSERT INTO attempts (event_id, number, at, url, status, duration_ms, name_us, connect_us, tls_us,
                               first_byte_us, explanation)
         VALUES {}",
        rows.join(", ")
    )
}

/// Writes attempts that their events have counted already. Their numbers are read here: to have the statement that counts
/// answer them would cost SQLite a table in memory each time.
pub(crate) fn write_attempts(tx: &mut Tx<'_>, attempts: &[(EventId, &Attempt)]) -> Result<()> {
    let Some(sql) = INSERT_ATTEMPTS.get(attempts.len()) else {
        return Err(StoreError::internal("too many attempts at once"));
    };
    let stored = attempts.iter().map(|(_, attempt)| attempt.explanation.stored());
    let explanations: Vec<String> = stored.collect();
    let mut params: Vec<Param<'_>> = Vec::with_capacity(attempts.len() * ATTEMPT_COLUMNS);
    for ((id, attempt), explanation) in attempts.iter().zip(&explanations) {
        params.extend_from_slice(params![
            id,
            attempt.at,
            &attempt.url,
            attempt.status,
            attempt.duration_ms,
            attempt.split.name,
            attempt.split.connect,
            attempt.split.tls,
            attempt.split.first_byte,
            explanation
        ]);
    }
    tx.write(sql, &params)
}

pub fn attempts(tx: &mut Tx<'_>, id: EventId) -> Result<Vec<Attempt>> {
    tx.query(
        "SELECT number, at, url, status, duration_ms, name_us, connect_us, tls_us, first_byte_us, explanation
         FROM attempts WHERE event_id = ?1 ORDER BY number",
        params![&id],
        |row| {
            Ok(Attempt {
                number: row.get(0)?,
                at: row.get(1)?,
                url: row.get(2)?,
                status: row.get(3)?,
                duration_ms: row.get(4)?,
                split: Split {
                    name: row.get(5)?,
                    connect: row.get(6)?,
                    tls: row.get(7)?,
                    first_byte: row.get(8)?,
                },
                explanation: row.get(9)?,
            })
        },
    )
}
