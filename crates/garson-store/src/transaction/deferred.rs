//! Deferred writes: what many jobs of one transaction would each write to the same rows is written once, after the last of them.
//! These are the position of an account, the time of an integration's last order, payment totals, counts of orders, and the ends of
//! the audit log's chains. Checks that each job would make, and that rarely find anything, are also made once.
//!
//! The first job writes the rows of accounts and integrations, so they are locked while later writes are deferred. Other
//! statements of the transaction do not see the difference: a statement that is declared to use such a table is run after the
//! deferred writes.

use super::stats::{Counts, StatKey};
use super::sums::{Sums, SumsKey};
use super::table::{ACCOUNTS, AUDIT, INTEGRATIONS, ORDER_STATS, PAYMENT_TOTALS};
use crate::engine::TableSet;
use garson_core::audit::NewAuditEntry;
use garson_core::id::{AccountId, IntegrationId, NodeId};
use garson_core::platform::Provider;
use garson_core::time::Timestamp;
use garson_core::webhook_endpoint::Route;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The values of an account that this transaction has locked.
#[derive(Clone, Debug)]
pub struct LockedAccount {
    pub position: i64,
    pub newest_at: Timestamp,
    pub has_webhook: bool,
    /// The account wants an event for every later version of an order.
    pub wants_updates: bool,
    /// The node that delivers for it, and its `deliver_version`.
    pub owner: Option<NodeId>,
    pub version: i64,
    /// Its endpoints besides the default one, and the default one if it is filtered.
    pub routes: Option<Arc<[Route]>>,
    /// The row does not have these values yet.
    pub is_dirty: bool,
}

/// The values of an integration that this transaction has locked.
#[derive(Clone, Copy, Debug)]
pub struct LockedIntegration {
    /// Its version, if it is known.
    version: Option<i64>,
    pub last_order_at: Timestamp,
    /// The row does not have this time yet.
    pub is_dirty: bool,
}

#[derive(Debug, Default)]
pub struct DeferredWrites {
    pub accounts: BTreeMap<AccountId, LockedAccount>,
    pub integrations: BTreeMap<IntegrationId, LockedIntegration>,
    pub totals: BTreeMap<SumsKey, Sums>,
    /// Numbers of orders and amounts that are to be added.
    pub stats: BTreeMap<StatKey, Counts>,
    /// The identities of new orders; assumed to have no earlier message.
    pub new_orders: BTreeMap<Provider, BTreeSet<String>>,
    /// The hashes of the messages that brought them; assumed to have come for the first time.
    pub first_messages: Vec<[u8; 32]>,
    /// Entries of the audit log, which get their numbers and hashes when they are written.
    pub audit: BTreeMap<AccountId, Vec<NewAuditEntry>>,
}

impl DeferredWrites {
    pub fn is_empty(&self) -> bool {
        self.accounts.is_empty()
            && self.integrations.is_empty()
            && self.totals.is_empty()
            && self.stats.is_empty()
            && self.new_orders.is_empty()
            && self.first_messages.is_empty()
            && self.audit.is_empty()
    }

    /// The tables for which writes are deferred, or whose rows are known here.
    pub fn tables(&self) -> TableSet {
        let of = |is_empty: bool, table: TableSet| if is_empty { TableSet::EMPTY } else { table };
        of(self.accounts.is_empty(), ACCOUNTS)
            .and(of(self.integrations.is_empty(), INTEGRATIONS))
            .and(of(self.totals.is_empty(), PAYMENT_TOTALS))
            .and(of(self.stats.is_empty(), ORDER_STATS))
            .and(of(self.audit.is_empty(), AUDIT))
    }

    pub fn account(&mut self, id: AccountId) -> Option<&mut LockedAccount> {
        self.accounts.get_mut(&id)
    }

    pub fn lock_account(&mut self, id: AccountId, account: LockedAccount) {
        self.accounts.insert(id, account);
    }

    /// Records the time of an integration's order; `false` when its row is not locked by this transaction yet, or not known to
    /// have this version.
    pub fn record_order(&mut self, id: IntegrationId, version: Option<i64>, at: Timestamp) -> bool {
        let known = self.integrations.get_mut(&id);
        let Some(known) = known.filter(|known| version.is_none() || version == known.version) else {
            return false;
        };
        if known.last_order_at < at {
            (known.last_order_at, known.is_dirty) = (at, true);
        }
        true
    }

    pub fn lock_integration(&mut self, id: IntegrationId, version: Option<i64>, last_order_at: Timestamp) {
        let integration = LockedIntegration {
            version,
            last_order_at,
            is_dirty: false,
        };
        self.integrations.insert(id, integration);
    }

    /// Adds a check before the commit that no message about a new order has come before it.
    pub fn expect_no_early_message(&mut self, provider: Provider, identity: &str) {
        self.new_orders
            .entry(provider)
            .or_default()
            .insert(identity.to_owned());
    }

    /// Adds a check before the commit that a message that brought a new order had not come before.
    pub fn expect_first_message(&mut self, hash: [u8; 32]) {
        self.first_messages.push(hash);
    }

    /// The sums that are to be added for a key.
    pub fn totals(&mut self, key: SumsKey) -> &mut Sums {
        self.totals.entry(key).or_default()
    }
}
