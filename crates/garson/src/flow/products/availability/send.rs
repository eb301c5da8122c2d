//! Requests that switch items, and requests that read them.

use super::ended::{Ended, due_after};
use crate::app::App;
use crate::flow::platform_client::{Contact, converse_steps, read_menu};
use crate::telemetry::Topic;
use garson_core::explanation::{Explanation, PlatformTask};
use garson_core::item::{Availability, ItemChange, ItemRef, ItemResult, ItemsChanged};
use garson_core::platform::{CallError, RefusalCause};
use garson_core::product::{ItemKey, Place, menu_items, references};
use garson_core::time::Timestamp;
use garson_store::StoreError;
use garson_store::tables::desired_items::{Conclusion, DesiredItem, DesiredItemState, Timer};
use garson_store::tables::platform_items;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use tokio::time::Instant;

/// The deadline of one request, including a login.
const DEADLINE: Duration = Duration::from_secs(20);
/// Pauses after failed attempts, in seconds.
const PAUSES: [u64; 6] = [2, 5, 15, 60, 300, 900];
/// A platform that is unreachable is retried for a day.
const GIVE_UP_AFTER: Duration = Duration::from_secs(86_400);
/// Temporary refusals are retried this many times.
const MAX_REFUSALS: i64 = 6;

/// Items that are sent in one request.
pub struct Sending {
    items: Vec<(DesiredItem, Vec<ItemRef>)>,
    to: Availability,
}

impl Sending {
    /// Groups items with the same desired availability into requests of as many items as the platform accepts. An option is switched
    /// in every product that has it.
    pub async fn plan(
        app: &App,
        contact: &Contact,
        items: Vec<DesiredItem>,
    ) -> Result<Vec<Self>, StoreError> {
        if items.is_empty() {
            return Ok(Vec::new());
        }
        let places = places(app, &items).await?;
        let per_call = contact
            .platform
            .capability()
            .items
            .map_or(1, |items| items.per_call.max(1));
        let mut planned: Vec<Self> = Vec::new();
        for desired in items {
            let none = Vec::new();
            let refs = references(&desired.key, places.get(&desired.key).unwrap_or(&none));
            let fits = |sending: &&mut Self| {
                let count: usize = sending.items.iter().map(|(_, refs)| refs.len()).sum();
                let is_same_kind = sending
                    .items
                    .iter()
                    .all(|(it, _)| it.key.is_option == desired.key.is_option);
                sending.to == desired.availability && is_same_kind && count + refs.len() <= per_call
            };
            match planned.iter_mut().find(fits) {
                Some(sending) => sending.items.push((desired, refs)),
                None => planned.push(Self {
                    to: desired.availability,
                    items: vec![(desired, refs)],
                }),
            }
        }
        Ok(planned)
    }
}

/// The places of the options among these items.
async fn places(app: &App, items: &[DesiredItem]) -> Result<HashMap<ItemKey, Vec<Place>>, StoreError> {
    let options: Vec<_> = items
        .iter()
        .filter(|desired| desired.key.is_option)
        .map(|desired| (desired.restaurant_id, desired.key.clone()))
        .collect();
    if options.is_empty() {
        return Ok(HashMap::new());
    }
    app.store
        .read(move |tx| {
            let mut found = HashMap::new();
            for (restaurant, key) in &options {
                if let Some(item) = platform_items::find(tx, *restaurant, key)? {
                    found.insert(key.clone(), item.item.places);
                }
            }
            Ok::<_, StoreError>(found)
        })
        .await
}

/// Sends a request, or several where the places of one item do not fit into one, and returns the result of each item.
pub async fn send(app: &App, contact: &Contact, sending: Sending) -> Vec<(DesiredItem, Ended)> {
    let Sending { items, to } = sending;
    let per_call = contact
        .platform
        .capability()
        .items
        .map_or(1, |items| items.per_call.max(1));
    let refs: Vec<ItemRef> = items.iter().flat_map(|(_, refs)| refs.clone()).collect();
    let mut results: Vec<ItemResult> = Vec::with_capacity(refs.len());
    let mut is_ours = false;
    for some in refs.chunks(per_call) {
        let change = ItemChange {
            items: some.to_vec(),
            to,
            now: app.now(),
        };
        match change_items(app, contact, &change).await {
            Ok(changed) => {
                is_ours |= changed.is_ours_to_restore;
                results.extend(changed.results);
            }
            Err(trouble) => return all_failed(app, items, &trouble),
        }
    }
    let mut results = results.into_iter();
    let now = app.now();
    items
        .into_iter()
        .map(|(desired, refs)| {
            let own: Vec<ItemResult> = results.by_ref().take(refs.len()).collect();
            let end = settled(&desired, &own, is_ours, now);
            (desired, Ended::Concluded(end))
        })
        .collect()
}

async fn change_items(app: &App, contact: &Contact, change: &ItemChange) -> Result<ItemsChanged, CallError> {
    let platform = contact.platform;
    converse_steps(
        app,
        contact,
        Topic::Items,
        Instant::now() + DEADLINE,
        |link, answers| platform.change_items(change, link, answers),
    )
    .await
}

/// Combines the results of an item's places: one refusal counts, and unsupported only if no place was changed.
fn settled(desired: &DesiredItem, results: &[ItemResult], is_ours: bool, now: Timestamp) -> Conclusion {
    let refused = results.iter().find_map(|result| match result {
        ItemResult::Refused { message } => Some(message.clone()),
        _ => None,
    });
    let unsupported = results.iter().find_map(|result| match result {
        ItemResult::Unsupported { message } => Some(message.clone()),
        _ => None,
    });
    let is_any_done = results.iter().any(|result| matches!(result, ItemResult::Done));
    if let Some(message) = refused {
        return failed(desired, DesiredItemState::Refused, message);
    }
    if let Some(message) = unsupported.filter(|_| !is_any_done) {
        return failed(desired, DesiredItemState::Unsupported, message);
    }
    let timer = desired
        .ends_at()
        .map(|_| if is_ours { Timer::Garson } else { Timer::Platform });
    Conclusion {
        state: DesiredItemState::Done,
        message: None,
        accepted_at: Some(now),
        confirmed_at: None,
        timer,
        attempts: 0,
        due_at: due_after(desired, timer),
    }
}

fn failed(desired: &DesiredItem, state: DesiredItemState, message: Explanation) -> Conclusion {
    Conclusion {
        state,
        message: Some(message),
        accepted_at: None,
        confirmed_at: None,
        timer: None,
        attempts: desired.attempts + 1,
        due_at: None,
    }
}

fn all_failed(
    app: &App,
    items: Vec<(DesiredItem, Vec<ItemRef>)>,
    trouble: &CallError,
) -> Vec<(DesiredItem, Ended)> {
    let now = app.now();
    items
        .into_iter()
        .map(|(desired, _)| {
            let ended = after_trouble(&desired, trouble, now);
            (desired, ended)
        })
        .collect()
}

/// What a failed request means for an item.
fn after_trouble(desired: &DesiredItem, trouble: &CallError, now: Timestamp) -> Ended {
    let message = trouble.explanation();
    let again = |pause: Duration| {
        Ended::Concluded(Conclusion {
            state: DesiredItemState::Pending,
            message: Some(message.clone()),
            accepted_at: None,
            confirmed_at: None,
            timer: None,
            attempts: desired.attempts + 1,
            due_at: Some(now.plus(pause)),
        })
    };
    let refused = || Ended::Concluded(failed(desired, DesiredItemState::Refused, message.clone()));
    let is_old = now.since(desired.requested_at) > GIVE_UP_AFTER;
    match trouble {
        CallError::Refused { .. } => refused(),
        CallError::RetryableRefusal { cause, .. } => {
            let is_final = *cause != RefusalCause::Access && desired.attempts >= MAX_REFUSALS;
            if is_final || is_old {
                refused()
            } else {
                again(pause(desired.attempts))
            }
        }
        CallError::HeldBack { room_in, .. } => Ended::Released {
            due_at: now.plus(*room_in),
        },
        CallError::NotYet { pause, .. } => again(*pause),
        CallError::Later { pause: hint, .. } => {
            if is_old {
                refused()
            } else {
                again(hint.unwrap_or_else(|| pause(desired.attempts)))
            }
        }
        CallError::Unclear { .. } if !is_old => Ended::Unclear {
            message,
            due_at: now.plus(pause(desired.attempts)),
        },
        CallError::Unclear { .. } => refused(),
        CallError::SessionOver => {
            if is_old {
                refused()
            } else {
                again(pause(desired.attempts))
            }
        }
    }
}

fn pause(attempts: i64) -> Duration {
    let index = usize::try_from(attempts).unwrap_or(0);
    Duration::from_secs(PAUSES.get(index).or(PAUSES.last()).copied().unwrap_or(60))
}

/// Reads the items whose requests the platform may have carried out: those that it has are settled, the others must be sent.
pub async fn read_first(
    app: &App,
    contact: &Contact,
    items: Vec<DesiredItem>,
) -> (Vec<(DesiredItem, Ended)>, Vec<DesiredItem>) {
    let platform = contact.platform;
    let mut settled = Vec::new();
    let mut open = Vec::new();
    if platform.offers(PlatformTask::ReadItem, &contact.credentials) {
        for desired in items {
            let shown = read_item(app, contact, &desired).await;
            sort_in(app, desired, shown, &mut settled, &mut open);
        }
    } else if platform.offers(PlatformTask::ReadMenu, &contact.credentials) {
        let until = Instant::now() + DEADLINE;
        let shown = read_menu(app, &contact.clone().for_menus(), until)
            .await
            .map(|menu| {
                let items = menu_items(platform.provider(), &menu);
                items
                    .into_iter()
                    .map(|item| (item.key, item.is_available))
                    .collect::<BTreeMap<_, _>>()
            });
        for desired in items {
            let shown = match &shown {
                Ok(shown) => Ok(shown.get(&desired.key).copied().flatten()),
                Err(trouble) => Err(trouble.clone()),
            };
            sort_in(app, desired, shown, &mut settled, &mut open);
        }
    } else {
        for desired in items {
            // The platform cannot be read. Its own timer is trusted; a request is repeated, which is idempotent.
            if desired.timer == Some(Timer::Platform) {
                let end = Conclusion {
                    confirmed_at: None,
                    ..confirmed(&desired, app.now())
                };
                settled.push((desired, Ended::Concluded(end)));
            } else {
                open.push(desired);
            }
        }
    }
    (settled, open)
}

async fn read_item(app: &App, contact: &Contact, desired: &DesiredItem) -> Result<Option<bool>, CallError> {
    let refs = match places(app, std::slice::from_ref(desired)).await {
        Ok(places) => references(
            &desired.key,
            places.get(&desired.key).map_or(&[][..], Vec::as_slice),
        ),
        Err(_) => return Ok(None),
    };
    let platform = contact.platform;
    let Some(item) = refs.first() else {
        return Ok(None);
    };
    let until = Instant::now() + DEADLINE;
    let reading = converse_steps(app, contact, Topic::Items, until, |link, answers| {
        platform.read_item(item, link, answers)
    });
    reading.await.map(|reading| reading.is_available)
}

fn sort_in(
    app: &App,
    desired: DesiredItem,
    shown: Result<Option<bool>, CallError>,
    settled: &mut Vec<(DesiredItem, Ended)>,
    open: &mut Vec<DesiredItem>,
) {
    let now = app.now();
    match shown {
        Ok(Some(is_available)) if is_available == desired.availability.is_available() => {
            let end = confirmed(&desired, now);
            settled.push((desired, Ended::Concluded(end)));
        }
        Ok(_) => open.push(desired),
        // The platform refuses to be read: the request is repeated, which is idempotent.
        Err(CallError::Refused { .. }) => open.push(desired),
        Err(trouble) => {
            let ended = match after_trouble(&desired, &trouble, now) {
                Ended::Concluded(end) if end.state == DesiredItemState::Refused => {
                    open.push(desired);
                    return;
                }
                ended => ended,
            };
            settled.push((desired, ended));
        }
    }
}

/// The platform shows the desired availability.
fn confirmed(desired: &DesiredItem, now: Timestamp) -> Conclusion {
    // After an interrupted request it is unknown whether the platform's timer runs; ours is harmless in addition.
    let timer = desired.ends_at().map(|_| Timer::Garson);
    Conclusion {
        state: DesiredItemState::Done,
        message: None,
        accepted_at: Some(now),
        confirmed_at: Some(now),
        timer,
        attempts: 0,
        due_at: due_after(desired, timer),
    }
}
