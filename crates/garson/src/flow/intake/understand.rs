//! Second step of intake: reads a genuine message, and finds the integration that it is for.

use super::identify::Identified;
use super::message::{Addressed, Understood};
use super::order_lookup;
use crate::app::App;
use crate::flow::Fault;
use crate::flow::platform_client::Contact;
use crate::flow::platform_documents::read_message;
use garson_core::escalation::Step;
use garson_core::id::IntegrationId;
use garson_core::order::Flag;
use garson_core::platform::{IntakeOutcome, Message, News, Platform, Which};
use garson_core::restaurant::Config;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::integrations;
use garson_store::tables::integrations::{Connected, InboundIntegration};
use garson_store::tables::{branches, packages};

/// Understands a message. It is for one of the candidates or, if it came with the operator's credentials, for any integration
/// of the platform that has no secret of its own.
pub(crate) fn understand(
    tx: &mut Tx<'_>,
    app: &App,
    platform: &'static dyn Platform,
    identified: Identified<'_>,
    now: Timestamp,
) -> Result<Understood, Fault> {
    let Identified { verified, candidates } = identified;
    let Message { branch, news } = match read_message(platform, &verified) {
        Ok(message) => message,
        Err(fault) => {
            return Ok(Understood::InboxOnly {
                sender: sender(candidates),
                outcome: IntakeOutcome::Unreadable(fault),
            });
        }
    };
    let found = match (&branch, &news) {
        (Some(branch), _) => of_branch(tx, app, platform, &candidates, branch)?,
        (None, News::Changed { order, .. } | News::Look { order }) => {
            let found = of_order(tx, app, platform, &candidates, order)?;
            if found.is_none() {
                return Ok(unknown_order(candidates, order));
            }
            found
        }
        (None, News::Nothing) if candidates.is_empty() => {
            // It came with the operator's secret, and is for no account.
            return Ok(Understood::InboxOnly {
                sender: None,
                outcome: IntakeOutcome::Noted,
            });
        }
        (None, _) => candidates.first().cloned(),
    };
    Ok(match found {
        Some(served) => address(app, platform, served, news, now),
        None => Understood::InboxOnly {
            sender: sender(candidates),
            outcome: IntakeOutcome::UnknownBranch {
                branch: branch.unwrap_or_default(),
            },
        },
    })
}

/// Understands a new order without the database; `None` for all other messages, and for those that seem wrong.
pub(crate) fn understand_new_order(
    app: &App,
    platform: &'static dyn Platform,
    identified: &Identified<'_>,
    now: Timestamp,
) -> Option<Understood> {
    let Identified { verified, candidates } = identified;
    let Message { branch, news } = read_message(platform, verified).ok()?;
    let found = match &branch {
        Some(branch) => with_branch(candidates, branch),
        None => candidates.first(),
    };
    match news {
        News::Order(_) => Some(address(app, platform, found?.clone(), news, now)),
        _ => None,
    }
}

/// Addresses a message to an integration.
pub(crate) fn address(
    app: &App,
    platform: &'static dyn Platform,
    served: InboundIntegration,
    news: News,
    now: Timestamp,
) -> Understood {
    let InboundIntegration {
        connected,
        settings,
        version,
    } = served;
    let config = Config::read(settings.config.as_deref()).unwrap_or_default();
    let is_covered = settings
        .packages
        .iter()
        .any(|package| package.covers(platform.provider(), now));
    let flag = if !is_covered {
        Some(Flag::PackageExpired)
    } else if !connected.integration.is_active {
        Some(Flag::IntegrationOff)
    } else {
        None
    };
    Understood::Addressed(Box::new(Addressed {
        contact: Contact::new(app, platform, Some(&connected)),
        connected,
        cached_version: version,
        auto_verify: config.auto_verify,
        escalation: escalation(settings.escalation.as_deref()),
        flag,
        news,
    }))
}

/// The stored steps. Damaged ones must not keep orders from being taken.
fn escalation(stored: Option<&str>) -> Vec<Step> {
    let Some(json) = stored else { return Vec::new() };
    serde_json::from_str(json).unwrap_or_else(|error| {
        tracing::error!(%error, "the escalation of a restaurant cannot be read");
        Vec::new()
    })
}

fn sender(candidates: Vec<InboundIntegration>) -> Option<Connected> {
    candidates.into_iter().next().map(|first| first.connected)
}

fn unknown_order(candidates: Vec<InboundIntegration>, which: &Which) -> Understood {
    let all = || candidates.iter().map(|c| &c.connected.integration);
    let first = all().next().map(|integration| integration.account_id);
    Understood::UnknownOrder {
        which: which.clone(),
        among: all().map(|integration| integration.id).collect(),
        spans_accounts: all().any(|it| Some(it.account_id) != first) || first.is_none(),
        sender: sender(candidates),
    }
}

fn with_branch<'a>(candidates: &'a [InboundIntegration], branch: &str) -> Option<&'a InboundIntegration> {
    candidates
        .iter()
        .find(|c| c.connected.integration.remote_id.as_deref() == Some(branch))
}

/// The integration of a branch, if the message may be for it.
fn of_branch(
    tx: &mut Tx<'_>,
    app: &App,
    platform: &dyn Platform,
    candidates: &[InboundIntegration],
    branch: &str,
) -> Result<Option<InboundIntegration>, Fault> {
    if !candidates.is_empty() {
        return Ok(with_branch(candidates, branch).cloned());
    }
    let found = branches::owner(tx, &app.vault, platform.provider(), branch)?;
    Ok(found.filter(|c| platform.inbound_secret(&c.connected.credentials).is_none()))
}

/// The integration of an order, if the message may be for it.
fn of_order(
    tx: &mut Tx<'_>,
    app: &App,
    platform: &dyn Platform,
    candidates: &[InboundIntegration],
    which: &Which,
) -> Result<Option<InboundIntegration>, Fault> {
    let among: Vec<IntegrationId> = candidates.iter().map(|c| c.connected.integration.id).collect();
    let Some(order) = order_lookup::find_among(tx, platform.provider(), which, &among)? else {
        return Ok(None);
    };
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
    let settings = packages::settings(tx, connected.integration.restaurant_id)?;
    Ok(Some(InboundIntegration {
        connected,
        settings,
        version: None,
    }))
}
