//! Accounts, their counters and their webhook.

use crate::engine::in_list::{filled, marks};
use crate::engine::{Param, Row};
use crate::publish::{HandoffMessage, NodeMessage};
use crate::transaction::{ACCOUNTS, LockedAccount};
use crate::{Result, StoreError, Tx, params};
use garson_core::account::{Account, AuthorizationForm, Webhook};
use garson_core::id::{AccountId, NodeId};
use garson_core::time::Timestamp;
use std::sync::LazyLock;

/// Creates an account; `false` when the e-mail address has one already.
pub fn create(tx: &mut Tx<'_>, account: &Account, password_hash: Option<&str>) -> Result<bool> {
    let created = tx.on(ACCOUNTS).execute(
        "INSERT INTO accounts (id, name, email, password_hash, position, newest_at, webhook_authorization, deliver_version,
                               forgotten, created_at)
         VALUES (?1, ?2, ?3, ?4, 0, 0, 'bearer', 0, 0, ?5) ON CONFLICT (email) DO NOTHING",
        params![&account.id, &account.name, &account.email, password_hash, account.created_at],
    )?;
    Ok(created == 1)
}

const COLUMNS: &str = "id, name, email, created_at";

fn account(row: &Row<'_>) -> Result<Account> {
    Ok(Account {
        id: row.get(0)?,
        name: row.get(1)?,
        email: row.get(2)?,
        created_at: row.get(3)?,
    })
}

pub fn list(tx: &mut Tx<'_>) -> Result<Vec<Account>> {
    tx.on(ACCOUNTS).query(
        &format!("SELECT {COLUMNS} FROM accounts ORDER BY id"),
        params![],
        account,
    )
}

/// Is there any account at all?
pub fn exist(tx: &mut Tx<'_>) -> Result<bool> {
    Ok(tx
        .on(ACCOUNTS)
        .query_opt("SELECT created_at FROM accounts LIMIT 1", params![], |row| {
            row.get::<i64>(0)
        })?
        .is_some())
}

pub fn by_email(tx: &mut Tx<'_>, email: &str) -> Result<Option<Account>> {
    tx.on(ACCOUNTS).query_opt(
        &format!("SELECT {COLUMNS} FROM accounts WHERE email = ?1"),
        params![email],
        account,
    )
}

/// The account of an id.
pub fn by_id(tx: &mut Tx<'_>, id: AccountId) -> Result<Option<Account>> {
    tx.on(ACCOUNTS).query_opt(
        &format!("SELECT {COLUMNS} FROM accounts WHERE id = ?1"),
        params![&id],
        account,
    )
}

/// The hash of the password with which an account signs in to the control panel.
pub fn password_hash(tx: &mut Tx<'_>, id: AccountId) -> Result<Option<String>> {
    let sql = "SELECT password_hash FROM accounts WHERE id = ?1";
    Ok(tx
        .on(ACCOUNTS)
        .query_opt(sql, params![&id], |row| row.get::<Option<String>>(0))?
        .flatten())
}

pub fn set_password_hash(tx: &mut Tx<'_>, id: AccountId, hash: &str) -> Result<()> {
    tx.on(ACCOUNTS).execute(
        "UPDATE accounts SET password_hash = ?2 WHERE id = ?1",
        params![&id, hash],
    )?;
    Ok(())
}

/// A number of places in the account's lists, and the moment that goes with them.
#[derive(Clone, Debug)]
pub struct Places {
    next: i64,
    /// The moment: now, or the newest one that the account has seen if the clock has stepped back.
    pub at: Timestamp,
    pub has_webhook: bool,
    /// The account wants an event of every later version of an order.
    pub wants_updates: bool,
}

impl Places {
    /// The next free place.
    pub fn take(&mut self) -> i64 {
        let place = self.next;
        self.next += 1;
        place
    }
}

/// Reserves places in the account's lists. The account's row stays locked until the commit, so that places follow
/// the order of commits: nothing ever appears behind a place that a reader has seen. An account that nobody delivers for
/// is delivered for by this node from now on, unless others have given it up; and what is written into the places is
/// handed over after the commit.
pub fn reserve(tx: &mut Tx<'_>, account: AccountId, count: i64, now: Timestamp) -> Result<Places> {
    let node = tx.node();
    if let Some(locked) = tx.deferred().account(account) {
        locked.position += count;
        locked.newest_at = locked.newest_at.max(now);
        locked.is_dirty = true;
        let locked = *locked;
        return Ok(hand_out(tx, account, count, &locked));
    }
    let locked = tx.on(ACCOUNTS).write_returning(
        "UPDATE accounts SET position = position + ?2,
                newest_at = CASE WHEN newest_at > ?3 THEN newest_at ELSE ?3 END,
                deliver_node = CASE WHEN webhook_url IS NULL OR deliver_node IN (SELECT id FROM nodes)
                                    THEN deliver_node
                                    WHEN ?4 IN (SELECT id FROM nodes) THEN ?4 ELSE NULL END,
                deliver_version = deliver_version +
                    CASE WHEN webhook_url IS NULL OR deliver_node IN (SELECT id FROM nodes) THEN 0
                         WHEN ?4 IN (SELECT id FROM nodes) THEN 1 ELSE 0 END
         WHERE id = ?1 RETURNING position, newest_at, webhook_url, deliver_node, deliver_version, order_updates",
        params![&account, count, now, node.as_ref()],
        |row| {
            Ok(LockedAccount {
                position: row.get(0)?,
                newest_at: row.get(1)?,
                has_webhook: row.optional_text(2)?.is_some(),
                owner: row.get(3)?,
                version: row.get(4)?,
                wants_updates: row.get(5)?,
                is_dirty: false,
            })
        },
    )?;
    let locked = locked.into_iter().next();
    let locked = locked.ok_or_else(|| StoreError::corrupt("the account is gone"))?;
    tx.deferred().lock_account(account, locked);
    Ok(hand_out(tx, account, count, &locked))
}

/// Writes the deferred position of an account.
pub(crate) fn write_position(tx: &mut Tx<'_>, id: AccountId, account: &LockedAccount) -> Result<()> {
    tx.on(ACCOUNTS).write(
        "UPDATE accounts SET position = ?2, newest_at = ?3 WHERE id = ?1",
        params![&id, account.position, account.newest_at],
    )
}

/// Hands out an account's last so many places.
fn hand_out(tx: &mut Tx<'_>, account: AccountId, count: i64, locked: &LockedAccount) -> Places {
    let last = locked.position;
    tx.notify_committed(account, last, locked.owner);
    if locked.has_webhook && locked.owner.is_some() && locked.owner == tx.node() {
        tx.hand_off(HandoffMessage::Committed {
            account,
            before: last - count,
            last,
            version: locked.version,
            deliveries: Vec::new(),
        });
    }
    Places {
        next: last - count + 1,
        at: locked.newest_at,
        has_webhook: locked.has_webhook,
        wants_updates: locked.wants_updates,
    }
}

/// The last place of the account's lists: whatever is committed later stands behind it.
pub fn last_place(tx: &mut Tx<'_>, account: AccountId) -> Result<i64> {
    let sql = "SELECT position FROM accounts WHERE id = ?1";
    let found = tx
        .on(ACCOUNTS)
        .query_opt(sql, params![&account], |row| row.get(0))?;
    found.ok_or_else(|| StoreError::corrupt("the account is gone"))
}

/// The places of an account's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Up to here they are no longer kept.
    pub forgotten: i64,
    /// Whatever is committed later stands behind this.
    pub last: i64,
}

impl Span {
    /// Would somebody who goes on from a place miss what is no longer kept?
    #[must_use]
    pub fn has_forgotten_after(self, place: i64) -> bool {
        place < self.forgotten
    }
}

pub fn span(tx: &mut Tx<'_>, account: AccountId) -> Result<Span> {
    let sql = "SELECT forgotten, position FROM accounts WHERE id = ?1";
    let found = tx.on(ACCOUNTS).query_opt(sql, params![&account], |row| {
        Ok(Span {
            forgotten: row.get(0)?,
            last: row.get(1)?,
        })
    })?;
    found.ok_or_else(|| StoreError::corrupt("the account is gone"))
}

/// The last places of many accounts, with few questions.
pub fn last_places(tx: &mut Tx<'_>, accounts: &[AccountId]) -> Result<Vec<(AccountId, i64)>> {
    const AT_ONCE: usize = 64;
    let sql = format!(
        "SELECT id, position FROM accounts WHERE id IN ({})",
        marks(1, AT_ONCE)
    );
    let mut places = Vec::with_capacity(accounts.len());
    for some in accounts.chunks(AT_ONCE) {
        let params: Vec<Param<'_>> = filled(some, AT_ONCE).map(Param::from).collect();
        places.extend(
            tx.on(ACCOUNTS)
                .query(&sql, &params, |row| Ok((row.get(0)?, row.get(1)?)))?,
        );
    }
    Ok(places)
}

/// How many accounts are locked at once.
const LOCKED_AT_ONCE: [usize; 3] = [1, 8, 64];

static LOCK: LazyLock<[String; 3]> = LazyLock::new(|| {
    LOCKED_AT_ONCE.map(|count| {
        let marks = marks(1, count);
        format!("SELECT id FROM accounts WHERE id IN ({marks}) ORDER BY id {{lock}}")
    })
});

/// Locks accounts for this transaction, always in the same order, so that two transactions do not block each other.
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

/// Holds the account for this transaction, so that changes to what belongs to it do not pass each other.
pub fn lock(tx: &mut Tx<'_>, account: AccountId) -> Result<()> {
    let sql = "SELECT position FROM accounts WHERE id = ?1 {lock}";
    tx.on(ACCOUNTS)
        .query(sql, params![&account], |row| row.get::<i64>(0))?;
    Ok(())
}

pub fn webhook(tx: &mut Tx<'_>, account: AccountId) -> Result<Option<Webhook>> {
    let found = tx.on(ACCOUNTS).query_opt(
        "SELECT webhook_url, webhook_authorization, webhook_updated_at FROM accounts WHERE id = ?1",
        params![&account],
        |row| {
            Ok((
                row.get::<Option<String>>(0)?,
                row.get::<String>(1)?,
                row.get::<Option<Timestamp>>(2)?,
            ))
        },
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

/// Does the account want an event of every later version of an order?
pub fn wants_updates(tx: &mut Tx<'_>, account: AccountId) -> Result<bool> {
    let sql = "SELECT order_updates FROM accounts WHERE id = ?1";
    Ok(tx
        .on(ACCOUNTS)
        .query_opt(sql, params![&account], |row| row.get(0))?
        .unwrap_or(false))
}

pub fn set_wants_updates(tx: &mut Tx<'_>, account: AccountId, wants: bool) -> Result<()> {
    tx.on(ACCOUNTS).execute(
        "UPDATE accounts SET order_updates = ?2 WHERE id = ?1",
        params![&account, wants],
    )?;
    Ok(())
}

/// Sets or removes where the account's events go.
pub fn set_webhook(tx: &mut Tx<'_>, account: AccountId, webhook: Option<&Webhook>) -> Result<()> {
    let form = webhook.map_or(AuthorizationForm::Bearer, |w| w.authorization);
    tx.on(ACCOUNTS).execute(
        "UPDATE accounts SET webhook_url = ?2, webhook_authorization = ?3, webhook_updated_at = ?4 WHERE id = ?1",
        params![&account, webhook.map(|w| &w.url), form.as_str(), webhook.map(|w| w.updated_at)],
    )?;
    look_again(tx, account)
}

/// Whoever delivers the account's events is to look again: where they go, or with which key, has changed, or something is
/// due that was not.
pub fn look_again(tx: &mut Tx<'_>, account: AccountId) -> Result<()> {
    let owner = tx.on(ACCOUNTS).write_returning(
        "UPDATE accounts SET deliver_version = deliver_version + 1 WHERE id = ?1
         RETURNING CASE WHEN deliver_node IN (SELECT id FROM nodes) THEN deliver_node ELSE NULL END",
        params![&account],
        |row| row.get::<Option<NodeId>>(0),
    )?;
    let owner = owner.into_iter().next().flatten();
    if owner.is_none() || owner == tx.node() {
        tx.hand_off(HandoffMessage::Recheck { account });
    } else {
        tx.notify_nodes(NodeMessage::Recheck { account, owner });
    }
    Ok(())
}
