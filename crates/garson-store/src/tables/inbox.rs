//! Platforms' messages as they came: one row for each, however often it is repeated.

use crate::engine::in_list::{filled, marks};
use crate::engine::{Insert, Param, Row};
use crate::{INTEGRATIONS, Result, StoreError, Tx, params};
use garson_core::id::{AccountId, InboxId, OrderId, RestaurantId};
use garson_core::platform::Provider;
use garson_core::time::Timestamp;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InboxState {
    /// Its content is in an order.
    Taken,
    /// It could not be understood.
    Unreadable,
    /// It is for a branch or an order that we do not know.
    Unmatched,
    /// It contradicts what is known: the same id with other content.
    Conflicting,
}

impl InboxState {
    /// What may be waiting for somebody to look at it.
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

/// A message to be kept.
pub struct MessageToKeep<'a> {
    pub id: InboxId,
    /// Identifies the message: the same one again is the same row.
    pub hash: [u8; 32],
    pub account_id: Option<AccountId>,
    pub restaurant_id: Option<RestaurantId>,
    pub order_id: Option<OrderId>,
    pub provider: Provider,
    pub kind: &'a str,
    pub params: &'a str,
    pub branch: Option<&'a str>,
    /// The order that it is about, where that is not known yet.
    pub identity: Option<&'a str>,
    pub body: &'a [u8],
    pub state: InboxState,
    pub reason: Option<&'a str>,
    pub received_at: Timestamp,
}

/// Keeps a message, or counts it once more: `true` when it had come before.
pub fn keep(tx: &mut Tx<'_>, message: &MessageToKeep<'_>) -> Result<bool> {
    let known = match message.order_id {
        Some(_) => Known::OfOrder,
        None => Known::WithoutOrder,
    };
    if message.order_id.is_some() {
        if count_again(tx, message, known)? {
            // Between the two times it may have come when it could not be taken.
            let sql = "DELETE FROM inbox WHERE order_id IS NULL AND hash = ?1";
            tx.execute(sql, params![&message.hash])?;
            return Ok(true);
        }
        // What could not be taken when it came first may have found its order now.
        if count_again(tx, message, Known::WithoutOrder)? {
            return Ok(true);
        }
    }
    // The old one may be removed between the two; then it is new after all.
    for _ in 0..MOST_TRIES {
        if tx.insert_now(&INSERT, &params_of(message))? {
            return Ok(false);
        }
        if count_again(tx, message, known)? {
            return Ok(true);
        }
    }
    Err(StoreError::conflict("a message comes and goes"))
}

const MOST_TRIES: usize = 10;

/// How a message is known that has come before.
#[derive(Clone, Copy, Debug)]
enum Known {
    OfOrder,
    WithoutOrder,
}

/// The same for a message that brought an order that was not known, and so is hardly a repetition.
pub fn keep_first(tx: &mut Tx<'_>, message: &MessageToKeep<'_>) -> Result<bool> {
    if !tx.is_optimistic() {
        return keep(tx, message);
    }
    tx.deferred().expect_first_message(message.hash);
    tx.insert(&INSERT, &params_of(message))?;
    Ok(false)
}

/// Having it answer how often the message has come would cost SQLite a table in memory for each.
const INSERT: Insert<'_> = Insert {
    constants: &[("times", "1")],
    on_conflict: "ON CONFLICT DO NOTHING",
    ..Insert::into(
        "inbox",
        "id, hash, account_id, restaurant_id, order_id, provider, kind, params, branch, identity, body, state, reason,
         received_at",
    )
};

fn params_of<'a>(message: &'a MessageToKeep<'a>) -> [Param<'a>; 14] {
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

fn count_again(tx: &mut Tx<'_>, message: &MessageToKeep<'_>, known: Known) -> Result<bool> {
    let whose = match known {
        Known::OfOrder => "order_id = ?6",
        Known::WithoutOrder => "order_id IS NULL",
    };
    let sql = format!(
        "UPDATE inbox SET times = times + 1, state = ?2, reason = ?3, account_id = ?4, restaurant_id = ?5, order_id = ?6
         WHERE {whose} AND hash = ?1"
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

/// A message that is waiting for somebody to look at it.
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

const OPEN: &str =
    "id, provider, kind, branch, state, reason, times, received_at, CAST(LENGTH(body) AS BIGINT)";

fn open(row: &Row<'_>) -> Result<OpenMessage> {
    Ok(OpenMessage {
        id: row.get(0)?,
        provider: row.get(1)?,
        kind: row.get(2)?,
        branch: row.get(3)?,
        state: row.get(4)?,
        reason: row.get(5)?,
        times: row.get(6)?,
        received_at: row.get(7)?,
        bytes: row.get(8)?,
    })
}

/// The newest messages that were kept but not taken.
pub fn list_open(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<OpenMessage>> {
    let sql = format!("SELECT {OPEN} FROM inbox WHERE state <> 'taken' ORDER BY received_at DESC LIMIT ?1");
    tx.query(&sql, params![limit], open)
}

/// The newest messages to an account that were kept but not taken since a moment.
pub fn list_open_of(
    tx: &mut Tx<'_>,
    account: AccountId,
    since: Timestamp,
    limit: i64,
) -> Result<Vec<OpenMessage>> {
    let sql = format!(
        "SELECT {OPEN} FROM inbox WHERE account_id = ?1 AND state <> 'taken' AND received_at >= ?2
         ORDER BY received_at DESC LIMIT ?3"
    );
    tx.query(&sql, params![&account, since, limit], open)
}

/// How many there are of these; counted up to a limit.
pub fn count_open_of(tx: &mut Tx<'_>, account: AccountId, since: Timestamp, limit: i64) -> Result<i64> {
    let sql = "SELECT COUNT(*) FROM (SELECT received_at FROM inbox
                   WHERE account_id = ?1 AND state <> 'taken' AND received_at >= ?2
                   ORDER BY received_at DESC LIMIT ?3) AS part";
    tx.query_one(sql, params![&account, since, limit], |row| row.get(0))
}

/// How many messages were kept but not taken, of each state in [`InboxState::OPEN`]; counted up to a limit each.
pub fn count_open(tx: &mut Tx<'_>, limit: i64) -> Result<[i64; InboxState::OPEN.len()]> {
    let mut counts = [0; InboxState::OPEN.len()];
    for (state, count) in InboxState::OPEN.into_iter().zip(&mut counts) {
        let sql = "SELECT COUNT(*) FROM (SELECT state FROM inbox WHERE state <> 'taken' AND state = ?1
                                         ORDER BY received_at LIMIT ?2) AS part";
        *count = tx.query_one(sql, params![state.as_str(), limit], |row| row.get(0))?;
    }
    Ok(counts)
}

/// A message as it was kept, to be taken again.
#[derive(Clone, Debug)]
pub struct KeptMessage {
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

const KEPT: &str = "id, account_id, restaurant_id, provider, kind, params, body, received_at, branch";

fn kept(row: &Row<'_>) -> Result<KeptMessage> {
    Ok(KeptMessage {
        id: row.get(0)?,
        account_id: row.get(1)?,
        restaurant_id: row.get(2)?,
        provider: row.get(3)?,
        kind: row.get(4)?,
        params: row.get(5)?,
        body: row.get(6)?,
        received_at: row.get(7)?,
        branch: row.get(8)?,
    })
}

/// A message that was kept but not taken.
pub fn open_message(tx: &mut Tx<'_>, id: InboxId) -> Result<Option<KeptMessage>> {
    let sql = format!("SELECT {KEPT} FROM inbox WHERE id = ?1 AND state <> 'taken'");
    tx.query_opt(&sql, params![&id], kept)
}

/// Messages that came before the order that they are about, oldest first: those to its restaurant's integration, those that
/// named no branch and came with the secret of that integration, and those to nobody in particular. Several restaurants of an
/// account may have orders of the same number. Where several accounts have the secret, such a message is kept with the first of
/// them; it is for another one if that has had the secret since before the message came.
pub fn waiting_for(
    tx: &mut Tx<'_>,
    provider: Provider,
    identity: &str,
    account: AccountId,
    restaurant: RestaurantId,
) -> Result<Vec<KeptMessage>> {
    let sql = format!(
        "SELECT {KEPT} FROM inbox WHERE provider = ?1 AND identity = ?2 AND state = 'unmatched'
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
    tx.on(INTEGRATIONS)
        .query(&sql, params![&provider, identity, &account, &restaurant], kept)
}

/// Messages that wait for an order, although there is one of that identity, received after another: moment and id.
pub fn missed(tx: &mut Tx<'_>, after: (Timestamp, InboxId), limit: i64) -> Result<Vec<(Timestamp, InboxId)>> {
    tx.query(
        "SELECT i.received_at, i.id FROM inbox i
         WHERE i.state = 'unmatched' AND i.identity IS NOT NULL
           AND i.received_at >= ?1 AND (i.received_at > ?1 OR i.id > ?2)
           AND EXISTS (SELECT 1 FROM orders o WHERE o.identity = i.identity AND o.provider = i.provider)
         ORDER BY i.received_at, i.id LIMIT ?3",
        params![after.0, &after.1, limit],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// So many identities are asked about at once.
const AT_ONCE: usize = 16;
static EARLY: LazyLock<String> = LazyLock::new(|| {
    let marks = marks(2, AT_ONCE);
    format!("SELECT id FROM inbox WHERE provider = ?1 AND state = 'unmatched' AND identity IN ({marks})")
});

static WITHOUT_ORDER: LazyLock<String> = LazyLock::new(|| {
    let marks = marks(1, AT_ONCE);
    format!("SELECT id FROM inbox WHERE order_id IS NULL AND hash IN ({marks})")
});

/// Asks whether messages that brought new orders had come before, and could not be taken then; they had not as a rule.
pub(crate) fn expect_firsts(tx: &mut Tx<'_>, hashes: &[[u8; 32]]) -> Result<()> {
    for some in hashes.chunks(AT_ONCE) {
        let params: Vec<Param<'_>> = filled(some, AT_ONCE).map(Param::from).collect();
        tx.expect_none(&WITHOUT_ORDER, &params)?;
    }
    Ok(())
}

/// Asks for messages that came before these orders; there are none as a rule.
pub(crate) fn expect_none_early(
    tx: &mut Tx<'_>,
    provider: Provider,
    identities: &BTreeSet<String>,
) -> Result<()> {
    let identities: Vec<&String> = identities.iter().collect();
    for some in identities.chunks(AT_ONCE) {
        let mut params = vec![Param::from(&provider)];
        params.extend(filled(some, AT_ONCE).map(|identity| Param::from(*identity)));
        tx.expect_none(&EARLY, &params)?;
    }
    Ok(())
}

/// A message about an order, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderMessage {
    pub id: InboxId,
    pub kind: String,
    pub body: Vec<u8>,
    pub times: i64,
    pub received_at: Timestamp,
}

/// The messages about an order, oldest first, so many at most.
pub fn of_order(tx: &mut Tx<'_>, order: OrderId, limit: i64) -> Result<Vec<OrderMessage>> {
    let sql = "SELECT id, kind, body, times, received_at FROM inbox WHERE order_id = ?1 ORDER BY id LIMIT ?2";
    tx.query(sql, params![&order, limit], |row| {
        Ok(OrderMessage {
            id: row.get(0)?,
            kind: row.get(1)?,
            body: row.get(2)?,
            times: row.get(3)?,
            received_at: row.get(4)?,
        })
    })
}

/// Notes what has become of a message that was kept. It belongs to its order's restaurant from then on: where several
/// integrations share a secret, it may have been kept with another one.
pub fn settle(
    tx: &mut Tx<'_>,
    id: InboxId,
    state: InboxState,
    order: Option<OrderId>,
    reason: Option<&str>,
) -> Result<()> {
    if let Some(order) = &order {
        // It may have come again meanwhile, and been taken.
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
