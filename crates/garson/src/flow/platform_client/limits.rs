//! Waits for a platform's rate limits before a request is sent.

use super::contact::Contact;
use crate::app::App;
use garson_core::explanation::PlatformFailure;
use garson_core::platform::{CallError, HttpRequest};
use tokio::time::Instant;

/// Waits until the platform's limits have room for a request.
pub(super) async fn wait_for_limit(
    app: &App,
    contact: &Contact,
    request: &HttpRequest,
    until: Instant,
) -> Result<(), CallError> {
    let limits = contact.platform.capability().limits;
    let Some(limit) = limits.iter().find(|limit| request.limit == Some(limit.name)) else {
        return Ok(());
    };
    let now = Instant::now();
    let longest = until.saturating_duration_since(now);
    match app.platform_limits.reserve(request, limit, now, longest) {
        Ok(wait) => {
            tokio::time::sleep(wait).await;
            Ok(())
        }
        Err(room_in) => Err(CallError::HeldBack {
            message: PlatformFailure::RateLimited {
                calls: limit.requests,
                seconds: limit.per_seconds,
            }
            .into(),
            room_in,
        }),
    }
}
