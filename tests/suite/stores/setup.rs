//! What the cases of this folder share.

use crate::support::{PlatformWorld, SimulatedPlatforms, remote_id, wait_until};
use garson_sim::Platform;
use garson_sim::views::{JournalLine, ShopRequest, ShopView};
use serde_json::{Value, json};

pub fn path(platforms: &SimulatedPlatforms, part: &str) -> String {
    format!("/restaurants/{}/{part}", platforms.restaurant)
}

/// Asks for a state and returns the answer for each platform.
pub async fn put(platforms: &SimulatedPlatforms, body: Value) -> Value {
    platforms.a.put(&path(platforms, "store"), &body).await.data()["platforms"].clone()
}

/// The store of a platform as the API shows it.
pub async fn store(platforms: &SimulatedPlatforms, platform: Platform) -> Value {
    let stores = platforms.a.get(&path(platforms, "store")).await.data();
    of(&stores["platforms"], platform)
}

/// The part of an answer that is about a platform.
pub fn of(stores: &Value, platform: Platform) -> Value {
    let all = stores.as_array().unwrap().iter();
    let mut of_platform = all.filter(|store| store["provider"] == json!(platform.to_string()));
    of_platform
        .next()
        .cloned()
        .unwrap_or_else(|| panic!("{platform} in {stores:#}"))
}

/// The results of a change in the order of `Platform::ALL`.
pub fn results(stores: &Value) -> Vec<String> {
    let result = |platform| of(stores, platform)["result"].as_str().unwrap_or("-").to_owned();
    Platform::ALL.into_iter().map(result).collect()
}

/// The store as the platform has it.
pub async fn shop(platforms: &SimulatedPlatforms, platform: Platform) -> ShopView {
    platforms
        .control
        .shop(platform, remote_id(platform))
        .await
        .unwrap()
}

pub async fn change_shop(platforms: &SimulatedPlatforms, platform: Platform, request: ShopRequest) {
    platforms
        .control
        .change_shop(platform, remote_id(platform), &request)
        .await
        .unwrap();
}

/// Waits until the API shows a store in some way.
pub async fn wait_for_store(
    platforms: &SimulatedPlatforms,
    platform: Platform,
    what: &str,
    so: impl Fn(&Value) -> bool,
) -> Value {
    let mut last = Value::Null;
    wait_until(&format!("{platform} {what}"), async || {
        let shown = store(platforms, platform).await;
        if shown != last {
            println!("{platform}, which is to be so that it {what}: {shown:#}");
            last = shown;
        }
        so(&last)
    })
    .await;
    last
}

pub async fn wait_until_open(platforms: &SimulatedPlatforms, platform: Platform) {
    wait_until(&format!("{platform} is open"), async || {
        shop(platforms, platform).await.open
    })
    .await;
}

/// Reads the state of every store.
pub fn read_all(world: &PlatformWorld) {
    world.service.app.store_signals.read_all();
}

/// How many calls of an operation a platform has had.
pub async fn calls(platforms: &SimulatedPlatforms, platform: Platform, operation: &str) -> usize {
    let lines = platforms.control.journal(Some(platform), 0).await.unwrap();
    lines.iter().filter(|line| line.operation == operation).count()
}

/// The operations that close and open a store on a platform.
pub fn operations(platform: Platform) -> (&'static str, &'static str) {
    match platform {
        Platform::Getir => ("close", "open"),
        Platform::Yemeksepeti => ("set-availability", "set-availability"),
        Platform::Trendyol => ("store-status", "store-status"),
        Platform::Migros => ("deactivate", "activate"),
    }
}

const READINGS: [&str; 4] = ["restaurant", "availability", "stores", "view-status"];

/// The state that a call asks for, if it changes a store.
fn asked_state(call: &JournalLine) -> Option<&'static str> {
    match call.operation.as_str() {
        "open" | "activate" | "remove-off-date" => Some("open"),
        "close" | "deactivate" | "add-off-date" => Some("closed"),
        "set-availability" | "store-status" => {
            let closes = call.body.as_deref().unwrap_or_default().contains("CLOSED");
            Some(if closes { "closed" } else { "open" })
        }
        _ => None,
    }
}

/// The states that a platform was asked for. Whenever an answer was lost, the state must have been read before the next request.
pub async fn changes(platforms: &SimulatedPlatforms, platform: Platform) -> Vec<&'static str> {
    let journal = platforms.control.journal(Some(platform), 0).await.unwrap();
    let (mut changes, mut is_unclear) = (Vec::new(), false);
    for call in &journal {
        if let Some(state) = asked_state(call) {
            assert!(!is_unclear, "{platform} is asked again: {journal:#?}");
            is_unclear = call.status.is_none();
            // Migros needs a second call when a store that is not active is opened.
            if call.operation != "remove-off-date" || changes.last() != Some(&"open") {
                changes.push(state);
            }
        } else if READINGS.contains(&call.operation.as_str()) {
            is_unclear = false;
        }
    }
    changes
}

/// The actions of the restaurant's history, newest first, with platform and result.
pub async fn history(platforms: &SimulatedPlatforms) -> Vec<String> {
    let page = platforms
        .a
        .get(&path(platforms, "history?limit=200"))
        .await
        .data();
    let line = |entry: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        format!(
            "{} {} {} {} {}",
            text(&entry["by"]),
            text(&entry["provider"]),
            text(&entry["action"]),
            text(&entry["detail"]["state"]),
            text(&entry["detail"]["result"])
        )
    };
    page.as_array().unwrap().iter().map(line).collect()
}
