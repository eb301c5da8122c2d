//! Sends the due prices of one integration, and reads the results of batches.

use super::view::record_end;
use crate::app::App;
use crate::flow::platform_client::{Contact, converse_steps, read_menu};
use crate::telemetry::Topic;
use garson_core::explanation::{Explanation, PlatformFailure};
use garson_core::id::{AccountId, IntegrationId, NodeId, RestaurantId};
use garson_core::money::Minor;
use garson_core::platform::CallError;
use garson_core::price_change::{BatchReading, NewPrice, PriceChange, PriceFailure, PricesChanged};
use garson_core::product::{ItemKey, menu_items};
use garson_core::time::Timestamp;
use garson_store::StoreError;
use garson_store::tables::prices::{PriceEnd, PriceItem, PriceState};
use garson_store::tables::{integrations, menus, platform_items, prices};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The deadline of one request, including a login.
const DEADLINE: Duration = Duration::from_secs(30);
/// How long a task works on one integration before it yields to others.
const TASK_TIME: Duration = Duration::from_secs(60);
/// Pauses after failed attempts, and between reads of a batch, in seconds.
const PAUSES: [u64; 6] = [3, 10, 30, 60, 300, 900];
/// The number of attempts if the platform is unreachable: about an hour.
const MAX_ATTEMPTS: i64 = 9;
/// The number of reads of a batch: platforms keep results for some hours.
const MAX_LOOKS: i64 = 18;
/// How long after a change the platform's menu is read.
const READ_BACK_AFTER: Duration = Duration::from_secs(60);

type Ends = Vec<(PriceItem, PriceEnd)>;

/// Sends the due prices of an integration until none are left or the time is up.
pub async fn send_integration(
    app: &Arc<App>,
    account: AccountId,
    integration: IntegrationId,
) -> Result<(), StoreError> {
    let vault = Arc::clone(&app.vault);
    let connected = app
        .store
        .read(move |tx| integrations::by_id(tx, &vault, integration))
        .await?
        .filter(|it| it.integration.is_active && it.integration.remote_id.is_some());
    let restaurant = connected.as_ref().map(|it| it.integration.restaurant_id);
    let contact = connected.as_ref().and_then(|it| app.contact(it));
    let support = contact.as_ref().and_then(|it| it.platform.capability().prices);
    let limit = support.map_or(1_000, |prices| prices.per_call.clamp(1, 1_000));
    let began = Instant::now();
    while began.elapsed() < TASK_TIME && !*app.stopping.borrow() {
        let Some(node) = app.store.node_id().filter(|_| app.node_lease.is_valid()) else {
            return Ok(());
        };
        let now = app.now();
        let taken = app
            .store
            .write(account, move |tx| {
                prices::claim(tx, integration, node, now, limit)
            })
            .await?;
        let Some(first) = taken.first().cloned() else {
            return Ok(());
        };
        let ends = match &contact {
            None => all(taken, |item| failed(item, PlatformFailure::NotConnected.into())),
            Some(contact) if first.state == PriceState::Queued => look(app, contact, taken).await,
            Some(contact) if first.is_sending => compare(app, contact, taken, true).await,
            Some(contact) => send(app, contact, taken).await,
        };
        conclude(app, account, node, restaurant, ends).await?;
        app.product_work.settled.notify_waiters();
    }
    Ok(())
}

fn all(items: Vec<PriceItem>, end: impl Fn(&PriceItem) -> PriceEnd) -> Ends {
    items
        .into_iter()
        .map(|item| {
            let end = end(&item);
            (item, end)
        })
        .collect()
}

fn ended(state: PriceState, message: Option<Explanation>) -> PriceEnd {
    PriceEnd {
        state,
        message,
        batch: None,
        attempts: 0,
        is_unclear: false,
        due_at: None,
    }
}

fn failed(_: &PriceItem, message: Explanation) -> PriceEnd {
    ended(PriceState::Failed, Some(message))
}

fn pause(attempts: i64) -> Duration {
    let index = usize::try_from(attempts).unwrap_or(0);
    Duration::from_secs(PAUSES.get(index).or(PAUSES.last()).copied().unwrap_or(60))
}

async fn send(app: &App, contact: &Contact, items: Vec<PriceItem>) -> Ends {
    let Some(first) = items.first() else {
        return Vec::new();
    };
    let change = PriceChange {
        prices: items
            .iter()
            .map(|item| NewPrice {
                id: item.key.id.clone(),
                is_option: item.key.is_option,
                price: item.new_price,
            })
            .collect(),
        scope: first.scope,
        reference: format!("{}-{}", first.push_id, first.number),
        now: app.now(),
    };
    let platform = contact.platform;
    let until = Instant::now() + DEADLINE;
    let changed = converse_steps(app, contact, Topic::Prices, until, |link, answers| {
        platform.change_prices(&change, link, answers)
    });
    match changed.await {
        Ok(PricesChanged::Done { failed }) => settled(items, &failed),
        Ok(PricesChanged::Queued { batch }) => {
            let due_at = Some(app.now().plus(pause(0)));
            all(items, |_| PriceEnd {
                batch: Some(batch.clone()),
                due_at,
                ..ended(PriceState::Queued, None)
            })
        }
        Err(trouble) => after_trouble(app, items, &trouble),
    }
}

/// The result of each price in the platform's answer. A failure without an item applies to all.
fn settled(items: Vec<PriceItem>, failures: &[PriceFailure]) -> Ends {
    let of_all = failures.iter().find(|it| it.id.is_none());
    all(items, |item| {
        let own = failures.iter().find(|it| it.id.as_ref() == Some(&item.key.id));
        match own.or(of_all) {
            Some(failure) => failed(item, failure.message.clone()),
            None => ended(PriceState::Done, None),
        }
    })
}

fn after_trouble(app: &App, items: Vec<PriceItem>, trouble: &CallError) -> Ends {
    let now = app.now();
    let message = trouble.explanation();
    all(items, |item| {
        let again = |due: Duration, is_unclear: bool, attempts: i64| PriceEnd {
            message: Some(message.clone()),
            batch: item.batch.clone(),
            attempts,
            is_unclear,
            due_at: Some(now.plus(due)),
            ..ended(item.state, None)
        };
        match trouble {
            CallError::Refused { .. } => failed(item, message.clone()),
            CallError::HeldBack { room_in, .. } => again(*room_in, false, item.attempts),
            _ if item.attempts >= MAX_ATTEMPTS => failed(item, message.clone()),
            CallError::Unclear { .. } => again(
                pause(item.attempts),
                item.state == PriceState::Pending,
                item.attempts + 1,
            ),
            CallError::NotYet { pause, .. } => again(*pause, false, item.attempts + 1),
            CallError::Later {
                pause: Some(wanted), ..
            } => again(*wanted, false, item.attempts + 1),
            CallError::Later { .. } | CallError::RetryableRefusal { .. } | CallError::SessionOver => {
                again(pause(item.attempts), false, item.attempts + 1)
            }
        }
    })
}

/// Reads the progress of a batch.
async fn look(app: &App, contact: &Contact, items: Vec<PriceItem>) -> Ends {
    let Some(batch) = items.first().and_then(|item| item.batch.clone()) else {
        return compare(app, contact, items, false).await;
    };
    let platform = contact.platform;
    let until = Instant::now() + DEADLINE;
    let reading = converse_steps(app, contact, Topic::Prices, until, |link, answers| {
        platform.read_prices(&batch, link, answers)
    });
    match reading.await {
        Ok(BatchReading::Done { failed }) => settled(items, &failed),
        Ok(BatchReading::InProgress { .. }) => {
            let now = app.now();
            let is_endless = items.iter().any(|item| item.attempts >= MAX_LOOKS);
            if is_endless {
                return compare(app, contact, items, false).await;
            }
            all(items, |item| PriceEnd {
                batch: item.batch.clone(),
                attempts: item.attempts + 1,
                due_at: Some(now.plus(pause(item.attempts))),
                ..ended(PriceState::Queued, None)
            })
        }
        Ok(BatchReading::Gone) => compare(app, contact, items, false).await,
        Err(trouble) => after_trouble(app, items, &trouble),
    }
}

/// Compares prices with the platform's menu: those that it shows are done. The others are sent again or have failed.
async fn compare(app: &App, contact: &Contact, items: Vec<PriceItem>, sends_again: bool) -> Ends {
    let platform = contact.platform;
    let now = app.now();
    if !platform.capability().menu {
        // It cannot be asked; sending the same prices again changes nothing.
        let end = if sends_again {
            PriceState::Pending
        } else {
            PriceState::Failed
        };
        return all(items, |item| PriceEnd {
            message: Some(PlatformFailure::NotDone.into()).filter(|_| !sends_again),
            attempts: item.attempts,
            due_at: sends_again.then_some(now),
            ..ended(end, None)
        });
    }
    let until = Instant::now() + DEADLINE;
    let menu = match read_menu(app, &contact.clone().for_menus(), until).await {
        Ok(menu) => menu,
        Err(trouble) => {
            let mut ends = after_trouble(app, items, &trouble);
            for (item, end) in &mut ends {
                // What was unclear stays so until the menu has been read.
                end.is_unclear |= item.is_sending && !end.state.is_settled();
            }
            return ends;
        }
    };
    let shown: HashMap<ItemKey, Option<Minor>> = menu_items(platform.provider(), &menu)
        .into_iter()
        .map(|item| (item.key, item.price))
        .collect();
    all(items, |item| match shown.get(&item.key) {
        Some(price) if *price == Some(item.new_price) => ended(PriceState::Done, None),
        None => failed(
            item,
            PlatformFailure::ItemMissing {
                id: item.key.id.clone(),
            }
            .into(),
        ),
        Some(_) if sends_again => PriceEnd {
            attempts: item.attempts,
            due_at: Some(now),
            ..ended(PriceState::Pending, None)
        },
        Some(_) => failed(item, PlatformFailure::NotDone.into()),
    })
}

async fn conclude(
    app: &App,
    account: AccountId,
    node: NodeId,
    restaurant: Option<RestaurantId>,
    ends: Ends,
) -> Result<(), StoreError> {
    let now: Timestamp = app.now();
    app.store
        .write(account, move |tx| {
            let mut pushes = BTreeSet::new();
            for (item, end) in &ends {
                prices::conclude(tx, item, node, end)?;
                pushes.insert(item.push_id);
                if let Some(restaurant) = restaurant.filter(|_| end.state == PriceState::Done) {
                    platform_items::set_price(tx, restaurant, &item.key, item.new_price, now)?;
                    menus::make_due(tx, item.integration_id, now.plus(READ_BACK_AFTER))?;
                }
            }
            for push in pushes {
                if prices::finish_if_settled(tx, push, now)?
                    && let Some(restaurant) = restaurant
                {
                    record_end(tx, account, restaurant, push, now)?;
                }
            }
            Ok::<_, StoreError>(())
        })
        .await
}
