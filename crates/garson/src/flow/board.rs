//! The live board: the orders that somebody has to do something about, those that were done lately, and platforms that are
//! in trouble.

use super::tidings::{Follower, Next, Pass, Start};
use super::{Fault, reasons};
use crate::app::App;
use garson_core::id::{AccountId, OrderId, RestaurantId};
use garson_core::integration::Health;
use garson_core::order::{ProviderSync, Reason};
use garson_core::platform::Provider;
use garson_core::time::Timestamp;
use garson_store::board::{self, BoardOrder, Candidate};
use garson_store::sessions::SessionHash;
use garson_store::{Tx, accounts, integrations};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// So many of the newest orders are looked at, for open ones and for those that are done.
const LOOK_BACK: i64 = 500;
/// Older orders that are still open are looked for up to this number.
const MAX_OPEN: i64 = 1000;
/// Cards that are shown at most: of open orders, and of those that are done.
const SHOWN_OPEN: usize = 300;
const SHOWN_DONE: usize = 12;
/// A platform counts as being in trouble for this time after its last error.
const TROUBLE: Duration = Duration::from_secs(3 * 60);
const SHOWN_TROUBLES: i64 = 5;
/// How soon an order is looked at again whose platform is being told, first and at the longest.
const FIRST_LOOK: Duration = Duration::from_millis(500);
const LAST_LOOK: Duration = Duration::from_secs(15);

/// An order as the board shows it, with the reasons that are known without asking its platform.
pub struct Card {
    pub shown: BoardOrder,
    pub reasons: Vec<Reason>,
}

/// A platform that could not be reached, or refuses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Away {
    pub provider: Provider,
    pub message: String,
    pub at: Timestamp,
}

/// Every card of the board, oldest first; those that are done newest first.
pub struct Board {
    pub open: Vec<Card>,
    pub done: Vec<Card>,
    /// There are more open orders than are shown.
    pub has_more: bool,
    pub away: Vec<Away>,
    /// Up to where the account's events are in it.
    pub place: i64,
}

fn card(app: &App, shown: BoardOrder) -> Card {
    Card {
        reasons: reasons::at_hand(app, &shown.order),
        shown,
    }
}

pub async fn board(app: &App, account: AccountId, only: Option<RestaurantId>) -> Result<Board, Fault> {
    let now = app.now();
    let (place, mut open, mut done, has_more, away) = app
        .store
        .read(move |tx| {
            // First, so that what is committed meanwhile comes twice rather than never.
            let place = accounts::span(tx, account)?.last;
            let is_wanted = |it: &Candidate| only.is_none_or(|id| id == it.restaurant_id);
            let newest = board::newest(tx, account, LOOK_BACK)?;
            let done = newest.iter().filter(|it| it.status.is_over() && is_wanted(it));
            let done: Vec<OrderId> = done.take(SHOWN_DONE).map(|it| it.id).collect();
            let older = board::open(tx, account, MAX_OPEN)?;
            let open: BTreeMap<i64, OrderId> = newest
                .iter()
                .chain(&older)
                .filter(|it| !it.status.is_over() && is_wanted(it))
                .map(|it| (it.place, it.id))
                .collect();
            // Of too many, the newest: somebody waits for those.
            let shown: Vec<OrderId> = open.values().rev().take(SHOWN_OPEN).copied().collect();
            Ok::<_, Fault>((
                place,
                board::read(tx, account, &shown)?,
                board::read(tx, account, &done)?,
                open.len() > shown.len(),
                away(tx, account, now)?,
            ))
        })
        .await?;
    open.sort_by_key(|it| (it.order.created_at, it.order.id));
    done.sort_by_key(|it| std::cmp::Reverse((it.order.created_at, it.order.id)));
    Ok(Board {
        open: open.into_iter().map(|it| card(app, it)).collect(),
        done: done.into_iter().map(|it| card(app, it)).collect(),
        has_more,
        away,
        place,
    })
}

/// Has the platform of an integration been in trouble just now?
#[must_use]
pub fn is_in_trouble(health: &Health, now: Timestamp) -> bool {
    health.last_error_at.is_some_and(|at| at > now.minus(TROUBLE))
}

/// One line for each platform, whose newest error stands for all.
fn away(tx: &mut Tx<'_>, account: AccountId, now: Timestamp) -> Result<Vec<Away>, Fault> {
    let troubled = integrations::in_trouble(tx, account, now.minus(TROUBLE), SHOWN_TROUBLES)?;
    let mut lines: Vec<Away> = Vec::new();
    for it in troubled {
        if lines.iter().all(|line| line.provider != it.provider) {
            lines.push(Away {
                provider: it.provider,
                message: it.health.last_error.unwrap_or_default(),
                at: it.health.last_error_at.unwrap_or(now),
            });
        }
    }
    lines.sort();
    Ok(lines)
}

/// The card of one order.
pub async fn one(app: &App, account: AccountId, id: OrderId) -> Result<Card, Fault> {
    let found = app
        .store
        .read(move |tx| Ok::<_, Fault>(board::read(tx, account, &[id])?))
        .await?;
    let found = found
        .into_iter()
        .next()
        .ok_or_else(|| Fault::not_found("order", id))?;
    Ok(card(app, found))
}

/// What has changed on a board.
pub struct Changes {
    pub cards: Vec<Card>,
    /// The platforms in trouble, if they are others than before.
    pub away: Option<Vec<Away>>,
}

/// A board that is open in somebody's browser. It holds no cards: only where it has read up to, and which orders are on
/// their way to their platforms, since the outcome of that is no event.
pub struct Live {
    app: Arc<App>,
    account: AccountId,
    only: Option<RestaurantId>,
    follower: Follower,
    unsettled: BTreeSet<OrderId>,
    away: Vec<Away>,
    pause: Duration,
}

impl Live {
    /// Goes on from a place of a board, for as long as the session lasts.
    pub async fn open(
        app: Arc<App>,
        account: AccountId,
        session: SessionHash,
        only: Option<RestaurantId>,
        start: Start,
    ) -> Result<Self, Fault> {
        let follower = Follower::start(Arc::clone(&app), account, Pass::Session(session), start).await?;
        let now = board(&app, account, only).await?;
        let mut live = Self {
            app,
            account,
            only,
            follower,
            unsettled: BTreeSet::new(),
            away: now.away,
            pause: FIRST_LOOK,
        };
        live.note(&now.open);
        Ok(live)
    }

    /// Up to where it has read.
    #[must_use]
    pub fn place(&self) -> i64 {
        self.follower.place()
    }

    /// Which of these are on their way to their platforms.
    fn note(&mut self, cards: &[Card]) {
        for Card { shown, .. } in cards {
            match shown.order.sync {
                ProviderSync::Pending { .. } => self.unsettled.insert(shown.order.id),
                _ => self.unsettled.remove(&shown.order.id),
            };
        }
    }

    /// What has changed, after a while perhaps nothing; `None` when the session or the service ends.
    pub async fn next(&mut self) -> Result<Option<Changes>, Fault> {
        let pause = if self.unsettled.is_empty() {
            LAST_LOOK
        } else {
            self.pause
        };
        let told = match self.follower.next_within(pause).await {
            Next::Events(events) => events.into_iter().filter_map(|event| event.order_id).collect(),
            Next::Nothing => BTreeSet::new(),
            Next::End => return Ok(None),
        };
        let (account, now) = (self.account, self.app.now());
        let ids: Vec<OrderId> = told.union(&self.unsettled).copied().collect();
        let (found, away) = self
            .app
            .store
            .read(move |tx| Ok::<_, Fault>((board::read(tx, account, &ids)?, away(tx, account, now)?)))
            .await?;
        // An order that is gone has settled, too.
        self.unsettled
            .retain(|id| found.iter().any(|it| it.order.id == *id));
        let is_news = |it: &BoardOrder| {
            let was_unsettled = self.unsettled.contains(&it.order.id);
            let is_unsettled = matches!(it.order.sync, ProviderSync::Pending { .. });
            told.contains(&it.order.id) || was_unsettled != is_unsettled
        };
        let is_wanted = |it: &BoardOrder| self.only.is_none_or(|id| id == it.order.restaurant_id);
        let cards: Vec<Card> = found
            .into_iter()
            .filter(|it| is_news(it) && is_wanted(it))
            .map(|it| card(&self.app, it))
            .collect();
        self.note(&cards);
        self.pause = match cards.is_empty() {
            true => (self.pause * 2).min(LAST_LOOK),
            false => FIRST_LOOK,
        };
        let is_other = self.away != away;
        self.away.clone_from(&away);
        Ok(Some(Changes {
            cards,
            away: is_other.then_some(away),
        }))
    }
}
