//! To which platforms a restaurant's menus can be sent.

use crate::app::App;
use crate::flow::Fault;
use crate::flow::admin::integrations;
use garson_core::explanation::PlatformTask;
use garson_core::id::{AccountId, RestaurantId};
use garson_core::integration::{Credentials, Integration};
use garson_core::platform::{Platform, PlatformError};
use garson_core::restaurant::Restaurant;
use garson_store::tables::integrations::Connected;

const TASK: PlatformTask = PlatformTask::PushCatalog;

/// A menu is never sent without a branch: it could concern others.
fn is_ready(integration: &Integration) -> bool {
    integration.is_active && integration.remote_id.as_ref().is_some_and(|id| !id.is_empty())
}

/// The platforms that the operator has switched it on for, and that can report what came of a menu.
#[must_use]
pub fn targets(app: &App, restaurant: &Restaurant) -> Vec<&'static dyn Platform> {
    if app.settings.public_url.is_empty() {
        return Vec::new();
    }
    let ready = restaurant.integrations.iter().filter(|it| is_ready(it));
    ready
        .filter_map(|it| garson_platforms::of(it.provider))
        .filter(|platform| {
            let settings = app.credentials(platform.provider(), &Credentials::new());
            platform.offers(TASK, &settings)
        })
        .collect()
}

/// The integration that the menu is sent to, if its platform takes menus.
pub async fn target_integration(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    target: &'static dyn Platform,
) -> Result<Connected, Fault> {
    let provider = target.provider();
    let connected = integrations::find(app, account, restaurant, provider).await?;
    let unsupported = || Fault::Platform(PlatformError::Unsupported { what: TASK });
    if !target.capability().has(TASK) {
        return Err(unsupported());
    }
    let Some(connected) = connected.filter(|it| is_ready(&it.integration)) else {
        return Err(Fault::NotConnected {
            provider: provider.to_string(),
        });
    };
    if !target.offers(TASK, &app.credentials(provider, &connected.credentials)) {
        return Err(unsupported());
    }
    Ok(connected)
}
