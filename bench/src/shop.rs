//! An account with restaurants that take orders, made the way an operator and a client make them.

use crate::client;
use crate::error::Fallible;
use crate::order_body::{SHOP_KEY, inbound_key, store_id};
use garson::app::App;
use garson::config::Settings;
use garson::flow::By;
use garson::flow::Fault;
use garson::flow::admin::integrations::IntegrationChange;
use garson::flow::admin::{accounts, integrations, restaurants};
use garson_core::clock::Clock;
use garson_core::id::{AccountId, IntegrationId, RestaurantId};
use garson_core::restaurant::RestaurantFields;
use garson_core::secret::Secret;
use garson_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::ops::Range;
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
    open_with(data, &[])
}

/// The same, with settings such as another database.
pub fn open_with(data: &Path, more: &[(&str, &str)]) -> Fallible<Arc<App>> {
    Ok(App::open(settings(data, more)?)?)
}

/// The same, with a fixed clock.
pub fn open_at(data: &Path, moment: Timestamp) -> Fallible<Arc<App>> {
    Ok(App::open_with(
        settings(data, &[])?,
        Arc::new(Still(moment)),
        None,
    )?)
}

fn settings(data: &Path, more: &[(&str, &str)]) -> Fallible<Settings> {
    let flags = vec![("data", data.display().to_string())];
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let variables: Vec<(String, String)> = more.iter().chain(&PRIVATE_TARGETS).map(own).collect();
    Ok(Settings::load(None, variables, flags).map_err(|error| error.to_string())?)
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

/// Receivers are on this machine.
pub const PRIVATE_TARGETS: [(&str, &str); 1] = [("GARSON_ALLOW_PRIVATE_TARGETS", "true")];

/// With which people sign in.
pub const EMAIL: &str = "bench@example.com";

/// An account with restaurants.
pub async fn make(app: &App, branches: usize) -> Fallible<Shop> {
    make_named(app, EMAIL, 0..branches, SHOP_KEY).await
}

/// Accounts with a restaurant each, whose events go where `url` says, if anywhere.
pub async fn make_many(
    app: &App,
    accounts: usize,
    url: impl Fn(usize) -> Option<String>,
) -> Fallible<Vec<Shop>> {
    let mut made = Vec::new();
    for number in 0..accounts {
        let email = format!("bench-{number}@example.com");
        let shop = make_named(app, &email, number..number + 1, &inbound_key(number)).await?;
        if let Some(url) = url(number) {
            accounts::set_webhook(app, By::system(shop.account), Some(url), None, None)
                .await
                .map_err(failed)?;
        }
        made.push(shop);
    }
    Ok(made)
}

async fn make_named(app: &App, email: &str, branches: Range<usize>, inbound: &str) -> Fallible<Shop> {
    let name = "Bench".to_owned();
    let (account, key) = accounts::create(app, name, email, None).await.map_err(failed)?;
    let mut made = Vec::new();
    for number in branches {
        made.push(make_branch(app, account.id, number, inbound).await?);
    }
    Ok(Shop {
        account: account.id,
        api_key: key.secret.expose().clone(),
        branches: made,
    })
}

async fn make_branch(app: &App, account: AccountId, number: usize, inbound: &str) -> Fallible<Branch> {
    let fields = RestaurantFields {
        name: format!("Branch {number}"),
        ..RestaurantFields::default()
    };
    let restaurant = restaurants::create(app, By::system(account), RestaurantId::at(app.now()), fields)
        .await
        .map_err(failed)?;
    let key = Secret::new(inbound.to_owned());
    let change = IntegrationChange {
        is_active: Some(true),
        remote_id: Some(Some(store_id(number))),
        credentials: Some(vec![("inboundKey".to_owned(), Some(key))]),
        default_cancel_reason: None,
    };
    integrations::put(app, By::system(account), restaurant.id, "direct", change)
        .await
        .map_err(failed)?;
    let id = restaurant.id;
    let found = app
        .store
        .read(move |tx| garson_store::tables::integrations::of_restaurant(tx, id))
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
    let runtime = client::runtime()?;
    runtime.block_on(make(&app, 1))
}
