//! The day that a query string asks for.

use crate::flow::read::day_summary::WhichDay;
use crate::panel::kit::form_data::FormData;
use crate::panel::kit::paging;
use garson_core::id::RestaurantId;

/// The day of a query string, and the name of its tab.
pub fn chosen_day(params: &FormData) -> (WhichDay, &'static str) {
    match params.get("day") {
        "" | "today" => (WhichDay::Today, "today"),
        "yesterday" => (WhichDay::Yesterday, "yesterday"),
        day => (WhichDay::Named(day.to_owned()), ""),
    }
}

/// A path about a day of a restaurant, or of all.
pub fn day_url(path: &str, only: Option<RestaurantId>, day: &str) -> String {
    let id = only.map_or_else(String::new, |id| id.to_string());
    paging::url(path, &[("restaurant", &id), ("day", day)])
}
