//! One round of asking a platform for the orders of one integration.

use super::note_error;
use crate::app::App;
use crate::flow::admin::branches;
use crate::flow::intake::fetch::{Catch, catch};
use crate::flow::platform_client::{Contact, enlist};
use garson_core::explanation::PlatformFailure;
use garson_core::id::IntegrationId;
use garson_core::platform::{PollStyle, Trouble, Window};
use garson_core::time::Timestamp;
use garson_store::tables::integrations::Connected;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Windows overlap by that much: clocks differ, and lists lag behind.
pub(crate) const OVERLAP: Duration = Duration::from_secs(120);
/// How far back the first window of an integration reaches, and the longest one after a pause.
const FIRST_WINDOW: Duration = Duration::from_secs(10 * 60);
const LONGEST_WINDOW: Duration = Duration::from_secs(7 * 24 * 3600);
/// How far back is asked after the clock was set back: nobody knows since when it had been ahead, and what came meanwhile was
/// not in the windows that were asked for.
const AFTER_CLOCK_SET_BACK: Duration = Duration::from_secs(24 * 3600);
/// The most that is asked for at once.
const SLICE: Duration = Duration::from_secs(2 * 3600);
/// How long a round may take with all its requests, and waiting for slots and rate limits.
const ROUND_DEADLINE: Duration = Duration::from_secs(300);

/// Up to when everything has been seen, by the clock, and when that was found, by the watch that nobody sets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub until: Timestamp,
    noted_at: Instant,
}

impl Seen {
    pub(crate) fn before_now(until: Timestamp) -> Self {
        Self {
            until,
            noted_at: Instant::now(),
        }
    }
}

/// What came of asking.
pub(crate) struct Round {
    pub id: IntegrationId,
    pub is_enlisted: bool,
    pub seen: Result<Seen, Trouble>,
}

/// One round of asking.
pub(crate) struct Ask {
    pub app: Arc<App>,
    pub connected: Arc<Connected>,
    pub contact: Contact,
    pub style: PollStyle,
    pub is_enlisted: bool,
    pub seen: Option<Seen>,
}

impl Ask {
    /// A round that ends badly is a round that failed: its post must not be waited for for ever.
    pub(crate) async fn ask_safely(self) -> Round {
        let (id, is_enlisted) = (self.connected.integration.id, self.is_enlisted);
        match tokio::spawn(self.ask()).await {
            Ok(round) => round,
            Err(error) => Round {
                id,
                is_enlisted,
                seen: Err(Trouble::later(PlatformFailure::PollPanicked {
                    error: error.to_string(),
                })),
            },
        }
    }

    async fn ask(self) -> Round {
        let until = Instant::now() + ROUND_DEADLINE;
        let mut is_enlisted = self.is_enlisted;
        let seen = async {
            if !is_enlisted {
                match enlist(&self.app, &self.contact, until).await {
                    Ok(()) => is_enlisted = true,
                    // Orders may come all the same.
                    Err(trouble) => note_error(&self.app, &self.connected, &trouble),
                }
            }
            let window = window(self.style, self.seen, self.app.now(), Instant::now());
            let net = Catch {
                app: &self.app,
                connected: &self.connected,
                contact: &self.contact,
                style: self.style,
                window,
                until,
            };
            let noted_at = Instant::now();
            catch(&net).await?;
            if let Err(fault) = branches::note_success(&self.app, &self.connected, &self.contact).await {
                tracing::error!(?fault, "the owner of a branch could not be written down");
            }
            Ok(Seen {
                until: window.to,
                noted_at,
            })
        }
        .await;
        Round {
            id: self.connected.integration.id,
            is_enlisted,
            seen,
        }
    }
}

/// The span of time whose orders are asked for next.
fn window(style: PollStyle, seen: Option<Seen>, now: Timestamp, watch: Instant) -> Window {
    let from = match seen {
        // The clock shows less than has passed since: it was set back.
        Some(seen) if is_set_back(seen, now, watch) => now.minus(AFTER_CLOCK_SET_BACK),
        Some(seen) => seen.until.min(now).minus(OVERLAP).max(now.minus(LONGEST_WINDOW)),
        None => now.minus(FIRST_WINDOW),
    };
    // After a long pause one slice follows the other, each of a size that can be read.
    let to = match style {
        PollStyle::Changes => from.plus(SLICE).min(now),
        PollStyle::Open | PollStyle::Cancelled => now,
    };
    Window { from, to }
}

/// By more than what windows overlap by anyway. While one slice follows the other, what has been seen lies behind the clock
/// by as much, and a step back shows when it has caught up.
fn is_set_back(seen: Seen, now: Timestamp, watch: Instant) -> bool {
    let passed = watch.saturating_duration_since(seen.noted_at);
    seen.until.plus(passed) > now.plus(OVERLAP / 2)
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
    fn windows_overlap_and_go_on_in_slices() {
        let watch = Instant::now();
        let seen = Some(Seen {
            until: at(1000),
            noted_at: watch,
        });
        let later = watch + PAUSE;
        let next = window(PollStyle::Changes, seen, at(1000).plus(PAUSE), later);
        assert_eq!(
            (next.from, next.to),
            (at(1000).minus(OVERLAP), at(1000).plus(PAUSE))
        );
        let next = window(PollStyle::Changes, seen, at(1010), watch + HOUR * 10);
        assert_eq!(
            (next.from, next.to),
            (at(1000).minus(OVERLAP), at(1002).minus(OVERLAP))
        );
        let next = window(PollStyle::Open, seen, at(1010), watch + HOUR * 10);
        assert_eq!((next.from, next.to), (at(1000).minus(OVERLAP), at(1010)));
    }

    #[test]
    fn after_the_clock_was_set_back_the_time_since_it_was_ahead_is_asked_for() {
        let watch = Instant::now();
        let seen = Some(Seen {
            until: at(1003),
            noted_at: watch,
        });
        // Three hours ahead, and set right.
        let now = at(1000).plus(PAUSE);
        let next = window(PollStyle::Changes, seen, now, watch + PAUSE);
        assert_eq!(next.from, now.minus(AFTER_CLOCK_SET_BACK));
        assert_eq!(next.to, next.from.plus(SLICE));
        // Also when as much time has passed since as it was ahead, because rounds have failed.
        let next = window(PollStyle::Changes, seen, at(1004), watch + HOUR * 4);
        assert_eq!(next.from, at(1004).minus(AFTER_CLOCK_SET_BACK));
    }

    #[test]
    fn a_small_step_back_is_covered_by_the_overlap() {
        let watch = Instant::now();
        let seen = Some(Seen {
            until: at(1000).plus(Duration::from_secs(20)),
            noted_at: watch,
        });
        let next = window(PollStyle::Changes, seen, at(1000), watch);
        assert_eq!((next.from, next.to), (at(1000).minus(OVERLAP), at(1000)));
    }
}
