//! The reasons for which an order can be cancelled: a platform's fixed list, or the list that it returns for the order.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::find_order::{find_one, platform_of};
use crate::flow::platform_client::{Contact, converse};
use crate::telemetry::Topic;
use garson_core::id::AccountId;
use garson_core::order::{Order, Reason};
use garson_core::platform::CallError;
use garson_store::tables::integrations;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long a platform's list is reused.
const CACHED_FOR: Duration = Duration::from_secs(60);
/// How old a list may be when no newer one can be read.
const LAST_KNOWN: Duration = Duration::from_secs(24 * 60 * 60);
const DEADLINE: Duration = Duration::from_secs(10);

/// An order and its platform.
struct Subject {
    order: Order,
    contact: Option<Contact>,
    /// The default reason of its integration.
    default_reason: Option<String>,
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
        default_reason: connected.and_then(|connected| connected.integration.default_cancel_reason),
    })
}

/// The reasons that are known without a request: a fixed list, or the platform's recent answer.
#[must_use]
pub fn known(app: &App, order: &Order) -> Vec<Reason> {
    match garson_platforms::of(order.provider) {
        Some(platform) if platform.capability().live_reasons => {
            app.reasons.get(&order.id, CACHED_FOR).unwrap_or_default()
        }
        Some(platform) => platform.fixed_reasons(Some(order)),
        None => Vec::new(),
    }
}

/// The reasons for which an order can be cancelled now.
pub async fn list(app: &App, account: AccountId, path_id: String) -> Result<Vec<Reason>, Fault> {
    let subject = subject(app, account, path_id).await?;
    accepted(app, &subject, Instant::now() + DEADLINE)
        .await
        .map_err(unavailable)
}

/// The list could not be read.
fn unavailable(trouble: CallError) -> Fault {
    match trouble {
        CallError::Unclear { .. } => Fault::ProviderTimeout,
        other => Fault::ProviderUnreachable {
            message: other.explanation(),
        },
    }
}

async fn accepted(app: &App, subject: &Subject, until: Instant) -> Result<Vec<Reason>, CallError> {
    let Subject { order, contact, .. } = subject;
    let Some(contact) = contact.as_ref().filter(|c| c.platform.capability().live_reasons) else {
        let platform = garson_platforms::of(order.provider);
        return Ok(platform.map_or_else(Vec::new, |p| p.fixed_reasons(Some(order))));
    };
    if let Some(cached) = app.reasons.get(&order.id, CACHED_FOR) {
        return Ok(cached);
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

/// The reason for a cancellation: the given one if the platform accepts it, the integration's default, or the first of the
/// list. When the list cannot be read, the platform judges the given or default reason. Without either, the first of the last
/// known list is used, and without one nothing is cancelled.
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
        // A repeated cancellation is fine whatever its reason.
        return Ok(None);
    }
    // Half of the time is for the list, so that some is left to cancel.
    let half = Instant::now() + until.saturating_duration_since(Instant::now()) / 2;
    let unnamed = given
        .as_ref()
        .or(subject.default_reason.as_ref())
        .map(|id| Reason {
            name: id.clone(),
            id: id.clone(),
        });
    let accepted = match accepted(app, &subject, half).await {
        // An empty list means that it cannot be cancelled: the platform refuses in its own words.
        Ok(list) if list.is_empty() => return Ok(unnamed),
        Ok(list) => list,
        // The platform judges the reason.
        Err(_) if unnamed.is_some() => return Ok(unnamed),
        // It would refuse any cancellation without a reason.
        Err(trouble) => app
            .reasons
            .get(&subject.order.id, LAST_KNOWN)
            .filter(|list| !list.is_empty())
            .ok_or_else(|| unavailable(trouble))?,
    };
    let named = |id: &str| accepted.iter().find(|reason| reason.id == id).cloned();
    match &given {
        Some(id) => named(id).map(Some).ok_or_else(|| Fault::ReasonNotAccepted {
            accepted: accepted.clone(),
        }),
        None => Ok(subject
            .default_reason
            .as_deref()
            .and_then(named)
            .or_else(|| accepted.first().cloned())),
    }
}
