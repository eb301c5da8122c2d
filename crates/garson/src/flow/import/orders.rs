//! Orders: each with its content, state and timeline, in one transaction for a page.

use super::ids::{self, COMMAND, Found};
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::id::{AccountId, IntegrationId, OrderId, RestaurantId};
use garson_core::order::{Order, OrderContent, Status, TimelineLine};
use garson_core::time::Timestamp;
use garson_store::lists::search;
use garson_store::tables::accounts::{self, Positions, reserve_positions};
use garson_store::tables::imported::{self, Block, IdOf};
use garson_store::tables::revisions::{self, Replacement};
use garson_store::tables::{integrations, orders, restaurants};
use garson_store::totals::{self, stats};
use garson_store::{StoreError, Tx};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// An order that arrived here by itself and has the same number is the same one, if it was placed at about the same time.
const SAME_ORDER: Duration = Duration::from_secs(24 * 60 * 60);

/// An order as the other service shows it. Ids, position and times of change are still to be set.
#[derive(Clone, Debug)]
pub struct ImportedOrder {
    /// Its id at the other service.
    pub theirs: String,
    pub restaurant: RestaurantId,
    pub integration: IntegrationId,
    pub order: Order,
    pub content: OrderContent,
    pub timeline: Vec<TimelineLine>,
}

/// What a list shows of an order, to compare it with the one that is here.
#[derive(Clone, Debug)]
pub struct Compared {
    pub theirs: String,
    pub status: Option<i64>,
    pub is_report: Option<bool>,
    pub total: Option<i64>,
}

/// What was done with the orders of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    pub imported: u64,
    pub updated: u64,
    /// They were here already.
    pub known: u64,
    /// They arrived there before an order that arrived here: they count at the time of that one.
    pub late: u64,
    /// Their restaurants were deleted here.
    pub deleted: u64,
}

/// An import of orders that has begun.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    account: AccountId,
    block: Block,
}

impl Run {
    /// Reserves the positions of everything that arrived at the other service until now.
    pub async fn begin(app: &App, account: AccountId) -> Result<Self, Fault> {
        let now = app.now();
        let block = app
            .store
            .write(account, move |tx| {
                Ok::<_, Fault>(imported::reserve_block(tx, account, now)?)
            })
            .await?;
        Ok(Self { account, block })
    }

    /// When the account's first order arrived, if that was an order of this installation's own: older ones cannot be put before it.
    pub async fn first_own(app: &App, account: AccountId) -> Result<Option<Timestamp>, Fault> {
        app.store
            .read(move |tx| match imported::first(tx, account)? {
                Some(first) if !is_imported(tx, first.id)? => Ok(Some(first.created_at)),
                _ => Ok(None),
            })
            .await
    }

    /// The ids of those that are not here, and of those that are here in an earlier state and were not changed here.
    pub async fn wanted(
        app: &App,
        account: AccountId,
        shown: Vec<Compared>,
    ) -> Result<(HashSet<String>, HashSet<String>), Fault> {
        app.store
            .read(move |tx| {
                let (mut new, mut changed) = (HashSet::new(), HashSet::new());
                for it in &shown {
                    match ids::find(tx, account, IdOf::Order, &it.theirs)? {
                        Found::New(_) => {
                            new.insert(it.theirs.clone());
                        }
                        Found::Here(id) => {
                            if let Some(here) = orders::by_id(tx, OrderId(id))?
                                && is_outdated(&here, it)
                                && is_untouched(tx, here.id)?
                            {
                                changed.insert(it.theirs.clone());
                            }
                        }
                        Found::Deleted => {}
                    }
                }
                Ok((new, changed))
            })
            .await
    }

    /// Writes orders, oldest first.
    pub async fn write(&self, app: &App, batch: Vec<ImportedOrder>) -> Result<Written, Fault> {
        if batch.is_empty() {
            return Ok(Written::default());
        }
        let (run, batch, now) = (*self, Arc::new(batch), app.now());
        app.store
            .write(self.account, move |tx| {
                record_last_orders(tx, &batch, now)?;
                accounts::lock(tx, run.account)?;
                let count = i64::try_from(batch.len()).unwrap_or(i64::MAX / 2);
                let mut job = Job {
                    account: run.account,
                    block: run.block,
                    places: reserve_positions(tx, run.account, 2 * count, now)?,
                    indexed_up_to: search::indexed_up_to(tx, run.account)?,
                    written: Written::default(),
                };
                for order in batch.iter() {
                    job.write(tx, order)?;
                }
                let Written {
                    imported, updated, ..
                } = job.written;
                if imported + updated > 0 {
                    let action = Recorded::new(RecordKind::Order, Verb::Imported)
                        .after(json!({ "imported": imported, "updated": updated }));
                    By::operator(run.account, COMMAND).record(tx, action, now);
                }
                Ok(job.written)
            })
            .await
    }
}

/// Writes when the integrations had their last orders. Like an order that arrives, this locks integrations before the account.
fn record_last_orders(tx: &mut Tx<'_>, batch: &[ImportedOrder], now: Timestamp) -> Result<(), Fault> {
    let mut last = BTreeMap::new();
    for order in batch {
        let at = last.entry(order.integration).or_insert(order.order.created_at);
        *at = order.order.created_at.max(*at);
    }
    for (integration, at) in last {
        // One that was removed meanwhile leaves its orders.
        let _ = integrations::record_order(tx, integration, None, at.min(now))?;
    }
    Ok(())
}

/// Does the other service show a later state?
fn is_outdated(here: &Order, shown: &Compared) -> bool {
    let status = shown.status.and_then(Status::from_code).unwrap_or(here.status);
    if status != here.status {
        return here.status.can_move_to(status);
    }
    shown.total.is_some_and(|total| total != here.total.0)
        || (shown.is_report == Some(true) && here.reported_at.is_none())
}

/// Was the order imported, and has its content stayed as it was? The fingerprint of an imported order differs from that of one which
/// arrived here.
fn is_imported(tx: &mut Tx<'_>, id: OrderId) -> Result<bool, Fault> {
    let stored = imported::stored_content(tx, id)?;
    Ok(stored.is_some_and(|(hash, body)| hash == fingerprint(&body)))
}

/// Was the order imported, and has it not changed here? What has changed here is this service's own by now.
fn is_untouched(tx: &mut Tx<'_>, id: OrderId) -> Result<bool, Fault> {
    Ok(is_imported(tx, id)? && !imported::has_event(tx, id)?)
}

struct Job {
    account: AccountId,
    block: Block,
    /// For changes, and for orders that arrived after the block was reserved.
    places: Positions,
    indexed_up_to: i64,
    written: Written,
}

impl Job {
    fn write(&mut self, tx: &mut Tx<'_>, imported: &ImportedOrder) -> Result<(), Fault> {
        match ids::find(tx, self.account, IdOf::Order, &imported.theirs)? {
            Found::New(id) => self.insert(tx, imported, OrderId(id)),
            Found::Here(id) => self.update(tx, imported, OrderId(id)),
            Found::Deleted => {
                self.written.deleted += 1;
                Ok(())
            }
        }
    }

    fn insert(&mut self, tx: &mut Tx<'_>, imported: &ImportedOrder, id: OrderId) -> Result<(), Fault> {
        let (account, integration) = (self.account, imported.integration);
        if !restaurants::lock(tx, account, imported.restaurant)? {
            self.written.deleted += 1;
            return Ok(());
        }
        let mut order = imported.order.clone();
        let platform = garson_platforms::find(order.provider.as_str());
        // A shop gives each number once.
        let is_own_id = platform.is_some_and(|platform| platform.capability().own_ids);
        for other in imported::with_platform_id(tx, account, integration, &order.provider_order_id)? {
            let apart = other.placed_at.since(order.placed_at) + order.placed_at.since(other.placed_at);
            if (is_own_id || apart < SAME_ORDER) && !is_imported(tx, other.id)? {
                self.written.known += 1;
                return Ok(());
            }
        }
        order.id = id;
        order.account_id = account;
        order.restaurant_id = imported.restaurant;
        order.integration_id = integration;
        order.sequence = told_steps(&imported.timeline);
        order.identity = order.provider_order_id.clone();
        if orders::by_identity(tx, account, integration, &order.identity)?.is_some() {
            order.identity = format!("{}#{}", order.provider_order_id, imported.theirs);
        }
        let position = self.arrive(tx, &mut order)?;
        order.updated_at = self.places.at;
        let change = self.places.take();
        let (json, hash) = serialized(&imported.content)?;
        if !orders::insert(tx, &order, &json, &hash, position)? {
            return Err(StoreError::conflict("an order appeared while it was imported").into());
        }
        imported::write_state(tx, &order, change)?;
        orders::add_timeline(tx, id, 1, &imported.timeline)?;
        totals::add_order(tx, &order)?;
        count_times(tx, &order, &imported.timeline)?;
        if position <= self.indexed_up_to {
            search::reindex(tx, account, position)?;
        }
        self.written.imported += 1;
        Ok(())
    }

    /// Sets when the order counts as having arrived, and returns its position. Lists need both to have the same order.
    fn arrive(&mut self, tx: &mut Tx<'_>, order: &mut Order) -> Result<i64, Fault> {
        let wanted = order.created_at.min(self.places.at);
        let last = imported::last_before(tx, self.account, self.block.end)?;
        let (last, not_before) = match last {
            Some((position, at)) => (position, Some(at)),
            None => (0, None),
        };
        let at = not_before.map_or(wanted, |before| wanted.max(before));
        if at <= self.block.until {
            order.created_at = at;
            self.written.late += u64::from(at > wanted);
            return Ok((last + 1).max(self.block.first));
        }
        let newest = imported::last_before(tx, self.account, i64::MAX)?;
        let at = newest.map_or(wanted, |(_, newest)| wanted.max(newest));
        order.created_at = at;
        self.written.late += u64::from(at > wanted);
        Ok(self.places.take())
    }

    /// Brings an order that is here to the state that the other service shows.
    fn update(&mut self, tx: &mut Tx<'_>, imported: &ImportedOrder, id: OrderId) -> Result<(), Fault> {
        let Some(before) = orders::lock(tx, id)? else {
            self.written.deleted += 1;
            return Ok(());
        };
        let theirs = &imported.order;
        let shown = Compared {
            theirs: imported.theirs.clone(),
            status: Some(theirs.status.code()),
            is_report: Some(theirs.reported_at.is_some()),
            total: Some(theirs.total.0),
        };
        if !is_outdated(&before, &shown) || !is_untouched(tx, id)? {
            self.written.known += 1;
            return Ok(());
        }
        let after = Order {
            status: theirs.status,
            provider_status: theirs.provider_status.clone(),
            ready_at: theirs.ready_at,
            reported_at: before.reported_at.or(theirs.reported_at),
            cancellation: theirs.cancellation.clone(),
            sync: theirs.sync.clone(),
            flag: theirs.flag,
            revision: theirs.revision,
            sequence: told_steps(&imported.timeline),
            total: theirs.total,
            currency: theirs.currency,
            payment_type: theirs.payment_type,
            payment_code: theirs.payment_code.clone(),
            updated_at: self.places.at,
            ..before.clone()
        };
        let change = self.places.take();
        let (json, hash) = serialized(&imported.content)?;
        let (stored, _) = imported::stored_content(tx, id)?.unwrap_or_default();
        if stored != hash {
            let replacement = Replacement {
                order: &after,
                content: &json,
                content_hash: &hash,
                replaced_hash: &stored,
                position: change,
            };
            revisions::replace(tx, &replacement)?;
        }
        imported::write_state(tx, &after, change)?;
        let length = usize::try_from(imported::timeline_length(tx, id)?).unwrap_or(usize::MAX);
        let new_lines = imported.timeline.get(length..).unwrap_or_default();
        orders::append_timeline(tx, id, new_lines)?;
        let counted = Order {
            updated_at: accepted_at(new_lines).unwrap_or(after.updated_at),
            ..after
        };
        totals::update_order(tx, &before, &counted)?;
        self.written.updated += 1;
        Ok(())
    }
}

/// The content as it is stored, and its fingerprint.
fn serialized(content: &OrderContent) -> Result<(String, [u8; 32]), Fault> {
    let json =
        serde_json::to_string(content).map_err(|_| StoreError::internal("an order cannot be serialized"))?;
    let hash = fingerprint(&json);
    Ok((json, hash))
}

fn fingerprint(json: &str) -> [u8; 32] {
    let hash = Sha256::new().chain_update("imported").chain_update(json);
    hash.finalize().into()
}

/// How many events the order has had at the other service: later ones continue their numbers. Flags and versions of the content are
/// lines without an event.
fn told_steps(lines: &[TimelineLine]) -> i64 {
    let is_told = |line: &&TimelineLine| line.revision.is_none() && line.from != Some(line.to);
    i64::try_from(lines.iter().filter(is_told).count()).unwrap_or(i64::MAX)
}

/// When the order was accepted, if it was new then.
fn accepted_at(lines: &[TimelineLine]) -> Option<Timestamp> {
    let is_accepted = |line: &&TimelineLine| line.from == Some(Status::New) && line.to == Status::Preparing;
    lines.iter().find(is_accepted).map(|line| line.at)
}

/// Counts the times that the steps of a new order took, as they would have been counted when they were made.
fn count_times(tx: &mut Tx<'_>, order: &Order, lines: &[TimelineLine]) -> Result<(), Fault> {
    let new = Order {
        status: Status::New,
        ready_at: None,
        cancellation: None,
        ..order.clone()
    };
    if let Some(at) = accepted_at(lines) {
        let accepted = Order {
            status: Status::Preparing,
            updated_at: at,
            ..new.clone()
        };
        stats::update_order(tx, &new, &accepted)?;
    }
    Ok(stats::add_ready(tx, &new, order)?)
}
