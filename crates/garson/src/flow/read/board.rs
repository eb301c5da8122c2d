//! The live board: the orders that somebody has to do something about, those that were done lately, and platforms that are
//! in trouble.

use super::period;
use crate::app::App;
use crate::app::presence::{Connected, WatcherIdentity};
use crate::flow::Fault;
use crate::flow::fault::Thing;
use crate::flow::order_actions::reasons;
use crate::flow::read::event_feed::{Follower, Next, Pass, Start};
use garson_core::explanation::Explanation;
use garson_core::id::{AccountId, IntegrationId, OrderId, RestaurantId};
use garson_core::integration::Integration;
use garson_core::order::{ProviderSync, Reason};
use garson_core::platform::Provider;
use garson_core::presence::PresenceKind;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::lists::board;
use garson_store::lists::board::{BoardOrder, Candidate};
use garson_store::tables::sessions::SessionHash;
use garson_store::tables::{accounts, escalation_steps, integrations, restaurants};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// So many of the newest orders are looked at, for open ones and for those that are done.
const LOOK_BACK: i64 = 500;
/// Where those are too few, older orders that are still open are looked for, up to this number.
const MAX_OPEN: i64 = 1000;
/// Cards that are shown at most: of open orders, and of those that are done.
const SHOWN_OPEN: usize = 300;
pub const SHOWN_DONE: usize = 12;
/// A platform counts as being in trouble for this time after its last error.
const TROUBLE: Duration = Duration::from_secs(3 * 60);
/// Integrations that are looked at for troubles, and restaurants that are named for each platform.
const LOOKED_AT_TROUBLES: i64 = 500;
const SHOWN_TROUBLES: usize = 5;
/// How soon an order is looked at again whose platform is being told, first and at the longest.
const FIRST_LOOK: Duration = Duration::from_millis(500);
const LAST_LOOK: Duration = Duration::from_secs(15);

/// An order as the board shows it, with the reasons that are known without asking its platform.
pub struct Card {
    pub shown: BoardOrder,
    pub reasons: Vec<Reason>,
    /// Its platform is to be told something, and is in trouble.
    pub is_held_up: bool,
}

/// A platform that could not be reached, or does not let us in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformProblem {
    pub provider: Provider,
    /// The restaurants that it is so for.
    pub restaurants: BTreeSet<String>,
    pub message: Explanation,
    pub at: Timestamp,
}

/// Every card of the board, oldest first; those that are done newest first.
pub struct Board {
    pub open: Vec<Card>,
    pub done: Vec<Card>,
    /// There are more open orders than are shown.
    pub has_more: bool,
    pub away: Vec<PlatformProblem>,
    /// Those that are on their way to their platforms.
    pub unsettled: BTreeSet<OrderId>,
    /// Up to where the account's events are in it.
    pub place: i64,
}

fn card(app: &App, shown: BoardOrder, troubles: &Troubles) -> Card {
    Card {
        reasons: reasons::known(app, &shown.order),
        is_held_up: troubles.hold_up(&shown),
        shown,
    }
}

/// Orders that have not come to an end, however old.
fn older_open(
    tx: &mut Tx<'_>,
    account: AccountId,
    only: Option<RestaurantId>,
) -> Result<Vec<Candidate>, Fault> {
    let Some(restaurant) = only else {
        return Ok(board::open(tx, account, MAX_OPEN)?);
    };
    // Those that came through an integration which was removed since are among the newest, or not found.
    let mut found = Vec::new();
    for it in integrations::of_restaurant(tx, restaurant)? {
        found.extend(board::open_of_integration(tx, account, it.id, MAX_OPEN)?);
    }
    Ok(found)
}

/// Adds those that have not come to an end, by their places.
fn add_open(open: &mut BTreeMap<i64, OrderId>, found: &[Candidate]) {
    let still_open = found.iter().filter(|it| !it.status.is_over());
    open.extend(still_open.map(|it| (it.position, it.id)));
}

/// The board of an account, or of one of its restaurants.
pub async fn board(app: &App, account: AccountId, only: Option<RestaurantId>) -> Result<Board, Fault> {
    let now = app.now();
    let (place, mut open, mut done, has_more, troubles) = app
        .store
        .read(move |tx| {
            // First, so that what is committed meanwhile comes twice rather than never.
            let place = accounts::event_range(tx, account)?.last;
            period::scope(tx, account, only)?;
            let newest = board::newest(tx, account, only, LOOK_BACK)?;
            let done = newest.iter().filter(|it| it.status.is_over());
            let done: Vec<OrderId> = done.take(SHOWN_DONE).map(|it| it.id).collect();
            let mut open = BTreeMap::new();
            add_open(&mut open, &newest);
            if open.len() <= SHOWN_OPEN {
                add_open(&mut open, &older_open(tx, account, only)?);
            }
            // Of too many, the newest: somebody waits for those.
            let shown: Vec<OrderId> = open.values().rev().take(SHOWN_OPEN).copied().collect();
            Ok::<_, Fault>((
                place,
                board::read(tx, account, &shown)?,
                board::read(tx, account, &done)?,
                open.len() > shown.len(),
                troubles(tx, account, only, now)?,
            ))
        })
        .await?;
    open.sort_by_key(|it| (it.order.created_at, it.order.id));
    done.sort_by_key(|it| std::cmp::Reverse((it.order.created_at, it.order.id)));
    let unsettled = open.iter().chain(&done).filter(|it| is_unsettled(it));
    Ok(Board {
        unsettled: unsettled.map(|it| it.order.id).collect(),
        open: open.into_iter().map(|it| card(app, it, &troubles)).collect(),
        done: done.into_iter().map(|it| card(app, it, &troubles)).collect(),
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
    let is_late = |at| at > now.minus(TROUBLE) && Some(at) >= last_order_at;
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

fn troubles(
    tx: &mut Tx<'_>,
    account: AccountId,
    only: Option<RestaurantId>,
    now: Timestamp,
) -> Result<Troubles, Fault> {
    let mut troubled = integrations::in_trouble(tx, account, now.minus(TROUBLE), LOOKED_AT_TROUBLES)?;
    troubled.retain(|it| is_in_trouble(it, now) && only.is_none_or(|id| id == it.restaurant_id));
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

/// The card of one order.
pub async fn one(app: &App, account: AccountId, id: OrderId) -> Result<Card, Fault> {
    let now = app.now();
    let (found, troubles) = app
        .store
        .read(move |tx| {
            Ok::<_, Fault>((
                board::read(tx, account, &[id])?,
                troubles(tx, account, None, now)?,
            ))
        })
        .await?;
    let found = found
        .into_iter()
        .next()
        .ok_or_else(|| Fault::not_found(Thing::Order, id))?;
    Ok(card(app, found, &troubles))
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
    pub only: Option<RestaurantId>,
    pub shown: Shown,
}

/// A board that is open in somebody's browser. It holds no cards: only where it has read up to, and which orders are on
/// their way to their platforms, since the outcome of that is no event.
pub struct Live {
    app: Arc<App>,
    account: AccountId,
    only: Option<RestaurantId>,
    follower: Follower,
    unsettled: BTreeSet<OrderId>,
    /// Those of them that the browser shows as held up.
    held_up: BTreeSet<OrderId>,
    /// What the browser is told with the first look, whatever has happened since.
    first: BTreeSet<OrderId>,
    /// The platforms in trouble, as the browser was told of them.
    away: Option<Vec<PlatformProblem>>,
    pause: Duration,
    /// Since when orders that ring urgently are looked for, and those that the browser was told of.
    escalated_since: Timestamp,
    rung: BTreeSet<(OrderId, Timestamp)>,
    _presence: Connected,
}

impl Live {
    /// Goes on from a place of a board, for as long as the session lasts.
    pub async fn open(app: Arc<App>, session: SessionHash, view: View, start: Start) -> Result<Self, Fault> {
        let View { account, only, shown } = view;
        let follower = Follower::start(Arc::clone(&app), account, Pass::Session(session), start).await?;
        let identity = WatcherIdentity::Session(session);
        let presence = app
            .presence
            .connect(account, PresenceKind::Board, identity, only, app.now());
        // Before the board is read, so that nothing between is missed.
        let escalated_since = app.now().minus(LAST_LOOK);
        let now = board(&app, account, only).await?;
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
            only,
            follower,
            held_up: held_up.map(|card| card.shown.order.id).collect(),
            unsettled: now.unsettled,
            first,
            away: None,
            pause: FIRST_LOOK,
            escalated_since,
            rung: BTreeSet::new(),
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

    /// The orders that ring urgently and that the browser was not told of.
    fn newly_rung(&mut self, found: Vec<(OrderId, Timestamp)>) -> Vec<OrderId> {
        if let Some((_, newest)) = found.first() {
            // Clocks of nodes differ, and two commits may have the same timestamp.
            self.escalated_since = self.escalated_since.max(newest.minus(LAST_LOOK));
        }
        let before = std::mem::replace(&mut self.rung, found.into_iter().collect());
        let new = self.rung.difference(&before);
        new.map(|(id, _)| *id).collect()
    }

    /// What has changed, after a while perhaps nothing; `None` when the session or the service ends, or the restaurant is gone.
    pub async fn next(&mut self) -> Result<Option<Changes>, Fault> {
        let pause = match (&self.away, self.unsettled.is_empty()) {
            (None, _) => Duration::ZERO,
            (_, true) => LAST_LOOK,
            (_, false) => self.pause,
        };
        let mut told: BTreeSet<OrderId> = match self.follower.next_or_ring(pause).await {
            Next::Events(events) => events.into_iter().filter_map(|event| event.order_id).collect(),
            Next::Nothing => BTreeSet::new(),
            Next::End => return Ok(None),
        };
        told.append(&mut self.first);
        let (account, only, now) = (self.account, self.only, self.app.now());
        let ids: Vec<OrderId> = told.union(&self.unsettled).copied().collect();
        let since = self.escalated_since;
        let (is_gone, found, troubles, rung) = self
            .app
            .store
            .read(move |tx| {
                let rung = escalation_steps::escalated_since(tx, account, since, MAX_OPEN)?;
                let mut ids: BTreeSet<OrderId> = ids.iter().copied().collect();
                ids.extend(rung.iter().map(|(id, _)| *id));
                let ids: Vec<OrderId> = ids.into_iter().collect();
                let is_gone = match only {
                    Some(id) => !restaurants::exists(tx, account, id)?,
                    None => false,
                };
                Ok::<_, Fault>((
                    is_gone,
                    board::read(tx, account, &ids)?,
                    troubles(tx, account, only, now)?,
                    rung,
                ))
            })
            .await?;
        told.extend(self.newly_rung(rung));
        if is_gone {
            return Ok(None);
        }
        // An order that is gone has settled, too.
        self.unsettled
            .retain(|id| found.iter().any(|it| it.order.id == *id));
        let is_news = |it: &BoardOrder| {
            let was_unsettled = self.unsettled.contains(&it.order.id);
            let was_held_up = self.held_up.contains(&it.order.id);
            told.contains(&it.order.id)
                || was_unsettled != is_unsettled(it)
                || was_held_up != troubles.hold_up(it)
        };
        let is_wanted = |it: &BoardOrder| self.only.is_none_or(|id| id == it.order.restaurant_id);
        let cards: Vec<Card> = found
            .into_iter()
            .filter(|it| is_news(it) && is_wanted(it))
            .map(|it| card(&self.app, it, &troubles))
            .collect();
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
