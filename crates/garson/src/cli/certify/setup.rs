//! The account of the temporary service: two restaurants, one of them on all simulated platforms, both with a shop of their own.

use super::super::command::{CommandError, failed};
use super::args::{BodyForm, CertifyArgs};
use crate::app::{App, StartError};
use crate::config::Settings;
use crate::flow::By;
use crate::flow::admin::endpoints::EndpointInput;
use crate::flow::admin::integrations::IntegrationChange;
use crate::flow::admin::randomness::random_text;
use crate::flow::admin::{accounts, endpoints, integrations, keys, restaurants};
use garson_core::id::{AccountId, EndpointId, RestaurantId};
use garson_core::restaurant::RestaurantFields;
use garson_core::secret::Secret;
use garson_core::webhook_endpoint::EventBody;
use garson_sim::{Platform, sample_store};
use serde_json::Value;
use std::path::Path;

const EMAIL: &str = "certify@example.com";
const OPERATOR: &str = "certify";
const NAMES: [&str; 2] = ["Certification 1", "Certification 2"];

/// The shop of a restaurant.
#[derive(Clone)]
pub struct Shop {
    pub restaurant: RestaurantId,
    pub store: &'static str,
    pub key: Secret<String>,
}

/// The account as it was set up.
pub struct Account {
    pub key: Secret<String>,
    pub shops: [Shop; 2],
}

/// Sets up the data folder of the service before it starts.
pub async fn prepare(
    args: &CertifyArgs,
    config: &Path,
    relay: String,
    given: Option<Secret<String>>,
) -> Result<Account, CommandError> {
    let settings = Settings::load(Some(config), [], Vec::new())?;
    let app = App::open(settings).map_err(|StartError(message)| CommandError(message))?;
    let account = create(args, &app, relay, given).await;
    // Closing the storage blocks.
    tokio::task::spawn_blocking(move || drop(app)).await?;
    account
}

async fn create(
    args: &CertifyArgs,
    app: &App,
    relay: String,
    given: Option<Secret<String>>,
) -> Result<Account, CommandError> {
    let (account, first) = accounts::create(app, "Certification".to_owned(), EMAIL, None)
        .await
        .map_err(failed)?;
    let by = || By::operator(account.id, OPERATOR);
    let key = match given {
        Some(key) => {
            keys::adopt(app, by(), key.clone()).await.map_err(failed)?;
            key
        }
        None => first.secret,
    };
    let [first, second] = NAMES;
    let shops = [
        open_shop(app, account.id, first, "certify-1").await?,
        open_shop(app, account.id, second, "certify-2").await?,
    ];
    let [on_platforms, _] = &shops;
    for platform in Platform::ALL {
        connect(app, account.id, on_platforms.restaurant, platform).await?;
    }
    // Last, so that the events of this preparation are not sent.
    let form = Some(args.key.authorization);
    accounts::set_webhook(app, by(), Some(relay), form, Some(true))
        .await
        .map_err(failed)?;
    if args.body == BodyForm::WithOrder {
        let input = EndpointInput {
            body: Some(EventBody::WithOrder),
            ..EndpointInput::default()
        };
        endpoints::update(app, by(), EndpointId::default_of(account.id), input)
            .await
            .map_err(failed)?;
    }
    Ok(Account { key, shops })
}

async fn open_shop(
    app: &App,
    account: AccountId,
    name: &str,
    store: &'static str,
) -> Result<Shop, CommandError> {
    let fields = RestaurantFields {
        name: name.to_owned(),
        ..RestaurantFields::default()
    };
    let by = || By::operator(account, OPERATOR);
    let restaurant = restaurants::create(app, by(), RestaurantId::at(app.now()), fields)
        .await
        .map_err(failed)?;
    let key = random_text().map_err(failed)?;
    let change = IntegrationChange {
        is_active: Some(true),
        remote_id: Some(Some(store.to_owned())),
        credentials: Some(vec![("inboundKey".to_owned(), Some(key.clone()))]),
        default_cancel_reason: None,
    };
    integrations::put(app, by(), restaurant.id, "direct", change)
        .await
        .map_err(failed)?;
    Ok(Shop {
        restaurant: restaurant.id,
        store,
        key,
    })
}

async fn connect(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    platform: Platform,
) -> Result<(), CommandError> {
    let (remote_id, credentials) = sample_store(platform, 1);
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let entries = credentials.as_object().into_iter().flatten();
    let change = IntegrationChange {
        is_active: Some(true),
        remote_id: Some(Some(remote_id)),
        credentials: Some(
            entries
                .map(|(name, value)| (name.clone(), Some(Secret::new(text(value)))))
                .collect(),
        ),
        default_cancel_reason: None,
    };
    integrations::put(
        app,
        By::operator(account, OPERATOR),
        restaurant,
        platform.name(),
        change,
    )
    .await
    .map_err(failed)?;
    Ok(())
}
