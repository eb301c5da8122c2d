//! Waits for a platform's rate limits before a request is sent.

use super::contact::Contact;
use crate::app::App;
use crate::app::platform_limits::{Fingerprint, fingerprint};
use garson_core::explanation::PlatformFailure;
use garson_core::platform::{CallError, HttpRequest, Limit};
use std::time::Duration;
use tokio::time::Instant;

/// The limits that a request counts against.
pub(super) type Counted = Vec<(Fingerprint, &'static Limit)>;

/// Waits until the platform's limits have room for a request.
pub(super) async fn wait_for_limit(
    app: &App,
    contact: &Contact,
    request: &HttpRequest,
    until: Instant,
) -> Result<Counted, CallError> {
    let limits = contact.platform.capability().limits;
    let find = |name: Option<&str>| limits.iter().find(|limit| name == Some(limit.name));
    let mut next = find(request.limit);
    let mut longest_wait = Duration::ZERO;
    let mut counted = Vec::new();
    let now = app.clock.monotonic();
    let left = until.saturating_duration_since(Instant::now());
    let longest = contact.limit_wait.map_or(left, |wait| wait.min(left));
    // A request may count against several limits; the longest wait serves all of them. At most as many as there are.
    for _ in limits {
        let Some(limit) = next else { break };
        let credential = fingerprint(request, limit.scope);
        match app.platform_limits.reserve(credential, limit, now, longest) {
            Ok(wait) => longest_wait = longest_wait.max(wait),
            Err(room_in) => {
                return Err(CallError::HeldBack {
                    message: PlatformFailure::RateLimited {
                        calls: limit.requests,
                        seconds: limit.per_seconds,
                    }
                    .into(),
                    room_in,
                });
            }
        }
        counted.push((credential, limit));
        next = find(limit.within);
    }
    let sent_at = now + longest_wait;
    app.platform_limits.wait_until(&*app.clock, sent_at).await;
    Ok(counted)
}

/// The platform has answered that it gets too many requests: the next ones wait.
pub(super) fn hold_back(app: &App, counted: &Counted) {
    let now = app.clock.monotonic();
    for (credential, limit) in counted {
        app.platform_limits.fill(*credential, limit, now);
    }
}
