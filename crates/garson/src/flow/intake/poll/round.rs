//! One round of polling a platform for the orders of one integration.

use super::missing_orders::{check_cancelled, check_missing};
use super::query::OrderQuery;
use super::storage::note_error;
use crate::app::App;
use crate::flow::admin::branches;
use crate::flow::platform_client::{Contact, enlist};
use garson_core::explanation::PlatformFailure;
use garson_core::id::IntegrationId;
use garson_core::platform::{CallError, PollStyle, Window};
use garson_core::time::Timestamp;
use garson_store::tables::integrations::Connected;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The overlap of windows: clocks differ, and lists lag behind.
pub(super) const OVERLAP: Duration = Duration::from_secs(120);
/// How far back the first window of an integration reaches, and the longest one after a pause.
const FIRST_WINDOW: Duration = Duration::from_secs(10 * 60);
const LONGEST_WINDOW: Duration = Duration::from_secs(7 * 24 * 3600);
/// How far back the window reaches after the clock was set back: it is unknown since when the clock was ahead, and orders that
/// came meanwhile were not in the polled windows.
const AFTER_CLOCK_SET_BACK: Duration = Duration::from_secs(24 * 3600);
/// The longest window of one request.
const SLICE: Duration = Duration::from_secs(2 * 3600);
/// How long a round may take with all its requests, and waiting for slots and rate limits.
const ROUND_DEADLINE: Duration = Duration::from_secs(300);

/// Up to when all orders have been seen, by the wall clock, and when that was found, by the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub until: Timestamp,
    found_at: Instant,
}

impl Progress {
    pub fn until(until: Timestamp) -> Self {
        Self {
            until,
            found_at: Instant::now(),
        }
    }
}

pub(super) struct RoundResult {
    pub integration: IntegrationId,
    pub began_at: Timestamp,
    pub is_enlisted: bool,
    pub progress: Result<Progress, CallError>,
}

pub(super) struct PollRound {
    pub app: Arc<App>,
    pub connected: Arc<Connected>,
    pub contact: Contact,
    pub style: PollStyle,
    pub is_enlisted: bool,
    pub progress: Option<Progress>,
}

impl PollRound {
    /// Runs the round in its own task: if it panics, the round has failed and the integration is polled again.
    pub async fn run(self) -> RoundResult {
        let (integration, is_enlisted) = (self.connected.integration.id, self.is_enlisted);
        let began_at = self.app.now();
        match tokio::spawn(self.poll()).await {
            Ok(result) => result,
            Err(error) => RoundResult {
                integration,
                began_at,
                is_enlisted,
                progress: Err(CallError::later(PlatformFailure::PollPanicked {
                    error: error.to_string(),
                })),
            },
        }
    }

    async fn poll(mut self) -> RoundResult {
        let (until, began_at) = (Instant::now() + ROUND_DEADLINE, self.app.now());
        if !self.is_enlisted {
            match enlist(&self.app, &self.contact, until).await {
                Ok(()) => self.is_enlisted = true,
                // Orders may come all the same.
                Err(trouble) => note_error(&self.app, &self.connected, &trouble),
            }
        }
        RoundResult {
            integration: self.connected.integration.id,
            began_at,
            is_enlisted: self.is_enlisted,
            progress: self.record_orders(until).await,
        }
    }

    async fn record_orders(&self, until: Instant) -> Result<Progress, CallError> {
        let window = window(self.style, self.progress, self.app.now(), Instant::now());
        let query = OrderQuery {
            app: &self.app,
            connected: &self.connected,
            contact: &self.contact,
            window,
            until,
        };
        let found_at = Instant::now();
        self.run_query(&query).await?;
        if let Err(fault) = branches::note_success(&self.app, &self.connected, &self.contact).await {
            tracing::error!(?fault, "the owner of a branch could not be saved");
        }
        Ok(Progress {
            until: window.to,
            found_at,
        })
    }

    async fn run_query(&self, query: &OrderQuery<'_>) -> Result<(), CallError> {
        let started_at = self.app.now();
        if self.style == PollStyle::Cancelled {
            return check_cancelled(query).await;
        }
        let mut listed = HashSet::new();
        let pages = query.record_all_pages(&mut listed).await?;
        if pages > 1 && self.style == PollStyle::Changes {
            // An order that changes while the pages are read moves, and the next one slips to a page that has been read. A
            // second pass finds it.
            query.record_all_pages(&mut listed).await?;
        }
        if self.style == PollStyle::Open {
            check_missing(query, &listed, started_at).await?;
        }
        Ok(())
    }
}

/// The window of orders to poll next.
fn window(style: PollStyle, progress: Option<Progress>, now: Timestamp, instant: Instant) -> Window {
    let from = match progress {
        Some(progress) if is_set_back(progress, now, instant) => now.minus(AFTER_CLOCK_SET_BACK),
        Some(progress) => progress
            .until
            .min(now)
            .minus(OVERLAP)
            .max(now.minus(LONGEST_WINDOW)),
        None => now.minus(FIRST_WINDOW),
    };
    // After a long pause the time is polled slice by slice, so that each list stays short.
    let to = match style {
        PollStyle::Changes => from.plus(SLICE).min(now),
        PollStyle::Open | PollStyle::Cancelled => now,
    };
    Window { from, to }
}

/// Was the wall clock set back by more than the overlap covers? While slices are polled, progress lies behind the clock by as
/// much, and a step back shows only when polling has caught up.
fn is_set_back(progress: Progress, now: Timestamp, instant: Instant) -> bool {
    let passed = instant.saturating_duration_since(progress.found_at);
    progress.until.plus(passed) > now.plus(OVERLAP / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);
    const PAUSE: Duration = Duration::from_secs(15);

    fn at(hours: u64) -> Timestamp {
        Timestamp::from_millis(0).plus(HOUR * u32::try_from(hours).unwrap_or(0))
    }

    #[test]
    fn windows_overlap_and_are_sliced() {
        let instant = Instant::now();
        let progress = Some(Progress {
            until: at(1000),
            found_at: instant,
        });
        let later = instant + PAUSE;
        let next = window(PollStyle::Changes, progress, at(1000).plus(PAUSE), later);
        assert_eq!(
            (next.from, next.to),
            (at(1000).minus(OVERLAP), at(1000).plus(PAUSE))
        );
        let next = window(PollStyle::Changes, progress, at(1010), instant + HOUR * 10);
        assert_eq!(
            (next.from, next.to),
            (at(1000).minus(OVERLAP), at(1002).minus(OVERLAP))
        );
        let next = window(PollStyle::Open, progress, at(1010), instant + HOUR * 10);
        assert_eq!((next.from, next.to), (at(1000).minus(OVERLAP), at(1010)));
    }

    #[test]
    fn setting_the_clock_back_polls_the_past_day() {
        let instant = Instant::now();
        let progress = Some(Progress {
            until: at(1003),
            found_at: instant,
        });
        // The clock was three hours ahead, and was corrected.
        let now = at(1000).plus(PAUSE);
        let next = window(PollStyle::Changes, progress, now, instant + PAUSE);
        assert_eq!(next.from, now.minus(AFTER_CLOCK_SET_BACK));
        assert_eq!(next.to, next.from.plus(SLICE));
        // The same if rounds have failed for as long as the clock was ahead.
        let next = window(PollStyle::Changes, progress, at(1004), instant + HOUR * 4);
        assert_eq!(next.from, at(1004).minus(AFTER_CLOCK_SET_BACK));
    }

    #[test]
    fn small_step_back_is_covered_by_the_overlap() {
        let instant = Instant::now();
        let progress = Some(Progress {
            until: at(1000).plus(Duration::from_secs(20)),
            found_at: instant,
        });
        let next = window(PollStyle::Changes, progress, at(1000), instant);
        assert_eq!((next.from, next.to), (at(1000).minus(OVERLAP), at(1000)));
    }
}
