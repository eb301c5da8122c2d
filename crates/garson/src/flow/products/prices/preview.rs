//! The preview of a price change: which prices would be sent, and which cannot be.

use super::view::PriceChangeView;
use crate::app::App;
use crate::flow::Fault;
use crate::flow::fault::Thing;
use garson_core::explanation::{Explanation, PlatformFailure, PlatformTask};
use garson_core::field_problem::FieldProblem;
use garson_core::id::{AccountId, PricePushId, ProductId, RestaurantId};
use garson_core::integration::{Credentials, Integration};
use garson_core::money::Minor;
use garson_core::platform::Provider;
use garson_core::price_change::PriceScope;
use garson_store::Tx;
use garson_store::tables::platform_items::PlatformItem;
use garson_store::tables::prices::{PriceItem, PricePush, PriceState, PushState};
use garson_store::tables::{integrations, platform_items, prices, products, restaurants};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// How long a preview is valid.
pub const PREVIEW_LASTS: Duration = Duration::from_secs(15 * 60);
/// The largest number of prices in one change, across all platforms.
const MAX_PRICES: usize = 4_000;

/// The price that a product should have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesiredPrice {
    pub product: ProductId,
    pub price: Minor,
    /// Empty: on all platforms that have it.
    pub providers: Vec<Provider>,
}

/// Stores the preview: the prices that differ from those of the platforms.
pub async fn preview(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
    (id, made_by): (PricePushId, &'static str),
    prices: Vec<DesiredPrice>,
) -> Result<PriceChangeView, Fault> {
    let now = app.now();
    let vault = Arc::clone(&app.vault);
    let shared: HashMap<Provider, Credentials> = garson_platforms::all()
        .iter()
        .map(|platform| {
            (
                platform.provider(),
                app.terms(platform.provider()).credentials.clone(),
            )
        })
        .collect();
    app.store
        .write(account, move |tx| {
            if !restaurants::lock(tx, account, restaurant)? {
                return Err(Fault::not_found(Thing::Restaurant, restaurant));
            }
            // The id exists if an earlier run of the same idempotent request got this far.
            if let Some(known) = prices::find(tx, account, restaurant, id)? {
                return Ok(PriceChangeView {
                    items: prices::items(tx, id)?,
                    push: known,
                });
            }
            let mut connected = HashMap::new();
            for integration in integrations::of_restaurant(tx, restaurant)? {
                let own = integrations::find(tx, &vault, restaurant, integration.provider)?;
                let mut credentials = shared.get(&integration.provider).cloned().unwrap_or_default();
                credentials.extend(own.map(|it| it.credentials).unwrap_or_default());
                connected.insert(integration.provider, (integration, credentials));
            }
            let items = planned(tx, account, restaurant, id, &prices, &connected)?;
            let push = PricePush {
                id,
                restaurant_id: restaurant,
                state: PushState::Preview,
                created_at: now,
                expires_at: now.plus(PREVIEW_LASTS),
                started_at: None,
                finished_at: None,
            };
            prices::add(tx, account, &push, made_by, &items)?;
            Ok(PriceChangeView { push, items })
        })
        .await
}

type Connected = HashMap<Provider, (Integration, Credentials)>;

fn planned(
    tx: &mut Tx<'_>,
    account: AccountId,
    restaurant: RestaurantId,
    push: PricePushId,
    prices: &[DesiredPrice],
    connected: &Connected,
) -> Result<Vec<PriceItem>, Fault> {
    let ids: Vec<ProductId> = prices.iter().map(|it| it.product).collect();
    let known = products::by_ids(tx, restaurant, &ids)?;
    if let Some(missing) = ids.iter().find(|id| !known.iter().any(|it| it.id == **id)) {
        return Err(Fault::not_found(Thing::Product, missing));
    }
    let mut by_product: HashMap<ProductId, Vec<PlatformItem>> = HashMap::new();
    for item in platform_items::of_products(tx, &ids)? {
        by_product.entry(item.product_id).or_default().push(item);
    }
    let mut planned = Vec::new();
    for desired in prices {
        for item in by_product.get(&desired.product).into_iter().flatten() {
            let provider = item.item.key.provider;
            let is_meant = desired.providers.is_empty() || desired.providers.contains(&provider);
            let is_other = item.item.price != Some(desired.price);
            let Some((integration, credentials)) = connected.get(&provider) else {
                continue;
            };
            if !is_meant || !is_other || item.gone_at.is_some() {
                continue;
            }
            let number = i64::try_from(planned.len() + 1).unwrap_or(i64::MAX);
            let (scope, refusal) = support(integration, credentials, item.item.key.is_option);
            planned.push(PriceItem {
                push_id: push,
                number,
                account_id: account,
                integration_id: integration.id,
                key: item.item.key.clone(),
                product_id: desired.product,
                name: item.item.name.clone(),
                old_price: item.item.price,
                new_price: desired.price,
                scope,
                state: if refusal.is_some() {
                    PriceState::Unsupported
                } else {
                    PriceState::Preview
                },
                message: refusal,
                batch: None,
                attempts: 0,
                is_sending: false,
                due_at: None,
            });
        }
    }
    if planned.len() > MAX_PRICES {
        return Err(Fault::invalid(
            "prices",
            FieldProblem::TooMany { max: MAX_PRICES },
        ));
    }
    Ok(planned)
}

/// The scope of a price on a platform, and why it cannot be changed, if it cannot.
fn support(
    integration: &Integration,
    credentials: &Credentials,
    is_option: bool,
) -> (PriceScope, Option<Explanation>) {
    let task = if is_option {
        PlatformTask::ChangeOptionPrices
    } else {
        PlatformTask::ChangePrices
    };
    let unsupported = Explanation::from(PlatformFailure::Unsupported { task });
    let Some(platform) = garson_platforms::of(integration.provider) else {
        return (PriceScope::Branch, Some(unsupported));
    };
    let scope = platform
        .capability()
        .prices
        .map_or(PriceScope::Branch, |prices| prices.scope);
    let offers =
        platform.offers(PlatformTask::ChangePrices, credentials) && platform.offers(task, credentials);
    if !offers {
        return (scope, Some(unsupported));
    }
    // A price is never sent without a branch: it would concern every branch.
    if !integration.is_active || integration.remote_id.is_none() {
        return (scope, Some(PlatformFailure::NotConnected.into()));
    }
    (scope, None)
}
