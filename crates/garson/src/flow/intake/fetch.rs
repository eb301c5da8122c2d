//! Orders that a platform shows when it is asked are taken: those that are news, as if they had been pushed.

use super::receive::{Prepared, count, fetched, read, ready, write};
use super::revise;
use crate::app::App;
use crate::flow::Fault;
use crate::flow::intake::missing_orders::{OnDenial, is_flagged};
use crate::flow::order_actions::attempt::reached;
use crate::flow::platform_client::{Contact, converse};
use crate::telemetry::{Topic, Way};
use garson_core::integration::BranchClaim;
use garson_core::order::{Input, Order, Status, apply};
use garson_core::platform::{
    HookRequest, Message, News, Page, Platform, PollStyle, Sighting, Trouble, Verified, Window,
};
use garson_core::time::Timestamp;
use garson_store::tables::integrations::{Connected, InboundIntegration};
use garson_store::tables::{branches, orders, packages};
use garson_store::{StoreErrorKind, Tx};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

const MAX_PAGES: u32 = 200;
const MAX_OPEN: i64 = 500;
/// An order that has just come may be missing from a list that was made before it.
const GRACE: Duration = Duration::from_secs(10);

/// A round of asking one platform for the orders of one integration.
pub(crate) struct Catch<'a> {
    pub app: &'a Arc<App>,
    pub connected: &'a Connected,
    pub contact: &'a Contact,
    pub style: PollStyle,
    pub window: Window,
    pub until: Instant,
}

/// Asks page by page and takes what is news.
pub(crate) async fn catch(net: &Catch<'_>) -> Result<(), Trouble> {
    let started_at = net.app.now();
    if net.style == PollStyle::Cancelled {
        return net.look_for_cancelled().await;
    }
    let mut seen = HashSet::new();
    let pages = net.all_pages(&mut seen).await?;
    if pages > 1 && net.style == PollStyle::Changes {
        // An order that changes while we turn the pages leaves its place, and the one after it slips to a page that we
        // have turned. It is there in a second reading.
        net.all_pages(&mut seen).await?;
    }
    if net.style == PollStyle::Open {
        net.look_for_missing(&seen, started_at).await?;
    }
    Ok(())
}

/// Is the platform asked for orders, so that what happens to them is found without its messages?
pub(crate) fn is_polled(app: &App, platform: &dyn Platform) -> bool {
    let shows_orders = platform
        .capability()
        .polling
        .is_some_and(|polling| polling.style != PollStyle::Cancelled);
    shows_orders && app.terms(platform.provider()).poll_every.is_some()
}

pub(crate) fn in_storage(fault: Fault) -> Trouble {
    tracing::error!(?fault, "polled orders could not be taken");
    Trouble::later("the orders could not be written down")
}

impl Catch<'_> {
    /// Takes all pages; says how many there were.
    async fn all_pages(&self, seen: &mut HashSet<String>) -> Result<u32, Trouble> {
        for page in 0..MAX_PAGES {
            let Page { orders, more } = self.page(page).await?;
            if !orders.is_empty() {
                self.take(orders, seen).await.map_err(in_storage)?;
            }
            if !more {
                return Ok(page + 1);
            }
        }
        Err(Trouble::later("the platform's list has no end"))
    }

    async fn page(&self, page: u32) -> Result<Page, Trouble> {
        let platform = self.contact.platform;
        converse(
            self.app,
            self.contact,
            Topic::Poll,
            self.until,
            |link| platform.poll(link, &self.window, page),
            |link, response| platform.polled(link, page, response),
        )
        .await
    }

    /// Takes those of the orders that are news; `seen` learns of all.
    pub(crate) async fn take(&self, bodies: Vec<Vec<u8>>, seen: &mut HashSet<String>) -> Result<(), Fault> {
        let now = self.app.now();
        let (app, connected) = (Arc::clone(self.app), self.connected.clone());
        let (news, identities) = self
            .app
            .store
            .read(move |tx| sift(tx, &app, &connected, bodies.clone(), now))
            .await?;
        seen.extend(identities);
        for (request, prepared) in news {
            let platform = self.contact.platform;
            let taken = write(self.app, platform, Arc::new(request), prepared, now).await;
            count(self.app, platform.provider(), Way::Polled, &taken);
            taken?;
        }
        Ok(())
    }

    /// Orders that are open here and missing there have come to an end there: each is looked at.
    async fn look_for_missing(&self, seen: &HashSet<String>, started_at: Timestamp) -> Result<(), Trouble> {
        let open = self.open_orders().await?;
        self.unflag(&open, seen).await?;
        let is_missing = |order: &&Order| {
            !seen.contains(&order.identity) && !is_flagged(order) && order.created_at.plus(GRACE) < started_at
        };
        let missing: Vec<_> = open.iter().filter(is_missing).collect();
        self.look_at_missing(&missing, OnDenial::Flag).await
    }

    /// Of the orders that are open here, those that the platform lists as cancelled are read: the message that they are may
    /// have been lost.
    async fn look_for_cancelled(&self) -> Result<(), Trouble> {
        let Page { orders, .. } = self.page(0).await?;
        let identity = |id: Vec<u8>| String::from_utf8(id).ok();
        let cancelled: HashSet<String> = orders.into_iter().filter_map(identity).collect();
        let open = self.open_orders().await?;
        // What it lists it knows.
        self.unflag(&open, &cancelled).await?;
        let is_cancelled = |order: &&Order| cancelled.contains(&order.identity);
        let missed: Vec<_> = open.iter().filter(is_cancelled).collect();
        self.look_at_missing(&missed, OnDenial::Cancel).await
    }

    async fn open_orders(&self) -> Result<Vec<Order>, Trouble> {
        let (account, integration) = (
            self.connected.integration.account_id,
            self.connected.integration.id,
        );
        let read = move |tx: &mut Tx<'_>| orders::open_of_integration(tx, account, integration, MAX_OPEN);
        let open = self.app.store.read(read).await;
        open.map_err(|error| in_storage(error.into()))
    }
}

type Sifted = (Vec<(HookRequest, Prepared)>, Vec<String>);

/// Understands orders and keeps those that say something new.
fn sift(
    tx: &mut Tx<'_>,
    app: &App,
    connected: &Connected,
    bodies: Vec<Vec<u8>>,
    now: Timestamp,
) -> Result<Sifted, Fault> {
    let (mut kept, mut identities) = (Vec::new(), Vec::new());
    let Some(platform) = garson_platforms::of(connected.integration.provider) else {
        return Ok((kept, identities));
    };
    for body in bodies {
        let request = fetched(body, now);
        let prepared = match read(platform, &Verified::ours(&request)) {
            Err(fault) => {
                let sender = Some(connected.clone());
                Some(Prepared::Unreadable { sender, fault })
            }
            Ok(Message {
                branch,
                news: News::Order(sighting),
            }) => {
                identities.push(sighting.order.identity.clone());
                let is_ours = branch.is_none() || branch == connected.integration.remote_id;
                match (is_ours, branch) {
                    (false, Some(branch)) => foreign(tx, app, connected, branch)?,
                    _ => news(tx, app, connected, *sighting, now)?,
                }
            }
            Ok(_) => None,
        };
        kept.extend(prepared.map(|prepared| (request, prepared)));
    }
    Ok((kept, identities))
}

/// A list may show other branches of the same chain, which have their own integrations. An order of a branch that nobody
/// has is kept: its branch may be written down wrongly.
fn foreign(
    tx: &mut Tx<'_>,
    app: &App,
    connected: &Connected,
    branch: String,
) -> Result<Option<Prepared>, Fault> {
    let provider = connected.integration.provider;
    let claims = match branches::claims(tx, &app.vault, provider, &branch) {
        // Its integration cannot be read: the order is kept until that is mended, and the others of the list are taken.
        Err(error) if error.kind == StoreErrorKind::Corrupt => Vec::new(),
        claims => claims?,
    };
    let is_known = claims.iter().any(|it| {
        let claim = &it.connected.integration;
        claim.branch == BranchClaim::Proven || claim.account_id == connected.integration.account_id
    });
    Ok((!is_known).then(|| Prepared::UnknownBranch {
        sender: Some(connected.clone()),
        branch,
    }))
}

/// What an order's sight means for us; nothing when it is known and stands as it stood.
fn news(
    tx: &mut Tx<'_>,
    app: &App,
    connected: &Connected,
    sighting: Sighting,
    now: Timestamp,
) -> Result<Option<Prepared>, Fault> {
    let Some(platform) = garson_platforms::of(connected.integration.provider) else {
        return Ok(None);
    };
    if let Some(known) = orders::hashed_by_identity(
        tx,
        connected.integration.account_id,
        connected.integration.id,
        &sighting.order.identity,
    )? {
        let moves = sighting.change.clone().is_some_and(|change| {
            apply(
                &known.order,
                &Input::Report(change),
                now,
                platform.capability().asks,
            )
            .is_ok_and(|decision| decision.is_change(&known.order))
        });
        if !moves && !revise::is_later(tx, &known, &sighting, now)? {
            return Ok(None);
        }
    } else if has_ended(&sighting) && placed_before(&sighting, connected) {
        // It came to its end before the restaurant was connected: it is not ours to account for.
        return Ok(None);
    }
    let news = News::Order(Box::new(sighting));
    let served = InboundIntegration {
        connected: connected.clone(),
        settings: packages::settings(tx, connected.integration.restaurant_id)?,
        version: None,
    };
    Ok(Some(ready(app, platform, served, news, now)))
}

fn has_ended(sighting: &Sighting) -> bool {
    let status = reached(sighting);
    status.is_cancelled() || status == Status::Delivered
}

fn placed_before(sighting: &Sighting, connected: &Connected) -> bool {
    let placed_at = sighting.order.placed_at;
    placed_at.is_some_and(|at| at < connected.integration.created_at)
}
