//! The opening hours of a restaurant: stored here, written to the platforms that accept them, and compared with theirs.

use super::schedule::evaluate;
use super::set_desired::{is_connected, lock_or_create};
use super::view;
use super::wait::wait_until;
use crate::app::App;
use crate::flow::by::Recorded;
use crate::flow::fault::Thing;
use crate::flow::{By, Fault};
use garson_core::audit::{RecordKind, Verb};
use garson_core::explanation::{Explanation, PlatformTask};
use garson_core::id::{AccountId, RestaurantId};
use garson_core::integration::Integration;
use garson_core::opening_hours::{DayDifference, OpeningHours};
use garson_core::platform::Provider;
use garson_core::restaurant_history::{HistoryAction, HistoryEntry};
use garson_core::store_control::Requester;
use garson_core::store_status::StoreActor;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::{integrations, restaurant_history, restaurants, store_settings, store_states};
use serde_json::json;

/// The hours of a restaurant and of its platforms.
#[derive(Clone, Debug)]
pub struct HoursView {
    pub hours: Option<OpeningHours>,
    pub platforms: Vec<PlatformHours>,
}

/// The hours on one platform.
#[derive(Clone, Debug)]
pub struct PlatformHours {
    pub provider: Provider,
    pub state: HoursState,
    /// Why it does not have them yet, or has refused them.
    pub message: Option<Explanation>,
    pub differences: Vec<DayDifference>,
    pub checked_at: Option<Timestamp>,
}

/// How the hours of a platform compare with the restaurant's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoursState {
    Same,
    Different,
    /// They have not been sent yet.
    Pending,
    Refused,
    /// They were sent, but not read back yet.
    Unknown,
    Unsupported,
}

impl HoursState {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Different => "different",
            Self::Pending => "pending",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
            Self::Unsupported => "unsupported",
        }
    }
}

pub async fn get_hours(app: &App, account: AccountId, restaurant: RestaurantId) -> Result<HoursView, Fault> {
    app.store.read(move |tx| read(tx, account, restaurant)).await
}

/// Replaces the hours, and waits some seconds for the platforms to accept them.
pub async fn set_hours(
    app: &App,
    by: By,
    restaurant: RestaurantId,
    hours: OpeningHours,
    requester: Requester,
) -> Result<HoursView, Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            write(tx, (&by, restaurant), &hours, requester, now)
        })
        .await?;
    app.store_signals.hours_changed.notify_one();
    wait_for_platforms(app, account, restaurant).await
}

/// Writes the hours to all platforms again, even unchanged, and waits some seconds for them. Does nothing without hours.
pub async fn write_hours_again(
    app: &App,
    by: By,
    restaurant: RestaurantId,
    requester: Requester,
) -> Result<HoursView, Fault> {
    let (account, now) = (by.account, app.now());
    app.store
        .write(account, move |tx| {
            if !restaurants::lock(tx, account, restaurant)? {
                return Err(Fault::not_found(Thing::Restaurant, restaurant));
            }
            let mut settings = store_settings::find(tx, restaurant)?;
            if settings.hours.is_none() {
                return Ok(());
            }
            // With a new version, every platform counts as outdated.
            settings.hours_version += 1;
            store_settings::save(tx, account, restaurant, &settings)?;
            let whose = (StoreActor::Account, requester);
            let detail = json!({ "again": true });
            let entry = HistoryEntry::new(restaurant, now, whose, HistoryAction::HoursSet, detail);
            restaurant_history::record(tx, account, &[entry], now)?;
            let action = Recorded::new(RecordKind::Hours, Verb::Sent)
                .id(restaurant)
                .restaurant(restaurant);
            by.record(tx, action, now);
            make_due(tx, restaurant, now)
        })
        .await?;
    wait_for_platforms(app, account, restaurant).await
}

async fn wait_for_platforms(
    app: &App,
    account: AccountId,
    restaurant: RestaurantId,
) -> Result<HoursView, Fault> {
    app.store_signals.wake();
    wait_until(
        app,
        restaurant,
        move |tx| read(tx, account, restaurant),
        |view| {
            let mut platforms = view.platforms.iter();
            platforms.any(|it| {
                matches!(it.state, HoursState::Pending | HoursState::Unknown) && it.message.is_none()
            })
        },
    )
    .await
}

fn write(
    tx: &mut Tx<'_>,
    (by, restaurant): (&By, RestaurantId),
    hours: &OpeningHours,
    requester: Requester,
    now: Timestamp,
) -> Result<(), Fault> {
    let account = by.account;
    if !restaurants::lock(tx, account, restaurant)? {
        return Err(Fault::not_found(Thing::Restaurant, restaurant));
    }
    let mut settings = store_settings::find(tx, restaurant)?;
    let is_same_week = settings
        .hours
        .as_ref()
        .is_some_and(|it| it.week() == hours.week());
    if settings.hours.as_ref() != Some(hours) {
        let fields = |hours: Option<&OpeningHours>| serde_json::to_value(hours).unwrap_or_default();
        let action = Recorded::new(RecordKind::Hours, Verb::Changed)
            .id(restaurant)
            .restaurant(restaurant);
        by.record(
            tx,
            action.change(fields(settings.hours.as_ref()), fields(Some(hours))),
            now,
        );
        settings.hours = Some(hours.clone());
        settings.hours_version += i64::from(!is_same_week);
        let detail = json!({ "specialDays": hours.special_days().len() });
        let whose = (StoreActor::Account, requester);
        let entry = HistoryEntry::new(restaurant, now, whose, HistoryAction::HoursSet, detail);
        restaurant_history::record(tx, account, &[entry], now)?;
    }
    evaluate(tx, (account, restaurant), &mut settings, now)?;
    store_settings::save(tx, account, restaurant, &settings)?;
    make_due(tx, restaurant, now)
}

/// Makes the hours of every platform due: to be written where this version was not sent yet, otherwise to be read.
fn make_due(tx: &mut Tx<'_>, restaurant: RestaurantId, now: Timestamp) -> Result<(), Fault> {
    for integration in integrations::of_restaurant(tx, restaurant)? {
        if !is_connected(&integration) || !accepts_hours(&integration) {
            continue;
        }
        let mut store = lock_or_create(tx, &integration)?;
        store.hours.due_at = Some(now);
        store.hours.attempts = 0;
        store.hours.trouble = None;
        store_states::save(tx, &store)?;
    }
    Ok(())
}

fn accepts_hours(integration: &Integration) -> bool {
    garson_platforms::of(integration.provider)
        .is_some_and(|platform| platform.capability().has(PlatformTask::WriteHours))
}

fn read(tx: &mut Tx<'_>, account: AccountId, restaurant: RestaurantId) -> Result<HoursView, Fault> {
    let views = view::read(tx, account, restaurant)?;
    let settings = store_settings::find(tx, restaurant)?;
    let platforms = views
        .into_iter()
        .filter(|view| is_connected(&view.integration))
        .map(|view| {
            let provider = view.integration.provider;
            let known = view.store.map(|store| store.hours).unwrap_or_default();
            let ours = settings.hours.as_ref().map(OpeningHours::week);
            let differences = match (ours, &known.theirs) {
                (Some(ours), Some(theirs)) => ours.differences(theirs),
                _ => Vec::new(),
            };
            let is_answered = known.answered_version == settings.hours_version;
            let state = if !accepts_hours(&view.integration) {
                HoursState::Unsupported
            } else if ours.is_none() {
                HoursState::Unknown
            } else if !is_answered {
                HoursState::Pending
            } else if known.refusal.is_some() {
                HoursState::Refused
            } else if known.theirs.is_none() {
                HoursState::Unknown
            } else if differences.is_empty() {
                HoursState::Same
            } else {
                HoursState::Different
            };
            PlatformHours {
                provider,
                state,
                message: known.refusal.or(known.trouble),
                differences,
                checked_at: known.checked_at,
            }
        })
        .collect();
    Ok(HoursView {
        hours: settings.hours,
        platforms,
    })
}
