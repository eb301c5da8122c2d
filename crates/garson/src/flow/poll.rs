//! Platforms are asked for orders: the way in for those that do not push, and the safety net for those that do.
//!
//! Each integration has a post: when it is asked next, and up to when everything has been seen. A node holds the posts
//! that no other living node holds. An order that comes by push and by poll is one order.

use super::fetch::{Catch, catch};
use super::line::{Contact, enlist};
use super::{Fault, branches};
use crate::app::App;
use crate::net::Log;
use crate::telemetry::CallOutcome;
use garson_core::id::IntegrationId;
use garson_core::platform::{PollStyle, Provider, Trouble, Window};
use garson_core::time::Timestamp;
use garson_store::integrations::{self, Connected, Polled};
use garson_store::{Lane, Tx};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// How often the posts are looked up.
const LOOK_UP: Duration = Duration::from_secs(20);
/// After a change they are looked up earlier, but not more often than that.
const LOOK_UP_AGAIN: Duration = Duration::from_millis(500);
/// Windows overlap by that much: clocks differ, and lists lag behind.
const OVERLAP: Duration = Duration::from_secs(120);
/// How far back the first window of an integration reaches, and the longest one after a pause.
const FIRST_WINDOW: Duration = Duration::from_secs(10 * 60);
const LONGEST_WINDOW: Duration = Duration::from_secs(7 * 24 * 3600);
/// The most that is asked for at once.
const SLICE: Duration = Duration::from_secs(2 * 3600);
/// Posts of one platform that are asked at the same time.
const AT_ONCE: usize = 64;
const DEADLINE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// Posts that should be asked before their time, and word that the posts have changed.
#[derive(Default)]
pub struct Hurry {
    wanted: Mutex<HashSet<IntegrationId>>,
    changed: Mutex<bool>,
    wake: Notify,
    posts: AtomicUsize,
}

impl Hurry {
    /// Something has happened on the platform of this integration.
    pub fn up(&self, integration: IntegrationId) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        wanted.insert(integration);
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

    fn take(&self) -> HashSet<IntegrationId> {
        std::mem::take(&mut self.wanted.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn take_changed(&self) -> bool {
        std::mem::take(&mut self.changed.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// An integration that is asked for orders.
struct Post {
    connected: Arc<Connected>,
    contact: Arc<Contact>,
    every: Duration,
    style: PollStyle,
    next_at: Instant,
    is_busy: bool,
    /// Asked for again while it was being asked.
    again: bool,
    /// The platform knows that orders may come to us.
    is_enlisted: bool,
    seen_until: Option<Timestamp>,
    is_noted: bool,
    failures: u32,
}

/// What came of asking.
struct Round {
    id: IntegrationId,
    is_enlisted: bool,
    seen: Result<Timestamp, Trouble>,
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
            if let Err(fault) = board.look_up(&app).await {
                tracing::error!(?fault, "integrations cannot be looked up for polling");
            }
            looked_up_at = Instant::now();
            look_up_at = looked_up_at + LOOK_UP;
        }
        board.hasten(&app.hurry.take());
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
    let all: HashSet<IntegrationId> = board.posts.keys().copied().collect();
    board.hasten(&all);
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
    rooms: HashMap<Provider, Arc<Semaphore>>,
}

impl Board {
    /// Takes the posts that no other node holds, keeps those that are held, and drops those that are gone.
    async fn look_up(&mut self, app: &Arc<App>) -> Result<(), Fault> {
        self.save(app).await?;
        let Some(node) = app.store.desk().node() else {
            return Ok(());
        };
        let mut held = HashSet::new();
        for platform in garson_platforms::all() {
            let provider = platform.provider();
            let (Some(polling), Some(every)) =
                (platform.capability().polling, app.terms(provider).poll_every)
            else {
                continue;
            };
            let vault = Arc::clone(&app.vault);
            let claim = move |tx: &mut Tx<'_>| integrations::claim_polling(tx, &vault, provider, node);
            for polled in app.store.write(Lane::COMMON, claim).await? {
                if !branches::may_ask(*platform, &polled.connected) {
                    continue;
                }
                held.insert(polled.connected.integration.id);
                self.hold(app, polled, every, polling.style);
            }
        }
        self.posts.retain(|id, post| post.is_busy || held.contains(id));
        app.hurry.posts.store(held.len(), Ordering::Relaxed);
        Ok(())
    }

    fn hold(&mut self, app: &App, polled: Polled, every: Duration, style: PollStyle) {
        let Polled { connected, polled_at } = polled;
        let id = connected.integration.id;
        let Some(mut contact) = app.contact(&connected) else {
            return;
        };
        contact.log = Log::Failures;
        let contact = Arc::new(contact);
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
                    seen_until: polled_at,
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
                Some((*id, post.seen_until.filter(|_| !is_noted)?))
            })
            .collect();
        for chunk in seen.chunks(200) {
            let chunk = chunk.to_vec();
            app.store
                .write(Lane::COMMON, move |tx| integrations::note_polled(tx, &chunk))
                .await?;
        }
        Ok(())
    }

    fn hasten(&mut self, wanted: &HashSet<IntegrationId>) {
        let now = Instant::now();
        for id in wanted {
            let Some(post) = self.posts.get_mut(id) else {
                continue;
            };
            match post.is_busy {
                true => post.again = true,
                false => {
                    post.next_at = now;
                    self.due.push(Reverse((now, *id)));
                }
            }
        }
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
            let room = self
                .rooms
                .entry(provider)
                .or_insert_with(|| Arc::new(Semaphore::new(AT_ONCE)));
            let ask = Ask {
                app: Arc::clone(app),
                room: Arc::clone(room),
                connected: Arc::clone(&post.connected),
                contact: Arc::clone(&post.contact),
                style: post.style,
                is_enlisted: post.is_enlisted,
                seen_until: post.seen_until,
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
            Ok(at) => {
                let is_behind = post.style == PollStyle::Changes && at.plus(OVERLAP) < app.now();
                post.again |= is_behind;
                post.seen_until = Some(at);
                post.is_noted = post.style == PollStyle::Open;
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
    let (message, now) = (trouble.to_string(), app.now());
    // What the platform said may name a customer, or repeat a secret: it is shown with the integration, not in the log.
    let outcome = CallOutcome::from(trouble).as_str();
    tracing::warn!(provider = %connected.integration.provider, integration = %id, outcome, "a platform could not be asked for orders");
    let app = Arc::clone(app);
    tokio::spawn(async move {
        let write = move |tx: &mut Tx<'_>| integrations::note_trouble(tx, id, &message, now);
        if let Err(error) = app.store.write(account, write).await {
            tracing::error!(%error, "an integration's error could not be noted");
        }
    });
}

/// One round of asking.
struct Ask {
    app: Arc<App>,
    room: Arc<Semaphore>,
    connected: Arc<Connected>,
    contact: Arc<Contact>,
    style: PollStyle,
    is_enlisted: bool,
    seen_until: Option<Timestamp>,
}

impl Ask {
    /// A round that ends badly is a round that failed: its post must not be waited for for ever.
    async fn ask_safely(self) -> Round {
        let (id, is_enlisted) = (self.connected.integration.id, self.is_enlisted);
        match tokio::spawn(self.ask()).await {
            Ok(round) => round,
            Err(error) => Round {
                id,
                is_enlisted,
                seen: Err(Trouble::later(format!("asking ended badly: {error}"))),
            },
        }
    }

    async fn ask(self) -> Round {
        let _place = self.room.acquire().await;
        let until = Instant::now() + DEADLINE;
        let mut is_enlisted = self.is_enlisted;
        let seen = async {
            if !is_enlisted {
                match enlist(&self.app, &self.contact, until).await {
                    Ok(()) => is_enlisted = true,
                    // Orders may come all the same.
                    Err(trouble) => note_error(&self.app, &self.connected, &trouble),
                }
            }
            let window = self.window();
            let net = Catch {
                app: &self.app,
                connected: &self.connected,
                contact: &self.contact,
                style: self.style,
                window,
                until,
            };
            catch(&net).await?;
            if let Err(fault) = branches::note_success(&self.app, &self.connected, &self.contact).await {
                tracing::error!(?fault, "the owner of a branch could not be written down");
            }
            Ok(window.to)
        }
        .await;
        Round {
            id: self.connected.integration.id,
            is_enlisted,
            seen,
        }
    }

    fn window(&self) -> Window {
        let now = self.app.now();
        let from = match self.seen_until {
            Some(seen) => seen.minus(OVERLAP).max(now.minus(LONGEST_WINDOW)),
            None => now.minus(FIRST_WINDOW),
        }
        .min(now);
        // After a long pause one slice follows the other, each of a size that can be read.
        let to = match self.style {
            PollStyle::Changes => from.plus(SLICE).min(now),
            PollStyle::Open => now,
        };
        Window { from, to }
    }
}
