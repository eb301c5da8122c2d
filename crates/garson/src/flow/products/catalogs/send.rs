//! Processes one catalog: sends it once, and links its items after the import.

use super::link::link;
use super::record::store_progress;
use crate::app::App;
use crate::flow::admin::randomness::random_text;
use crate::flow::platform_client::{Contact, converse_steps};
use crate::flow::products::menus::unpack_body;
use crate::telemetry::Topic;
use garson_core::catalog::{CatalogAnswer, CatalogPush, CatalogStage};
use garson_core::explanation::{PlatformFailure, PlatformTask};
use garson_core::id::{AccountId, CatalogPushId, NodeId};
use garson_core::menu::Menu;
use garson_core::platform::{CallError, Platform};
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use garson_store::StoreError;
use garson_store::tables::catalogs::PushedCatalog;
use garson_store::tables::{catalogs, integrations};
use garson_store::vault::lookup_hash;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The deadline of the request, including a login.
const DEADLINE: Duration = Duration::from_secs(60);
/// Pauses after attempts in which nothing was sent, in seconds.
const PAUSES: [u64; 5] = [3, 10, 30, 60, 300];
/// The number of attempts if the platform is unreachable: about twenty minutes.
const MAX_ATTEMPTS: i64 = 8;

/// The result of sending a catalog.
struct Sent {
    answer: CatalogAnswer,
    /// The next attempt, if the platform does not have it.
    pause: Duration,
    /// Whether it counts as an attempt.
    counts: bool,
    /// Whether the request had a callback URL.
    is_reported: bool,
}

/// Does the due work for a catalog, unless another node does.
pub async fn work_on(app: &Arc<App>, account: AccountId, id: CatalogPushId) -> Result<(), StoreError> {
    let Some(node) = app.store.node_id().filter(|_| app.node_lease.is_valid()) else {
        return Ok(());
    };
    let token = random_text().map_err(|error| StoreError::internal(error.to_string()))?;
    let hash = lookup_hash(token.expose().as_bytes());
    let now = app.now();
    let claimed = app
        .store
        .write(account, move |tx| catalogs::claim(tx, id, node, now, &hash))
        .await?;
    let Some((catalog, body)) = claimed else {
        return Ok(());
    };
    match catalog.progress.stage {
        CatalogStage::Pending if catalog.is_sending => {
            // A node stopped while sending: the platform may have received it.
            let message = PlatformFailure::OutcomeUnknown.into();
            let sent = Sent::with(CatalogAnswer::Unclear { message });
            conclude(app, &catalog, node, sent).await?;
        }
        CatalogStage::Pending => {
            let sent = send(app, &catalog, body, &token).await?;
            conclude(app, &catalog, node, sent).await?;
        }
        CatalogStage::Submitted | CatalogStage::Done | CatalogStage::DoneWithErrors => {
            if let Some(menu) = menu_of(body).await? {
                link(app, &catalog, &menu).await?;
            }
            finish(app, account, id, node).await?;
        }
        CatalogStage::InProgress | CatalogStage::Failed | CatalogStage::Unclear => {
            finish(app, account, id, node).await?;
        }
    }
    app.product_work.settled.notify_waiters();
    Ok(())
}

impl Sent {
    fn with(answer: CatalogAnswer) -> Self {
        Self {
            answer,
            pause: Duration::ZERO,
            counts: true,
            is_reported: true,
        }
    }

    fn refused(failure: PlatformFailure) -> Self {
        Self::with(CatalogAnswer::Refused {
            message: failure.into(),
        })
    }
}

/// The menu of a row; none if it was removed or is damaged.
async fn menu_of(body: Option<Vec<u8>>) -> Result<Option<Menu>, StoreError> {
    let Some(body) = body else { return Ok(None) };
    tokio::task::spawn_blocking(move || unpack_body(&body).ok())
        .await
        .map_err(|error| StoreError::internal(format!("a menu could not be unpacked: {error}")))
}

async fn send(
    app: &App,
    catalog: &PushedCatalog,
    body: Option<Vec<u8>>,
    token: &Secret<String>,
) -> Result<Sent, StoreError> {
    let (vault, integration) = (Arc::clone(&app.vault), catalog.integration_id);
    let connected = app
        .store
        .read(move |tx| integrations::by_id(tx, &vault, integration))
        .await?
        .filter(|it| it.integration.is_active && it.integration.remote_id.is_some());
    let contact = connected.as_ref().and_then(|it| app.contact(it));
    let Some(contact) = contact.filter(|it| !it.branch.is_empty()) else {
        return Ok(Sent::refused(PlatformFailure::NotConnected));
    };
    let task = PlatformTask::PushCatalog;
    if !contact.platform.offers(task, &contact.credentials) {
        return Ok(Sent::refused(PlatformFailure::Unsupported { task }));
    }
    let Some(menu) = menu_of(body).await? else {
        return Ok(Sent::refused(PlatformFailure::RequestNotWritable));
    };
    let callback = callback_url(app, contact.platform, catalog.id, token);
    let answer = ask(app, &contact, &menu, callback.as_ref()).await;
    let mut sent = match answer {
        Ok(import_id) => Sent::with(CatalogAnswer::Submitted { import_id }),
        Err(trouble) => after_trouble(catalog, &trouble),
    };
    sent.is_reported = callback.is_some();
    Ok(sent)
}

/// The callback URL; none if the platform sends no reports, or the operator has not set `public_url`.
fn callback_url(
    app: &App,
    platform: &dyn Platform,
    id: CatalogPushId,
    token: &Secret<String>,
) -> Option<Secret<String>> {
    let base = app.settings.public_url.trim_end_matches('/');
    let reports = platform.capability().catalog_push.is_some_and(|it| it.reports);
    if base.is_empty() || !reports {
        return None;
    }
    let provider = platform.provider();
    Some(Secret::new(format!(
        "{base}/hooks/{provider}/catalogs/{id}/{}",
        token.expose()
    )))
}

async fn ask(
    app: &App,
    contact: &Contact,
    menu: &Menu,
    callback: Option<&Secret<String>>,
) -> Result<String, CallError> {
    let push = CatalogPush {
        menu,
        callback_url: callback.map(|url| url.expose().as_str()),
    };
    let platform = contact.platform;
    let until = Instant::now() + DEADLINE;
    let asking = converse_steps(app, contact, Topic::Menu, until, |link, answers| {
        platform.push_catalog(&push, link, answers)
    });
    Ok(asking.await?.import_id)
}

fn after_trouble(catalog: &PushedCatalog, trouble: &CallError) -> Sent {
    let message = trouble.explanation();
    let usual = usize::try_from(catalog.attempts).unwrap_or(0);
    let usual = Duration::from_secs(PAUSES.get(usual).or(PAUSES.last()).copied().unwrap_or(60));
    let again = |pause: Duration, counts: bool| Sent {
        answer: CatalogAnswer::NotSent {
            message: message.clone(),
        },
        pause,
        counts,
        is_reported: true,
    };
    match trouble {
        CallError::Unclear { .. } => Sent::with(CatalogAnswer::Unclear { message }),
        CallError::HeldBack { room_in, .. } => again(*room_in, false),
        CallError::Refused { .. } => Sent::with(CatalogAnswer::Refused { message }),
        _ if catalog.attempts >= MAX_ATTEMPTS => Sent::with(CatalogAnswer::Refused { message }),
        CallError::NotYet { pause, .. }
        | CallError::Later {
            pause: Some(pause), ..
        } => again(*pause, true),
        CallError::Later { .. } | CallError::RetryableRefusal { .. } | CallError::SessionOver => {
            again(usual, true)
        }
    }
}

/// Saves the result of sending, merged with a report that may have arrived in the meantime.
async fn conclude(app: &App, catalog: &PushedCatalog, node: NodeId, sent: Sent) -> Result<(), StoreError> {
    let (id, now) = (catalog.id, app.now());
    app.store
        .write(catalog.account_id, move |tx| {
            let Some(mut catalog) = catalogs::lock(tx, id)? else {
                return Ok(());
            };
            if !catalogs::release(tx, id, node)? {
                return Ok(());
            }
            catalog.progress = catalog.progress.answered(sent.answer.clone());
            catalog.attempts += i64::from(sent.counts);
            catalog.due_at = due_at(catalog.progress.stage, &sent, now);
            store_progress(tx, &mut catalog, now)
        })
        .await
}

/// When the catalog is due after sending. If no report is expected, the items are linked immediately.
fn due_at(stage: CatalogStage, sent: &Sent, now: Timestamp) -> Option<Timestamp> {
    match stage {
        CatalogStage::Pending => Some(now.plus(sent.pause)),
        CatalogStage::Submitted => (!sent.is_reported).then_some(now),
        CatalogStage::Done | CatalogStage::DoneWithErrors => Some(now),
        CatalogStage::InProgress | CatalogStage::Failed | CatalogStage::Unclear => None,
    }
}

/// Marks a catalog as finished.
async fn finish(app: &App, account: AccountId, id: CatalogPushId, node: NodeId) -> Result<(), StoreError> {
    let now = app.now();
    app.store
        .write(account, move |tx| {
            let Some(mut catalog) = catalogs::lock(tx, id)? else {
                return Ok(());
            };
            if catalogs::release(tx, id, node)? {
                catalog.due_at = None;
                store_progress(tx, &mut catalog, now)?;
            }
            Ok(())
        })
        .await
}
