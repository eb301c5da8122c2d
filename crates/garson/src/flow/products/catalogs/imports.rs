//! The platform's own log of imports. What it says of a menu that was sent counts like a report.

use super::report::apply;
use super::target::target_integration;
use crate::app::App;
use crate::flow::Fault;
use crate::flow::platform_client::{Contact, converse_steps};
use crate::telemetry::Topic;
use garson_core::catalog::{CatalogImport, CatalogLogEntry, CatalogState};
use garson_core::explanation::PlatformTask;
use garson_core::id::{AccountId, RestaurantId};
use garson_core::platform::{CallError, Platform, PlatformError};
use garson_store::StoreError;
use garson_store::tables::catalogs;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How far the log is read back: platforms keep 30 days.
const PERIOD: Duration = Duration::from_secs(29 * 86_400);
/// How long a log is cached.
const CACHED_FOR: Duration = Duration::from_secs(20);
const DEADLINE: Duration = Duration::from_secs(10);
/// Menus that were sent whose results are looked for.
const PUSHES: i64 = 50;

/// Reads the platform's log of imports of a restaurant's branch, newest first, and stores what it says of menus that were sent.
pub async fn imports(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    target: &'static dyn Platform,
) -> Result<Arc<Vec<CatalogLogEntry>>, Fault> {
    let unsupported = || {
        Fault::Platform(PlatformError::Unsupported {
            what: PlatformTask::PushCatalog,
        })
    };
    let connected = target_integration(app, account, restaurant, target).await?;
    if !target.capability().catalog_push.is_some_and(|it| it.has_log) {
        return Err(unsupported());
    }
    let integration = connected.integration.id;
    if let Some(cached) = app.catalog_logs.get(&integration, CACHED_FOR) {
        return Ok(cached);
    }
    let contact = app.contact(&connected).ok_or_else(unsupported)?;
    let entries = Arc::new(read(app, &contact).await?);
    app.catalog_logs.put(integration, Arc::clone(&entries));
    settle(app, account, restaurant, target, &entries).await?;
    Ok(entries)
}

async fn read(app: &App, contact: &Contact) -> Result<Vec<CatalogLogEntry>, Fault> {
    let since = app.now().minus(PERIOD);
    let (platform, until) = (contact.platform, Instant::now() + DEADLINE);
    let reading = converse_steps(app, contact, Topic::Menu, until, |link, answers| {
        platform.read_catalog_log(since, link, answers)
    });
    reading.await.map_err(|trouble| match trouble {
        CallError::Unclear { .. } => Fault::ProviderTimeout,
        CallError::Refused { message } | CallError::RetryableRefusal { message, .. } => {
            Fault::ProviderRefused { message }
        }
        trouble => Fault::ProviderUnreachable {
            message: trouble.explanation(),
        },
    })
}

/// Stores the newest result of each import that belongs to a menu of the restaurant.
async fn settle(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    target: &'static dyn Platform,
    entries: &[CatalogLogEntry],
) -> Result<(), StoreError> {
    let mut seen = BTreeSet::new();
    let newest: Vec<CatalogImport> = entries
        .iter()
        .map(|entry| &entry.import)
        .filter(|import| import.state != CatalogState::Unknown && seen.insert(import.import_id.clone()))
        .cloned()
        .collect();
    if newest.is_empty() {
        return Ok(());
    }
    let (provider, now) = (target.provider(), app.now());
    app.store
        .write(account, move |tx| {
            for pushed in catalogs::page(tx, restaurant, None, PUSHES)? {
                let of_push = newest
                    .iter()
                    .find(|import| pushed.progress.import_id.as_ref() == Some(&import.import_id));
                let is_open = pushed.provider == provider && !pushed.progress.stage.is_final();
                if let Some(import) = of_push.filter(|_| is_open) {
                    apply(tx, pushed.id, import, now)?;
                }
            }
            Ok::<_, StoreError>(())
        })
        .await?;
    app.product_work.catalogs.notify_one();
    app.product_work.settled.notify_waiters();
    Ok(())
}
