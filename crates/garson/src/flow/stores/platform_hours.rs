//! Writes a restaurant's hours to a platform, and reads what the platform has.

use super::load::LoadedStore;
use super::round_result::{RoundResult, result_of};
use crate::app::App;
use crate::flow::Fault;
use crate::flow::platform_client::converse_steps;
use crate::telemetry::Topic;
use garson_core::explanation::PlatformTask;
use garson_core::opening_hours::Week;
use garson_core::platform::CallError;
use garson_core::restaurant_history::{HistoryAction, HistoryEntry};
use garson_core::store_control::{HoursRecord, Requester};
use garson_core::store_status::StoreActor;
use garson_core::time::Timestamp;
use garson_store::Tx;
use garson_store::tables::{restaurant_history, store_settings, store_states};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

const DEADLINE: Duration = Duration::from_secs(30);
/// A platform may show the old hours for this long after a change; until then they are read again after a pause.
const SETTLES_WITHIN: Duration = Duration::from_secs(120);
const READ_AGAIN_AFTER: Duration = Duration::from_secs(30);
/// How often the platform's hours are compared with the restaurant's.
const READ_EVERY: Duration = Duration::from_secs(24 * 3600);
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// The platform's answer.
enum Answer {
    Written,
    Read(Week),
}

/// Writes the hours if the platform does not have this version yet, otherwise reads them.
pub(super) async fn work(app: &App, loaded: &LoadedStore) -> Result<RoundResult, Fault> {
    let (platform, until) = (loaded.contact.platform, Instant::now() + DEADLINE);
    let version = loaded.settings.hours_version;
    let is_offered = platform.offers(PlatformTask::WriteHours, &loaded.contact.credentials);
    let Some(hours) = loaded.settings.hours.as_ref().filter(|_| is_offered) else {
        conclude(app, loaded, version, None).await?;
        return Ok(RoundResult::Idle);
    };
    let answer = if loaded.store.hours.answered_version < version {
        let written = converse_steps(app, &loaded.contact, Topic::Hours, until, |link, answers| {
            platform.write_hours(hours.week(), link, answers)
        });
        written.await.map(|()| Answer::Written)
    } else {
        let read = converse_steps(app, &loaded.contact, Topic::Hours, until, |link, answers| {
            platform.read_hours(link, answers)
        });
        read.await.map(Answer::Read)
    };
    let result = result_of(&answer);
    conclude(app, loaded, version, Some(answer)).await?;
    Ok(result)
}

async fn conclude(
    app: &App,
    loaded: &LoadedStore,
    version: i64,
    answer: Option<Result<Answer, CallError>>,
) -> Result<(), Fault> {
    let (id, account, now) = (loaded.store.integration_id, loaded.store.account_id, app.now());
    let restaurant = loaded.store.restaurant_id;
    let answer = Arc::new(answer);
    let job = move |tx: &mut Tx<'_>| {
        let Some(mut store) = store_states::lock(tx, id)? else {
            return Ok(());
        };
        let settings = store_settings::find(tx, store.restaurant_id)?;
        if settings.hours_version != version {
            // They have changed in the meantime; the worker continues with the new ones.
            return Ok(());
        }
        let before = store.hours.answered_version;
        match answer.as_ref() {
            None => store.hours.due_at = None,
            Some(Ok(Answer::Written)) => written(&mut store.hours, version, now),
            Some(Ok(Answer::Read(week))) => {
                let is_same = settings
                    .hours
                    .is_some_and(|ours| ours.week().differences(week).is_empty());
                read(&mut store.hours, week, is_same, now);
            }
            Some(Err(trouble)) => failed(&mut store.hours, trouble, version, now),
        }
        store_states::save(tx, &store)?;
        if store.hours.answered_version != before {
            let refusal = store.hours.refusal.as_ref();
            let detail = json!({
                "result": if refusal.is_some() { "refused" } else { "done" },
                "message": refusal.map(ToString::to_string),
                "cause": refusal,
            });
            let whose = (StoreActor::Account, Requester::Service);
            let entry = HistoryEntry::new(
                store.restaurant_id,
                now,
                whose,
                HistoryAction::HoursResult,
                detail,
            );
            restaurant_history::record(tx, store.account_id, &[entry.on(store.provider)], now)?;
        }
        Ok::<_, Fault>(())
    };
    app.store.write(account, job).await?;
    app.store_waiters.wake(restaurant);
    Ok(())
}

fn written(hours: &mut HoursRecord, version: i64, now: Timestamp) {
    hours.attempts = 0;
    hours.trouble = None;
    hours.answered_version = version;
    hours.answered_at = Some(now);
    hours.refusal = None;
    hours.due_at = Some(now);
}

fn read(hours: &mut HoursRecord, week: &Week, is_same: bool, now: Timestamp) {
    hours.attempts = 0;
    hours.trouble = None;
    hours.theirs = Some(week.clone());
    hours.checked_at = Some(now);
    let is_settling = hours.answered_at.is_some_and(|at| now.since(at) < SETTLES_WITHIN);
    let pause = if !is_same && is_settling && hours.refusal.is_none() {
        READ_AGAIN_AFTER
    } else {
        READ_EVERY
    };
    hours.due_at = Some(now.plus(pause));
}

fn failed(hours: &mut HoursRecord, trouble: &CallError, version: i64, now: Timestamp) {
    let is_writing = hours.answered_version < version;
    match trouble {
        CallError::HeldBack { room_in, .. } => hours.due_at = Some(now.plus(*room_in)),
        CallError::Refused { message } if is_writing => {
            hours.answered_version = version;
            hours.refusal = Some(message.clone());
            hours.trouble = None;
            hours.attempts = 0;
            hours.due_at = Some(now);
        }
        _ => {
            hours.attempts = hours.attempts.saturating_add(1);
            hours.trouble = Some(trouble.explanation());
            let pause = Duration::from_secs(5 * 2u64.saturating_pow(hours.attempts.min(10)));
            hours.due_at = Some(now.plus(pause.min(LONGEST_PAUSE)));
        }
    }
}
