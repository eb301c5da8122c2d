//! A restaurant's menu on a platform.

pub use crate::app::fetched_menu::FetchedMenu;

use super::integrations;
use crate::app::App;
use crate::flow::Fault;
use crate::flow::platform_client::{Contact, read_menu};
use garson_core::explanation::PlatformTask;
use garson_core::id::{AccountId, RestaurantId};
use garson_core::menu::Menu;
use garson_core::platform::{CallError, PlatformError};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long a menu is cached: platforms allow about two requests a minute.
const CACHED_FOR: Duration = Duration::from_secs(60);
const DEADLINE: Duration = Duration::from_secs(20);

/// Fetches the menu, or returns the cached one. Fails for platforms that offer no menu.
pub async fn fetch(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    key: &str,
) -> Result<Arc<FetchedMenu>, Fault> {
    let platform = integrations::platform(key)?;
    let connected = integrations::find(app, account, restaurant, platform.provider())
        .await?
        .ok_or_else(|| Fault::NotConnected {
            provider: key.to_owned(),
        })?;
    let contact = app
        .contact(&connected)
        .filter(|contact| contact.platform.capability().menu)
        .ok_or(Fault::Platform(PlatformError::Unsupported {
            what: PlatformTask::ReadMenu,
        }))?;
    let integration = connected.integration.id;
    if let Some(cached) = app.menus.get(&integration, CACHED_FOR) {
        return Ok(cached);
    }
    let menu = read(app, &contact.for_menus()).await?;
    let fetched = Arc::new(FetchedMenu {
        menu,
        fetched_at: app.now(),
    });
    app.menus.put(integration, Arc::clone(&fetched));
    Ok(fetched)
}

async fn read(app: &App, contact: &Contact) -> Result<Menu, Fault> {
    let read = read_menu(app, contact, Instant::now() + DEADLINE).await;
    read.map_err(|trouble| match trouble {
        CallError::Unclear { .. } => Fault::ProviderTimeout,
        CallError::Refused { message } | CallError::RetryableRefusal { message, .. } => {
            Fault::ProviderRefused { message }
        }
        trouble => Fault::ProviderUnreachable {
            message: trouble.explanation(),
        },
    })
}
