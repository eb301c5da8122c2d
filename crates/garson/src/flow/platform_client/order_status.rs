//! The status of an order on its platform.

use garson_core::order::{Change, Status};
use garson_core::platform::Sighting;

#[must_use]
pub fn status_on_platform(seen: &Sighting) -> Status {
    match &seen.change {
        Some(Change::Moved { to, .. }) => *to,
        Some(Change::Cancelled { by, .. }) => by.cancelled_status(),
        None => seen.order.status,
    }
}
