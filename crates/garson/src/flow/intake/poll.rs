//! Platforms are asked for orders: the way in for those that do not push, and the safety net for those that do.
//!
//! Each integration has a post: when it is asked next, and up to when everything has been seen. A node holds the posts
//! that no other living node holds. An order that comes by push and by poll is one order.

mod round;

use self::round::{Ask, OVERLAP, Round, Seen};
use crate::app::App;
use crate::fair_slots::{FairSlots, SlotLimits};
use crate::flow::Fault;
use crate::flow::admin::branches;
use crate::flow::platform_client::{Contact, Share};
use crate::net::Log;
use crate::telemetry::CallOutcome;
use garson_core::id::{AccountId, IntegrationId, NodeId};
use garson_core::platform::{PollStyle, Provider, Trouble};
use garson_core::time::Timestamp;
use garson_store::engine::Word;
use garson_store::tables::integrations;
use garson_store::tables::integrations::{Connected, Polled, Unreadable};
use garson_store::{Lane, Tx};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// How often the posts are looked up.
const LOOK_UP: Duration = Duration::from_secs(20);
/// After a change they are looked up earlier, but not more often than that.
const LOOK_UP_AGAIN: Duration = Duration::from_millis(500);
/// Requests to one platform at the same time: in all, of one account, and of integrations whose last round has failed. Slots
/// are held by requests, not by rounds: nobody holds one while waiting for a rate limit of its own.
const SLOTS: SlotLimits = SlotLimits {
    total: 64,
    per_account: 16,
    failing: 32,
};
/// How long a request may take, and one after a failure: what hangs once hangs again.
const REQUEST_DEADLINE: Duration = Duration::from_secs(30);
const DEADLINE_AFTER_FAILURE: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// Posts whose progress is written down in one transaction.
const CHUNK: usize = 200;

/// Posts that should be asked before their time, and word that the posts have changed.
#[derive(Default)]
pub struct Hurry {
    wanted: Mutex<HashMap<IntegrationId, HeardFrom>>,
    changed: Mutex<bool>,
    wake: Notify,
    posts: AtomicUsize,
}

/// Who has noticed that an integration should be polled before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeardFrom {
    /// This node: if another one polls the integration, that must be notified.
    ThisNode,
    /// Another node, which has notified all others already.
    OtherNode,
}

impl Hurry {
    /// Something has happened on the platform of this integration.
    pub fn up(&self, integration: IntegrationId) {
        self.want(integration, HeardFrom::ThisNode);
    }

    /// The same, as another node has noticed.
    pub fn up_from_another_node(&self, integration: IntegrationId) {
        self.want(integration, HeardFrom::OtherNode);
    }

    fn want(&self, integration: IntegrationId, from: HeardFrom) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let known = wanted.entry(integration).or_insert(from);
        if from == HeardFrom::ThisNode {
            *known = from;
        }
        drop(wanted);
        self.wake.notify_one();
    }

    /// An integration was switched, connected or changed.
    pub fn posts_changed(&self) {
        *self.changed.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.wake.notify_one();
    }

    /// How many integrations this node asks for.
    #[must_use]
    pub fn posts(&self) -> usize {
        self.posts.load(Ordering::Relaxed)
    }

    fn take(&self) -> HashMap<IntegrationId, HeardFrom> {
        std::mem::take(&mut self.wanted.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn take_changed(&self) -> bool {
        std::mem::take(&mut self.changed.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// An integration that is asked for orders.
struct Post {
    connected: Arc<Connected>,
    contact: Contact,
    every: Duration,
    style: PollStyle,
    next_at: Instant,
    is_busy: bool,
    /// Asked for again while it was being asked.
    again: bool,
    /// The platform knows that orders may come to us.
    is_enlisted: bool,
    seen: Option<Seen>,
    is_noted: bool,
    failures: u32,
}

/// Asks platforms until the service ends.
pub async fn run(app: Arc<App>) {
    let mut board = Board::default();
    let mut look_up_at = Instant::now();
    let mut looked_up_at = look_up_at;
    loop {
        if app.hurry.take_changed() {
            // Soon, but not for every one of a chain's restaurants anew.
            look_up_at = look_up_at.min(looked_up_at + LOOK_UP_AGAIN);
        }
        if Instant::now() >= look_up_at {
            // An error is logged where it happens.
            app.workers.note_turn(&board.look_up(&app).await);
            looked_up_at = Instant::now();
            look_up_at = looked_up_at + LOOK_UP;
        }
        board.hasten(&app, app.hurry.take());
        board.start_due(&app);
        let next = board.next_at().map_or(look_up_at, |at| at.min(look_up_at));
        tokio::select! {
            Some(ended) = board.running.join_next(), if !board.running.is_empty() => match ended {
                Ok(round) => board.note(&app, round),
                Err(error) => tracing::error!(%error, "asking a platform for orders was cut off"),
            },
            () = app.hurry.wake.notified() => {}
            () = tokio::time::sleep_until(next) => {}
        }
    }
}

/// Asks every platform once, now, and waits for the answers; for tests.
pub async fn step(app: &Arc<App>) -> Result<(), Fault> {
    let mut board = Board::default();
    board.look_up(app).await?;
    let all = board.posts.keys().map(|id| (*id, HeardFrom::OtherNode)).collect();
    board.hasten(app, all);
    board.start_due(app);
    while let Some(ended) = board.running.join_next().await {
        if let Ok(round) = ended {
            board.note(app, round);
        }
    }
    Ok(())
}

#[derive(Default)]
struct Board {
    posts: HashMap<IntegrationId, Post>,
    /// When posts are due; one that has been moved leaves an entry behind that means nothing.
    due: BinaryHeap<Reverse<(Instant, IntegrationId)>>,
    running: JoinSet<Round>,
    slots: HashMap<Provider, Arc<FairSlots>>,
    /// Integrations that cannot be read, which has been noted with them.
    unreadable: HashSet<IntegrationId>,
}

impl Board {
    /// Takes the posts that no other node holds, keeps those that are held, and drops those that are gone. What goes wrong
    /// with one platform leaves the others' posts as they should be, and its own as they were; the last error is returned.
    async fn look_up(&mut self, app: &Arc<App>) -> Result<(), Fault> {
        let mut outcome = self.save(app).await;
        if let Err(fault) = &outcome {
            tracing::error!(?fault, "how far platforms were polled could not be written down");
        }
        let Some(node) = app.store.desk().node() else {
            return outcome;
        };
        let (mut held, mut unreadable) = (HashSet::new(), HashSet::new());
        for platform in garson_platforms::all() {
            let provider = platform.provider();
            let (Some(polling), Some(every)) =
                (platform.capability().polling, app.terms(provider).poll_every)
            else {
                continue;
            };
            let found = match claim(app, provider, node).await {
                Ok(found) => found,
                Err(fault) => {
                    tracing::error!(?fault, %provider, "integrations cannot be looked up for polling");
                    let of_platform = |(id, post): (&IntegrationId, &Post)| {
                        (post.connected.integration.provider == provider).then_some(*id)
                    };
                    held.extend(self.posts.iter().filter_map(of_platform));
                    unreadable.extend(self.unreadable.iter().copied());
                    outcome = Err(fault);
                    continue;
                }
            };
            for polled in found {
                match polled {
                    Ok(polled) if !branches::may_ask(*platform, &polled.connected) => {}
                    Ok(polled) => {
                        held.insert(polled.connected.integration.id);
                        self.hold(app, polled, every, polling.style);
                    }
                    Err(row) => {
                        unreadable.insert(row.id);
                        if !self.unreadable.contains(&row.id) {
                            note_unreadable(app, provider, row);
                        }
                    }
                }
            }
        }
        self.unreadable = unreadable;
        self.posts.retain(|id, post| post.is_busy || held.contains(id));
        app.hurry.posts.store(held.len(), Ordering::Relaxed);
        outcome
    }

    fn hold(&mut self, app: &App, polled: Polled, every: Duration, style: PollStyle) {
        let Polled { connected, polled_at } = polled;
        let id = connected.integration.id;
        let Some(mut contact) = app.contact(&connected) else {
            return;
        };
        contact.log = Log::Failures;
        match self.posts.get_mut(&id) {
            Some(post) => {
                if post.connected.integration.updated_at != connected.integration.updated_at {
                    post.is_enlisted = false;
                }
                post.contact = contact;
                post.connected = Arc::new(connected);
            }
            None => {
                // The first round of many integrations is spread over their time, as all later ones are.
                let next_at = Instant::now() + every.min(Duration::from_secs(5)).mul_f64(fraction(id, 0));
                self.due.push(Reverse((next_at, id)));
                let post = Post {
                    connected: Arc::new(connected),
                    contact,
                    every,
                    style,
                    next_at,
                    is_busy: false,
                    again: false,
                    is_enlisted: false,
                    seen: polled_at.map(Seen::before_now),
                    is_noted: true,
                    failures: 0,
                };
                self.posts.insert(id, post);
            }
        }
    }

    /// Writes down up to when everything has been seen, for all posts at once.
    async fn save(&mut self, app: &Arc<App>) -> Result<(), Fault> {
        let seen: Vec<(IntegrationId, Timestamp)> = self
            .posts
            .iter_mut()
            .filter_map(|(id, post)| {
                let is_noted = std::mem::replace(&mut post.is_noted, true);
                Some((*id, post.seen.filter(|_| !is_noted)?.until))
            })
            .collect();
        for (number, chunk) in seen.chunks(CHUNK).enumerate() {
            let noted = chunk.to_vec();
            let write = move |tx: &mut Tx<'_>| integrations::record_polled(tx, &noted);
            if let Err(error) = app.store.write(Lane::COMMON, write).await {
                for (id, _) in seen.iter().skip(number * CHUNK) {
                    if let Some(post) = self.posts.get_mut(id) {
                        post.is_noted = false;
                    }
                }
                return Err(error.into());
            }
        }
        Ok(())
    }

    fn hasten(&mut self, app: &App, wanted: HashMap<IntegrationId, HeardFrom>) {
        let now = Instant::now();
        let mut of_other_nodes = Vec::new();
        for (id, from) in wanted {
            let Some(post) = self.posts.get_mut(&id) else {
                if from == HeardFrom::ThisNode {
                    of_other_nodes.push(Word::Poll { integration: id });
                }
                continue;
            };
            match post.is_busy {
                true => post.again = true,
                false => {
                    post.next_at = now;
                    self.due.push(Reverse((now, id)));
                }
            }
        }
        app.store.notify_nodes(of_other_nodes);
    }

    fn next_at(&self) -> Option<Instant> {
        self.due.peek().map(|Reverse((at, _))| *at)
    }

    fn start_due(&mut self, app: &Arc<App>) {
        let now = Instant::now();
        while let Some(Reverse((at, id))) = self.due.peek().copied() {
            if at > now {
                return;
            }
            self.due.pop();
            let Some(post) = self
                .posts
                .get_mut(&id)
                .filter(|post| !post.is_busy && post.next_at <= at)
            else {
                continue;
            };
            post.is_busy = true;
            let provider = post.connected.integration.provider;
            let slots = self
                .slots
                .entry(provider)
                .or_insert_with(|| FairSlots::new(SLOTS));
            let is_failing = post.failures > 0;
            let mut contact = post.contact.clone();
            contact.share = Some(Share {
                slots: Arc::clone(slots),
                account: post.connected.integration.account_id,
                is_failing,
                request_deadline: match is_failing {
                    true => DEADLINE_AFTER_FAILURE,
                    false => REQUEST_DEADLINE,
                },
            });
            let ask = Ask {
                app: Arc::clone(app),
                connected: Arc::clone(&post.connected),
                contact,
                style: post.style,
                is_enlisted: post.is_enlisted,
                seen: post.seen,
            };
            self.running.spawn(ask.ask_safely());
        }
    }

    /// Plans the next round; one that failed waits longer.
    fn note(&mut self, app: &Arc<App>, round: Round) {
        let Some(post) = self.posts.get_mut(&round.id) else {
            return;
        };
        post.is_busy = false;
        post.is_enlisted = round.is_enlisted;
        match round.seen {
            Ok(seen) => {
                let is_behind = post.style == PollStyle::Changes && seen.until.plus(OVERLAP) < app.now();
                post.again |= is_behind;
                post.seen = Some(seen);
                post.is_noted = post.style != PollStyle::Changes;
                post.failures = 0;
            }
            Err(trouble) => {
                post.failures = post.failures.saturating_add(1);
                // The first failure is noted, and then one now and again: a platform that is away stays away a while.
                if post.failures.is_power_of_two() {
                    note_error(app, &post.connected, &trouble);
                }
            }
        }
        let pause = match post.failures {
            0 => post.every,
            n => {
                (post.every * 2u32.saturating_pow(n.min(6))).clamp(post.every, LONGEST_PAUSE.max(post.every))
            }
        };
        let jitter = pause.mul_f64(0.1 * fraction(round.id, app.now().as_millis()));
        post.next_at = match std::mem::take(&mut post.again) {
            true => Instant::now(),
            false => Instant::now() + pause + jitter,
        };
        self.due.push(Reverse((post.next_at, round.id)));
    }
}

/// A number from 0 to 1 that differs from post to post, and from round to round.
fn fraction(id: IntegrationId, round: i64) -> f64 {
    let mixed = (id.0.as_u128() as u64 ^ round.unsigned_abs()).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    f64::from((mixed >> 40) as u32) / f64::from(1 << 24)
}

fn note_error(app: &Arc<App>, connected: &Connected, trouble: &Trouble) {
    let (id, account) = (connected.integration.id, connected.integration.account_id);
    // What the platform said may name a customer, or repeat a secret: it is shown with the integration, not in the log.
    let outcome = CallOutcome::from(trouble).as_str();
    tracing::warn!(provider = %connected.integration.provider, integration = %id, outcome, "a platform could not be asked for orders");
    write_trouble(app, id, account, trouble.to_string());
}

fn write_trouble(app: &Arc<App>, id: IntegrationId, account: AccountId, message: String) {
    let (app, now) = (Arc::clone(app), app.now());
    tokio::spawn(async move {
        let write = move |tx: &mut Tx<'_>| integrations::record_trouble(tx, id, &message, now);
        if let Err(error) = app.store.write(account, write).await {
            tracing::error!(%error, "an integration's error could not be noted");
        }
    });
}

/// The integrations of a platform that this node polls, those included that were free. The only writer of SQLite is asked
/// only when there is something to claim, and credentials are opened by a reader.
async fn claim(
    app: &Arc<App>,
    provider: Provider,
    node: NodeId,
) -> Result<Vec<Result<Polled, Unreadable>>, Fault> {
    if app
        .store
        .read(move |tx| integrations::has_unclaimed(tx, provider))
        .await?
    {
        let claim = move |tx: &mut Tx<'_>| integrations::claim_polling(tx, provider, node);
        app.store.write(Lane::COMMON, claim).await?;
    }
    let vault = Arc::clone(&app.vault);
    let polled = move |tx: &mut Tx<'_>| integrations::polled_by(tx, &vault, provider, node);
    Ok(app.store.read(polled).await?)
}

fn note_unreadable(app: &Arc<App>, provider: Provider, row: Unreadable) {
    let Unreadable {
        id,
        account_id,
        error,
    } = row;
    tracing::error!(%provider, integration = %id, %error, "an integration cannot be read, and is not polled");
    let message = "Its stored credentials cannot be read; connect it again.".to_owned();
    write_trouble(app, id, account_id, message);
}
