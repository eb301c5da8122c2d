//! An open board: what has changed since its browser was last informed.

use crate::app::App;
use crate::app::attention::PlatformProblem;
use crate::app::presence::{Connected, WatcherIdentity};
use crate::app::store_overview::RestaurantStores;
use crate::flow::Fault;
use crate::flow::platform_trouble::TroubleRule;
use crate::flow::read::board::{Card, Filter, Part, board, card, is_unsettled, troubles};
use crate::flow::read::event_feed::{Follower, Next, Pass, Start};
use crate::flow::read::order_notices::Notices;
use crate::flow::stores;
use garson_core::id::{AccountId, OrderId};
use garson_core::presence::PresenceKind;
use garson_store::lists::board as board_list;
use garson_store::lists::board::BoardOrder;
use garson_store::lists::events::FeedEvent;
use garson_store::tables::sessions::SessionHash;
use garson_store::tables::{accounts, restaurants};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How soon an order is looked at again whose platform is being told, first and at the longest.
const FIRST_LOOK: Duration = Duration::from_millis(500);
const LAST_LOOK: Duration = Duration::from_secs(15);

/// Changed orders that are read at a time.
const MAX_CHANGES: i64 = 200;
const MAX_CHANGES_READ: usize = 200;
/// At least this long lies between two looks of an open board, so that many boards of a busy account stay cheap.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// What has changed on a board.
pub struct Changes {
    pub cards: Vec<Card>,
    /// The platforms in trouble, if they are others than before.
    pub away: Option<Vec<PlatformProblem>>,
    /// The stores, if they are others than before.
    pub stores: Option<Arc<Vec<RestaurantStores>>>,
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

/// A board that is open in a browser. It holds no cards: only where it has read up to in the account's events and
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
    /// All changes up to this position were there when the last look was read.
    seen_up_to: i64,
    unsettled: BTreeSet<OrderId>,
    /// Those of them that the browser shows as held up.
    held_up: BTreeSet<OrderId>,
    /// The orders that the first look sends in any case.
    first: BTreeSet<OrderId>,
    /// The orders that were sent since events were last read: an event that came with such a change is not sent again.
    sent: BTreeSet<OrderId>,
    /// The notices of orders, as the browser was told of them.
    notices: Notices,
    /// The platforms in trouble, as the browser was told of them.
    away: Option<Vec<PlatformProblem>>,
    /// The stores, as the browser was told of them.
    stores: Option<Arc<Vec<RestaurantStores>>>,
    /// The reading of the stores may miss something; it is repeated then.
    stores_due: Option<Instant>,
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
            seen_up_to: follower.place(),
            follower,
            held_up: held_up.map(|card| card.shown.order.id).collect(),
            unsettled: now.unsettled,
            first,
            sent: BTreeSet::new(),
            notices: Notices::default(),
            away: None,
            stores: None,
            stores_due: None,
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

    /// The orders of these events, without those whose cards were sent after the event already: a look finds a change also when it
    /// was committed after the events were read.
    fn not_yet_sent(&mut self, events: &[FeedEvent]) -> BTreeSet<OrderId> {
        let sent = std::mem::take(&mut self.sent);
        let is_new = |event: &&FeedEvent| {
            event.position > self.seen_up_to || event.order_id.is_none_or(|id| !sent.contains(&id))
        };
        events
            .iter()
            .filter(is_new)
            .filter_map(|event| event.order_id)
            .collect()
    }

    /// What has changed, after a while perhaps nothing; `None` when the session or the service ends, or the restaurant is gone.
    pub async fn next(&mut self) -> Result<Option<Changes>, Fault> {
        let pause = match (&self.away, self.unsettled.is_empty()) {
            (None, _) => Duration::ZERO,
            _ if self.is_behind => Duration::ZERO,
            (_, true) => LAST_LOOK,
            (_, false) => self.pause,
        };
        let pause = match self.stores_due {
            Some(at) => pause.min(at.saturating_duration_since(Instant::now())),
            None => pause,
        };
        // What happens meanwhile is read with the next look, together.
        tokio::time::sleep_until(self.next_look).await;
        let mut told: BTreeSet<OrderId> = match self.follower.next_change_within(pause).await {
            Next::Events(events) => self.not_yet_sent(&events),
            Next::Nothing => BTreeSet::new(),
            Next::End => return Ok(None),
        };
        told.append(&mut self.first);
        self.next_look = Instant::now() + BETWEEN_LOOKS;
        let (account, filter, now) = (self.account, self.filter, self.app.now());
        let rule = TroubleRule::of(&self.app);
        let changes_up_to = self.changes_up_to;
        let (unsettled, shown_notices) = (self.unsettled.clone(), self.notices.clone());
        let (is_gone, last, changed, found, troubles, notices, told) = self
            .app
            .store
            .read(move |tx| {
                let last = accounts::event_range(tx, account)?.last;
                let notices = Notices::of_account(tx, account, now)?;
                let mut told = told.clone();
                told.extend(notices.difference(&shown_notices));
                let is_gone = match filter.restaurant {
                    Some(id) => !restaurants::exists(tx, account, id)?,
                    None => false,
                };
                let changed = board_list::changed_after(tx, account, changes_up_to, MAX_CHANGES)?;
                let mut ids: BTreeSet<OrderId> = changed.iter().map(|(_, id)| *id).collect();
                ids.extend(told.union(&unsettled));
                let ids: Vec<OrderId> = ids.into_iter().collect();
                Ok::<_, Fault>((
                    is_gone,
                    last,
                    changed,
                    board_list::read(tx, account, &ids)?,
                    troubles(tx, account, filter, &rule, now)?,
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
        self.seen_up_to = if self.is_behind { self.changes_up_to } else { last };
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
        self.sent.retain(|id| !changed.contains(id));
        self.sent.extend(cards.iter().map(|card| card.shown.order.id));
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
            stores: self.changed_stores().await?,
        }))
    }

    /// The stores, if they are others than the browser was told of. The kitchen screen does not show them.
    async fn changed_stores(&mut self) -> Result<Option<Arc<Vec<RestaurantStores>>>, Fault> {
        if self.filter.part != Part::All {
            return Ok(None);
        }
        let found = stores::overview(&self.app, self.account, self.filter.restaurant).await?;
        self.stores_due = found.read_again_at;
        if self.stores.as_ref() == Some(&found.restaurants) {
            return Ok(None);
        }
        self.stores = Some(Arc::clone(&found.restaurants));
        Ok(Some(found.restaurants))
    }
}
