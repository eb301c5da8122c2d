//! Orders that a platform returns when it is polled: those that are new or have changed are recorded as if they had been pushed.

use super::message::Understood;
use super::record::{Arrival, note, record};
use super::revise;
use super::understand::address;
use crate::app::App;
use crate::flow::Fault;
use crate::flow::platform_client::status_on_platform;
use crate::flow::platform_documents::{fetched_message, read_message};
use garson_core::explanation::PlatformFailure;
use garson_core::integration::BranchClaim;
use garson_core::order::{Input, Status, apply};
use garson_core::platform::{
    CallError, HookRequest, IntakeOutcome, Message, News, Platform, Sighting, Unreadable, Verified,
};
use garson_core::time::Timestamp;
use garson_store::tables::integrations::{Connected, InboundIntegration};
use garson_store::tables::{branches, orders, packages};
use garson_store::{StoreErrorKind, Tx};
use std::sync::Arc;

/// Records those of an integration's orders that are new or have changed; returns the identities of all.
pub(crate) async fn record_fetched(
    app: &Arc<App>,
    connected: &Connected,
    bodies: Vec<Vec<u8>>,
) -> Result<Vec<String>, Fault> {
    let Some(platform) = garson_platforms::of(connected.integration.provider) else {
        return Ok(Vec::new());
    };
    let now = app.now();
    let (reader, owner) = (Arc::clone(app), connected.clone());
    let Selected { messages, identities } = app
        .store
        .read(move |tx| Selection::new(&reader, platform, &owner, now).select(tx, bodies.clone()))
        .await?;
    for (request, message) in messages {
        let arrival = Arrival::polled(app);
        let recorded = record(app, platform, Arc::new(request), message, now).await;
        note(app, platform.provider(), &arrival, &recorded);
        recorded?;
    }
    Ok(identities)
}

/// Turns a failure to record orders into one of the poll.
pub(crate) fn storage_trouble(fault: Fault) -> CallError {
    tracing::error!(?fault, "fetched orders could not be recorded");
    CallError::later(PlatformFailure::OrdersNotStored)
}

#[derive(Default)]
struct Selected {
    messages: Vec<(HookRequest, Understood)>,
    identities: Vec<String>,
}

/// Selects the orders to record from those that one integration was shown.
struct Selection<'a> {
    app: &'a App,
    platform: &'static dyn Platform,
    connected: &'a Connected,
    now: Timestamp,
}

impl<'a> Selection<'a> {
    fn new(app: &'a App, platform: &'static dyn Platform, connected: &'a Connected, now: Timestamp) -> Self {
        Self {
            app,
            platform,
            connected,
            now,
        }
    }

    fn select(&self, tx: &mut Tx<'_>, bodies: Vec<Vec<u8>>) -> Result<Selected, Fault> {
        let mut selected = Selected::default();
        for body in bodies {
            let request = fetched_message(body, self.now);
            let message = match read_message(self.platform, &Verified::ours(&request)) {
                Err(fault) => Some(self.unreadable(fault)),
                Ok(Message {
                    branch,
                    news: News::Order(sighting),
                }) => {
                    selected.identities.push(sighting.order.identity.clone());
                    match branch {
                        Some(branch) if Some(&branch) != self.connected.integration.remote_id.as_ref() => {
                            self.of_other_branch(tx, branch)?
                        }
                        _ => self.of_own_branch(tx, *sighting)?,
                    }
                }
                Ok(_) => None,
            };
            selected
                .messages
                .extend(message.map(|message| (request, message)));
        }
        Ok(selected)
    }

    fn unreadable(&self, fault: Unreadable) -> Understood {
        Understood::InboxOnly {
            sender: Some(self.connected.clone()),
            outcome: IntakeOutcome::Unreadable(fault),
        }
    }

    /// A list may show other branches of the same chain, which have their own integrations. An order of a branch without an
    /// integration is stored in the inbox: the branch may be misspelled in the integration.
    fn of_other_branch(&self, tx: &mut Tx<'_>, branch: String) -> Result<Option<Understood>, Fault> {
        let own = &self.connected.integration;
        let claims = match branches::claims(tx, &self.app.vault, own.provider, &branch) {
            // Its integration cannot be read: the order waits in the inbox, and the rest of the list is recorded.
            Err(error) if error.kind == StoreErrorKind::Corrupt => Vec::new(),
            claims => claims?,
        };
        let is_known = claims.iter().any(|it| {
            let claim = &it.connected.integration;
            claim.branch == BranchClaim::Proven || claim.account_id == own.account_id
        });
        Ok((!is_known).then(|| Understood::InboxOnly {
            sender: Some(self.connected.clone()),
            outcome: IntakeOutcome::UnknownBranch { branch },
        }))
    }

    /// `None` if the order is known and has not changed.
    fn of_own_branch(&self, tx: &mut Tx<'_>, sighting: Sighting) -> Result<Option<Understood>, Fault> {
        let own = &self.connected.integration;
        let known = orders::hashed_by_identity(tx, own.account_id, own.id, &sighting.order.identity)?;
        if let Some(known) = known {
            let asks = self.platform.capability().asks;
            let moves = sighting.change.clone().is_some_and(|change| {
                apply(&known.order, &Input::Report(change), self.now, asks)
                    .is_ok_and(|decision| decision.is_change(&known.order))
            });
            if !moves && !revise::is_later(tx, &known, &sighting, self.now)? {
                return Ok(None);
            }
        } else if has_ended(&sighting) && self.was_placed_before_connecting(&sighting) {
            return Ok(None);
        }
        let served = InboundIntegration {
            connected: self.connected.clone(),
            settings: packages::settings(tx, own.restaurant_id)?,
            version: None,
        };
        let news = News::Order(Box::new(sighting));
        Ok(Some(address(self.app, self.platform, served, news, self.now)))
    }

    fn was_placed_before_connecting(&self, sighting: &Sighting) -> bool {
        let placed_at = sighting.order.placed_at;
        placed_at.is_some_and(|at| at < self.connected.integration.created_at)
    }
}

fn has_ended(sighting: &Sighting) -> bool {
    let status = status_on_platform(sighting);
    status.is_cancelled() || status == Status::Delivered
}
