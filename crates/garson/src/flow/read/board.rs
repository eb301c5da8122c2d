//! The live board: the orders that somebody has to do something about, those that were done lately, and platforms that are
//! in trouble.

mod filter;

pub use filter::{Filter, Part};

use super::order_notices::Notices;
use super::period;
use crate::app::App;
use crate::app::attention::PlatformProblem;
use crate::app::presence::{Connected, WatcherIdentity};
use crate::flow::Fault;
use crate::flow::fault::Thing;
use crate::flow::order_actions::reasons;
use crate::flow::read::event_feed::{Follower, Next, Pass, Start};
use filter::{deadline, is_for_kitchen};
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, IntegrationId, OrderId};
use garson_core::integration::Integration;
use garson_core::order::{ProviderSync, Reason};
use garson_core::presence::PresenceKind;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::lists::board;
use garson_store::lists::board::{BoardOrder, Candidate};
use garson_store::tables::order_notices::Notice;
use garson_store::tables::sessions::SessionHash;
use garson_store::tables::{accounts, integrations, restaurants};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// So many of the newest orders are looked at, for open ones and for those that are done.
const LOOK_BACK: i64 = 500;
/// Where those are too few, older orders that are still open are looked for, up to this number.
const MAX_OPEN: i64 = 1000;
/// The same where they are looked for in one integration after the other, and how many integrations there are looked at.
const MAX_OPEN_OF_ALL: usize = 1000;
const MAX_INTEGRATIONS: i64 = 2000;
/// Cards that are shown at most: of open orders, and of those that are done.
const SHOWN_OPEN: usize = 300;
pub const SHOWN_DONE: usize = 12;
/// A platform counts as being in trouble for this time after its last error.
const TROUBLE: Duration = Duration::from_secs(3 * 60);
/// The same where the platform refuses the credentials: that does not pass by itself, and some platforms are called rarely.
const LOGIN_TROUBLE: Duration = Duration::from_secs(15 * 60);
/// Integrations that are looked at for troubles, and restaurants that are named for each platform.
const LOOKED_AT_TROUBLES: i64 = 500;
const SHOWN_TROUBLES: usize = 5;
/// How soon an order is looked at again whose platform is being told, first and at the longest.
const FIRST_LOOK: Duration = Duration::from_millis(500);
const LAST_LOOK: Duration = Duration::from_secs(15);

/// Changed orders that are read at a time.
const MAX_CHANGES: i64 = 200;
const MAX_CHANGES_READ: usize = 200;
/// At least this long lies between two looks of an open board, so that many boards of a busy account stay cheap.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// An order as the board shows it, with the reasons that are known without asking its platform.
pub struct Card {
    pub shown: BoardOrder,
    pub reasons: Vec<Reason>,
    /// Its platform is to be told something, and is in trouble.
    pub is_held_up: bool,
    /// What its staff has to acknowledge.
    pub notices: Vec<Notice>,
}

impl Card {
    /// The time by which the order has to be accepted, while it waits for that.
    #[must_use]
    pub fn deadline(&self) -> Option<Timestamp> {
        deadline(&self.shown)
    }

    /// Does the kitchen still have to prepare it?
    #[must_use]
    pub fn is_for_kitchen(&self) -> bool {
        is_for_kitchen(&self.shown)
    }
}

/// Every card of the board: those that have to be accepted by their deadlines, the others oldest first; those that are done
/// newest first.
pub struct Board {
    pub open: Vec<Card>,
    pub done: Vec<Card>,
    /// There are more open orders than are shown.
    pub has_more: bool,
    pub away: Vec<PlatformProblem>,
    /// Those that are on their way to their platforms.
    pub unsettled: BTreeSet<OrderId>,
    /// Those with notices.
    pub noticed: BTreeSet<OrderId>,
    /// Up to where the account's events are in it.
    pub place: i64,
}

fn card(app: &App, shown: BoardOrder, troubles: &Troubles, notices: &Notices) -> Card {
    Card {
        notices: notices.of(shown.order.id),
        reasons: reasons::known(app, &shown.order),
        is_held_up: troubles.hold_up(&shown),
        shown,
    }
}

/// Orders that have not come to an end, however old.
fn older_open(tx: &mut Tx<'_>, account: AccountId, filter: Filter) -> Result<Vec<Candidate>, Fault> {
    // Those that came through an integration which was removed since are among the newest, or not found.
    let integrations: Vec<Integration> = if let Some(restaurant) = filter.restaurant {
        integrations::of_restaurant(tx, restaurant)?
    } else {
        let found = board::open(tx, account, MAX_OPEN)?;
        if filter.provider.is_none() || found.len() < MAX_OPEN_OF_ALL {
            return Ok(found);
        }
        let all = integrations::list(tx, account, MAX_INTEGRATIONS)?;
        all.into_iter().map(|(_, it)| it).collect()
    };
    let mut found = Vec::new();
    let is_wanted = |it: &Integration| filter.provider.is_none_or(|provider| provider == it.provider);
    for it in integrations.into_iter().filter(is_wanted) {
        found.extend(board::open_of_integration(tx, account, it.id, MAX_OPEN)?);
        if found.len() >= MAX_OPEN_OF_ALL {
            break;
        }
    }
    Ok(found)
}

/// Adds those that have not come to an end, by their places.
fn add_open(open: &mut BTreeMap<i64, OrderId>, found: &[Candidate], filter: Filter) {
    let still_open = found
        .iter()
        .filter(|it| !it.status.is_over() && filter.has_candidate(it));
    open.extend(still_open.map(|it| (it.position, it.id)));
}

/// The board of an account, or a part of it.
pub async fn board(app: &App, account: AccountId, filter: Filter) -> Result<Board, Fault> {
    let now = app.now();
    let only = filter.restaurant;
    let (place, mut open, mut done, has_more, troubles, notices) = app
        .store
        .read(move |tx| {
            // First, so that what is committed meanwhile comes twice rather than never.
            let place = accounts::event_range(tx, account)?.last;
            period::scope(tx, account, only)?;
            let newest = board::newest(tx, account, only, LOOK_BACK)?;
            let notices = Notices::of_account(tx, account, now)?;
            let done = newest
                .iter()
                .filter(|it| it.status.is_over() && filter.has_candidate(it))
                .filter(|it| !notices.is_cancelled(it.id));
            let done: Vec<OrderId> = done.take(SHOWN_DONE).map(|it| it.id).collect();
            let mut open = BTreeMap::new();
            add_open(&mut open, &newest, filter);
            if open.len() <= SHOWN_OPEN {
                add_open(&mut open, &older_open(tx, account, filter)?, filter);
            }
            // Of too many, the newest: somebody waits for those.
            let shown: Vec<OrderId> = open.values().rev().take(SHOWN_OPEN).copied().collect();
            // Cancelled orders stay in their place until that is acknowledged.
            let mut cancelled = board::read(tx, account, &notices.cancelled())?;
            cancelled.retain(|it| filter.follows(it));
            let has_more = open.len() > shown.len();
            let mut open = board::read(tx, account, &shown)?;
            open.append(&mut cancelled);
            Ok::<_, Fault>((
                place,
                open,
                board::read(tx, account, &done)?,
                has_more,
                troubles(tx, account, filter, now)?,
                notices,
            ))
        })
        .await?;
    if filter.part == Part::Kitchen {
        open.retain(is_for_kitchen);
    }
    // Orders without a deadline come after those with one.
    open.sort_by_key(|it| {
        let deadline = deadline(it).map_or(i64::MAX, Timestamp::as_millis);
        (deadline, it.order.created_at, it.order.id)
    });
    done.sort_by_key(|it| std::cmp::Reverse((it.order.created_at, it.order.id)));
    let unsettled = open.iter().chain(&done).filter(|it| is_unsettled(it));
    Ok(Board {
        unsettled: unsettled.map(|it| it.order.id).collect(),
        noticed: notices.orders(),
        open: open
            .into_iter()
            .map(|it| card(app, it, &troubles, &notices))
            .collect(),
        done: done
            .into_iter()
            .map(|it| card(app, it, &troubles, &notices))
            .collect(),
        has_more,
        away: troubles.lines,
        place,
    })
}

/// Is the order on its way to its platform?
fn is_unsettled(it: &BoardOrder) -> bool {
    matches!(it.order.sync, ProviderSync::Pending { .. })
}

/// Has the platform of an integration been in trouble just now? An order that came since says that it is over.
#[must_use]
pub fn is_in_trouble(integration: &Integration, now: Timestamp) -> bool {
    let health = &integration.health;
    // One that a clock which was ahead has noted says nothing about what came since.
    let last_order_at = health.last_order_at.filter(|at| *at <= now);
    let is_refused = health
        .last_error
        .as_ref()
        .is_some_and(Explanation::is_access_refused);
    let is_late = |at| {
        let is_recent = if is_refused {
            // New credentials are not refused yet.
            at > now.minus(LOGIN_TROUBLE) && at >= integration.updated_at
        } else {
            at > now.minus(TROUBLE)
        };
        is_recent && Some(at) >= last_order_at
    };
    integration.is_active && health.trouble_at.is_some_and(is_late)
}

/// What is in trouble: one line for each platform, whose newest error stands for all.
struct Troubles {
    lines: Vec<PlatformProblem>,
    integrations: BTreeSet<IntegrationId>,
}

impl Troubles {
    fn hold_up(&self, it: &BoardOrder) -> bool {
        is_unsettled(it) && self.integrations.contains(&it.order.integration_id)
    }
}

fn troubles(tx: &mut Tx<'_>, account: AccountId, filter: Filter, now: Timestamp) -> Result<Troubles, Fault> {
    let mut troubled = integrations::in_trouble(tx, account, now.minus(LOGIN_TROUBLE), LOOKED_AT_TROUBLES)?;
    troubled.retain(|it| {
        is_in_trouble(it, now)
            && filter.restaurant.is_none_or(|id| id == it.restaurant_id)
            && filter.provider.is_none_or(|provider| provider == it.provider)
    });
    let integrations = troubled.iter().map(|it| it.id).collect();
    let mut lines: Vec<PlatformProblem> = Vec::new();
    for it in troubled {
        match lines.iter_mut().find(|line| line.provider == it.provider) {
            Some(line) if line.restaurants.len() < SHOWN_TROUBLES => {
                line.restaurants.insert(restaurants::name(tx, it.restaurant_id)?);
            }
            Some(_) => {}
            None => lines.push(PlatformProblem {
                provider: it.provider,
                restaurants: BTreeSet::from([restaurants::name(tx, it.restaurant_id)?]),
                message: it.health.last_error.unwrap_or_default(),
                at: it.health.trouble_at.unwrap_or(now),
            }),
        }
    }
    lines.sort_by_key(|line| line.provider);
    Ok(Troubles { lines, integrations })
}

/// The platforms in trouble, for all restaurants of an account.
pub fn platform_problems(
    tx: &mut Tx<'_>,
    account: AccountId,
    now: Timestamp,
) -> Result<Vec<PlatformProblem>, Fault> {
    Ok(troubles(tx, account, Filter::default(), now)?.lines)
}

/// The card of one order.
pub async fn one(app: &App, account: AccountId, id: OrderId) -> Result<Card, Fault> {
    let now = app.now();
    let (found, troubles, notices) = app
        .store
        .read(move |tx| {
            Ok::<_, Fault>((
                board::read(tx, account, &[id])?,
                troubles(tx, account, Filter::default(), now)?,
                Notices::of_order(tx, id, now)?,
            ))
        })
        .await?;
    let found = found
        .into_iter()
        .next()
        .ok_or_else(|| Fault::not_found(Thing::Order, id))?;
    Ok(card(app, found, &troubles, &notices))
}

/// What has changed on a board.
pub struct Changes {
    pub cards: Vec<Card>,
    /// The platforms in trouble, if they are others than before.
    pub away: Option<Vec<PlatformProblem>>,
}

/// What a browser shows when it begins to follow.
pub enum Shown {
    /// The page that was just made, on which these were on their way to their platforms.
    JustNow { unsettled: BTreeSet<OrderId> },
    /// What it has heard up to some time ago.
    LongAgo,
}

/// Whose board it is, and what is on it.
pub struct View {
    pub account: AccountId,
    pub filter: Filter,
    pub shown: Shown,
}

/// A board that is open in somebody's browser. It holds no cards: only where it has read up to in the account's events and
/// changes (that an order is ready is no event), and which orders are on their way to their platforms.
pub struct Live {
    app: Arc<App>,
    account: AccountId,
    filter: Filter,
    follower: Follower,
    /// The position of the last change that was read.
    changes_up_to: i64,
    /// There are more changes than were read.
    is_behind: bool,
    unsettled: BTreeSet<OrderId>,
    /// Those of them that the browser shows as held up.
    held_up: BTreeSet<OrderId>,
    /// What the browser is told with the first look, whatever has happened since.
    first: BTreeSet<OrderId>,
    /// The notices of orders, as the browser was told of them.
    notices: Notices,
    /// The platforms in trouble, as the browser was told of them.
    away: Option<Vec<PlatformProblem>>,
    pause: Duration,
    /// The earliest time of the next look.
    next_look: Instant,
    _presence: Connected,
}

impl Live {
    /// Goes on from a place of a board, for as long as the session lasts.
    pub async fn open(app: Arc<App>, session: SessionHash, view: View, start: Start) -> Result<Self, Fault> {
        let View {
            account,
            filter,
            shown,
        } = view;
        let follower = Follower::start(Arc::clone(&app), account, Pass::Session(session), start).await?;
        let identity = WatcherIdentity::Session(session);
        let presence = app.presence.connect(
            account,
            PresenceKind::Board,
            identity,
            filter.restaurant,
            app.now(),
        );
        let now = board(&app, account, filter).await?;
        let first = match shown {
            // What has settled since.
            Shown::JustNow { unsettled } => unsettled.difference(&now.unsettled).copied().collect(),
            Shown::LongAgo => {
                let cards = now.open.iter().chain(&now.done);
                cards.map(|card| card.shown.order.id).collect()
            }
        };
        let cards = now.open.iter().chain(&now.done);
        let held_up = cards.filter(|card| card.is_held_up);
        Ok(Self {
            app,
            account,
            filter,
            changes_up_to: follower.place(),
            is_behind: false,
            follower,
            held_up: held_up.map(|card| card.shown.order.id).collect(),
            unsettled: now.unsettled,
            first,
            notices: Notices::default(),
            away: None,
            pause: FIRST_LOOK,
            next_look: Instant::now(),
            _presence: presence,
        })
    }

    /// Up to where it has read.
    #[must_use]
    pub fn place(&self) -> i64 {
        self.follower.place()
    }

    /// Which of these are on their way to their platforms.
    fn note(&mut self, cards: &[Card]) {
        for Card {
            shown, is_held_up, ..
        } in cards
        {
            if is_unsettled(shown) {
                self.unsettled.insert(shown.order.id)
            } else {
                self.unsettled.remove(&shown.order.id)
            };
            if *is_held_up {
                self.held_up.insert(shown.order.id)
            } else {
                self.held_up.remove(&shown.order.id)
            };
        }
    }

    /// What has changed, after a while perhaps nothing; `None` when the session or the service ends, or the restaurant is gone.
    pub async fn next(&mut self) -> Result<Option<Changes>, Fault> {
        let pause = match (&self.away, self.unsettled.is_empty()) {
            (None, _) => Duration::ZERO,
            _ if self.is_behind => Duration::ZERO,
            (_, true) => LAST_LOOK,
            (_, false) => self.pause,
        };
        // What happens meanwhile is read with the next look, together.
        tokio::time::sleep_until(self.next_look).await;
        let mut told: BTreeSet<OrderId> = match self.follower.next_change_within(pause).await {
            Next::Events(events) => events.into_iter().filter_map(|event| event.order_id).collect(),
            Next::Nothing => BTreeSet::new(),
            Next::End => return Ok(None),
        };
        told.append(&mut self.first);
        self.next_look = Instant::now() + BETWEEN_LOOKS;
        let (account, filter, now) = (self.account, self.filter, self.app.now());
        let changes_up_to = self.changes_up_to;
        let (unsettled, shown_notices) = (self.unsettled.clone(), self.notices.clone());
        let (is_gone, changed, found, troubles, notices, told) = self
            .app
            .store
            .read(move |tx| {
                let notices = Notices::of_account(tx, account, now)?;
                let mut told = told.clone();
                told.extend(notices.difference(&shown_notices));
                let is_gone = match filter.restaurant {
                    Some(id) => !restaurants::exists(tx, account, id)?,
                    None => false,
                };
                let changed = board::changed_after(tx, account, changes_up_to, MAX_CHANGES)?;
                let mut ids: BTreeSet<OrderId> = changed.iter().map(|(_, id)| *id).collect();
                ids.extend(told.union(&unsettled));
                let ids: Vec<OrderId> = ids.into_iter().collect();
                Ok::<_, Fault>((
                    is_gone,
                    changed,
                    board::read(tx, account, &ids)?,
                    troubles(tx, account, filter, now)?,
                    notices,
                    told,
                ))
            })
            .await?;
        if is_gone {
            return Ok(None);
        }
        if let Some((newest, _)) = changed.last() {
            self.changes_up_to = *newest;
        }
        self.is_behind = changed.len() >= MAX_CHANGES_READ;
        let changed: BTreeSet<OrderId> = changed.into_iter().map(|(_, id)| id).collect();
        // An order that is gone has settled, too.
        self.unsettled
            .retain(|id| found.iter().any(|it| it.order.id == *id));
        let is_news = |it: &BoardOrder| {
            let was_unsettled = self.unsettled.contains(&it.order.id);
            let was_held_up = self.held_up.contains(&it.order.id);
            // Orders that have come to an end change without an event when they are reported: that is not shown.
            told.contains(&it.order.id)
                || changed.contains(&it.order.id) && !it.order.status.is_over()
                || was_unsettled != is_unsettled(it)
                || was_held_up != troubles.hold_up(it)
        };
        let cards: Vec<Card> = found
            .into_iter()
            .filter(|it| is_news(it) && filter.follows(it))
            .map(|it| card(&self.app, it, &troubles, &notices))
            .collect();
        self.notices = notices;
        self.note(&cards);
        self.pause = if cards.is_empty() {
            (self.pause * 2).min(LAST_LOOK)
        } else {
            FIRST_LOOK
        };
        let is_other = self.away.as_ref() != Some(&troubles.lines);
        self.away = Some(troubles.lines.clone());
        Ok(Some(Changes {
            cards,
            away: is_other.then_some(troubles.lines),
        }))
    }
}
