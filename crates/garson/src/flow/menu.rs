//! A restaurant's menu on a platform.

use super::{Fault, integrations};
use crate::app::App;
use garson_core::id::{AccountId, RestaurantId};
use garson_core::menu::Menu;
use garson_core::platform::PlatformError;
use garson_core::time::Timestamp;
use garson_store::restaurants;
use std::sync::Arc;

/// A menu, and when it was fetched.
pub struct FetchedMenu {
    pub menu: Menu,
    pub fetched_at: Timestamp,
}

/// Fetches the menu. A platform that has no way to read one says so.
pub async fn fetch(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    key: &str,
) -> Result<FetchedMenu, Fault> {
    let platform = integrations::platform(key)?;
    let vault = Arc::clone(&app.vault);
    let found = app
        .store
        .read(move |tx| {
            if !restaurants::exists(tx, account, restaurant)? {
                return Err(Fault::not_found("restaurant", restaurant));
            }
            Ok(garson_store::integrations::find(
                tx,
                &vault,
                restaurant,
                platform.provider(),
            )?)
        })
        .await?;
    if found.is_none() {
        return Err(Fault::NotConnected {
            provider: key.to_owned(),
        });
    }
    // No platform of this version can be asked for a menu; `Capability::menu` says the same to clients.
    Err(Fault::Platform(PlatformError::Unsupported {
        what: "read a menu",
    }))
}
