//! The polled integrations of this node, when each is due, and the rounds that are running.

use super::round::{OVERLAP, PollRound, Progress, RoundResult};
use super::storage;
use crate::app::App;
use crate::app::poll_requests::RequestOrigin;
use crate::fair_slots::{FairSlots, SlotLimits};
use crate::flow::Fault;
use crate::flow::admin::branches;
use crate::flow::platform_client::{Contact, Share};
use crate::flow::platform_trouble::FORGOTTEN_AFTER;
use crate::net::Log;
use garson_core::id::IntegrationId;
use garson_core::integration::Integration;
use garson_core::platform::{Platform, PollStyle, Provider};
use garson_core::time::Timestamp;
use garson_store::publish::NodeMessage;
use garson_store::tables::integrations::{Connected, Polled, Unreadable};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;

/// Requests to one platform at the same time: in all, of one account, and of integrations whose last round has failed. Slots
/// are held by requests, not by rounds: a round that waits for a rate limit holds none.
const SLOTS: SlotLimits = SlotLimits {
    total: 64,
    per_account: 16,
    failing: 32,
};
/// How long a request may take, and one after a failure: a platform that hangs once is likely to hang again.
const REQUEST_DEADLINE: Duration = Duration::from_secs(30);
const DEADLINE_AFTER_FAILURE: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// A failure is saved when the last one was saved this long ago.
const SAVE_FAILURE_AFTER: Duration = Duration::from_secs(60);
/// How often it is saved that an integration cannot be read.
const NOTE_UNREADABLE_EVERY: Duration = Duration::from_secs(30 * 60);
/// Integrations whose progress is saved in one transaction.
const SAVE_BATCH: usize = 200;

#[derive(Default)]
pub(super) struct PollSchedule {
    entries: HashMap<IntegrationId, PolledIntegration>,
    /// When integrations are due. One that has been moved leaves a stale entry behind.
    due: BinaryHeap<Reverse<(Instant, IntegrationId)>>,
    running: JoinSet<RoundResult>,
    slots: HashMap<Provider, Arc<FairSlots>>,
    /// Integrations that cannot be read, and when that was saved.
    unreadable: HashMap<IntegrationId, Instant>,
}

struct PolledIntegration {
    connected: Arc<Connected>,
    contact: Contact,
    every: Duration,
    style: PollStyle,
    next_at: Instant,
    is_running: bool,
    /// Another poll was requested during this one.
    poll_again: bool,
    /// The platform knows that orders may come to us.
    is_enlisted: bool,
    progress: Option<Progress>,
    is_saved: bool,
    failures: u32,
    /// When a failure was saved.
    failure_saved_at: Option<Instant>,
    /// Its row shows a trouble, noted by this process or another, which the next successful round ends.
    ends_trouble: bool,
}

/// The integrations that a refresh has found.
#[derive(Default)]
struct Found {
    polled: HashSet<IntegrationId>,
    unreadable: HashMap<IntegrationId, Instant>,
}

impl PollSchedule {
    pub fn integrations(&self) -> impl Iterator<Item = IntegrationId> {
        self.entries.keys().copied()
    }

    pub fn next_at(&self) -> Option<Instant> {
        self.due.peek().map(|Reverse((at, _))| *at)
    }

    /// Waits for the end of a round; `None` if none is running.
    pub async fn join_next(&mut self) -> Option<Result<RoundResult, JoinError>> {
        self.running.join_next().await
    }

    /// Claims the integrations that no other node polls, updates those of this node, and drops deleted ones. If one platform
    /// fails, its integrations stay as they are and the others' are updated; the last error is returned.
    pub async fn refresh(&mut self, app: &Arc<App>) -> Result<(), Fault> {
        let mut result = self.save_progress(app).await;
        if let Err(fault) = &result {
            tracing::error!(?fault, "the progress of polling could not be saved");
        }
        let Some(node) = app.store.node_id() else {
            return result;
        };
        let mut found = Found::default();
        for platform in garson_platforms::all() {
            let provider = platform.provider();
            let (Some(polling), Some(every)) =
                (platform.capability().polling, app.terms(provider).poll_every)
            else {
                continue;
            };
            match storage::claim(app, provider, node).await {
                Ok(rows) => {
                    for row in rows {
                        self.refresh_one(app, *platform, row, every, polling.style, &mut found);
                    }
                }
                Err(fault) => {
                    tracing::error!(?fault, %provider, "integrations could not be looked up for polling");
                    let of_platform = |(id, entry): (&IntegrationId, &PolledIntegration)| {
                        (entry.connected.integration.provider == provider).then_some(*id)
                    };
                    found.polled.extend(self.entries.iter().filter_map(of_platform));
                    found.unreadable.extend(&self.unreadable);
                    result = Err(fault);
                }
            }
        }
        self.unreadable = found.unreadable;
        self.entries
            .retain(|id, entry| entry.is_running || found.polled.contains(id));
        app.poll_requests.set_polled_integrations(found.polled.len());
        result
    }

    fn refresh_one(
        &mut self,
        app: &Arc<App>,
        platform: &dyn Platform,
        row: Result<Polled, Unreadable>,
        every: Duration,
        style: PollStyle,
        found: &mut Found,
    ) {
        match row {
            Ok(polled) if !branches::may_ask(platform, &polled.connected) => {
                // No poll would end it.
                let now = app.now();
                if has_old_trouble(&polled.connected.integration, now) {
                    storage::end_trouble(app, &polled.connected, now);
                }
            }
            Ok(polled) => {
                found.polled.insert(polled.connected.integration.id);
                self.add_or_update(app, polled, every, style);
            }
            Err(row) => {
                let known = self.unreadable.get(&row.id).copied();
                let known = known.filter(|noted| noted.elapsed() < NOTE_UNREADABLE_EVERY);
                found
                    .unreadable
                    .insert(row.id, known.unwrap_or_else(Instant::now));
                if known.is_none() {
                    storage::note_unreadable(app, platform.provider(), row);
                }
            }
        }
    }

    fn add_or_update(&mut self, app: &App, polled: Polled, every: Duration, style: PollStyle) {
        let Polled { connected, polled_at } = polled;
        let id = connected.integration.id;
        let Some(mut contact) = app.contact(&connected) else {
            return;
        };
        contact.log = Log::Failures;
        if let Some(entry) = self.entries.get_mut(&id) {
            if entry.connected.integration.updated_at != connected.integration.updated_at {
                entry.is_enlisted = false;
                if entry.failures > 0 {
                    // What was changed may work, and if it does not, that is news.
                    entry.failures = 0;
                    entry.poll_again = entry.is_running;
                    entry.next_at = Instant::now();
                    self.due.push(Reverse((entry.next_at, id)));
                }
            }
            entry.ends_trouble |= has_old_trouble(&connected.integration, app.now());
            entry.contact = contact;
            entry.connected = Arc::new(connected);
            return;
        }
        // The first rounds of many integrations are spread over time, as all later ones are.
        let next_at = Instant::now() + every.min(Duration::from_secs(5)).mul_f64(jitter(id, 0));
        self.due.push(Reverse((next_at, id)));
        let entry = PolledIntegration {
            ends_trouble: connected.integration.health.trouble_at.is_some(),
            connected: Arc::new(connected),
            contact,
            every,
            style,
            next_at,
            is_running: false,
            poll_again: false,
            is_enlisted: false,
            progress: polled_at.map(Progress::until),
            is_saved: true,
            failures: 0,
            failure_saved_at: None,
        };
        self.entries.insert(id, entry);
    }

    async fn save_progress(&mut self, app: &Arc<App>) -> Result<(), Fault> {
        let progress: Vec<(IntegrationId, Timestamp)> = self
            .entries
            .iter_mut()
            .filter_map(|(id, entry)| {
                let is_saved = std::mem::replace(&mut entry.is_saved, true);
                Some((*id, entry.progress.filter(|_| !is_saved)?.until))
            })
            .collect();
        for (number, batch) in progress.chunks(SAVE_BATCH).enumerate() {
            if let Err(fault) = storage::save_progress(app, batch.to_vec()).await {
                for (id, _) in progress.iter().skip(number * SAVE_BATCH) {
                    if let Some(entry) = self.entries.get_mut(id) {
                        entry.is_saved = false;
                    }
                }
                return Err(fault);
            }
        }
        Ok(())
    }

    /// Makes integrations due; requests for those that other nodes poll are passed on.
    pub fn poll_now(&mut self, app: &App, requested: HashMap<IntegrationId, RequestOrigin>) {
        let now = Instant::now();
        let mut for_other_nodes = Vec::new();
        for (id, origin) in requested {
            let Some(entry) = self.entries.get_mut(&id) else {
                if origin == RequestOrigin::ThisNode {
                    for_other_nodes.push(NodeMessage::PollNow { integration: id });
                }
                continue;
            };
            if entry.is_running {
                entry.poll_again = true;
            } else {
                entry.next_at = now;
                self.due.push(Reverse((now, id)));
            }
        }
        app.store.notify_nodes(for_other_nodes);
    }

    pub fn start_due(&mut self, app: &Arc<App>) {
        let now = Instant::now();
        while let Some(Reverse((at, id))) = self.due.peek().copied() {
            if at > now {
                return;
            }
            self.due.pop();
            let Some(entry) = self
                .entries
                .get_mut(&id)
                .filter(|entry| !entry.is_running && entry.next_at <= at)
            else {
                continue;
            };
            let provider = entry.connected.integration.provider;
            let slots = self
                .slots
                .entry(provider)
                .or_insert_with(|| FairSlots::new(SLOTS));
            self.running.spawn(entry.start(app, slots).run());
        }
    }

    /// Plans the next round; after a failure the pause is longer.
    pub fn finish(&mut self, app: &Arc<App>, round: RoundResult) {
        let Some(entry) = self.entries.get_mut(&round.integration) else {
            return;
        };
        entry.finish(app, &round);
        let jitter = jitter(round.integration, app.now().as_millis());
        entry.next_at = Instant::now();
        if !std::mem::take(&mut entry.poll_again) {
            entry.next_at += entry.pause().mul_f64(1.0 + 0.1 * jitter);
        }
        self.due.push(Reverse((entry.next_at, round.integration)));
    }
}

impl PolledIntegration {
    fn start(&mut self, app: &Arc<App>, slots: &Arc<FairSlots>) -> PollRound {
        self.is_running = true;
        let is_failing = self.failures > 0;
        let mut contact = self.contact.clone();
        contact.share = Some(Share {
            slots: Arc::clone(slots),
            account: self.connected.integration.account_id,
            is_failing,
            request_deadline: if is_failing {
                DEADLINE_AFTER_FAILURE
            } else {
                REQUEST_DEADLINE
            },
        });
        PollRound {
            app: Arc::clone(app),
            connected: Arc::clone(&self.connected),
            contact,
            style: self.style,
            is_enlisted: self.is_enlisted,
            progress: self.progress,
        }
    }

    fn finish(&mut self, app: &Arc<App>, round: &RoundResult) {
        self.is_running = false;
        self.is_enlisted = round.is_enlisted;
        match &round.progress {
            Ok(progress) => {
                let is_behind = self.style == PollStyle::Changes && progress.until.plus(OVERLAP) < app.now();
                self.poll_again |= is_behind;
                self.progress = Some(*progress);
                self.is_saved = self.style != PollStyle::Changes;
                self.failures = 0;
                if std::mem::take(&mut self.ends_trouble) {
                    storage::end_trouble(app, &self.connected, round.began_at);
                }
            }
            Err(trouble) => {
                self.failures = self.failures.saturating_add(1);
                self.ends_trouble = true;
                let since_saved = self.failure_saved_at.map(|at| at.elapsed());
                if is_worth_saving(self.failures, since_saved) {
                    self.failure_saved_at = Some(Instant::now());
                    storage::note_error(app, &self.connected, trouble);
                }
            }
        }
    }

    fn pause(&self) -> Duration {
        pause_after(self.failures, self.every)
    }
}

/// A platform that is down stays down for a while: failures in quick succession are not all saved.
fn is_worth_saving(failures: u32, since_saved: Option<Duration>) -> bool {
    failures.is_power_of_two() || since_saved.is_none_or(|passed| passed >= SAVE_FAILURE_AFTER)
}

fn pause_after(failures: u32, every: Duration) -> Duration {
    match failures {
        0 => every,
        n => (every * 2u32.saturating_pow(n.min(6))).clamp(every, LONGEST_PAUSE.max(every)),
    }
}

/// Does its row show a trouble that no failed poll has renewed? It is that of a call, or its end could not be saved.
fn has_old_trouble(integration: &Integration, now: Timestamp) -> bool {
    let at = integration.health.trouble_at;
    at.is_some_and(|at| at > now || at <= now.minus(FORGOTTEN_AFTER))
}

/// A number from 0 to 1 that differs by integration and round.
fn jitter(id: IntegrationId, round: i64) -> f64 {
    let mixed = (id.0.as_u128() as u64 ^ round.unsigned_abs()).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    f64::from((mixed >> 40) as u32) / f64::from(1 << 24)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::platform_trouble::STALE_AFTER;

    #[test]
    fn saved_failures_of_a_long_outage_are_never_stale() {
        for seconds in [1, 15, 60, 120, 3_600] {
            let every = Duration::from_secs(seconds);
            let (mut passed, mut saved_at, mut count) = (Duration::ZERO, None, 0);
            for failures in 1..=500 {
                let since_saved = saved_at.map(|at| passed - at);
                if is_worth_saving(failures, since_saved) {
                    // The longest pause has jitter, and a round may take as long as it may.
                    let longest = since_saved.unwrap_or_default().mul_f64(1.1);
                    assert!(longest + Duration::from_secs(600) < STALE_AFTER, "{seconds} s");
                    saved_at = Some(passed);
                    count += 1;
                }
                passed += pause_after(failures, every);
            }
            assert!(count > 10, "{seconds} s: {count}");
        }
    }
}
