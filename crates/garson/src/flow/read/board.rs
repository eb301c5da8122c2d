//! The board: open orders, the latest finished ones, and platforms with problems. `live_board` keeps it current in a browser.

mod filter;

pub use filter::{Filter, Part};

use super::order_notices::Notices;
use super::period;
use crate::app::App;
use crate::app::attention::PlatformProblem;
use crate::flow::Fault;
use crate::flow::fault::Thing;
use crate::flow::order_actions::reasons;
use crate::flow::platform_trouble::{STALE_AFTER, TroubleRule};
use filter::{deadline, is_for_kitchen};
use garson_core::id::{AccountId, IntegrationId, OrderId};
use garson_core::integration::Integration;
use garson_core::order::{ProviderSync, Reason};
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::lists::board;
use garson_store::lists::board::{BoardOrder, Candidate};
use garson_store::tables::order_notices::Notice;
use garson_store::tables::{accounts, integrations, restaurants};
use std::collections::{BTreeMap, BTreeSet};

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
/// Integrations that are looked at for troubles, and restaurants that are named for each platform.
const LOOKED_AT_TROUBLES: i64 = 500;
const SHOWN_TROUBLES: usize = 5;

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

pub(super) fn card(app: &App, shown: BoardOrder, troubles: &Troubles, notices: &Notices) -> Card {
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
    let (now, rule) = (app.now(), TroubleRule::of(app));
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
            // Of too many, the newest.
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
                troubles(tx, account, filter, &rule, now)?,
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
pub(super) fn is_unsettled(it: &BoardOrder) -> bool {
    matches!(it.order.sync, ProviderSync::Pending { .. })
}

/// What is in trouble: one line for each platform, whose newest error stands for all.
pub(super) struct Troubles {
    pub(super) lines: Vec<PlatformProblem>,
    integrations: BTreeSet<IntegrationId>,
}

impl Troubles {
    pub(super) fn hold_up(&self, it: &BoardOrder) -> bool {
        is_unsettled(it) && self.integrations.contains(&it.order.integration_id)
    }
}

pub(super) fn troubles(
    tx: &mut Tx<'_>,
    account: AccountId,
    filter: Filter,
    rule: &TroubleRule,
    now: Timestamp,
) -> Result<Troubles, Fault> {
    let mut troubled = integrations::in_trouble(tx, account, now.minus(STALE_AFTER), LOOKED_AT_TROUBLES)?;
    troubled.retain(|it| {
        rule.is_in_trouble(it, now)
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
    rule: &TroubleRule,
    now: Timestamp,
) -> Result<Vec<PlatformProblem>, Fault> {
    Ok(troubles(tx, account, Filter::default(), rule, now)?.lines)
}

/// The card of one order.
pub async fn one(app: &App, account: AccountId, id: OrderId) -> Result<Card, Fault> {
    let (now, rule) = (app.now(), TroubleRule::of(app));
    let (found, troubles, notices) = app
        .store
        .read(move |tx| {
            Ok::<_, Fault>((
                board::read(tx, account, &[id])?,
                troubles(tx, account, Filter::default(), &rule, now)?,
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
