//! An account with restaurants that take orders, made the way an operator and a client make them.

use crate::sample::SHOP_KEY;
use crate::{Fallible, load};
use garson::app::App;
use garson::config::Settings;
use garson::flow::integrations::IntegrationChange;
use garson::flow::{Fault, accounts, integrations, restaurants};
use garson_core::clock::Clock;
use garson_core::id::{AccountId, IntegrationId, RestaurantId};
use garson_core::restaurant::RestaurantFields;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// A restaurant with its `direct` integration.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Branch {
    pub restaurant: RestaurantId,
    pub integration: IntegrationId,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Shop {
    pub account: AccountId,
    pub api_key: String,
    pub branches: Vec<Branch>,
}

/// Opens the data of a folder as the server does.
pub fn open(data: &Path) -> Fallible<Arc<App>> {
    Ok(App::open(settings(data)?)?)
}

/// The same, with a clock that stands still.
pub fn open_at(data: &Path, moment: Timestamp) -> Fallible<Arc<App>> {
    Ok(App::open_with(settings(data)?, Arc::new(Still(moment)), None)?)
}

fn settings(data: &Path) -> Fallible<Settings> {
    let flags = vec![("data", data.display().to_string())];
    Ok(Settings::load(None, Vec::new(), flags).map_err(|error| error.to_string())?)
}

struct Still(Timestamp);

impl Clock for Still {
    fn now(&self) -> Timestamp {
        self.0
    }
}

pub fn failed(fault: Fault) -> String {
    format!("{fault:?}")
}

/// The store id of a branch.
pub fn store_id(number: usize) -> String {
    format!("branch-{number}")
}

/// An account with restaurants.
pub async fn make(app: &App, branches: usize) -> Fallible<Shop> {
    let name = "Bench".to_owned();
    let (account, key) = accounts::create(app, name, "bench@example.com", None)
        .await
        .map_err(failed)?;
    let mut made = Vec::new();
    for number in 0..branches {
        made.push(make_branch(app, account.id, number).await?);
    }
    Ok(Shop {
        account: account.id,
        api_key: key.secret.expose().clone(),
        branches: made,
    })
}

async fn make_branch(app: &App, account: AccountId, number: usize) -> Fallible<Branch> {
    let fields = RestaurantFields {
        name: format!("Branch {number}"),
        ..RestaurantFields::default()
    };
    let restaurant = restaurants::create(app, account, RestaurantId::at(app.now()), fields)
        .await
        .map_err(failed)?;
    let key = Secret::new(SHOP_KEY.to_owned());
    let change = IntegrationChange {
        is_active: Some(true),
        remote_id: Some(Some(store_id(number))),
        credentials: Some(vec![("inboundKey".to_owned(), Some(key))]),
        default_cancel_reason: None,
    };
    integrations::put(app, account, restaurant.id, "direct", change)
        .await
        .map_err(failed)?;
    let id = restaurant.id;
    let found = app
        .store
        .read(move |tx| garson_store::integrations::of_restaurant(tx, id))
        .await?;
    let integration = found.first().ok_or("no integration was made")?.id;
    Ok(Branch {
        restaurant: id,
        integration,
    })
}

/// A fresh database with a shop of one branch, in a folder that the caller keeps.
pub fn make_fresh(data: &Path) -> Fallible<Shop> {
    let app = open(data)?;
    let runtime = load::runtime()?;
    runtime.block_on(make(&app, 1))
}
