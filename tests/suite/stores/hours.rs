//! Opening hours: written to platforms, compared with theirs, and followed on special days.

use super::setup::{calls, history, of, path, shop, store, wait_for_store, wait_until_open};
use crate::support::{Backend, PlatformWorld};
use garson_core::time::{Timestamp, Zone};
use garson_sim::Platform;
use serde_json::{Value, json};

on_both! {
    week_is_written_and_compared
    special_day_closes_and_opens_the_stores
}

const DAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

fn daily(opens: &str, closes: &str) -> Value {
    DAYS.into_iter()
        .map(|day| json!({ "day": day, "opens": opens, "closes": closes }))
        .collect()
}

async fn week_is_written_and_compared(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let hours = json!({ "weekly": daily("11:00", "22:30") });
    let set = world.a.put(&path(&world, "hours"), &hours).await.data();
    assert_eq!(set["timezone"], json!("Europe/Istanbul"));
    assert_eq!(set["weekly"].as_array().unwrap().len(), 7);
    for platform in [Platform::Getir, Platform::Trendyol, Platform::Migros] {
        let state = async || {
            let shown = world.a.get(&path(&world, "hours")).await.data();
            of(&shown["platforms"], platform)["state"].clone()
        };
        crate::support::wait_until(&format!("{platform} has the hours"), async || {
            state().await == json!("same")
        })
        .await;
        let theirs = shop(&world, platform).await.hours;
        assert!(
            theirs.iter().all(|line| line.opens.starts_with("11:00")),
            "{theirs:?}"
        );
    }
    let shown = world.a.get(&path(&world, "hours")).await.data();
    let yemeksepeti = of(&shown["platforms"], Platform::Yemeksepeti);
    assert_eq!(yemeksepeti["state"], json!("unsupported"));
    assert!(
        history(&world)
            .await
            .contains(&"account trendyol hours_result - done".to_owned())
    );
    // The same hours are not written again.
    let before = calls(&world, Platform::Trendyol, "working-hours").await;
    world.a.put(&path(&world, "hours"), &hours).await.data();
    assert_eq!(calls(&world, Platform::Trendyol, "working-hours").await, before);
}

async fn special_day_closes_and_opens_the_stores(backend: Backend) {
    let mut world = PlatformWorld::open_without_polling(backend).await;
    let zone = Zone::istanbul();
    let now = world.service.app.now();
    // Open all day in a usual week; closed from the next full hour on.
    const HOUR: i64 = 3_600_000;
    let closes = Timestamp::from_millis((now.as_millis().div_euclid(HOUR) + 1) * HOUR);
    let day = zone.day_of(closes).unwrap();
    let spans = match zone.write(closes, "%H:00").as_str() {
        "00:00" => json!([]),
        time => json!([{ "opens": "00:00", "closes": time }]),
    };
    let special = json!([{ "date": day.to_string(), "spans": spans }]);
    let hours = json!({ "weekly": daily("00:00", "24:00"), "special": special });
    world.a.put(&path(&world, "hours"), &hours).await.data();
    assert!(shop(&world, Platform::Yemeksepeti).await.open);
    let seconds = closes.since(now).as_secs() + 60;
    world.advance_clock(u32::try_from(seconds).unwrap()).await;
    for platform in Platform::ALL {
        let shown = wait_for_store(&world, platform, "is closed", |it| it["state"] == json!("closed")).await;
        assert_eq!(shown["by"], json!("schedule"), "{shown:#}");
        assert!(!shop(&world, platform).await.open, "{platform}");
    }
    // A restart changes nothing, and the stores open with the next day.
    world.service.restart().await;
    world.platforms.a = world.service.a.clone();
    let until = store(&world, Platform::Trendyol).await["until"].clone();
    let until: Timestamp = until.as_str().unwrap().parse().unwrap();
    let left = until.since(world.service.app.now()).as_secs() + 2;
    world.advance_clock(u32::try_from(left).unwrap()).await;
    world.advance_clock(61).await;
    for platform in [Platform::Yemeksepeti, Platform::Trendyol, Platform::Migros] {
        wait_until_open(&world, platform).await;
    }
}
