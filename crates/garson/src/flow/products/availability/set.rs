//! Writes the desired availability of products, and waits for the results.

use super::day_end::end_of_day;
use crate::app::App;
use crate::flow::fault::Thing;
use crate::flow::products::record;
use crate::flow::{By, Fault};
use garson_core::explanation::{Explanation, PlatformFailure, PlatformTask};
use garson_core::id::{ProductId, RestaurantId};
use garson_core::integration::Integration;
use garson_core::item::{Availability, UnavailableEnd};
use garson_core::platform::Provider;
use garson_core::product::{ItemKey, name_key};
use garson_core::restaurant::Config;
use garson_core::store_control::Requester;
use garson_core::time::Timestamp;
use garson_store::tables::desired_items::{
    DesiredItem, DesiredItemState, DesiredOrigin, NewDesiredItem, Timer,
};
use garson_store::tables::platform_items::PlatformItem;
use garson_store::tables::{
    desired_items, integrations, platform_items, products, restaurants, store_settings,
};
use garson_store::{StoreError, Tx};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use tokio::time::Instant;

/// How long a client waits for the platforms.
const WAIT: Duration = Duration::from_secs(10);
/// The pause between reads of the database: another node may send the change.
const PAUSE: Duration = Duration::from_millis(250);
/// What a product or option is switched to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchTo {
    On,
    OffUntil(Timestamp),
    OffForTheDay,
    /// Until it is switched on.
    Off,
}

impl SwitchTo {
    fn availability(self, end_of_day: Timestamp) -> Availability {
        let end = match self {
            Self::On => return Availability::Available,
            Self::OffUntil(at) => UnavailableEnd::At(at),
            Self::OffForTheDay => UnavailableEnd::EndOfDay(end_of_day),
            Self::Off => UnavailableEnd::Never,
        };
        Availability::Unavailable { end }
    }
}

/// Switches one product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProductSwitch {
    pub product: ProductId,
    pub to: SwitchTo,
}

/// A request to switch products of one restaurant, on all platforms or some.
#[derive(Clone, Debug)]
pub struct Switch {
    pub restaurant: RestaurantId,
    pub products: Vec<ProductSwitch>,
    /// Empty: all platforms that have the product.
    pub providers: Vec<Provider>,
    pub requester: Requester,
}

/// The result on one platform.
#[derive(Clone, Debug)]
pub struct ItemOutcome {
    pub key: ItemKey,
    pub state: DesiredItemState,
    pub message: Option<Explanation>,
    pub timer: Option<Timer>,
    pub ends_at: Option<Timestamp>,
    /// A read of the platform has confirmed it.
    pub is_confirmed: bool,
}

#[derive(Clone, Debug)]
pub struct ProductOutcome {
    pub product: ProductId,
    pub items: Vec<ItemOutcome>,
}

/// Writes the desired availability in one transaction, and waits until every platform has answered or the time is up.
pub async fn set(app: &App, by: By, switch: Switch) -> Result<Vec<ProductOutcome>, Fault> {
    set_within(app, by, switch, WAIT).await
}

/// The same with another waiting time.
pub async fn set_within(
    app: &App,
    by: By,
    switch: Switch,
    wait: Duration,
) -> Result<Vec<ProductOutcome>, Fault> {
    let restaurant = switch.restaurant;
    let ids: Vec<ProductId> = switch.products.iter().map(|it| it.product).collect();
    let providers = switch.providers.clone();
    write(app, by, switch).await?;
    app.product_work.availability.notify_one();
    let until = Instant::now() + wait;
    loop {
        let (ids, providers) = (ids.clone(), providers.clone());
        let outcomes = app
            .store
            .read(move |tx| outcomes(tx, restaurant, &ids, &providers))
            .await?;
        let mut items = outcomes.iter().flat_map(|it| &it.items);
        if !items.any(|it| it.state == DesiredItemState::Pending) || Instant::now() >= until {
            return Ok(outcomes);
        }
        // After either a result or the pause, the database is read again.
        let _ = tokio::time::timeout(PAUSE, app.product_work.settled.notified()).await;
    }
}

/// Switches the products of restaurants that have one of these names, without waiting; returns the number of items for each
/// restaurant.
pub async fn set_named(
    app: &App,
    by: By,
    restaurants: Vec<RestaurantId>,
    names: Vec<String>,
    to: SwitchTo,
    requester: Requester,
) -> Result<Vec<(RestaurantId, usize)>, Fault> {
    let account = by.account;
    let mut counts = Vec::with_capacity(restaurants.len());
    let keys: Vec<String> = names.iter().map(|name| name_key(name)).collect();
    for restaurant in restaurants {
        let keys = keys.clone();
        let found = app
            .store
            .read(move |tx| {
                if !restaurants::exists(tx, account, restaurant)? {
                    return Err(Fault::not_found(Thing::Restaurant, restaurant));
                }
                let mut found = Vec::new();
                for key in keys.iter().filter(|key| !key.is_empty()) {
                    found.extend(products::named(tx, restaurant, key)?);
                }
                Ok(found)
            })
            .await?;
        let products = found.iter().map(|it| ProductSwitch { product: it.id, to });
        let switch = Switch {
            restaurant,
            products: products.collect(),
            providers: Vec::new(),
            requester,
        };
        counts.push((restaurant, write(app, by.clone(), switch).await?));
        app.product_work.availability.notify_one();
    }
    Ok(counts)
}

async fn write(app: &App, by: By, switch: Switch) -> Result<usize, Fault> {
    let (account, now) = (by.account, app.now());
    let operator = operator_credentials(app);
    let vault = std::sync::Arc::clone(&app.vault);
    app.store
        .write(account, move |tx| {
            let restaurant = switch.restaurant;
            if !restaurants::lock(tx, account, restaurant)? {
                return Err(Fault::not_found(Thing::Restaurant, restaurant));
            }
            let mut connected = HashMap::new();
            for integration in integrations::of_restaurant(tx, restaurant)? {
                let found = integrations::find(tx, &vault, restaurant, integration.provider)?;
                let own = found.map(|it| it.credentials).unwrap_or_default();
                let mut credentials = operator.get(&integration.provider).cloned().unwrap_or_default();
                credentials.extend(own);
                connected.insert(integration.provider, (integration, credentials));
            }
            let fields = restaurants::find(tx, &vault, account, restaurant)?.map(|it| it.fields);
            let config = Config::read(fields.and_then(|it| it.config).as_deref()).unwrap_or_default();
            let hours = store_settings::find(tx, restaurant)?.hours;
            let at = (now, end_of_day(&config, hours.as_ref(), now));
            write_desired(tx, &by, &switch, &connected, at)
        })
        .await
}

type Credentials = garson_core::integration::Credentials;

fn operator_credentials(app: &App) -> HashMap<Provider, Credentials> {
    let all = garson_platforms::all().iter();
    all.map(|platform| {
        let provider = platform.provider();
        (provider, app.terms(provider).credentials.clone())
    })
    .collect()
}

fn write_desired(
    tx: &mut Tx<'_>,
    by: &By,
    switch: &Switch,
    connected: &HashMap<Provider, (Integration, Credentials)>,
    (now, end_of_day): (Timestamp, Timestamp),
) -> Result<usize, Fault> {
    let account = by.account;
    let restaurant = switch.restaurant;
    let products = switch.products.iter();
    let availability: BTreeMap<ProductId, Availability> = products
        .map(|it| (it.product, it.to.availability(end_of_day)))
        .collect();
    let ids: Vec<ProductId> = availability.keys().copied().collect();
    let known = products::by_ids(tx, restaurant, &ids)?;
    if let Some(missing) = ids.iter().find(|id| !known.iter().any(|it| it.id == **id)) {
        return Err(Fault::not_found(Thing::Product, missing));
    }
    let last = desired_items::of_products(tx, restaurant, &ids)?;
    let last: HashMap<ItemKey, DesiredItem> = last
        .into_iter()
        .map(|(_, desired)| (desired.key.clone(), desired))
        .collect();
    let mut written = 0;
    for item in platform_items::of_products(tx, &ids)? {
        let provider = item.item.key.provider;
        let is_meant = switch.providers.is_empty() || switch.providers.contains(&provider);
        let (Some(availability), true, None) = (availability.get(&item.product_id), is_meant, item.gone_at)
        else {
            continue;
        };
        if last
            .get(&item.item.key)
            .is_some_and(|desired| is_repeated(desired, *availability, &item))
        {
            continue;
        }
        let Some((integration, credentials)) = connected.get(&provider) else {
            // The restaurant is no longer on that platform.
            continue;
        };
        let refusal = refusal(integration, credentials, item.item.key.is_option);
        let new = NewDesiredItem {
            account_id: account,
            restaurant_id: restaurant,
            integration_id: integration.id,
            key: &item.item.key,
            availability: *availability,
            by: DesiredOrigin::Account,
            at: now,
            state: refusal
                .as_ref()
                .map_or(DesiredItemState::Pending, |(state, _)| *state),
            message: refusal.as_ref().map(|(_, message)| message),
        };
        desired_items::set(tx, &new)?;
        written += 1;
    }
    let switched: Vec<(String, Availability)> = known
        .iter()
        .filter_map(|it| Some((it.name.clone(), *availability.get(&it.id)?)))
        .collect();
    record::requested(tx, by, restaurant, switch.requester, &switched, now)?;
    Ok(written)
}

/// Is the same availability already pending, or done as far as is known? Then no request is needed.
fn is_repeated(desired: &DesiredItem, availability: Availability, item: &PlatformItem) -> bool {
    let is_same = desired.availability == availability;
    match desired.state {
        DesiredItemState::Pending => is_same,
        DesiredItemState::Done => is_same && item.item.is_available == Some(availability.is_available()),
        DesiredItemState::Refused | DesiredItemState::Unsupported => false,
    }
}

/// Why no request is needed, if none is: the result is known in advance.
fn refusal(
    integration: &Integration,
    credentials: &Credentials,
    is_option: bool,
) -> Option<(DesiredItemState, Explanation)> {
    let platform = garson_platforms::of(integration.provider)?;
    let task = if is_option {
        PlatformTask::ChangeOptions
    } else {
        PlatformTask::ChangeItems
    };
    if !platform.offers(PlatformTask::ChangeItems, credentials) || !platform.offers(task, credentials) {
        let message = PlatformFailure::Unsupported { task }.into();
        return Some((DesiredItemState::Unsupported, message));
    }
    (!integration.is_active).then(|| (DesiredItemState::Refused, PlatformFailure::NotConnected.into()))
}

/// The results for products, in their order.
pub fn outcomes(
    tx: &mut Tx<'_>,
    restaurant: RestaurantId,
    ids: &[ProductId],
    providers: &[Provider],
) -> Result<Vec<ProductOutcome>, StoreError> {
    let mut by_product: BTreeMap<ProductId, Vec<ItemOutcome>> = BTreeMap::new();
    for (product, desired) in desired_items::of_products(tx, restaurant, ids)? {
        if !providers.is_empty() && !providers.contains(&desired.key.provider) {
            continue;
        }
        let outcome = ItemOutcome {
            ends_at: desired.ends_at(),
            key: desired.key,
            state: desired.state,
            message: desired.message,
            timer: desired.timer,
            is_confirmed: desired.confirmed_at.is_some(),
        };
        by_product.entry(product).or_default().push(outcome);
    }
    let outcome = |product: &ProductId| {
        let mut items = by_product.remove(product).unwrap_or_default();
        items.sort_by(|one, two| one.key.cmp(&two.key));
        ProductOutcome {
            product: *product,
            items,
        }
    };
    Ok(ids.iter().map(outcome).collect())
}
