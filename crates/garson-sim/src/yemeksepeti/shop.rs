//! Delivery Hero's calls about a restaurant's availability, its items and its catalog.

use std::sync::Arc;

use http::StatusCode;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{auth, errors::Refusal};
use crate::{
    call::{Call, Reply},
    clock,
    message::Message,
    platform::Platform,
    random::hash,
    shop::{Catalog, Closing, next_opening},
    store::{Store, StoreKey},
    views::ClosedBy,
    world::World,
};

pub(super) const OPERATIONS: &[&str] = &[
    "availability",
    "set-availability",
    "item-availability",
    "modify-product",
    "catalog",
    "catalog-log",
];

const MINUTES: [u64; 5] = [240, 720, 120, 60, 30];
const REASONS: [&str; 6] = [
    "TOO_BUSY_KITCHEN",
    "CLOSED",
    "TOO_BUSY_NO_DRIVERS",
    "TECHNICAL_PROBLEM",
    "UPDATES_IN_MENU",
    "OTHER",
];
const STATES: [&str; 4] = ["CLOSED_UNTIL", "CLOSED", "CLOSED_TODAY", "OPEN"];
const PLATFORM_KEY: &str = "YS_TR";

type Answered = Result<Reply, Refusal>;

/// The branch that the path names, where it does.
pub(super) fn branch(call: &Call) -> Option<&str> {
    let parts = call.parts();
    match parts.as_slice() {
        [_, _, _, "remoteVendors" | "vendors", _, ..] => call.segments.get(4).map(String::as_str),
        _ => None,
    }
}

pub(super) fn answer(world: &mut World, call: &Call, operation: &str) -> Answered {
    let user = auth::check(world, call)?;
    let stores = auth::chain(world, call, &user)?;
    let missing = || Refusal::new(StatusCode::NOT_FOUND, "POS_ERROR", "there is no such vendor");
    match operation {
        "catalog" => return catalog(world, call, &stores),
        "modify-product" => {
            let id = call.segments.get(6).map(String::as_str).unwrap_or_default();
            let store = stores.iter().find(|store| platform_id(store) == id);
            return modify_product(world, call, store.ok_or_else(missing)?);
        }
        _ => {}
    }
    let id = branch(call).unwrap_or_default();
    let store = stores
        .iter()
        .find(|store| store.remote_id == id)
        .ok_or_else(missing)?;
    match operation {
        "availability" => Ok(availability(world, store)),
        "set-availability" => set_availability(world, call, store),
        "catalog-log" => catalog_log(world, call, store),
        _ => item_availability(world, call, store),
    }
}

/// The restaurant's id on the platform is not the branch's.
fn platform_id(store: &Store) -> String {
    (hash(&format!("vendor {}", store.remote_id)) % 1_000_000).to_string()
}

fn availability(world: &mut World, store: &Store) -> Reply {
    let now = world.now();
    let shop = world.shop(&store.key());
    if shop.not_ready_answers > 0 {
        shop.not_ready_answers -= 1;
        return Reply::empty(StatusCode::NO_CONTENT);
    }
    shop.was_read = true;
    let closing = shop.closing(now).cloned();
    let state = match &closing {
        _ if shop.is_deactivated => "INACTIVE",
        _ if shop.shown_open(now) => "OPEN",
        Some(closing) if closing.is_for_today => "CLOSED_TODAY",
        Some(closing) if closing.until.is_some() => "CLOSED_UNTIL",
        _ => "CLOSED",
    };
    let is_closed = state != "OPEN";
    let mut body = json!({
        "availabilityState": state,
        "availabilityStates": STATES,
        "changeable": shop.is_changeable && !shop.is_deactivated,
        "closingMinutes": MINUTES,
        "closingReasons": REASONS,
        "platformId": "90",
        "platformKey": PLATFORM_KEY,
        "platformRestaurantId": platform_id(store),
        "platformType": "PANDORA",
    });
    if let Some(closing) = closing.filter(|_| is_closed) {
        body["closedReason"] = json!(closing.reason);
        if let (Some(until), "CLOSED_UNTIL") = (closing.until, state) {
            body["closedUntil"] = json!(clock::text(until));
        }
    }
    if is_closed && shop.needs_check_in {
        body["checkinAt"] = json!(clock::text(now));
        body["closedReason"] = json!("CHECK_IN_REQUIRED");
    } else if is_closed && !shop.is_in_hours {
        body["nextOpeningAt"] = json!(clock::text(next_opening(now)));
    }
    Reply::ok(&json!([body]))
}

fn invalid(message: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, "POS_ERROR", message)
}

fn set_availability(world: &mut World, call: &Call, store: &Store) -> Answered {
    let body = call.json().map_err(Refusal::invalid)?;
    let now = world.now();
    let shop = world.shop(&store.key());
    if !shop.was_read {
        return Err(invalid("the availability must be read first"));
    }
    if !shop.is_changeable || shop.needs_check_in || shop.is_deactivated {
        return Err(invalid("the availability cannot be changed"));
    }
    if body["platformKey"] != PLATFORM_KEY || body["platformRestaurantId"] != platform_id(store) {
        return Err(invalid(
            "platformKey and platformRestaurantId are not those of the vendor",
        ));
    }
    let (until, is_for_today) = match body["availabilityState"].as_str() {
        Some("OPEN") => {
            shop.open();
            return Ok(Reply::empty(StatusCode::OK));
        }
        Some("CLOSED") => (None, false),
        Some("CLOSED_TODAY") => (Some(next_opening(now)), true),
        Some("CLOSED_UNTIL") => (Some(closed_until(&body, now)?), false),
        _ => return Err(invalid("availabilityState is not one of the offered")),
    };
    let reason = body["closedReason"]
        .as_str()
        .filter(|reason| REASONS.contains(reason));
    let reason = reason.ok_or_else(|| invalid("closedReason is not one of the offered"))?;
    shop.close(Closing {
        until,
        is_for_today,
        by: ClosedBy::Api,
        reason: Some(reason.to_owned()),
    });
    Ok(Reply::empty(StatusCode::OK))
}

fn closed_until(body: &Value, now: Timestamp) -> Result<Timestamp, Refusal> {
    if let Some(minutes) = body["closingMinutes"].as_u64() {
        return if MINUTES.contains(&minutes) {
            Ok(clock::add_seconds(now, minutes * 60))
        } else {
            Err(invalid("closingMinutes is not one of the offered"))
        };
    }
    let until = body["closedUntil"]
        .as_str()
        .and_then(|text| text.parse::<Timestamp>().ok());
    until
        .filter(|until| *until > now)
        .ok_or_else(|| invalid("closingMinutes or a closedUntil in the future is required"))
}

fn item_availability(world: &mut World, call: &Call, store: &Store) -> Answered {
    let body = call.json().map_err(Refusal::invalid)?;
    let items: Option<Vec<&str>> = body["items"]
        .as_array()
        .filter(|items| !items.is_empty())
        .map(|items| items.iter().map(Value::as_str).collect::<Option<Vec<_>>>())
        .unwrap_or_default();
    let items = items.ok_or_else(|| invalid("items must be a list of ids"))?;
    if !["ITEM", "TOPPING"].iter().any(|kind| body["type"] == *kind) {
        return Err(invalid("type must be ITEM or TOPPING"));
    }
    let is_available = body["isAvailable"]
        .as_bool()
        .ok_or_else(|| invalid("isAvailable must be a boolean"))?;
    let now = world.now();
    let (until, is_for_today) = match body["willBeAvailable"].as_str() {
        _ if is_available => (None, false),
        None => (None, false),
        Some("NEXT_BUSINESS_DAY") => (Some(next_opening(now)), true),
        Some("AT_TIMESTAMP") => {
            let at = body["atTimeStamp"]
                .as_str()
                .and_then(|text| text.parse::<Timestamp>().ok());
            (Some(at.ok_or_else(|| invalid("atTimeStamp is required"))?), false)
        }
        Some(_) => return Err(invalid("willBeAvailable is not known")),
    };
    let known = |id: &&&str| store.menu.has_number(id);
    let done: Vec<&&str> = items.iter().filter(known).collect();
    for id in &done {
        world
            .shop(&store.key())
            .switch(id, !is_available, until, is_for_today);
    }
    if done.len() == items.len() {
        return Ok(Reply::empty(StatusCode::NO_CONTENT));
    }
    let status = if done.is_empty() {
        "Failed"
    } else {
        "Partial Success"
    };
    Ok(Reply::ok(&json!({
        "status": status,
        "details": [{"platformVendorId": platform_id(store), "globalEntityId": PLATFORM_KEY, "status": "Failed"}],
    })))
}

fn modify_product(world: &mut World, call: &Call, store: &Store) -> Answered {
    let body = call.json().map_err(Refusal::invalid)?;
    for name in ["processId", "timestamp", "callback"] {
        if body[name].as_str().is_none_or(str::is_empty) {
            return Err(invalid(format!("{name} is required")));
        }
    }
    let product = &body["product"];
    let id = product["productId"]
        .as_str()
        .filter(|id| store.menu.has_number(id));
    let id = id.ok_or_else(|| invalid("there is no such product"))?;
    let changes_price = product["updatedFields"]
        .as_array()
        .is_some_and(|fields| fields.iter().any(|field| field == "unitPrice"));
    if changes_price {
        let price = product["unitPrice"].as_f64().filter(|price| *price >= 0.0);
        let price = price.ok_or_else(|| invalid("unitPrice must be 0 or more"))?;
        #[allow(clippy::cast_possible_truncation)]
        world
            .shop(&store.key())
            .set_price(id, (price * 100.0).round() as i64);
    }
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

fn catalog(world: &mut World, call: &Call, stores: &[Arc<Store>]) -> Answered {
    let body = call.json().map_err(Refusal::invalid)?;
    let vendors = body["vendors"].as_array().filter(|vendors| !vendors.is_empty());
    let vendors = vendors.ok_or_else(|| invalid("vendors is required"))?;
    let is_known = |vendor: &Value| stores.iter().any(|store| *vendor == store.remote_id);
    if !vendors.iter().all(is_known) {
        return Err(Refusal::new(
            StatusCode::NOT_FOUND,
            "BAD_REQUEST",
            "there is no such vendor",
        ));
    }
    let items = body["catalog"]["items"].as_object();
    let items = items.ok_or_else(|| invalid("catalog.items is required"))?;
    let of_type = |kind: &str| items.values().filter(|item| item["type"] == kind).count();
    if of_type("Category") == 0 {
        return Err(invalid("a catalog must contain at least one Category"));
    }
    let id = world.ids.uuid();
    let url = body["callbackUrl"].as_str();
    for store in stores
        .iter()
        .filter(|store| vendors.iter().any(|it| *it == store.remote_id))
    {
        world.shop(&store.key()).last_catalog = Some(Catalog {
            import_id: id.clone(),
            callback_url: url.map(str::to_owned),
        });
        log_catalog(world, &store.key(), &id, "in_progress", "");
        report_catalog(world, &store.key());
    }
    let answer = json!({"status": "submitted", "catalogImportId": id});
    Ok(Reply::json(StatusCode::ACCEPTED, &answer))
}

/// The most entries that the log answers with.
const MAX_LOG: usize = 100;

/// The log of imports, newest first.
fn catalog_log(world: &mut World, call: &Call, store: &Store) -> Answered {
    let given = call.query("limit");
    let limit = given.map_or(Ok(1), str::parse::<usize>);
    let limit = limit.map_err(|_| invalid("limit must be a number"))?.min(MAX_LOG);
    let entries: Vec<Value> = world
        .shop(&store.key())
        .catalog_log
        .iter()
        .rev()
        .take(limit)
        .cloned()
        .collect();
    let mut logs = serde_json::Map::new();
    logs.insert(store.remote_id.clone(), entries.into());
    Ok(Reply::ok(&json!({ "menuImportLogs": logs })))
}

fn log_catalog(world: &mut World, store: &StoreKey, id: &str, status: &str, message: &str) {
    let at = clock::text(world.now());
    let entry = json!({
        "createdAt": at, "menuImportId": id, "message": message, "status": status, "url": "", "version": 1,
    });
    let log = &mut world.shop(store).catalog_log;
    if log.len() >= MAX_LOG {
        log.remove(0);
    }
    log.push(entry);
}

/// Reports the last catalog of a store, unless its result is not known yet, and logs the result.
pub(super) fn report_catalog(world: &mut World, store: &StoreKey) {
    let shop = world.shop(store);
    let (Some(catalog), Some(result)) = (shop.last_catalog.clone(), shop.catalog_result.clone()) else {
        return;
    };
    let (message, details) = match result.as_str() {
        "done_with_errors" => (
            "some items were not imported",
            json!([{"entity": "Product", "error": "the image cannot be read"}]),
        ),
        "failed" => ("the catalog cannot be imported", json!([])),
        _ => ("", json!([])),
    };
    let body = json!({
        "catalogImportId": catalog.import_id,
        "status": result,
        "message": message,
        "details": details,
    });
    log_catalog(world, store, &catalog.import_id, &result, message);
    if let Some(url) = catalog.callback_url {
        let report = Message::post("catalog", url, &body);
        world.reports.push((Platform::Yemeksepeti, report));
    }
}
