//! The inbox: platforms' messages as they arrived, one row for each, however often it is repeated.

use crate::engine::in_list::{filled, marks, remove as remove_all};
use crate::engine::{Insert, Param};
use crate::tables::row::{column_list, columns, each, tuple, value};
use crate::{INTEGRATIONS, Result, StoreError, Tx, params};
use garson_core::id::{AccountId, InboxId, OrderId, RestaurantId};
use garson_core::platform::Provider;
use garson_core::time::Timestamp;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The state of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InboxState {
    /// Its content is in an order.
    Taken,
    /// It could not be parsed.
    Unreadable,
    /// It is for an unknown branch or order.
    Unmatched,
    /// It has the id of a known order and other content.
    Conflicting,
}

impl InboxState {
    /// The states that need attention.
    pub const OPEN: [Self; 3] = [Self::Unreadable, Self::Unmatched, Self::Conflicting];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Taken => "taken",
            Self::Unreadable => "unreadable",
            Self::Unmatched => "unmatched",
            Self::Conflicting => "conflicting",
        }
    }
}

/// A message to store.
pub struct NewMessage<'a> {
    pub id: InboxId,
    /// Identifies the message: a repetition is the same row.
    pub hash: [u8; 32],
    pub account_id: Option<AccountId>,
    pub restaurant_id: Option<RestaurantId>,
    pub order_id: Option<OrderId>,
    pub provider: Provider,
    pub kind: &'a str,
    pub params: &'a str,
    pub branch: Option<&'a str>,
    /// The identity of its order, if that order is not known yet.
    pub identity: Option<&'a str>,
    pub body: &'a [u8],
    pub state: InboxState,
    pub reason: Option<&'a str>,
    pub received_at: Timestamp,
}

/// Stores a message, or counts a repetition: `true` when it had arrived before.
pub fn store(tx: &mut Tx<'_>, message: &NewMessage<'_>) -> Result<bool> {
    let known = match message.order_id {
        Some(_) => Known::OfOrder,
        None => Known::WithoutOrder,
    };
    if message.order_id.is_some() {
        if count_again(tx, message, known)? {
            // Between the two it may have arrived when it could not be processed.
            let sql = "DELETE FROM inbox WHERE order_id IS NULL AND hash = ?1";
            tx.execute(sql, params![&message.hash])?;
            return Ok(true);
        }
        // A message that could not be processed at first may have its order now.
        if count_again(tx, message, Known::WithoutOrder)? {
            return Ok(true);
        }
    }
    // The stored row may be removed between insert and update; then the message is new after all.
    for _ in 0..MAX_ATTEMPTS {
        if tx.insert_now(&INSERT, &params_of(message))? {
            return Ok(false);
        }
        if count_again(tx, message, known)? {
            return Ok(true);
        }
    }
    Err(StoreError::conflict("a message is stored and removed repeatedly"))
}

const MAX_ATTEMPTS: usize = 10;

/// How a stored message is found.
#[derive(Clone, Copy, Debug)]
enum Known {
    OfOrder,
    WithoutOrder,
}

/// The same for a message with a new order, which is hardly ever a repetition.
pub fn store_first(tx: &mut Tx<'_>, message: &NewMessage<'_>) -> Result<bool> {
    if !tx.is_optimistic() {
        return store(tx, message);
    }
    tx.deferred().expect_first_message(message.hash);
    tx.insert(&INSERT, &params_of(message))?;
    Ok(false)
}

/// Returns no count of repetitions: RETURNING would cost SQLite a temporary table for each message.
const INSERT: Insert<'_> = Insert {
    constants: &[("times", "1")],
    on_conflict: "ON CONFLICT DO NOTHING",
    ..Insert::into(
        "inbox",
        column_list!(inbox {
            id,
            hash,
            account_id,
            restaurant_id,
            order_id,
            provider,
            kind,
            params,
            branch,
            identity,
            body,
            state,
            reason,
            received_at
        }),
    )
};

fn params_of<'a>(message: &'a NewMessage<'a>) -> [Param<'a>; 14] {
    *params![
        &message.id,
        &message.hash,
        message.account_id.as_ref(),
        message.restaurant_id.as_ref(),
        message.order_id.as_ref(),
        &message.provider,
        message.kind,
        message.params,
        message.branch,
        message.identity,
        message.body,
        message.state.as_str(),
        message.reason,
        message.received_at,
    ]
}

fn count_again(tx: &mut Tx<'_>, message: &NewMessage<'_>, known: Known) -> Result<bool> {
    let condition = match known {
        Known::OfOrder => "order_id = ?6",
        Known::WithoutOrder => "order_id IS NULL",
    };
    let sql = format!(
        "UPDATE inbox SET times = times + 1, state = ?2, reason = ?3, account_id = ?4, restaurant_id = ?5, order_id = ?6
         WHERE {condition} AND hash = ?1"
    );
    let counted = tx.execute(
        &sql,
        params![
            &message.hash,
            message.state.as_str(),
            message.reason,
            message.account_id.as_ref(),
            message.restaurant_id.as_ref(),
            message.order_id.as_ref(),
        ],
    )?;
    Ok(counted > 0)
}

/// A message that needs attention.
#[derive(Clone, Debug)]
pub struct OpenMessage {
    pub id: InboxId,
    pub provider: Provider,
    pub kind: String,
    pub branch: Option<String>,
    pub state: String,
    pub reason: Option<String>,
    pub times: i64,
    pub received_at: Timestamp,
    pub bytes: i64,
}

columns! {
    const OPEN_COLUMNS = "" of inbox {
        id, provider, kind, branch, state, reason, times, received_at, bytes = "CAST(LENGTH(body) AS BIGINT)"
    }
    fn open() -> OpenMessage {
        Ok(OpenMessage { id, provider, kind, branch, state, reason, times, received_at, bytes })
    }
}

/// The newest messages that are not processed.
pub fn list_open(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<OpenMessage>> {
    let sql =
        format!("SELECT {OPEN_COLUMNS} FROM inbox WHERE state <> 'taken' ORDER BY received_at DESC LIMIT ?1");
    tx.query(&sql, params![limit], each(open))
}

/// An account's newest messages since a timestamp that are not processed.
pub fn list_open_of(
    tx: &mut Tx<'_>,
    account: AccountId,
    since: Timestamp,
    limit: i64,
) -> Result<Vec<OpenMessage>> {
    let sql = format!(
        "SELECT {OPEN_COLUMNS} FROM inbox WHERE account_id = ?1 AND state <> 'taken' AND received_at >= ?2
         ORDER BY received_at DESC LIMIT ?3"
    );
    tx.query(&sql, params![&account, since, limit], each(open))
}

/// Counts them up to a limit.
pub fn count_open_of(tx: &mut Tx<'_>, account: AccountId, since: Timestamp, limit: i64) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM (SELECT received_at FROM inbox
                   WHERE account_id = ?1 AND state <> 'taken' AND received_at >= ?2
                   ORDER BY received_at DESC LIMIT ?3) AS part";
    tx.query_one(sql, params![&account, since, limit], value)
}

/// Counts the messages of each state in [`InboxState::OPEN`], each up to a limit.
pub fn count_open(tx: &mut Tx<'_>, limit: i64) -> Result<[i64; InboxState::OPEN.len()]> {
    let mut counts = [0; InboxState::OPEN.len()];
    for (state, count) in InboxState::OPEN.into_iter().zip(&mut counts) {
        let sql = "SELECT COUNT(*) FROM (SELECT state FROM inbox WHERE state <> 'taken' AND state = ?1
                                         ORDER BY received_at LIMIT ?2) AS part";
        *count = tx.query_one(sql, params![state.as_str(), limit], value)?;
    }
    Ok(counts)
}

/// A stored message, to be processed again.
#[derive(Clone, Debug)]
pub struct StoredMessage {
    pub id: InboxId,
    pub account_id: Option<AccountId>,
    pub restaurant_id: Option<RestaurantId>,
    pub provider: Provider,
    pub kind: String,
    pub params: String,
    pub body: Vec<u8>,
    pub received_at: Timestamp,
    pub branch: Option<String>,
}

columns! {
    const STORED_COLUMNS = "" of inbox {
        id, account_id, restaurant_id, provider, kind, params, body, received_at, branch
    }
    fn stored() -> StoredMessage {
        Ok(StoredMessage { id, account_id, restaurant_id, provider, kind, params, body, received_at, branch })
    }
}

/// A message that is not processed.
pub fn open_message(tx: &mut Tx<'_>, id: InboxId) -> Result<Option<StoredMessage>> {
    let sql = format!("SELECT {STORED_COLUMNS} FROM inbox WHERE id = ?1 AND state <> 'taken'");
    tx.query_opt(&sql, params![&id], each(stored))
}

/// Messages that arrived before their order, oldest first: those to its restaurant's integration, those without a branch that
/// came with the secret of that integration, and those to no integration in particular. Several restaurants of an account may
/// have orders with the same number. If several accounts share the secret, such a message is stored with the first of them; it
/// belongs to another one if that one has had the secret since before the message arrived.
pub fn early_messages(
    tx: &mut Tx<'_>,
    provider: Provider,
    identity: &str,
    account: AccountId,
    restaurant: RestaurantId,
) -> Result<Vec<StoredMessage>> {
    let sql = format!(
        "SELECT {STORED_COLUMNS} FROM inbox WHERE provider = ?1 AND identity = ?2 AND state = 'unmatched'
           AND (account_id IS NULL
                OR (account_id = ?3 AND restaurant_id = ?4)
                OR (branch IS NULL
                    AND EXISTS (SELECT 1 FROM integrations a
                                JOIN integrations b ON b.provider = a.provider AND b.inbound_hash = a.inbound_hash
                                WHERE a.restaurant_id = ?4 AND a.provider = ?1
                                  AND b.restaurant_id = inbox.restaurant_id
                                  AND (inbox.account_id = ?3 OR a.updated_at <= inbox.received_at))))
         ORDER BY received_at LIMIT 20"
    );
    if tx.is_optimistic() {
        tx.deferred().expect_no_early_message(provider, identity);
        return Ok(Vec::new());
    }
    tx.on(INTEGRATIONS).query(
        &sql,
        params![&provider, identity, &account, &restaurant],
        each(stored),
    )
}

/// Unmatched messages whose order exists by now, after a given one: when they were received, and their ids.
pub fn unmatched_with_order(
    tx: &mut Tx<'_>,
    after: (Timestamp, InboxId),
    limit: i64,
) -> Result<Vec<(Timestamp, InboxId)>> {
    tx.query(
        "SELECT i.received_at, i.id FROM inbox i
         WHERE i.state = 'unmatched' AND i.identity IS NOT NULL
           AND i.received_at >= ?1 AND (i.received_at > ?1 OR i.id > ?2)
           AND EXISTS (SELECT 1 FROM orders o WHERE o.identity = i.identity AND o.provider = i.provider)
         ORDER BY i.received_at, i.id LIMIT ?3",
        params![after.0, &after.1, limit],
        tuple,
    )
}

/// How many identities or hashes one statement checks.
const PER_STATEMENT: usize = 16;
static EARLY: LazyLock<String> = LazyLock::new(|| {
    let marks = marks(2, PER_STATEMENT);
    format!("SELECT id FROM inbox WHERE provider = ?1 AND state = 'unmatched' AND identity IN ({marks})")
});

static WITHOUT_ORDER: LazyLock<String> = LazyLock::new(|| {
    let marks = marks(1, PER_STATEMENT);
    format!("SELECT id FROM inbox WHERE order_id IS NULL AND hash IN ({marks})")
});

/// Checks that messages with new orders had not arrived before without being processed, which is rare.
pub(crate) fn expect_firsts(tx: &mut Tx<'_>, hashes: &[[u8; 32]]) -> Result<()> {
    for chunk in hashes.chunks(PER_STATEMENT) {
        let params: Vec<Param<'_>> = filled(chunk, PER_STATEMENT).map(Param::from).collect();
        tx.expect_none(&WITHOUT_ORDER, &params)?;
    }
    Ok(())
}

/// Checks that no messages arrived before these orders, which is rare.
pub(crate) fn expect_none_early(
    tx: &mut Tx<'_>,
    provider: Provider,
    identities: &BTreeSet<String>,
) -> Result<()> {
    let identities: Vec<&String> = identities.iter().collect();
    for chunk in identities.chunks(PER_STATEMENT) {
        let mut params = vec![Param::from(&provider)];
        params.extend(filled(chunk, PER_STATEMENT).map(|identity| Param::from(*identity)));
        tx.expect_none(&EARLY, &params)?;
    }
    Ok(())
}

/// A message about an order, as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderMessage {
    pub id: InboxId,
    pub kind: String,
    pub body: Vec<u8>,
    pub times: i64,
    pub received_at: Timestamp,
}

columns! {
    const ORDER_COLUMNS = "" of inbox { id, kind, body, times, received_at }
    fn order_message() -> OrderMessage {
        Ok(OrderMessage { id, kind, body, times, received_at })
    }
}

/// The messages about an order, oldest first, at most `limit`.
pub fn of_order(tx: &mut Tx<'_>, order: OrderId, limit: i64) -> Result<Vec<OrderMessage>> {
    let sql = format!("SELECT {ORDER_COLUMNS} FROM inbox WHERE order_id = ?1 ORDER BY id LIMIT ?2");
    tx.query(&sql, params![&order, limit], each(order_message))
}

/// A message of an account that belongs to no order and needs attention: its id and its body.
pub fn open_bodies(tx: &mut Tx<'_>, account: AccountId, limit: i64) -> Result<Vec<(InboxId, Vec<u8>)>> {
    tx.query(
        "SELECT id, body FROM inbox WHERE account_id = ?1 AND state <> 'taken' AND order_id IS NULL
         ORDER BY received_at DESC LIMIT ?2",
        params![&account, limit],
        tuple,
    )
}

pub fn remove(tx: &mut Tx<'_>, id: InboxId) -> Result<()> {
    tx.write("DELETE FROM inbox WHERE id = ?1", params![&id])
}

/// Removes a chunk of the messages that were received before a timestamp; returns how many, and how many of them had not been
/// processed. Ids are in the order of time, so no index by age is needed.
pub fn sweep(tx: &mut Tx<'_>, before: Timestamp, limit: i64) -> Result<(u64, u64)> {
    let bound = first_id_of(before);
    let old = tx.query(
        "SELECT id, state FROM inbox WHERE id < ?1 ORDER BY id LIMIT ?2",
        params![&bound[..], limit],
        tuple::<(InboxId, String)>,
    )?;
    let is_open = |state: &str| state != InboxState::Taken.as_str();
    let unprocessed = old.iter().filter(|(_, state)| is_open(state)).count();
    let ids: Vec<InboxId> = old.iter().map(|(id, _)| *id).collect();
    remove_all(tx, "inbox", "id", &ids)?;
    Ok((ids.len() as u64, unprocessed as u64))
}

/// The smallest id that can be made at a timestamp: its first six bytes are the milliseconds.
fn first_id_of(at: Timestamp) -> [u8; 16] {
    let millis = u64::try_from(at.as_millis()).unwrap_or(0).to_be_bytes();
    let mut id = [0; 16];
    id.iter_mut().zip(&millis[2..]).for_each(|(to, from)| *to = *from);
    id
}

/// Sets the state of a stored message. It belongs to its order's restaurant from then on: if several integrations share a
/// secret, it may have been stored with another one.
pub fn set_state(
    tx: &mut Tx<'_>,
    id: InboxId,
    state: InboxState,
    order: Option<OrderId>,
    reason: Option<&str>,
) -> Result<()> {
    if let Some(order) = &order {
        // It may have arrived again meanwhile, and been processed.
        tx.execute(
            "DELETE FROM inbox WHERE id = ?1 AND EXISTS
                 (SELECT 1 FROM inbox b WHERE b.order_id = ?2 AND b.hash = inbox.hash AND b.id <> inbox.id)",
            params![&id, order],
        )?;
    }
    tx.execute(
        "UPDATE inbox SET state = ?2, order_id = ?3, reason = ?4,
             account_id = COALESCE((SELECT o.account_id FROM orders o WHERE o.id = ?3), account_id),
             restaurant_id = COALESCE((SELECT o.restaurant_id FROM orders o WHERE o.id = ?3), restaurant_id)
         WHERE id = ?1",
        params![&id, state.as_str(), order.as_ref(), reason],
    )?;
    Ok(())
}
