//! A restaurant's menu on a platform.

pub use crate::app::fetched_menu::FetchedMenu;

use super::integrations;
use crate::app::App;
use crate::flow::Fault;
use crate::flow::platform_client::{Contact, converse};
use crate::telemetry::Topic;
use garson_core::explanation::{PlatformFailure, PlatformTask};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::menu::Menu;
use garson_core::platform::{CallError, HttpResponse, Link, MenuStep, PlatformError};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long a menu is cached: platforms allow about two requests a minute.
const CACHED_FOR: Duration = Duration::from_secs(60);
const DEADLINE: Duration = Duration::from_secs(20);
/// No platform needs more requests than this.
const MAX_REQUESTS: usize = 5;

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
    let menu = read(app, &contact).await?;
    let fetched = Arc::new(FetchedMenu {
        menu,
        fetched_at: app.now(),
    });
    app.menus.put(integration, Arc::clone(&fetched));
    Ok(fetched)
}

/// Makes as many requests as the platform needs for its menu.
async fn read(app: &App, contact: &Contact) -> Result<Menu, Fault> {
    let until = Instant::now() + DEADLINE;
    let mut answers: Vec<HttpResponse> = Vec::new();
    while answers.len() <= MAX_REQUESTS {
        let next = |link: &Link<'_>, answers: &[HttpResponse]| contact.platform.menu(link, answers);
        let answer = converse(
            app,
            contact,
            Topic::Menu,
            until,
            |link| match next(link, &answers)? {
                MenuStep::Ask(request) => Ok(request),
                // The menu was complete before, so this is not reached.
                MenuStep::Menu(_) => Err(PlatformError::Unsupported {
                    what: PlatformTask::AnotherQuestion,
                }),
            },
            |link, response| {
                let mut so_far = answers.clone();
                so_far.push(response.clone());
                match next(link, &so_far) {
                    Ok(MenuStep::Menu(menu)) => Ok((response.clone(), Some(menu))),
                    Ok(MenuStep::Ask(_)) => Ok((response.clone(), None)),
                    Err(PlatformError::Answered(trouble)) => Err(trouble),
                    Err(error) => Err(CallError::refused(error.explanation())),
                }
            },
        )
        .await;
        match answer {
            Ok((_, Some(menu))) => return Ok(menu),
            Ok((response, None)) => answers.push(response),
            Err(CallError::Unclear { .. }) => return Err(Fault::ProviderTimeout),
            Err(CallError::Refused { message } | CallError::RetryableRefusal { message, .. }) => {
                return Err(Fault::ProviderRefused { message });
            }
            Err(trouble) => {
                return Err(Fault::ProviderUnreachable {
                    message: trouble.explanation(),
                });
            }
        }
    }
    Err(Fault::ProviderUnreachable {
        message: PlatformFailure::MenuTooLong.into(),
    })
}
