//! The reasons with which an order can be cancelled: a platform's fixed list, or what it answers when it is asked.

use super::act::{find_one, platform_of};
use crate::app::App;
use crate::flow::Fault;
use crate::flow::platform_client::{Contact, converse};
use crate::telemetry::Topic;
use garson_core::id::AccountId;
use garson_core::order::{Order, Reason};
use garson_core::platform::Trouble;
use garson_store::tables::integrations;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long an answer is good for another question.
const KEPT: Duration = Duration::from_secs(60);
/// How old a list may be from which a reason is taken when there is no newer one.
const LAST_KNOWN: Duration = Duration::from_secs(24 * 60 * 60);
const DEADLINE: Duration = Duration::from_secs(10);

/// An order with the platform that is asked about it.
struct Subject {
    order: Order,
    contact: Option<Contact>,
    /// The reason that its integration usually gives.
    usual: Option<String>,
}

async fn subject(app: &App, account: AccountId, path_id: String) -> Result<Subject, Fault> {
    let vault = Arc::clone(&app.vault);
    let (order, connected) = app
        .store
        .read(move |tx| {
            let order = find_one(tx, account, &path_id)?;
            let connected = integrations::by_id(tx, &vault, order.integration_id)?;
            Ok::<_, Fault>((order, connected))
        })
        .await?;
    Ok(Subject {
        order,
        contact: connected.as_ref().and_then(|connected| app.contact(connected)),
        usual: connected.and_then(|connected| connected.integration.default_cancel_reason),
    })
}

/// The reasons that are known without asking anybody: a fixed list, or what the platform answered lately.
#[must_use]
pub fn at_hand(app: &App, order: &Order) -> Vec<Reason> {
    match garson_platforms::of(order.provider) {
        Some(platform) if platform.capability().live_reasons => {
            app.reasons.get(&order.id, KEPT).unwrap_or_default()
        }
        Some(platform) => platform.fixed_reasons(Some(order)),
        None => Vec::new(),
    }
}

/// The reasons with which an order can be cancelled now.
pub async fn list(app: &App, account: AccountId, path_id: String) -> Result<Vec<Reason>, Fault> {
    let subject = subject(app, account, path_id).await?;
    accepted(app, &subject, Instant::now() + DEADLINE)
        .await
        .map_err(not_had)
}

/// The list could not be had.
fn not_had(trouble: Trouble) -> Fault {
    match trouble {
        Trouble::Unclear { .. } => Fault::ProviderTimeout,
        other => Fault::ProviderUnreachable {
            message: other.explanation(),
        },
    }
}

async fn accepted(app: &App, subject: &Subject, until: Instant) -> Result<Vec<Reason>, Trouble> {
    let Subject { order, contact, .. } = subject;
    let Some(contact) = contact.as_ref().filter(|c| c.platform.capability().live_reasons) else {
        let platform = garson_platforms::of(order.provider);
        return Ok(platform.map_or_else(Vec::new, |p| p.fixed_reasons(Some(order))));
    };
    if let Some(kept) = app.reasons.get(&order.id, KEPT) {
        return Ok(kept);
    }
    let platform = contact.platform;
    let asked = converse(
        app,
        contact,
        Topic::Reasons,
        until,
        |link| platform.reasons(order, link),
        |link, response| platform.read_reasons(link, response),
    )
    .await?;
    app.reasons.put(order.id, asked.clone());
    Ok(asked)
}

/// The reason with which an order is cancelled: the given one if the platform accepts it, the integration's usual one,
/// or the first of the list. When the list cannot be had, the platform judges what is given; if nothing is, the first of the
/// last known list is taken, and without one nothing is cancelled.
pub async fn choose(
    app: &App,
    account: AccountId,
    path_id: String,
    given: Option<String>,
    until: Instant,
) -> Result<Option<Reason>, Fault> {
    let subject = subject(app, account, path_id).await?;
    platform_of(&subject.order)?;
    if subject.order.status.is_cancelled() {
        // It stays as it was cancelled; a repeat is fine whatever reason it gives.
        return Ok(None);
    }
    // Half of the time is for the list, so that there is some left to cancel.
    let half = Instant::now() + until.saturating_duration_since(Instant::now()) / 2;
    let unnamed = given.as_ref().or(subject.usual.as_ref()).map(|id| Reason {
        name: id.clone(),
        id: id.clone(),
    });
    let accepted = match accepted(app, &subject, half).await {
        // A platform that will not cancel says so itself, in its own words.
        Ok(list) if list.is_empty() => return Ok(unnamed),
        Ok(list) => list,
        // The platform judges what is given.
        Err(_) if unnamed.is_some() => return Ok(unnamed),
        // Without a reason it would refuse, whatever it thinks of the cancellation.
        Err(trouble) => app
            .reasons
            .get(&subject.order.id, LAST_KNOWN)
            .filter(|list| !list.is_empty())
            .ok_or_else(|| not_had(trouble))?,
    };
    let named = |id: &str| accepted.iter().find(|reason| reason.id == id).cloned();
    match &given {
        Some(id) => named(id).map(Some).ok_or_else(|| Fault::ReasonNotAccepted {
            accepted: accepted.clone(),
        }),
        None => Ok(subject
            .usual
            .as_deref()
            .and_then(named)
            .or_else(|| accepted.first().cloned())),
    }
}
