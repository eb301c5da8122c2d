//! An account's events as they come, for those who wait: long polls, streams and live boards.
//!
//! Whoever waits reads from its own place onwards, and only when it has handed on what it read before: nothing is
//! queued for it, nothing is skipped and nothing comes twice. It is woken by commits of this process; what another node
//! or a command has committed is noticed by looking, once a second, for all that are watched together.

use crate::app::App;
use crate::app::presence::{Connected, WatcherIdentity};
use crate::flow::Fault;
use garson_core::id::{AccountId, EventId, KeyId};
use garson_core::permission::RestaurantScope;
use garson_core::presence::PresenceKind;
use garson_core::time::Timestamp;
use garson_store::lists;
use garson_store::lists::events::FeedEvent;
use garson_store::lists::feed::{Direction, Page, PageRequest};
use garson_store::tables::accounts::EventRange;
use garson_store::tables::events;
use garson_store::tables::events::StoredEvent;
use garson_store::tables::sessions;
use garson_store::tables::sessions::SessionHash;
use garson_store::tables::{account_states, accounts, keys, users};
use garson_store::{Tx, Watcher, WatcherKind};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

/// Programs that may wait for one account's events at the same time.
pub const MAX_OF_ACCOUNT: usize = 100;
/// Boards that may be open in one account's browsers at the same time.
pub const MAX_BOARDS: usize = 500;
/// How often others' commits are looked for.
const LOOK: Duration = Duration::from_secs(1);
/// A stream that has nothing to say says so after this time.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Events that are read at a time.
const PAGE: usize = 50;

/// Looks for what others have committed, as long as somebody waits.
pub async fn run(app: Arc<App>) {
    loop {
        sleep(LOOK).await;
        let account_watch = app.store.account_watch();
        let watched = account_watch.watched_accounts();
        if watched.is_empty() {
            continue;
        }
        let looked = app
            .store
            .read(move |tx| accounts::last_positions(tx, &watched))
            .await;
        app.workers.note_turn(&looked);
        match looked {
            Ok(places) => account_watch.notify_newer(&places),
            Err(error) => tracing::warn!(%error, "no look at what others have committed"),
        }
    }
}

fn watch(app: &App, account: AccountId, crowd: WatcherKind) -> Result<Watcher, Fault> {
    let most = app.settings.server.max_streams;
    let most_of_account = match crowd {
        WatcherKind::Programs => MAX_OF_ACCOUNT,
        WatcherKind::People => MAX_BOARDS,
        WatcherKind::Workers => usize::MAX,
    };
    let watch = app
        .store
        .account_watch()
        .watch(account, crowd, most_of_account, most);
    watch.ok_or(Fault::TooManyStreams)
}

/// With what somebody follows an account; when it is worth nothing any more, following ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// A program's key, and what the program is.
    Key(KeyId, PresenceKind),
    Session(SessionHash),
}

impl Pass {
    fn crowd(self) -> WatcherKind {
        match self {
            Self::Key(..) => WatcherKind::Programs,
            Self::Session(_) => WatcherKind::People,
        }
    }

    fn is_valid(self, tx: &mut Tx<'_>, account: AccountId, now: Timestamp) -> Result<bool, Fault> {
        if !account_states::is_active(tx, account)? {
            return Ok(false);
        }
        Ok(match self {
            Self::Key(key, _) => keys::is_valid(tx, key, now)?,
            Self::Session(hash) => match sessions::find(tx, &hash, now)? {
                Some(session) if accounts::requires_two_factor(tx, account)? => {
                    users::by_id(tx, session.user_id)?.is_some_and(|user| user.has_two_factor)
                }
                found => found.is_some(),
            },
        })
    }
}

/// Waits until the service is asked to stop.
async fn stopped(app: &App) {
    // It is never closed: the service holds its sender.
    drop(app.stopping.subscribe().wait_for(|stopping| *stopping).await);
}

/// A page of events.
pub async fn list_events(
    app: &App,
    account: AccountId,
    scope: &RestaurantScope,
    request: PageRequest,
) -> Result<Page<StoredEvent>, Fault> {
    let mut found = app
        .store
        .read(move |tx| {
            let span = accounts::event_range(tx, account)?;
            page(tx, account, span, request)
        })
        .await?;
    // The page may have fewer events than it could; its cursors are right.
    found.items.retain(|event| scope.has(event.restaurant_id));
    Ok(found)
}

/// A page, unless what would come next towards newer ones is no longer kept: nothing is skipped without a word.
fn page(
    tx: &mut Tx<'_>,
    account: AccountId,
    span: EventRange,
    request: PageRequest,
) -> Result<Page<StoredEvent>, Fault> {
    let is_gone = |cursor| span.has_gap_after(cursor);
    if request.direction == Direction::Newer && request.cursor.is_some_and(is_gone) {
        return Err(Fault::ForgottenPlace { given: "cursor" });
    }
    let mut page = lists::events::of_account(tx, account, None, request)?;
    // From an empty list as well, a client can come back for what has come since.
    page.prev = page.prev.max(Some(span.removed_up_to));
    Ok(page)
}

/// A page of events of these restaurants; when there is nothing on it, it is waited for.
pub async fn wait_for_events(
    app: &App,
    account: AccountId,
    scope: &RestaurantScope,
    (key, kind): (KeyId, PresenceKind),
    mut request: PageRequest,
    patience: Duration,
) -> Result<Page<StoredEvent>, Fault> {
    let deadline = Instant::now() + patience;
    let mut watch = watch(app, account, WatcherKind::Programs)?;
    let identity = WatcherIdentity::Key(key);
    let _presence = app.presence.connect(account, kind, identity, None, app.now());
    loop {
        watch.mark_seen();
        let now = app.now();
        let mut page = app
            .store
            .read(move |tx| {
                if !keys::is_valid(tx, key, now)? {
                    return Err(Fault::KeyRevoked);
                }
                if !account_states::is_active(tx, account)? {
                    return Err(Fault::AccountDisabled);
                }
                let span = accounts::event_range(tx, account)?;
                if request.cursor > Some(span.last) {
                    return Err(Fault::UnknownPlace { given: "cursor" });
                }
                page(tx, account, span, request)
            })
            .await?;
        let was_empty = page.items.is_empty();
        page.items.retain(|event| scope.has(event.restaurant_id));
        if !page.items.is_empty() {
            return Ok(page);
        }
        if !was_empty {
            // Only events of other restaurants: go on behind them.
            request.cursor = page.prev;
            if Instant::now() < deadline {
                continue;
            }
            return Ok(page);
        }
        tokio::select! {
            () = watch.changed() => {}
            () = sleep_until(deadline) => return Ok(page),
            () = stopped(app) => return Ok(page),
        }
    }
}

/// Where a stream begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    Now,
    /// After a place, as a cursor or an earlier stream gave it.
    After {
        place: i64,
        given: &'static str,
    },
    /// After an event.
    AfterEvent {
        id: EventId,
        given: &'static str,
    },
}

/// What comes next in a stream.
pub enum Next {
    Events(Vec<FeedEvent>),
    /// Nothing for a while.
    Nothing,
    /// The service stops, the key was revoked, the session was ended, or what comes next is no longer kept.
    End,
}

/// Somebody who follows an account's events.
pub struct Follower {
    app: Arc<App>,
    account: AccountId,
    pass: Pass,
    place: i64,
    watch: Watcher,
    /// A program's stream is present while it is followed; a board registers itself.
    _presence: Option<Connected>,
}

impl Follower {
    /// Begins to follow an account.
    pub async fn start(app: Arc<App>, account: AccountId, pass: Pass, start: Start) -> Result<Self, Fault> {
        let watch = watch(&app, account, pass.crowd())?;
        let find = move |tx: &mut Tx<'_>| {
            let span = accounts::event_range(tx, account)?;
            match start {
                Start::Now => Ok(span.last),
                Start::After { place, given } if (0..span.removed_up_to).contains(&place) => {
                    Err(Fault::ForgottenPlace { given })
                }
                // A place that was never reached was never given out, or by a database that was set back since:
                // whoever goes on from there would miss what comes before it.
                Start::After { place, .. } if (0..=span.last).contains(&place) => Ok(place),
                Start::After { given, .. } => Err(Fault::UnknownPlace { given }),
                Start::AfterEvent { id, given } => {
                    events::position(tx, account, id)?.ok_or(Fault::UnknownPlace { given })
                }
            }
        };
        let place = app.store.read(find).await?;
        let presence = match pass {
            Pass::Key(key, kind) => {
                let identity = WatcherIdentity::Key(key);
                Some(app.presence.connect(account, kind, identity, None, app.now()))
            }
            Pass::Session(_) => None,
        };
        Ok(Self {
            app,
            account,
            pass,
            place,
            watch,
            _presence: presence,
        })
    }

    /// Up to where it has read.
    #[must_use]
    pub fn place(&self) -> i64 {
        self.place
    }

    /// Waits for what comes next.
    pub async fn next(&mut self) -> Next {
        self.next_within(HEARTBEAT).await
    }

    /// Waits for what comes next, but no longer than that.
    pub async fn next_within(&mut self, patience: Duration) -> Next {
        self.wait(patience, false).await
    }

    /// The same, but it also returns, with nothing, when the account has changed without an event.
    pub async fn next_change_within(&mut self, patience: Duration) -> Next {
        self.wait(patience, true).await
    }

    async fn wait(&mut self, patience: Duration, returns_on_change: bool) -> Next {
        let quiet_until = Instant::now() + patience;
        // What was committed since the last read counts, although it is marked as seen below.
        let mut has_changed = self.watch.has_changed();
        loop {
            if *self.app.stopping.borrow() {
                return Next::End;
            }
            self.watch.mark_seen();
            let mut look_again = quiet_until;
            match self.read().await {
                Ok(Some(events)) => {
                    if let Some(newest) = events.last() {
                        self.place = newest.position;
                        return Next::Events(events);
                    }
                    if has_changed && returns_on_change {
                        return Next::Nothing;
                    }
                }
                Ok(None) => return Next::End,
                // The stream stays: its client can do no more than to come back and wait as well.
                Err(Fault::Store(error)) if error.is_temporary() => {
                    tracing::debug!(%error, "a stream could not read");
                    look_again = quiet_until.min(Instant::now() + LOOK);
                }
                Err(error) => {
                    tracing::error!(?error, "a stream could not read");
                    return Next::End;
                }
            }
            tokio::select! {
                () = self.watch.changed() => has_changed = true,
                () = sleep_until(look_again) => {}
                () = stopped(&self.app) => return Next::End,
            }
            if Instant::now() >= quiet_until {
                return Next::Nothing;
            }
        }
    }

    /// The next events, perhaps none; `None` when the pass is worth nothing any more, or events that were not read yet are not.
    async fn read(&self) -> Result<Option<Vec<FeedEvent>>, Fault> {
        let (clock, account, pass, place) =
            (Arc::clone(&self.app.clock), self.account, self.pass, self.place);
        let read = move |tx: &mut Tx<'_>| {
            let events = lists::events::after(tx, account, place, PAGE)?;
            // The time is taken after reading, so that an event which was stored after the pass had expired is not sent.
            let is_valid = pass.is_valid(tx, account, clock.now())?;
            // Its client comes back with the place that it has, and hears of it.
            if !is_valid || accounts::event_range(tx, account)?.has_gap_after(place) {
                return Ok(None);
            }
            Ok(Some(events))
        };
        self.app.store.read(read).await
    }
}
