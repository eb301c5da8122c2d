//! A platform's message comes in: checked, understood, made durable, and only then answered.

use super::fetch::is_polled;
use super::take::{Entry, Letter};
use crate::app::App;
use crate::flow::Fault;
use crate::flow::intake::{integration_cache, order_checks};
use crate::flow::platform_client::Contact;
use crate::telemetry::{MessageOutcome, Way};
use garson_core::id::IntegrationId;
use garson_core::integration::{BranchClaim, Credentials, Integration};
use garson_core::order::{Flag, Order};
use garson_core::platform::{
    Claim, FETCHED, HookRequest, Message, News, Platform, Provider, Reception, Sighting, Trouble, Unreadable,
    Verified, Which, is_dots,
};
use garson_core::restaurant::Config;
use garson_core::time::Timestamp;
use garson_store::tables::integrations;
use garson_store::tables::integrations::{Connected, InboundIntegration};
use garson_store::tables::{branches, orders, packages};
use garson_store::{Lane, StoreErrorKind, Tx, Vault};
use std::sync::Arc;

/// A message that has been understood as far as it can be without writing. Its sender is the integration whose credentials
/// it presented; nobody when it presented the operator's.
#[derive(Clone)]
pub(crate) enum Prepared {
    NotGenuine,
    Unreadable {
        sender: Option<Connected>,
        fault: Unreadable,
    },
    UnknownBranch {
        sender: Option<Connected>,
        branch: String,
    },
    /// A short message about an order that nobody knows yet.
    UnknownOrder {
        sender: Option<Connected>,
        which: Which,
        /// The integrations that it may be for; any when it came with the operator's secret.
        among: Vec<IntegrationId>,
        /// No one account is held while it is kept that its order would be written under.
        is_of_many: bool,
    },
    /// It says nothing, with the operator's secret: it is addressed to no account.
    ForNobody,
    Ready(Box<Ready>),
}

impl Prepared {
    pub fn sender(&self) -> Option<&Connected> {
        match self {
            Self::NotGenuine | Self::ForNobody => None,
            Self::Unreadable { sender, .. }
            | Self::UnknownBranch { sender, .. }
            | Self::UnknownOrder { sender, .. } => sender.as_ref(),
            Self::Ready(ready) => Some(&ready.connected),
        }
    }
}

#[derive(Clone)]
pub(crate) struct Ready {
    pub connected: Connected,
    pub contact: Contact,
    /// The version of the integration when it was remembered, if it was: it must still have it when the order is written.
    pub recalled: Option<i64>,
    pub auto_verify: bool,
    pub flag: Option<Flag>,
    pub news: News,
}

impl Ready {
    /// The order that a message says something has happened to, without saying what.
    async fn to_look_at(&self, app: &App) -> Result<Option<(Connected, Order)>, Fault> {
        let News::Look { order } = &self.news else {
            return Ok(None);
        };
        let Integration { id, account_id, .. } = self.connected.integration;
        let which = order.clone();
        let found = app
            .store
            .read(move |tx| match &which {
                Which::Identity(identity) => orders::by_identity(tx, account_id, id, identity),
                Which::Ours(ours) => Ok(orders::by_id(tx, *ours)?.filter(|o| o.integration_id == id)),
            })
            .await?;
        Ok(found.map(|order| (self.connected.clone(), order)))
    }
}

/// Takes a message in; what it became says how to answer.
pub async fn receive(
    app: &Arc<App>,
    platform: &'static dyn Platform,
    mut request: HookRequest,
) -> Result<Reception, Fault> {
    let now = app.now();
    request.received_at = now;
    let request = Arc::new(request);
    let mut taken = match integration_cache::recall(app, platform, &request) {
        Some(prepared) => write(app, platform, Arc::clone(&request), prepared, now).await,
        None => look_and_write(app, platform, &request).await,
    };
    if matches!(&taken, Err(Fault::Store(error)) if error.kind == StoreErrorKind::Conflict) {
        // Nothing was written: what was remembered is not so any longer.
        taken = look_and_write(app, platform, &request).await;
    }
    count(app, platform.provider(), Way::Pushed, &taken);
    taken.map(|entry| entry.reception)
}

async fn look_and_write(
    app: &Arc<App>,
    platform: &'static dyn Platform,
    request: &Arc<HookRequest>,
) -> Result<Entry, Fault> {
    let (reader, asked) = (Arc::clone(app), Arc::clone(request));
    let prepared = app
        .store
        .glance(move |tx| prepare(tx, &reader, platform, &asked))
        .await?;
    write(app, platform, Arc::clone(request), prepared, request.received_at).await
}

/// Counts what became of a message.
pub(crate) fn count(app: &App, provider: Provider, way: Way, taken: &Result<Entry, Fault>) {
    let intake = &app.metrics.intake;
    let outcome = match taken {
        Ok(entry) => outcome(entry),
        Err(_) => MessageOutcome::Failed,
    };
    intake.count_message(provider, way, outcome);
    if taken.as_ref().is_ok_and(|entry| entry.is_new_order) {
        intake.count_order(provider, way);
    }
}

/// Makes a message durable that has been understood.
pub(crate) async fn write(
    app: &Arc<App>,
    platform: &'static dyn Platform,
    request: Arc<HookRequest>,
    prepared: Prepared,
    now: Timestamp,
) -> Result<Entry, Fault> {
    if matches!(prepared, Prepared::NotGenuine) {
        return Ok(Entry::kept(Reception::NotGenuine, false));
    }
    let lane = prepared.sender().map_or(Lane::COMMON, |connected| {
        Lane::from(connected.integration.account_id)
    });
    // Whoever hears of an order that we do not have, or of a change that is not told, asks the platform itself.
    let to_ask = match &prepared {
        Prepared::UnknownOrder { sender, .. } => sender.as_ref().map(|c| c.integration.id),
        Prepared::Ready(ready) if matches!(ready.news, News::Look { .. }) => {
            Some(ready.connected.integration.id)
        }
        _ => None,
    };
    let to_look_at = match &prepared {
        Prepared::Ready(ready) if !is_polled(app, platform) => ready.to_look_at(app).await?,
        _ => None,
    };
    let integration = prepared.sender().map(|connected| connected.integration.id);
    let kind = request.kind;
    let may_miss_its_order = matches!(&prepared, Prepared::UnknownOrder { is_of_many: true, .. });
    let letter = Letter::new(platform, request, prepared, now)?;
    let taken = app.store.write(lane, move |tx| letter.take(tx)).await?;
    if matches!(taken.reception, Reception::Noted) {
        tracing::info!(provider = %platform.provider(), kind, "a platform's message was noted");
    } else if !matches!(taken.reception, Reception::Taken { .. }) {
        tracing::warn!(provider = %platform.provider(), outcome = outcome(&taken).as_str(), "a platform's message was kept, not taken");
    }
    if let Some(integration) = to_ask {
        app.hurry.up(integration);
    }
    if may_miss_its_order {
        app.early_kept.notify_one();
    }
    if let Some((connected, order)) = to_look_at {
        order_checks::look_soon(app, connected, order);
    }
    if taken.may_call
        && let Some(integration) = integration
    {
        app.wake_calls.look_at(integration);
    }
    Ok(taken)
}

/// Does the message present a secret, or name a branch, that is known? Asked before its body is there.
pub async fn may_be_genuine(
    app: &App,
    platform: &'static dyn Platform,
    head: &HookRequest,
) -> Result<bool, Fault> {
    let (vault, claim) = (Arc::clone(&app.vault), platform.claim(head));
    let shared = app.terms(platform.provider());
    if is_operators(platform, &claim, &shared.credentials) {
        return Ok(true);
    }
    app.store
        .read(move |tx| Ok(!candidates(tx, &vault, platform, &claim)?.is_empty()))
        .await
}

/// Does a claim rest on what the operator has set for all integrations?
fn is_operators(platform: &dyn Platform, claim: &Claim, shared: &Credentials) -> bool {
    match claim {
        Claim::Nothing => false,
        Claim::Branch(_) => !shared.is_empty(),
        Claim::Secrets(presented) => platform
            .inbound_secret(shared)
            .is_some_and(|secret| presented.contains(&secret)),
    }
}

/// The integrations whose credentials can check a claim.
fn candidates(
    tx: &mut Tx<'_>,
    vault: &Vault,
    platform: &dyn Platform,
    claim: &Claim,
) -> Result<Vec<InboundIntegration>, Fault> {
    let provider = platform.provider();
    Ok(match claim {
        Claim::Nothing => Vec::new(),
        Claim::Secrets(presented) => {
            let mut found: Vec<InboundIntegration> = Vec::new();
            for secret in presented {
                found.extend(integrations::by_secret(tx, vault, provider, secret.expose())?);
            }
            found
        }
        Claim::Branch(branch) => branches::claims(tx, vault, provider, branch)?,
    })
}

fn outcome(entry: &Entry) -> MessageOutcome {
    match entry.reception {
        Reception::Taken { .. } | Reception::Noted if entry.is_repeat => MessageOutcome::Repeated,
        Reception::Taken { .. } => MessageOutcome::Taken,
        Reception::Noted => MessageOutcome::Noted,
        Reception::Conflict { .. } => MessageOutcome::Conflicting,
        Reception::UnknownBranch { .. } => MessageOutcome::UnknownBranch,
        Reception::UnknownOrder { .. } => MessageOutcome::UnknownOrder,
        Reception::Unreadable(_) => MessageOutcome::Unreadable,
        Reception::NotGenuine => MessageOutcome::NotGenuine,
    }
}

/// Judges a message by what is stored.
fn prepare(
    tx: &mut Tx<'_>,
    app: &App,
    platform: &'static dyn Platform,
    request: &HookRequest,
) -> Result<Prepared, Fault> {
    let claim = platform.claim(request);
    let mut candidates = candidates(tx, &app.vault, platform, &claim)?;
    integration_cache::remember(app, platform, &claim, &candidates);
    for fresh in &mut candidates {
        fresh.version = None;
    }
    match genuine(app, platform, request, &claim, candidates) {
        (Some(verified), candidates) => {
            understand(tx, app, platform, &verified, candidates, request.received_at)
        }
        (None, _) => Ok(Prepared::NotGenuine),
    }
}

/// The message, if it is genuine, and those of the integrations that it is genuine for.
pub(crate) fn genuine<'a>(
    app: &App,
    platform: &'static dyn Platform,
    request: &'a HookRequest,
    claim: &Claim,
    candidates: Vec<InboundIntegration>,
) -> (Option<Verified<'a>>, Vec<InboundIntegration>) {
    let provider = platform.provider();
    let owns = |candidate: &InboundIntegration| candidate.connected.integration.branch == BranchClaim::Proven;
    let is_owned_branch = matches!(claim, Claim::Branch(_)) && candidates.iter().any(owns);
    let mut verified = None;
    // Each answers for itself: that a message is genuine for one of them says nothing about the others.
    let candidates: Vec<InboundIntegration> = candidates
        .into_iter()
        .filter(|candidate| {
            let own = &candidate.connected.credentials;
            let mut checked = platform.verify(request, own);
            // The operator's credentials speak for whoever owns the branch, not for everybody who names it.
            if checked.is_none() && owns(candidate) {
                checked = platform.verify(request, &app.credentials(provider, own));
            }
            let is_genuine = checked.is_some();
            verified = verified.take().or(checked);
            is_genuine
        })
        .collect();
    // A branch that somebody owns speaks with its owner's secret, or not at all.
    if verified.is_none() && !is_owned_branch {
        verified = platform.verify(request, &app.terms(provider).credentials);
    }
    (verified, candidates)
}

/// Understands a message that is genuine, and finds the integration that it is for among those that it can be for, its
/// sender's first; all of the platform's when the sender is the operator's.
pub(crate) fn understand(
    tx: &mut Tx<'_>,
    app: &App,
    platform: &'static dyn Platform,
    verified: &Verified<'_>,
    candidates: Vec<InboundIntegration>,
    now: Timestamp,
) -> Result<Prepared, Fault> {
    let sender =
        |candidates: Vec<InboundIntegration>| candidates.into_iter().next().map(|first| first.connected);
    let Message { branch, news } = match read(platform, verified) {
        Ok(message) => message,
        Err(fault) => {
            let sender = sender(candidates);
            return Ok(Prepared::Unreadable { sender, fault });
        }
    };
    let meant = match (&branch, &news) {
        (Some(branch), _) => of_branch(tx, app, platform, &candidates, branch)?,
        (None, News::Changed { order, .. } | News::Look { order }) => {
            let Some(found) = of_order(tx, app, platform, &candidates, order)? else {
                let all = || candidates.iter().map(|c| &c.connected.integration);
                let first = all().next().map(|integration| integration.account_id);
                return Ok(Prepared::UnknownOrder {
                    which: order.clone(),
                    among: all().map(|integration| integration.id).collect(),
                    is_of_many: all().any(|it| Some(it.account_id) != first) || first.is_none(),
                    sender: sender(candidates),
                });
            };
            Some(found)
        }
        (None, News::Nothing) if candidates.is_empty() => return Ok(Prepared::ForNobody),
        (None, _) => candidates.first().cloned(),
    };
    Ok(match meant {
        Some(served) => ready(app, platform, served, news, now),
        None => Prepared::UnknownBranch {
            sender: sender(candidates),
            branch: branch.unwrap_or_default(),
        },
    })
}

/// Understands a message; one whose ids could not be part of an address is none that we can act upon.
pub(crate) fn read(platform: &dyn Platform, verified: &Verified<'_>) -> Result<Message, Unreadable> {
    let message = platform.read(verified)?;
    let ids = match &message.news {
        News::Order(sighting) => vec![&sighting.order.identity, &sighting.order.provider_order_id],
        News::Changed { order, .. } | News::Look { order } => match order {
            Which::Identity(identity) => vec![identity],
            Which::Ours(_) => Vec::new(),
        },
        News::Nothing => Vec::new(),
    };
    match ids.into_iter().find(|id| is_dots(id)) {
        Some(id) => Err(Unreadable {
            path: "providerOrderId".to_owned(),
            message: format!("cannot be \"{id}\""),
        }),
        None => Ok(message),
    }
}

/// News for an integration, with what its restaurant has decided.
pub(crate) fn ready(
    app: &App,
    platform: &'static dyn Platform,
    served: InboundIntegration,
    news: News,
    now: Timestamp,
) -> Prepared {
    let InboundIntegration {
        connected,
        settings: standing,
        version,
    } = served;
    let config = Config::read(standing.config.as_deref()).unwrap_or_default();
    let covered = standing
        .packages
        .iter()
        .any(|package| package.covers(platform.provider(), now));
    let flag = match (connected.integration.is_active, covered) {
        (_, false) => Some(Flag::PackageExpired),
        (false, true) => Some(Flag::IntegrationOff),
        (true, true) => None,
    };
    Prepared::Ready(Box::new(Ready {
        contact: Contact::new(app, platform, Some(&connected)),
        connected,
        recalled: version,
        auto_verify: config.auto_verify,
        flag,
        news,
    }))
}

/// The integration whose branch has this name.
pub(crate) fn named<'a>(
    candidates: &'a [InboundIntegration],
    branch: &str,
) -> Option<&'a InboundIntegration> {
    candidates
        .iter()
        .find(|c| c.connected.integration.remote_id.as_deref() == Some(branch))
}

/// The integration of a branch, if the sender may speak for it.
fn of_branch(
    tx: &mut Tx<'_>,
    app: &App,
    platform: &dyn Platform,
    candidates: &[InboundIntegration],
    branch: &str,
) -> Result<Option<InboundIntegration>, Fault> {
    if !candidates.is_empty() {
        return Ok(named(candidates, branch).cloned());
    }
    let found = branches::owner(tx, &app.vault, platform.provider(), branch)?;
    Ok(found.filter(|c| platform.inbound_secret(&c.connected.credentials).is_none()))
}

/// The integration of an order, if the sender may speak for it.
fn of_order(
    tx: &mut Tx<'_>,
    app: &App,
    platform: &dyn Platform,
    candidates: &[InboundIntegration],
    which: &Which,
) -> Result<Option<InboundIntegration>, Fault> {
    let ours: Vec<IntegrationId> = candidates.iter().map(|c| c.connected.integration.id).collect();
    let order = match which {
        Which::Identity(identity) => orders::find_among(tx, platform.provider(), identity, &ours)?,
        Which::Ours(id) => orders::by_id(tx, *id)?.filter(|order| {
            order.provider == platform.provider() && (ours.is_empty() || ours.contains(&order.integration_id))
        }),
    };
    let Some(order) = order else { return Ok(None) };
    let known = candidates
        .iter()
        .find(|c| c.connected.integration.id == order.integration_id);
    if known.is_some() {
        return Ok(known.cloned());
    }
    let found = integrations::by_id(tx, &app.vault, order.integration_id)?;
    let Some(connected) = found.filter(|c| platform.inbound_secret(&c.credentials).is_none()) else {
        return Ok(None);
    };
    let standing = packages::settings(tx, connected.integration.restaurant_id)?;
    Ok(Some(InboundIntegration {
        connected,
        settings: standing,
        version: None,
    }))
}

/// One order as its platform shows it.
pub fn read_fetched(
    platform: &'static dyn Platform,
    body: Vec<u8>,
    now: Timestamp,
) -> Result<Box<Sighting>, Trouble> {
    let request = fetched(body, now);
    match read(platform, &Verified::ours(&request)) {
        Ok(Message {
            news: News::Order(sighting),
            ..
        }) => Ok(sighting),
        Ok(_) => Err(Trouble::later("the platform showed something else than an order")),
        Err(fault) => Err(Trouble::later(format!(
            "the platform's order cannot be read: {} {}",
            fault.path, fault.message
        ))),
    }
}

/// An order that was fetched, as a message.
pub(crate) fn fetched(body: Vec<u8>, now: Timestamp) -> HookRequest {
    HookRequest {
        kind: FETCHED,
        body,
        received_at: now,
        ..HookRequest::default()
    }
}
