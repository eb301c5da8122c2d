//! Which platforms are polled for their orders.

use crate::app::App;
use garson_core::platform::{Platform, PollStyle};

/// Is the platform polled for orders, so that changes are found without its messages?
pub(crate) fn is_polled(app: &App, platform: &dyn Platform) -> bool {
    let lists_orders = platform
        .capability()
        .polling
        .is_some_and(|polling| polling.style != PollStyle::Cancelled);
    lists_orders && app.terms(platform.provider()).poll_every.is_some()
}
