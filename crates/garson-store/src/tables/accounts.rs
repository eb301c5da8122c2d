//! Accounts, their counters and their webhook.

use crate::engine::Param;
use crate::engine::in_list::{filled, marks};
use crate::publish::{HandoffMessage, NodeMessage};
use crate::tables::json::from_json;
use crate::tables::row::{Cells, columns, each, insert, tuple, value};
use crate::transaction::LockedAccount;
use crate::{ACCOUNTS, Result, StoreError, Tx, params};
use garson_core::account::{Account, AuthorizationForm, Webhook};
use garson_core::event::OptionalEvents;
use garson_core::id::{AccountId, NodeId};
use garson_core::time::Timestamp;
use garson_core::webhook_endpoint::Route;
use std::sync::{Arc, LazyLock};

/// Creates an account; `false` when the e-mail address already has one.
pub fn create(tx: &mut Tx<'_>, account: &Account) -> Result<bool> {
    let created = insert!(
        tx.on(ACCOUNTS),
        accounts {
            id: &account.id,
            name: &account.name,
            email: &account.email,
            position: 0,
            newest_at: 0,
            webhook_authorization: AuthorizationForm::Bearer.as_str(),
            deliver_version: 0,
            forgotten: 0,
            created_at: account.created_at,
        },
        "ON CONFLICT (email) DO NOTHING"
    )?;
    Ok(created == 1)
}

columns! {
    const COLUMNS = "" of accounts { id, name, email, created_at }
    fn account() -> Account {
        Ok(Account { id, name, email, created_at })
    }
}

pub fn list(tx: &mut Tx<'_>) -> Result<Vec<Account>> {
    tx.on(ACCOUNTS).query(
        &format!("SELECT {COLUMNS} FROM accounts ORDER BY id"),
        params![],
        each(account),
    )
}

/// Reports whether the database has any account.
pub fn any_exists(tx: &mut Tx<'_>) -> Result<bool> {
    let found =
        tx.on(ACCOUNTS)
            .query_opt("SELECT created_at FROM accounts LIMIT 1", params![], value::<i64>)?;
    Ok(found.is_some())
}

pub fn by_email(tx: &mut Tx<'_>, email: &str) -> Result<Option<Account>> {
    tx.on(ACCOUNTS).query_opt(
        &format!("SELECT {COLUMNS} FROM accounts WHERE email = ?1"),
        params![email],
        each(account),
    )
}

pub fn by_id(tx: &mut Tx<'_>, id: AccountId) -> Result<Option<Account>> {
    tx.on(ACCOUNTS).query_opt(
        &format!("SELECT {COLUMNS} FROM accounts WHERE id = ?1"),
        params![&id],
        each(account),
    )
}

/// Removes the password that was the account's before there were users, so that a node of the previous version does not accept it
/// after it was changed.
pub fn clear_password_hash(tx: &mut Tx<'_>, id: AccountId) -> Result<()> {
    tx.on(ACCOUNTS).execute(
        "UPDATE accounts SET password_hash = NULL WHERE id = ?1",
        params![&id],
    )?;
    Ok(())
}

/// Must all users of the account have a second factor?
pub fn requires_two_factor(tx: &mut Tx<'_>, id: AccountId) -> Result<bool> {
    let sql = "SELECT requires_two_factor FROM accounts WHERE id = ?1";
    let found = tx.on(ACCOUNTS).query_opt(sql, params![&id], value)?;
    Ok(found.unwrap_or(false))
}

pub fn set_requires_two_factor(tx: &mut Tx<'_>, id: AccountId, requires: bool) -> Result<()> {
    tx.on(ACCOUNTS).execute(
        "UPDATE accounts SET requires_two_factor = ?2 WHERE id = ?1",
        params![&id, requires],
    )?;
    // Open boards of users without one end.
    tx.wake_watchers(id);
    Ok(())
}

/// Consecutive positions in the account's lists, and the timestamp of what is written there.
#[derive(Clone, Debug)]
pub struct Positions {
    next: i64,
    /// Now, or the account's newest timestamp if the clock has gone back since.
    pub at: Timestamp,
    pub has_webhook: bool,
    /// The account wants an event for every later version of an order.
    pub wants_updates: bool,
    /// Its endpoints besides the default one, and the default one if it is filtered.
    pub(crate) routes: Option<Arc<[Route]>>,
}

impl Positions {
    /// The next free position.
    pub fn take(&mut self) -> i64 {
        let position = self.next;
        self.next += 1;
        position
    }
}

/// Reserves positions in the account's lists. The account's row stays locked until the commit, so positions follow commit
/// order: no row ever appears before a position that a reader has already seen. If no node delivers for the account, this
/// node does from now on, provided it is still a member. The rows are handed to the delivering node after the commit.
pub fn reserve_positions(
    tx: &mut Tx<'_>,
    account: AccountId,
    count: i64,
    now: Timestamp,
) -> Result<Positions> {
    let node = tx.node();
    if let Some(locked) = tx.deferred().account(account) {
        locked.position += count;
        locked.newest_at = locked.newest_at.max(now);
        locked.is_dirty = true;
        let locked = locked.clone();
        return Ok(hand_out(tx, account, count, &locked));
    }
    let locked = tx.on(ACCOUNTS).write_returning(
        "UPDATE accounts SET position = position + ?2,
                newest_at = CASE WHEN newest_at > ?3 THEN newest_at ELSE ?3 END,
                deliver_node = CASE WHEN webhook_url IS NULL AND webhook_routes IS NULL
                                         OR deliver_node IN (SELECT id FROM nodes)
                                    THEN deliver_node
                                    WHEN ?4 IN (SELECT id FROM nodes) THEN ?4 ELSE NULL END,
                deliver_version = deliver_version +
                    CASE WHEN webhook_url IS NULL AND webhook_routes IS NULL
                              OR deliver_node IN (SELECT id FROM nodes) THEN 0
                         WHEN ?4 IN (SELECT id FROM nodes) THEN 1 ELSE 0 END
         WHERE id = ?1 RETURNING position, newest_at, webhook_url, deliver_node, deliver_version, order_updates,
                                 webhook_routes",
        params![&account, count, now, node.as_ref()],
        |row| {
            let mut cells = Cells::new(row);
            Ok(LockedAccount {
                position: cells.read()?,
                newest_at: cells.read()?,
                has_webhook: cells.optional_text()?.is_some(),
                owner: cells.read()?,
                version: cells.read()?,
                wants_updates: cells.read()?,
                routes: cells.optional_text()?.map(read_routes).transpose()?,
                is_dirty: false,
            })
        },
    )?;
    let locked = locked.into_iter().next();
    let locked = locked.ok_or_else(|| StoreError::corrupt("the account is gone"))?;
    tx.deferred().lock_account(account, locked.clone());
    Ok(hand_out(tx, account, count, &locked))
}

fn read_routes(json: &str) -> Result<Arc<[Route]>> {
    let routes: Vec<Route> = from_json("list of endpoints", json)?;
    Ok(routes.into())
}

/// Writes the deferred position of an account.
pub(crate) fn write_position(tx: &mut Tx<'_>, id: AccountId, account: &LockedAccount) -> Result<()> {
    tx.on(ACCOUNTS).write(
        "UPDATE accounts SET position = ?2, newest_at = ?3 WHERE id = ?1",
        params![&id, account.position, account.newest_at],
    )
}

/// Returns the account's last `count` positions.
fn hand_out(tx: &mut Tx<'_>, account: AccountId, count: i64, locked: &LockedAccount) -> Positions {
    let last = locked.position;
    tx.notify_committed(account, last, locked.owner);
    let has_receiver = locked.has_webhook || locked.routes.is_some();
    if has_receiver && locked.owner.is_some() && locked.owner == tx.node() {
        tx.hand_off(HandoffMessage::Committed {
            account,
            before: last - count,
            last,
            version: locked.version,
            deliveries: Vec::new(),
            endpoint_deliveries: Vec::new(),
        });
    }
    Positions {
        next: last - count + 1,
        at: locked.newest_at,
        has_webhook: locked.has_webhook,
        wants_updates: locked.wants_updates,
        routes: locked.routes.clone(),
    }
}

/// The account's last position; everything committed later comes after it.
pub fn last_position(tx: &mut Tx<'_>, account: AccountId) -> Result<i64> {
    let sql = "SELECT position FROM accounts WHERE id = ?1";
    let found = tx.on(ACCOUNTS).query_opt(sql, params![&account], value)?;
    found.ok_or_else(|| StoreError::corrupt("the account is gone"))
}

/// The positions of the events that an account still has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRange {
    /// Events up to here were removed by retention.
    pub removed_up_to: i64,
    /// Everything committed later comes after this position.
    pub last: i64,
}

impl EventRange {
    /// Reports whether a reader that continues after this position has missed removed events.
    #[must_use]
    pub fn has_gap_after(self, position: i64) -> bool {
        position < self.removed_up_to
    }
}

pub fn event_range(tx: &mut Tx<'_>, account: AccountId) -> Result<EventRange> {
    let sql = "SELECT forgotten, position FROM accounts WHERE id = ?1";
    let found = tx.on(ACCOUNTS).query_opt(sql, params![&account], tuple)?;
    let (removed_up_to, last) = found.ok_or_else(|| StoreError::corrupt("the account is gone"))?;
    Ok(EventRange { removed_up_to, last })
}

/// The last positions of many accounts, in few statements.
pub fn last_positions(tx: &mut Tx<'_>, accounts: &[AccountId]) -> Result<Vec<(AccountId, i64)>> {
    const PER_STATEMENT: usize = 64;
    let sql = format!(
        "SELECT id, position FROM accounts WHERE id IN ({})",
        marks(1, PER_STATEMENT)
    );
    let mut positions = Vec::with_capacity(accounts.len());
    for chunk in accounts.chunks(PER_STATEMENT) {
        let params: Vec<Param<'_>> = filled(chunk, PER_STATEMENT).map(Param::from).collect();
        positions.extend(tx.on(ACCOUNTS).query(&sql, &params, tuple::<(AccountId, i64)>)?);
    }
    Ok(positions)
}

/// How many accounts one statement locks.
const LOCKED_AT_ONCE: [usize; 3] = [1, 8, 64];

static LOCK: LazyLock<[String; 3]> = LazyLock::new(|| {
    LOCKED_AT_ONCE.map(|count| {
        let marks = marks(1, count);
        format!("SELECT id FROM accounts WHERE id IN ({marks}) ORDER BY id {{lock}}")
    })
});

/// Locks accounts for this transaction, always in the same order, so that two transactions cannot deadlock.
pub(crate) fn lock_all(tx: &mut Tx<'_>, accounts: &[AccountId]) -> Result<()> {
    let mut sorted = accounts.to_vec();
    sorted.sort_unstable();
    for some in sorted.chunks(LOCKED_AT_ONCE[2]) {
        let fits = LOCKED_AT_ONCE
            .iter()
            .position(|count| some.len() <= *count)
            .unwrap_or(2);
        let params: Vec<Param<'_>> = filled(some, LOCKED_AT_ONCE[fits]).map(Param::from).collect();
        tx.on(ACCOUNTS).write(&LOCK[fits], &params)?;
    }
    Ok(())
}

/// Locks the account for this transaction, so that changes to its rows are serialised.
pub fn lock(tx: &mut Tx<'_>, account: AccountId) -> Result<()> {
    let sql = "SELECT position FROM accounts WHERE id = ?1 {lock}";
    tx.on(ACCOUNTS).query(sql, params![&account], value::<i64>)?;
    Ok(())
}

pub fn webhook(tx: &mut Tx<'_>, account: AccountId) -> Result<Option<Webhook>> {
    let sql = "SELECT webhook_url, webhook_authorization, webhook_updated_at FROM accounts WHERE id = ?1";
    let found = tx.on(ACCOUNTS).query_opt(
        sql,
        params![&account],
        tuple::<(Option<String>, String, Option<Timestamp>)>,
    )?;
    let Some((Some(url), form, updated_at)) = found else {
        return Ok(None);
    };
    let authorization = AuthorizationForm::named(&form)
        .ok_or_else(|| StoreError::corrupt("a webhook has an unknown authorization form"))?;
    Ok(Some(Webhook {
        url,
        authorization,
        updated_at: updated_at.unwrap_or_default(),
    }))
}

/// Reports whether the account wants an event for every later version of an order.
pub fn wants_updates(tx: &mut Tx<'_>, account: AccountId) -> Result<bool> {
    let sql = "SELECT order_updates FROM accounts WHERE id = ?1";
    Ok(tx
        .on(ACCOUNTS)
        .query_opt(sql, params![&account], value)?
        .unwrap_or(false))
}

pub fn set_wants_updates(tx: &mut Tx<'_>, account: AccountId, wants: bool) -> Result<()> {
    tx.on(ACCOUNTS).execute(
        "UPDATE accounts SET order_updates = ?2 WHERE id = ?1",
        params![&account, wants],
    )?;
    Ok(())
}

/// The optional events that the account has opted in to.
pub fn optional_events(tx: &mut Tx<'_>, account: AccountId) -> Result<OptionalEvents> {
    let sql = "SELECT optional_events FROM accounts WHERE id = ?1";
    let bits = tx.on(ACCOUNTS).query_opt(sql, params![&account], value::<i64>)?;
    Ok(OptionalEvents::from_bits(bits.unwrap_or(0)))
}

pub fn set_optional_events(tx: &mut Tx<'_>, account: AccountId, events: OptionalEvents) -> Result<()> {
    tx.on(ACCOUNTS).execute(
        "UPDATE accounts SET optional_events = ?2 WHERE id = ?1",
        params![&account, events.bits()],
    )?;
    Ok(())
}

/// Records that the account has seen which events were given up until now.
pub fn acknowledge_given_up(tx: &mut Tx<'_>, account: AccountId) -> Result<()> {
    let sql = "SELECT position FROM events
               WHERE account_id = ?1 AND state <> 'pending' AND state >= 'failed' AND state <= 'failed'
               ORDER BY state DESC, position DESC LIMIT 1";
    let Some(newest) = tx.query_opt(sql, params![&account], value::<i64>)? else {
        return Ok(());
    };
    tx.on(ACCOUNTS).execute(
        "UPDATE accounts SET given_up_seen = ?2 WHERE id = ?1 AND given_up_seen < ?2",
        params![&account, newest],
    )?;
    Ok(())
}

/// Sets or removes the account's webhook.
pub fn set_webhook(tx: &mut Tx<'_>, account: AccountId, webhook: Option<&Webhook>) -> Result<()> {
    let form = webhook.map_or(AuthorizationForm::Bearer, |w| w.authorization);
    tx.on(ACCOUNTS).execute(
        "UPDATE accounts SET webhook_url = ?2, webhook_authorization = ?3, webhook_updated_at = ?4 WHERE id = ?1",
        params![&account, webhook.map(|w| &w.url), form.as_str(), webhook.map(|w| w.updated_at)],
    )?;
    wake_delivery(tx, account)
}

/// Makes the delivering node drop the deliveries in its memory, and read them again: their bodies have changed.
pub(crate) fn drop_deliveries(tx: &mut Tx<'_>, account: AccountId) -> Result<()> {
    tx.on(ACCOUNTS).execute(
        "UPDATE accounts SET erase_version = erase_version + 1 WHERE id = ?1",
        params![&account],
    )?;
    wake_delivery(tx, account)
}

/// Makes the delivering node read the account's deliveries again: the webhook or its key has changed, or more has become due.
pub fn wake_delivery(tx: &mut Tx<'_>, account: AccountId) -> Result<()> {
    let owner = tx.on(ACCOUNTS).write_returning(
        "UPDATE accounts SET deliver_version = deliver_version + 1 WHERE id = ?1
         RETURNING CASE WHEN deliver_node IN (SELECT id FROM nodes) THEN deliver_node ELSE NULL END",
        params![&account],
        value::<Option<NodeId>>,
    )?;
    let owner = owner.into_iter().next().flatten();
    if owner.is_none() || owner == tx.node() {
        tx.hand_off(HandoffMessage::Recheck { account });
    } else {
        tx.notify_nodes(NodeMessage::Recheck { account, owner });
    }
    Ok(())
}
