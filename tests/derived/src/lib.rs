//! Recomputes every derived value of a database and compares: positions, sequences, timelines, held events, attempts, payment totals
//! on all levels, search words, calls and sync states, references.
//!
//! It reads the tables while no server runs, so that an error shows at its source.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test tool: what cannot be read ends it"
)]

mod checks;

use garson_store::Engine;
use garson_store::engine::{Location, Row};
use garson_store::{Options, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Debug, Display};

type Id = Vec<u8>;

struct Account {
    id: Id,
    position: i64,
    newest_at: i64,
}

struct Order {
    id: Id,
    account: Id,
    restaurant: Id,
    integration: Id,
    position: i64,
    status: i64,
    sequence: i64,
    total: i64,
    currency: String,
    payment_type: String,
    created_at: i64,
    sync_state: String,
    provider_order_id: String,
    short_code: Option<String>,
    revision: i64,
    line: String,
    changed: i64,
    updated_at: i64,
}

struct Event {
    id: Id,
    account: Id,
    restaurant: Id,
    order: Option<Id>,
    position: i64,
    sequence: Option<i64>,
    name: String,
    state: String,
    attempts: i64,
    failures: i64,
    held: i64,
    due_at: Option<i64>,
    created_at: i64,
}

struct Line {
    order: Id,
    number: i64,
    from: Option<i64>,
    to: i64,
    revision: Option<i64>,
}

impl Line {
    /// Does it tell of a flag that was set or removed? The order stays where it is.
    fn is_flag(&self) -> bool {
        self.from == Some(self.to) && self.revision.is_none()
    }
}

struct Call {
    order: Id,
    number: i64,
    kind: String,
    state: String,
}

/// Everything that is stored, as far as it is checked.
struct Tables {
    accounts: Vec<Account>,
    /// With whether it is being deleted.
    restaurants: BTreeMap<Id, bool>,
    /// With the time of its last order.
    integrations: BTreeMap<Id, Option<i64>>,
    orders: Vec<Order>,
    contents: BTreeMap<Id, String>,
    timeline: Vec<Line>,
    events: Vec<Event>,
    attempts: Vec<(Id, i64)>,
    calls: Vec<Call>,
    /// The orders that messages belong to.
    messages: Vec<Id>,
    totals: BTreeMap<(Id, i64, i64), String>,
    order_words: BTreeMap<(Id, i64), String>,
    word_places: BTreeSet<(Id, Vec<u8>, i64)>,
    searched: BTreeMap<Id, i64>,
    /// Orders may lack their first events.
    has_imported: bool,
}

async fn rows<T: Send + 'static>(
    engine: &Engine,
    sql: &'static str,
    read: fn(&Row<'_>) -> Result<T>,
) -> Vec<T> {
    engine.read(move |tx| tx.query(sql, &[], read)).await.unwrap()
}

impl Tables {
    async fn read(location: &Location) -> Self {
        let options = Options {
            readers: 1,
            writers: 1,
            ..Options::default()
        };
        let engine = Engine::open(location, &options).unwrap();
        let accounts = rows(&engine, "SELECT id, position, newest_at FROM accounts", |row| {
            Ok(Account {
                id: row.get(0)?,
                position: row.get(1)?,
                newest_at: row.get(2)?,
            })
        });
        let restaurants = rows(&engine, "SELECT id, deleted_at FROM restaurants", |row| {
            Ok((row.get(0)?, row.get::<Option<i64>>(1)?.is_some()))
        });
        let integrations = rows(&engine, "SELECT id, last_order_at FROM integrations", |row| {
            Ok((row.get(0)?, row.get(1)?))
        });
        let orders = "SELECT id, account_id, restaurant_id, integration_id, position, status, sequence, total, currency,
                             payment_type, created_at, sync_state, provider_order_id, short_code, revision, line,
                             changed, updated_at
                      FROM orders ORDER BY position";
        let orders = rows(&engine, orders, |row| {
            Ok(Order {
                id: row.get(0)?,
                account: row.get(1)?,
                restaurant: row.get(2)?,
                integration: row.get(3)?,
                position: row.get(4)?,
                status: row.get(5)?,
                sequence: row.get(6)?,
                total: row.get(7)?,
                currency: row.get(8)?,
                payment_type: row.get(9)?,
                created_at: row.get(10)?,
                sync_state: row.get(11)?,
                provider_order_id: row.get(12)?,
                short_code: row.get(13)?,
                revision: row.get(14)?,
                line: row.get(15)?,
                changed: row.get(16)?,
                updated_at: row.get(17)?,
            })
        });
        let timeline = "SELECT order_id, number, from_status, to_status, revision FROM order_timeline ORDER BY order_id, number";
        let timeline = rows(&engine, timeline, |row| {
            Ok(Line {
                order: row.get(0)?,
                number: row.get(1)?,
                from: row.get(2)?,
                to: row.get(3)?,
                revision: row.get(4)?,
            })
        });
        let events = "SELECT id, account_id, restaurant_id, order_id, position, sequence, state, attempts, failures, held,
                             due_at, created_at, name
                      FROM events ORDER BY position";
        let events = rows(&engine, events, |row| {
            Ok(Event {
                id: row.get(0)?,
                account: row.get(1)?,
                restaurant: row.get(2)?,
                order: row.get(3)?,
                position: row.get(4)?,
                sequence: row.get(5)?,
                state: row.get(6)?,
                attempts: row.get(7)?,
                failures: row.get(8)?,
                held: row.get(9)?,
                due_at: row.get(10)?,
                created_at: row.get(11)?,
                name: row.get(12)?,
            })
        });
        let calls = rows(
            &engine,
            "SELECT order_id, number, kind, state FROM calls ORDER BY order_id, number",
            |row| {
                Ok(Call {
                    order: row.get(0)?,
                    number: row.get(1)?,
                    kind: row.get(2)?,
                    state: row.get(3)?,
                })
            },
        );
        let contents = rows(&engine, "SELECT order_id, body FROM order_contents", |row| {
            Ok((row.get(0)?, row.get(1)?))
        });
        let attempts = "SELECT event_id, number FROM attempts ORDER BY event_id, number";
        let attempts = rows(&engine, attempts, |row| Ok((row.get(0)?, row.get(1)?)));
        let messages = "SELECT order_id FROM inbox WHERE order_id IS NOT NULL";
        let messages = rows(&engine, messages, |row| row.get(0));
        let totals = rows(
            &engine,
            "SELECT scope, level, span, sums FROM payment_totals",
            |row| Ok(((row.get(0)?, row.get(1)?, row.get(2)?), row.get(3)?)),
        );
        let order_words = rows(
            &engine,
            "SELECT account_id, position, words FROM order_words",
            |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)),
        );
        let word_places = rows(
            &engine,
            "SELECT account_id, word, position FROM word_places",
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        );
        let searched = rows(
            &engine,
            "SELECT account_id, reached FROM search_progress",
            |row| Ok((row.get(0)?, row.get(1)?)),
        );
        Self {
            accounts: accounts.await,
            restaurants: restaurants.await.into_iter().collect(),
            integrations: integrations.await.into_iter().collect(),
            orders: orders.await,
            contents: contents.await.into_iter().collect(),
            timeline: timeline.await,
            events: events.await,
            attempts: attempts.await,
            calls: calls.await,
            messages: messages.await,
            totals: totals.await.into_iter().collect(),
            order_words: order_words.await.into_iter().collect(),
            word_places: word_places.await.into_iter().collect(),
            searched: searched.await.into_iter().collect(),
            has_imported: false,
        }
    }

    fn is_being_deleted(&self, restaurant: &Id) -> bool {
        self.restaurants.get(restaurant).copied().unwrap_or(false)
    }

    /// The orders that are whole; those of a restaurant that is being deleted are removed piece by piece.
    fn live_orders(&self) -> impl Iterator<Item = &Order> {
        self.orders
            .iter()
            .filter(|order| !self.is_being_deleted(&order.restaurant))
    }
}

/// What does not add up.
#[derive(Default)]
struct Findings(Vec<String>);

impl Findings {
    fn expect(&mut self, holds: bool, what: impl Display, whose: &[u8]) {
        if !holds {
            self.0.push(format!("{what}: {}", hex(whose)));
        }
    }

    fn equal<T: PartialEq + Debug>(&mut self, stored: &T, computed: &T, what: impl Display, whose: &[u8]) {
        if stored != computed {
            let whose = hex(whose);
            self.0
                .push(format!("{what} is {stored:?} instead of {computed:?}: {whose}"));
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What of everything that is derived differs from what it is derived from. No server may be running. If orders were imported, their
/// first events were another service's.
///
/// # Panics
///
/// If the database cannot be read.
pub async fn wrong_values(location: &Location, has_imported: bool) -> Vec<String> {
    let mut tables = Tables::read(location).await;
    tables.has_imported = has_imported;
    let mut findings = Findings::default();
    checks::places(&tables, &mut findings);
    checks::history(&tables, &mut findings);
    checks::deliveries(&tables, &mut findings);
    checks::contents(&tables, &mut findings);
    checks::totals(&tables, &mut findings);
    checks::search(&tables, &mut findings);
    checks::calls(&tables, &mut findings);
    checks::references(&tables, &mut findings);
    findings.0
}
