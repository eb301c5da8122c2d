//! What many jobs of one transaction would each write to the same rows is written once, after the last of them: how far
//! an account has come, when an integration had its last order, and the payment totals. What each of them would ask, with no
//! answer as a rule, is asked once: whether something came before its order.
//!
//! The rows of accounts and integrations are touched by the first job, so they are locked while others wait to be
//! written. Nobody in the same transaction sees the difference: a statement that speaks of such a table has everything
//! written before it is run.

use crate::engine::Tx;
use crate::tables::inbox;
use crate::tables::integrations::NOTE_ORDER;
use crate::totals::{self, Shift};
use crate::{Result, params};
use garson_core::id::{AccountId, IntegrationId, NodeId};
use garson_core::platform::Provider;
use garson_core::time::Timestamp;
use memchr::memmem::Finder;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// How an account stands that this transaction has locked.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    pub position: i64,
    pub newest_at: Timestamp,
    pub has_webhook: bool,
    /// The account wants an event of every later version of an order.
    pub wants_updates: bool,
    /// The node that delivers for it, and its `deliver_version`.
    pub owner: Option<NodeId>,
    pub version: i64,
    /// It has come further than is written.
    pub is_behind: bool,
}

#[derive(Debug)]
struct Noted {
    /// If it is known.
    version: Option<i64>,
    at: Timestamp,
    is_behind: bool,
}

#[derive(Debug, Default)]
pub struct Late {
    accounts: BTreeMap<AccountId, Held>,
    integrations: BTreeMap<IntegrationId, Noted>,
    totals: BTreeMap<Shift, totals::Sums>,
    /// What new orders are called; it is taken for granted that nothing came before them.
    newcomers: BTreeMap<Provider, BTreeSet<String>>,
    /// The messages that brought them; it is taken for granted that they came for the first time.
    firsts: Vec<[u8; 32]>,
}

static ACCOUNTS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("accounts"));
static INTEGRATIONS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("integrations"));
static TOTALS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("payment_totals"));

impl Late {
    fn is_empty(&self) -> bool {
        self.accounts.is_empty()
            && self.integrations.is_empty()
            && self.totals.is_empty()
            && self.newcomers.is_empty()
            && self.firsts.is_empty()
    }

    /// Would a statement see that something is not written yet, or change what is held here?
    pub fn concerns(&self, sql: &str) -> bool {
        let speaks_of = |finder: &Finder<'_>| finder.find(sql.as_bytes()).is_some();
        !self.accounts.is_empty() && speaks_of(&ACCOUNTS)
            || !self.integrations.is_empty() && speaks_of(&INTEGRATIONS)
            || !self.totals.is_empty() && speaks_of(&TOTALS)
    }

    pub fn account(&mut self, id: AccountId) -> Option<&mut Held> {
        self.accounts.get_mut(&id)
    }

    pub fn hold_account(&mut self, id: AccountId, held: Held) {
        self.accounts.insert(id, held);
    }

    /// Notes when an integration had an order; `false` when its row is not locked by this transaction yet, or not known to
    /// have this version.
    pub fn note_order(&mut self, id: IntegrationId, version: Option<i64>, at: Timestamp) -> bool {
        let noted = self.integrations.get_mut(&id);
        let Some(noted) = noted.filter(|noted| version.is_none() || version == noted.version) else {
            return false;
        };
        if noted.at < at {
            (noted.at, noted.is_behind) = (at, true);
        }
        true
    }

    pub fn hold_integration(&mut self, id: IntegrationId, version: Option<i64>, at: Timestamp) {
        let noted = Noted {
            version,
            at,
            is_behind: false,
        };
        self.integrations.insert(id, noted);
    }

    /// Notes an order that is new; that no message about it has come before it is looked at before the commit.
    pub fn expect_no_early_message(&mut self, provider: Provider, identity: &str) {
        self.newcomers
            .entry(provider)
            .or_default()
            .insert(identity.to_owned());
    }

    /// Notes a message that brought a new order; that it had not come before is looked at before the commit.
    pub fn expect_first(&mut self, hash: [u8; 32]) {
        self.firsts.push(hash);
    }

    /// The sums that are to be added at a place.
    pub fn totals(&mut self, shift: Shift) -> &mut totals::Sums {
        self.totals.entry(shift).or_default()
    }
}

/// Writes everything that was left for later, and holds nothing any longer.
pub fn settle(tx: &mut Tx<'_>) -> Result<()> {
    let late = std::mem::take(tx.late());
    if late.is_empty() {
        return Ok(());
    }
    for (id, held) in late.accounts.iter().filter(|(_, held)| held.is_behind) {
        tx.write(
            "UPDATE accounts SET position = ?2, newest_at = ?3 WHERE id = ?1",
            params![id, held.position, held.newest_at],
        )?;
    }
    for (id, noted) in late.integrations.iter().filter(|(_, noted)| noted.is_behind) {
        tx.write(NOTE_ORDER, params![id, noted.at])?;
    }
    for (shift, sums) in &late.totals {
        totals::write(tx, shift, sums)?;
    }
    for (provider, identities) in &late.newcomers {
        inbox::expect_none_early(tx, *provider, identities)?;
    }
    inbox::expect_firsts(tx, &late.firsts)
}
