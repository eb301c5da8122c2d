//! The store: the engine with the store's transactions.

use crate::engine::connect::Hosts;
use crate::engine::{self, Hooks, Location, Options, Schema, TableSet};
use crate::error::StoreError;
use crate::publish::{
    AccountWatch, ChangedAccounts, CommitMessages, Handoff, NodeIdentity, NodeMessage, Publisher,
};
use crate::tables::{accounts, audit, inbox, integrations};
use crate::totals;
use crate::transaction::{DEFERRED_TABLES, DeferredWrites, Tx, TxState};
use garson_core::id::{AccountId, NodeId};
use std::sync::Arc;

/// Runs jobs on the store. Clones share the same threads; they end when the last clone is dropped.
pub type Engine = engine::Engine<TxState>;

impl Engine {
    /// Opens the database and migrates it to the newest schema.
    pub fn open(location: &Location, options: &Options) -> Result<Self, StoreError> {
        match location {
            Location::Sqlite(_) => Self::start(location, options, Arc::default()),
            Location::Postgres(url) => {
                let (publisher, outbox) = Publisher::with_outbox();
                let engine = Self::start(location, options, Arc::new(publisher))?;
                let hosts = Hosts::new(url, "garson notify", options.limits())?;
                engine.shared().start_notifications(hosts, outbox)?;
                Ok(engine)
            }
        }
    }

    /// Opens a database to inspect it only, and returns the state of its schema. Nothing is created or migrated, and nothing
    /// can be written.
    pub fn inspect(location: &Location, options: &Options) -> Result<(Self, Schema), StoreError> {
        Self::start_to_inspect(location, options, Arc::default())
    }

    /// Wakes watchers of accounts after commits.
    #[must_use]
    pub fn account_watch(&self) -> &Arc<AccountWatch> {
        &self.shared().account_watch
    }

    /// What commits hand to the delivery of events.
    #[must_use]
    pub fn handoff(&self) -> &Handoff {
        &self.shared().handoff
    }

    /// Which node of the cluster this process is.
    #[must_use]
    pub fn node_identity(&self) -> &NodeIdentity {
        &self.shared().node
    }

    /// The id of this node, if it has joined the cluster.
    #[must_use]
    pub fn node_id(&self) -> Option<NodeId> {
        self.shared().node.id()
    }

    /// The accounts in which this process has committed something.
    #[must_use]
    pub fn changed_accounts(&self) -> &ChangedAccounts {
        &self.shared().changed_accounts
    }

    /// Sends messages to the other nodes, outside of any transaction.
    pub fn notify_nodes(&self, messages: Vec<NodeMessage>) {
        self.shared().notifier.send(messages);
    }

    /// Sets whether this is the only process that uses the database, as far as is known: then it sends no notifications.
    pub fn set_alone(&self, is_alone: bool) {
        self.shared().notifier.set_alone(is_alone);
    }
}

impl Hooks for TxState {
    type Shared = Publisher;
    type Messages = CommitMessages;

    const TABLES: &'static [&'static str] = DEFERRED_TABLES;

    fn begin(publisher: &Publisher) -> Self {
        Self {
            node: publisher.node.deliverer(),
            ..Self::default()
        }
    }

    fn lock_accounts(tx: &mut Tx<'_>, accounts: &[AccountId]) -> Result<(), StoreError> {
        accounts::lock_all(tx, accounts)
    }

    fn deferred_tables(&self) -> TableSet {
        self.deferred.tables()
    }

    fn flush(tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let deferred = std::mem::take(&mut tx.state_mut().deferred);
        if deferred.is_empty() {
            return Ok(());
        }
        tx.touch();
        let DeferredWrites {
            accounts,
            integrations,
            totals,
            stats,
            new_orders,
            first_messages,
            audit,
        } = deferred;
        for (id, account) in accounts.iter().filter(|(_, account)| account.is_dirty) {
            accounts::write_position(tx, *id, account)?;
        }
        for (id, integration) in integrations
            .iter()
            .filter(|(_, integration)| integration.is_dirty)
        {
            integrations::write_last_order(tx, *id, integration.last_order_at)?;
        }
        for (key, sums) in &totals {
            totals::write(tx, key, sums)?;
        }
        for (key, added) in &stats {
            totals::stats::write(tx, *key, added)?;
        }
        for (provider, identities) in &new_orders {
            inbox::expect_none_early(tx, *provider, identities)?;
        }
        inbox::expect_firsts(tx, &first_messages)?;
        // Last: the ends of the chains are the last rows that a transaction locks.
        for (account, entries) in &audit {
            audit::write(tx, *account, entries)?;
        }
        Ok(())
    }

    fn discard_deferred(&mut self) {
        self.deferred = DeferredWrites::default();
    }

    fn take_messages(&mut self) -> CommitMessages {
        std::mem::take(&mut self.messages)
    }

    fn append_messages(messages: &mut CommitMessages, more: CommitMessages) {
        messages.append(more);
    }

    fn publish(publisher: &Publisher, messages: CommitMessages) {
        publisher.publish(messages);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::engine::Partition;
    use crate::{ACCOUNTS, StoreErrorKind};

    #[tokio::test(flavor = "multi_thread")]
    async fn undeclared_use_of_a_deferred_table_fails() {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::Sqlite(folder.path().join("garson.db"));
        let engine = Engine::open(&location, &Options::default()).unwrap();
        let sql = "SELECT COUNT(*) FROM accounts";
        let declared = engine
            .write(Partition::COMMON, move |tx: &mut Tx<'_>| {
                tx.on(ACCOUNTS).query_one(sql, &[], |row| row.get::<i64>(0))
            })
            .await;
        assert_eq!(declared, Ok(0));
        let undeclared = engine
            .write(Partition::COMMON, move |tx: &mut Tx<'_>| {
                tx.query_one(sql, &[], |row| row.get::<i64>(0))
            })
            .await;
        let error = undeclared.unwrap_err();
        assert_eq!(error.kind, StoreErrorKind::Internal, "{error}");
        assert!(error.to_string().contains("uses the table accounts"), "{error}");
        // A query that writes must be run as a statement that writes.
        let writing = engine
            .write(Partition::COMMON, |tx: &mut Tx<'_>| {
                let sql = "UPDATE nodes SET beats = 1 RETURNING beats";
                tx.query(sql, &[], |row| row.get::<i64>(0))
            })
            .await;
        assert!(writing.unwrap_err().to_string().contains("writes"));
    }
}
