//! Entries of a restaurant's history in words.

use crate::panel::components::store_state::{answer, code_text, until};
use crate::panel::kit::layout::Layout;
use crate::panel::words::RestaurantHistoryWords;
use garson_core::explanation::Explanation;
use garson_core::restaurant_history::{HistoryAction, HistoryEntry};
use garson_core::store_status::ReasonCode;
use garson_core::time::Timestamp;
use serde_json::Value;

/// What happened, the details, and whether it is a problem.
pub fn what(layout: &Layout, h: &RestaurantHistoryWords, entry: &HistoryEntry) -> (String, String, bool) {
    let detail = &entry.detail;
    let store = |title: &str| store_line(layout, h, title, entry);
    let result = detail["result"].as_str();
    match entry.action {
        HistoryAction::StoreRequested => store(h.store_requested),
        HistoryAction::StoreResult => store(h.store_result),
        HistoryAction::StoreRetried => store(h.store_retried),
        HistoryAction::StoreSeen => store(h.store_seen),
        HistoryAction::StoreUndone => store(h.store_undone),
        HistoryAction::ThrottleSet if detail["throttle"].is_null() => plain(h.throttle_off),
        HistoryAction::ThrottleSet => plain(h.throttle_set),
        HistoryAction::ThrottleStep => throttle_step(h, detail),
        HistoryAction::HoursSet if detail["again"] == true => plain(h.hours_again),
        HistoryAction::HoursSet => plain(h.hours_set),
        HistoryAction::HoursResult if result == Some("refused") => {
            (h.hours_refused.to_owned(), message(layout, detail), true)
        }
        HistoryAction::HoursResult => plain(h.hours_result),
        HistoryAction::ProductsRequested => products(layout, h, entry),
        HistoryAction::ProductRefused => product(layout, h.product_refused, detail, true),
        HistoryAction::ProductUndone => product(layout, h.product_undone, detail, true),
        HistoryAction::ProductRestored => product(layout, h.product_restored, detail, false),
        HistoryAction::ProductLinked => product(layout, h.product_linked, detail, false),
        HistoryAction::ProductUnlinked => product(layout, h.product_unlinked, detail, false),
        HistoryAction::MatchDeclined => (h.match_declined.to_owned(), two_products(detail), false),
        HistoryAction::MenuChanged => (h.menu_changed.to_owned(), menu(h, detail), false),
        HistoryAction::PricesRequested => {
            let count = detail["prices"].as_u64().unwrap_or_default();
            (
                h.prices_requested.to_owned(),
                format!("{count} {}", h.prices),
                false,
            )
        }
        HistoryAction::PricesResult => prices_result(h, detail),
        HistoryAction::CatalogRequested => plain(h.catalog_requested),
        HistoryAction::CatalogResult => catalog_result(h, detail),
    }
}

fn two_products(detail: &Value) -> String {
    let names = ["product", "other"].map(|field| detail[field].as_str().unwrap_or_default());
    names.join(" · ")
}

/// The result, with the platform's own words.
fn catalog_result(h: &RestaurantHistoryWords, detail: &Value) -> (String, String, bool) {
    let state = detail["state"].as_str().unwrap_or_default();
    let result = match state {
        "done" => h.done,
        "done_with_errors" => h.done_with_errors,
        "unclear" => h.unknown,
        _ => h.refused,
    };
    let words = detail["message"].as_str().unwrap_or_default();
    (
        format!("{}: {result}", h.catalog_result),
        words.to_owned(),
        state != "done",
    )
}

fn plain(text: &str) -> (String, String, bool) {
    (text.to_owned(), String::new(), false)
}

fn state_name<'a>(h: &RestaurantHistoryWords, name: &'a str) -> &'a str {
    match name {
        "open" => h.open,
        "busy" => h.busy,
        "closed" => h.closed,
        _ => h.unknown,
    }
}

fn result_name<'a>(h: &RestaurantHistoryWords, name: &'a str) -> &'a str {
    match name {
        "done" => h.done,
        "pending" => h.pending,
        "refused" => h.refused,
        "left_closed" => h.left_closed,
        "undone" => h.undone,
        other => other,
    }
}

fn end(layout: &Layout, entry: &HistoryEntry) -> Option<String> {
    let at: Timestamp = entry.detail["until"].as_str()?.parse().ok()?;
    Some(until(layout.lang, &layout.zone, at, entry.at))
}

/// Such as “İstendi: kapalı” with “18:40'a kadar · Mutfak çok yoğun”.
fn store_line(
    layout: &Layout,
    h: &RestaurantHistoryWords,
    title: &str,
    entry: &HistoryEntry,
) -> (String, String, bool) {
    let detail = &entry.detail;
    let state = state_name(h, detail["state"].as_str().unwrap_or_default());
    let result = detail["result"].as_str();
    let what = match result {
        Some(result) => format!("{title}: {state}, {}", result_name(h, result)),
        None => format!("{title}: {state}"),
    };
    let reason = detail["reason"].as_str().map(|code| {
        let known: Result<ReasonCode, _> = code.parse();
        known.map_or_else(
            |_| code.to_owned(),
            |code| code_text(layout.lang, code).to_owned(),
        )
    });
    let note = detail["note"].as_str().map(str::to_owned);
    let busy = detail["busyMinutes"]
        .as_u64()
        .map(|minutes| format!("+{minutes}"));
    let parts = [
        end(layout, entry),
        busy,
        note.or(reason),
        Some(message(layout, detail)),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    let is_bad = matches!(result, Some("refused" | "left_closed"))
        || matches!(
            entry.action,
            HistoryAction::StoreUndone | HistoryAction::StoreRetried
        );
    (what, parts.join(" · "), is_bad)
}

/// The platform's message: in the user's language if its cause was stored, otherwise as it was stored.
fn message(layout: &Layout, detail: &Value) -> String {
    let cause: Option<Explanation> = serde_json::from_value(detail["cause"].clone()).ok().flatten();
    match cause {
        Some(cause) => answer(layout.lang, &cause),
        None => detail["message"].as_str().unwrap_or_default().to_owned(),
    }
}

fn throttle_step(h: &RestaurantHistoryWords, detail: &Value) -> (String, String, bool) {
    let level = match detail["level"].as_str().unwrap_or_default() {
        "none" => h.normal,
        other => state_name(h, other),
    };
    let count = detail["orders"].as_u64().unwrap_or_default();
    (
        format!("{}: {level}", h.throttle_step),
        format!("{count} {}", h.orders),
        false,
    )
}

fn products(layout: &Layout, h: &RestaurantHistoryWords, entry: &HistoryEntry) -> (String, String, bool) {
    let detail = &entry.detail;
    let title = if detail["available"] == true {
        h.products_on
    } else {
        h.products_off
    };
    let names: Vec<&str> = detail["products"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let count = usize::try_from(detail["count"].as_u64().unwrap_or_default()).unwrap_or(usize::MAX);
    let mut text = names.join(", ");
    if count > names.len() {
        text.push_str(&format!(" (+{})", count - names.len()));
    }
    if let Some(end) = end(layout, entry) {
        text = format!("{text} · {end}");
    }
    (title.to_owned(), text, false)
}

fn product(layout: &Layout, title: &str, detail: &Value, is_bad: bool) -> (String, String, bool) {
    let name = detail["product"].as_str().unwrap_or_default().to_owned();
    let parts: Vec<String> = [name, message(layout, detail)]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    (title.to_owned(), parts.join(" · "), is_bad)
}

fn menu(h: &RestaurantHistoryWords, detail: &Value) -> String {
    let parts: Vec<String> = [
        ("added", h.added),
        ("removed", h.removed),
        ("prices", h.prices),
        ("names", h.names),
        ("availability", h.availability),
        ("images", h.images),
    ]
    .into_iter()
    .filter_map(|(key, name)| {
        let count = detail[key].as_u64().filter(|count| *count > 0)?;
        Some(format!("{count} {name}"))
    })
    .collect();
    parts.join(", ")
}

fn prices_result(h: &RestaurantHistoryWords, detail: &Value) -> (String, String, bool) {
    let done = detail["done"].as_u64().unwrap_or_default();
    let failed = detail["failed"].as_u64().unwrap_or_default();
    let mut text = format!("{done} {}", h.done);
    if failed > 0 {
        text.push_str(&format!(", {failed} {}", h.failed));
    }
    (h.prices_result.to_owned(), text, failed > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::words::Lang;
    use garson_core::id::RestaurantId;
    use garson_core::store_control::Requester;
    use garson_core::store_status::StoreActor;
    use serde_json::json;

    fn text(lang: Lang, action: HistoryAction, detail: Value) -> (String, String, bool) {
        let at = "2026-03-01T15:00:00Z".parse().unwrap();
        let whose = (StoreActor::Account, Requester::Panel);
        let entry = HistoryEntry::new(RestaurantId(uuid::Uuid::nil()), at, whose, action, detail);
        what(&Layout::bare(lang), &RestaurantHistoryWords::of(lang), &entry)
    }

    #[test]
    fn closings_say_until_when_and_why() {
        let detail =
            json!({ "state": "closed", "until": "2026-03-01T15:40:00.000Z", "reason": "kitchen_busy" });
        assert_eq!(
            text(Lang::Tr, HistoryAction::StoreRequested, detail),
            (
                "İstendi: kapalı".to_owned(),
                "18:40'a kadar · Mutfak çok yoğun".to_owned(),
                false
            )
        );
    }

    #[test]
    fn refusals_are_in_the_language_of_the_user() {
        let cause = Explanation::answered(400, Some("olmaz"));
        let detail =
            json!({ "state": "open", "result": "refused", "cause": cause, "message": cause.to_string() });
        let (what, said, is_bad) = text(Lang::Tr, HistoryAction::StoreResult, detail);
        assert_eq!(what, "Platforma iletildi: açık, kabul edilmedi");
        assert_eq!(said, "Platform kabul etmedi (400): olmaz");
        assert!(is_bad);
        let old = json!({ "state": "open", "result": "refused", "message": "answered 400" });
        assert_eq!(text(Lang::Tr, HistoryAction::StoreResult, old).1, "answered 400");
    }

    #[test]
    fn every_action_has_words_and_bears_any_detail() {
        for action in HistoryAction::ALL {
            for detail in [
                json!({}),
                json!(null),
                json!([1]),
                json!({ "products": 3, "until": 7 }),
            ] {
                for lang in Lang::ALL {
                    assert!(!text(lang, *action, detail.clone()).0.is_empty(), "{action:?}");
                }
            }
        }
    }
}
