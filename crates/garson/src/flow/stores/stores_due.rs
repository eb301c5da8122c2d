//! The stores of this node, and when the state of each is read next.

use super::round::{Round, RoundEnd, StoreSlots};
use super::round_result::RoundResult;
use crate::app::App;
use crate::fair_slots::{FairSlots, SlotLimits};
use crate::flow::Fault;
use garson_core::id::IntegrationId;
use garson_core::platform::Provider;
use garson_core::store_control::StoreRecord;
use garson_core::time::Timestamp;
use garson_store::tables::store_states;
use garson_store::tables::store_states::HeldStore;
use garson_store::{Partition, Tx};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

/// Concurrent requests to one platform: in total, of one account, and of stores whose last round failed.
const SLOTS: SlotLimits = SlotLimits {
    total: 32,
    per_account: 8,
    failing: 16,
};
/// Due stores that are started at once.
const DUE_AT_ONCE: i64 = 500;
/// New stores that are created in one transaction.
const NEW_AT_ONCE: i64 = 200;
/// Read times that are saved in one transaction.
const SAVE_BATCH: usize = 200;
/// New stores are read within this time, plus this much for each of them.
const FIRST_WITHIN: Duration = Duration::from_secs(2);
const FIRST_WITHIN_EACH: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);
/// The first pause after a failed round.
const FIRST_PAUSE: Duration = Duration::from_secs(30);

#[derive(Default)]
pub(super) struct StoreSchedule {
    entries: HashMap<IntegrationId, Entry>,
    readings: BTreeSet<(Instant, IntegrationId)>,
    running: JoinSet<RoundEnd>,
    slots: HashMap<Provider, StoreSlots>,
    /// Read times of stores that have not changed.
    unsaved: Vec<(IntegrationId, Timestamp)>,
}

struct Entry {
    provider: Provider,
    read_at: Instant,
    is_running: bool,
    /// The second read comes after a random part of the interval, to spread the load; this is set after it is planned.
    is_spread: bool,
    failures: u32,
    /// When the integration was last changed.
    updated_at: Timestamp,
}

impl Entry {
    fn new(provider: Provider) -> Self {
        Self {
            provider,
            read_at: Instant::now(),
            is_running: false,
            is_spread: false,
            failures: 0,
            updated_at: Timestamp::default(),
        }
    }
}

impl StoreSchedule {
    /// Makes every store due for a read.
    pub fn read_all_now(&mut self) {
        let now = Instant::now();
        self.readings = self.entries.keys().map(|id| (now, *id)).collect();
        for entry in self.entries.values_mut() {
            entry.read_at = now;
        }
    }

    pub async fn join_next(&mut self) -> Option<Result<RoundEnd, JoinError>> {
        self.running.join_next().await
    }

    /// Creates the stores of new integrations, claims stores without a live node, and refreshes the list.
    pub async fn refresh(&mut self, app: &Arc<App>) -> Result<(), Fault> {
        self.save_readings(app).await?;
        let Some(node) = app.store.node_id() else {
            return Ok(());
        };
        for platform in garson_platforms::all() {
            if platform.capability().store.is_some() {
                create_missing(app, platform.provider()).await?;
            }
        }
        if app.store.read(store_states::has_unclaimed).await? {
            let claim = move |tx: &mut Tx<'_>| store_states::claim_all(tx, node);
            app.store.write(Partition::COMMON, claim).await?;
        }
        let held = app.store.read(move |tx| store_states::held_by(tx, node)).await?;
        let ids: HashSet<IntegrationId> = held.iter().map(|store| store.integration_id).collect();
        let new = ids.iter().filter(|id| !self.entries.contains_key(id)).count();
        // The first reads of many new stores, as after an upgrade, are spread over a longer time.
        let first_within = FIRST_WITHIN + FIRST_WITHIN_EACH * u32::try_from(new).unwrap_or(u32::MAX);
        for store in held {
            self.add_or_update(app, &store, first_within);
        }
        let readings = &mut self.readings;
        self.entries.retain(|id, entry| {
            let stays = entry.is_running || ids.contains(id);
            if !stays {
                readings.remove(&(entry.read_at, *id));
            }
            stays
        });
        Ok(())
    }

    fn add_or_update(&mut self, app: &App, store: &HeldStore, first_within: Duration) {
        let id = store.integration_id;
        let Some(every) = every(app) else {
            self.entries
                .entry(id)
                .or_insert_with(|| Entry::new(store.provider));
            return;
        };
        match self.entries.get(&id) {
            Some(entry) if entry.updated_at == store.updated_at => {}
            // The branch or the credentials have changed: the known state may be outdated.
            Some(_) => self.schedule(id, store, Duration::ZERO),
            None => {
                let is_changed = store.checked_at.is_none_or(|at| at < store.updated_at);
                let within = if is_changed {
                    first_within.min(every)
                } else {
                    every
                };
                self.schedule(id, store, within.mul_f64(jitter(id, 0)));
            }
        }
    }

    fn schedule(&mut self, id: IntegrationId, store: &HeldStore, wait: Duration) {
        let read_at = Instant::now() + wait;
        let entry = self
            .entries
            .entry(id)
            .or_insert_with(|| Entry::new(store.provider));
        self.readings.remove(&(entry.read_at, id));
        entry.updated_at = store.updated_at;
        entry.read_at = read_at;
        if !entry.is_running {
            self.readings.insert((read_at, id));
        }
    }

    /// Saves the read times of stores that have not changed.
    pub async fn save_readings(&mut self, app: &App) -> Result<(), Fault> {
        while !self.unsaved.is_empty() {
            let from = self.unsaved.len().saturating_sub(SAVE_BATCH);
            let batch = self.unsaved.get(from..).unwrap_or_default().to_vec();
            app.store
                .write(Partition::COMMON, move |tx| {
                    store_states::record_checked(tx, &batch)
                })
                .await?;
            self.unsaved.truncate(from);
        }
        Ok(())
    }

    /// Starts rounds for due stores and for stores whose regular read is due.
    pub async fn start_due(&mut self, app: &Arc<App>) -> Result<(), Fault> {
        let Some(node) = app.store.node_id().filter(|_| app.node_lease.is_valid()) else {
            return Ok(());
        };
        let now = app.now();
        let due = app
            .store
            .read(move |tx| store_states::due(tx, node, now, DUE_AT_ONCE))
            .await?;
        for (id, _, provider) in due {
            // A new store may not be in the list yet.
            self.entries.entry(id).or_insert_with(|| Entry::new(provider));
            self.start(app, id, provider, false);
        }
        let now = Instant::now();
        while let Some((at, id)) = self.readings.first().copied().filter(|(at, _)| *at <= now) {
            self.readings.remove(&(at, id));
            if let Some(provider) = self.entries.get(&id).map(|entry| entry.provider) {
                self.start(app, id, provider, true);
            }
        }
        Ok(())
    }

    fn start(&mut self, app: &Arc<App>, id: IntegrationId, provider: Provider, is_reading: bool) {
        let Some(entry) = self.entries.get_mut(&id).filter(|entry| !entry.is_running) else {
            return;
        };
        entry.is_running = true;
        self.readings.remove(&(entry.read_at, id));
        let slots = self.slots.entry(provider).or_insert_with(|| StoreSlots {
            changes: FairSlots::new(SLOTS),
            readings: FairSlots::new(SLOTS),
        });
        let round = Round {
            app: Arc::clone(app),
            integration: id,
            slots: slots.clone(),
            is_failing: entry.failures > 0,
            is_reading,
        };
        self.running.spawn(round.run());
    }

    /// Plans the next read, with backoff after failures.
    pub fn finish(&mut self, app: &App, end: RoundEnd) {
        let id = end.integration;
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        entry.is_running = false;
        let Some(every) = every(app) else {
            // Regular reads are switched off; a failed change is retried at its own time.
            entry.failures = u32::from(end.result == RoundResult::Failed);
            if let RoundResult::Answered { unsaved } = end.result {
                self.unsaved.extend(unsaved.map(|at| (id, at)));
            }
            return;
        };
        let pause = match end.result {
            RoundResult::Idle => every,
            RoundResult::Answered { unsaved } => {
                entry.failures = 0;
                self.unsaved.extend(unsaved.map(|at| (id, at)));
                every
            }
            RoundResult::HeldBack(room_in) => room_in.max(Duration::from_secs(1)),
            RoundResult::Failed => {
                entry.failures = entry.failures.saturating_add(1);
                let pause = FIRST_PAUSE * 2u32.saturating_pow(entry.failures.min(8) - 1);
                pause.min(LONGEST_PAUSE)
            }
        };
        let jitter = jitter(id, app.now().as_millis());
        let part = if std::mem::replace(&mut entry.is_spread, true) || pause < every {
            1.0 + 0.1 * jitter
        } else {
            0.1 + 0.9 * jitter
        };
        entry.read_at = Instant::now() + pause.mul_f64(part);
        self.readings.insert((entry.read_at, id));
    }
}

async fn create_missing(app: &App, provider: Provider) -> Result<(), Fault> {
    while app
        .store
        .read(move |tx| store_states::has_unknown(tx, provider))
        .await?
    {
        let create = move |tx: &mut Tx<'_>| {
            let new = store_states::unknown(tx, provider, NEW_AT_ONCE)?;
            for (id, account, restaurant) in &new {
                let store = StoreRecord::new((*account, *restaurant), *id, provider);
                store_states::create(tx, &store)?;
            }
            Ok::<_, Fault>(new.len())
        };
        if app.store.write(Partition::COMMON, create).await? == 0 {
            break;
        }
    }
    Ok(())
}

/// The interval of regular reads; none if they are switched off.
fn every(app: &App) -> Option<Duration> {
    let seconds = app.settings.stores.read_seconds;
    (seconds > 0).then(|| Duration::from_secs(u64::from(seconds)))
}

/// A pseudo-random number from 0 to 1 that depends on integration and round.
fn jitter(id: IntegrationId, round: i64) -> f64 {
    let mixed = (id.0.as_u128() as u64 ^ round.unsigned_abs()).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    f64::from((mixed >> 40) as u32) / f64::from(1 << 24)
}
