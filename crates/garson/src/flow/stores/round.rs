//! One round for a store: sends the desired state to the platform, reads the actual one, or both.

use super::conclude;
use super::load::{LoadedStore, load};
use super::platform_hours;
use super::round_result::{RoundResult, result_of};
use crate::app::App;
use crate::fair_slots::FairSlots;
use crate::flow::Fault;
use crate::flow::admin::branches;
use crate::flow::platform_client::{Share, converse_steps};
use crate::net::Log;
use crate::telemetry::Topic;
use garson_core::explanation::PlatformFailure;
use garson_core::id::IntegrationId;
use garson_core::platform::CallError;
use garson_core::store_control::{Plan, is_satisfied};
use garson_core::store_status::{StoreChange, StoreReading};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long one task may take with all its requests.
const TASK_DEADLINE: Duration = Duration::from_secs(30);
/// How long a request may take, and one after a failure.
const REQUEST_DEADLINE: Duration = Duration::from_secs(15);
const DEADLINE_AFTER_FAILURE: Duration = Duration::from_secs(8);
/// More than any store needs in a round; the next round continues.
const MAX_TASKS: usize = 6;

/// Slots for requests to a platform: changes do not queue behind reads.
#[derive(Clone)]
pub(super) struct StoreSlots {
    pub changes: Arc<FairSlots>,
    pub readings: Arc<FairSlots>,
}

pub(super) struct Round {
    pub app: Arc<App>,
    pub integration: IntegrationId,
    pub slots: StoreSlots,
    /// The last round has failed.
    pub is_failing: bool,
    /// Read the state even if nothing is due.
    pub is_reading: bool,
}

pub(super) struct RoundEnd {
    pub integration: IntegrationId,
    pub result: RoundResult,
}

impl Round {
    /// Runs the round in its own task, so that a panic counts as a failure.
    pub async fn run(self) -> RoundEnd {
        let integration = self.integration;
        let result = match tokio::spawn(self.work()).await {
            Ok(Ok(result)) => result,
            Ok(Err(fault)) => {
                tracing::error!(?fault, %integration, "a round of a store failed");
                RoundResult::Failed
            }
            Err(error) => {
                tracing::error!(%error, %integration, "a round of a store panicked");
                RoundResult::Failed
            }
        };
        RoundEnd { integration, result }
    }

    async fn work(self) -> Result<RoundResult, Fault> {
        let mut result = RoundResult::Idle;
        let mut is_reading = self.is_reading;
        for _ in 0..MAX_TASKS {
            let Some(loaded) = load(&self.app, self.integration).await? else {
                break;
            };
            let loaded = self.prepare(loaded);
            let plan = loaded.store.plan(self.app.now());
            let plan = match plan {
                Plan::Idle if std::mem::take(&mut is_reading) => Plan::Read,
                plan => plan,
            };
            if !loaded.may_ask {
                self.refuse(&loaded, plan).await?;
                break;
            }
            result = match plan {
                Plan::Idle => break,
                Plan::Reconsider => {
                    conclude::reconsidered(&self.app, &loaded).await?;
                    result
                }
                Plan::Send => self.send(&loaded).await?,
                Plan::ReadBeforeSending => self.read_before_sending(&loaded).await?,
                Plan::Read => {
                    is_reading = false;
                    self.read_back(&loaded).await?
                }
                Plan::Hours => platform_hours::work(&self.app, &loaded).await?,
            };
            if matches!(result, RoundResult::Failed | RoundResult::HeldBack(_)) {
                break;
            }
        }
        Ok(result)
    }

    fn prepare(&self, mut loaded: LoadedStore) -> LoadedStore {
        let is_change = loaded.store.is_pending();
        let slots = if is_change {
            &self.slots.changes
        } else {
            &self.slots.readings
        };
        loaded.contact.log = Log::Failures;
        // The desired state may change while a request waits for its rate limit: the round ends instead, and the next one reads it.
        loaded.contact.limit_wait = Some(Duration::ZERO);
        loaded.contact.share = Some(Share {
            slots: Arc::clone(slots),
            account: loaded.store.account_id,
            is_failing: self.is_failing,
            request_deadline: if self.is_failing {
                DEADLINE_AFTER_FAILURE
            } else {
                REQUEST_DEADLINE
            },
        });
        loaded
    }

    /// The branch may belong to another account: no request is sent to the platform.
    async fn refuse(&self, loaded: &LoadedStore, plan: Plan) -> Result<(), Fault> {
        match plan {
            Plan::Reconsider => conclude::reconsidered(&self.app, loaded).await,
            Plan::Send | Plan::ReadBeforeSending => {
                let refusal = CallError::refused(PlatformFailure::BranchNotProven);
                conclude::sent(&self.app, loaded, Err(refusal)).await
            }
            Plan::Read | Plan::Hours => {
                let later = self.app.now().plus(Duration::from_secs(300));
                conclude::postpone_reading(&self.app, loaded, later).await
            }
            Plan::Idle => Ok(()),
        }
    }

    async fn send(&self, loaded: &LoadedStore) -> Result<RoundResult, Fault> {
        if loaded.store.must_stay_closed() {
            conclude::left_closed(&self.app, loaded).await?;
            return Ok(RoundResult::Idle);
        }
        let Some(desired) = &loaded.store.control.desired else {
            return Ok(RoundResult::Idle);
        };
        if !conclude::mark_started(&self.app, loaded).await? {
            return Ok(RoundResult::Idle);
        }
        let change = StoreChange {
            to: desired.target(loaded.support.busy_minutes),
            from: loaded.store.actual.state,
            busy_is_set: loaded.store.control.busy_is_set,
            now: self.app.now(),
        };
        let (platform, until) = (loaded.contact.platform, Instant::now() + TASK_DEADLINE);
        let answer = converse_steps(
            &self.app,
            &loaded.contact,
            Topic::Store,
            until,
            |link, answers| platform.change_store(&change, link, answers),
        )
        .await;
        let result = result_of(&answer);
        conclude::sent(&self.app, loaded, answer).await?;
        Ok(result)
    }

    async fn read_before_sending(&self, loaded: &LoadedStore) -> Result<RoundResult, Fault> {
        let Some(desired) = &loaded.store.control.desired else {
            return Ok(RoundResult::Idle);
        };
        match self.read(loaded).await {
            Ok(reading) if is_satisfied(desired, &reading, loaded.store.control.busy_is_set) => {
                conclude::found_done(&self.app, loaded, reading).await?;
                Ok(RoundResult::Answered { unsaved: None })
            }
            Ok(_) | Err(CallError::Refused { .. }) => self.send(loaded).await,
            Err(trouble) => {
                let result = result_of(&Err::<(), _>(trouble.clone()));
                conclude::not_read(&self.app, loaded, trouble).await?;
                Ok(result)
            }
        }
    }

    async fn read(&self, loaded: &LoadedStore) -> Result<StoreReading, CallError> {
        let (platform, until) = (loaded.contact.platform, Instant::now() + TASK_DEADLINE);
        converse_steps(
            &self.app,
            &loaded.contact,
            Topic::Store,
            until,
            |link, answers| platform.read_store(link, answers),
        )
        .await
    }

    async fn read_back(&self, loaded: &LoadedStore) -> Result<RoundResult, Fault> {
        let app = &self.app;
        match self.read(loaded).await {
            Ok(reading) => {
                if let Err(fault) = branches::note_success(app, &loaded.connected, &loaded.contact).await {
                    tracing::error!(?fault, "the owner of a branch could not be saved");
                }
                let now = app.now();
                let mut seen = loaded.store.clone();
                seen.observe(&reading, &loaded.support, loaded.is_open_by_hours(now), now);
                seen.checked_at = loaded.store.checked_at;
                if seen == loaded.store {
                    return Ok(RoundResult::Answered { unsaved: Some(now) });
                }
                conclude::observed(app, loaded, reading).await?;
                Ok(RoundResult::Answered { unsaved: None })
            }
            Err(trouble) => {
                let result = result_of(&Err::<(), _>(trouble));
                let pause = match result {
                    RoundResult::HeldBack(room_in) => room_in,
                    _ => Duration::from_secs(30),
                };
                conclude::postpone_reading(app, loaded, app.now().plus(pause)).await?;
                Ok(result)
            }
        }
    }
}
