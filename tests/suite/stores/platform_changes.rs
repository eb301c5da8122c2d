//! What platforms do by themselves: they close stores, undo changes, and show wrong states.

use super::setup::{
    calls, change_shop, history, of, operations, path, put, read_all, shop, store, wait_for_store,
};
use crate::support::{Backend, PlatformWorld};
use garson_sim::Platform;
use garson_sim::views::{ClosedBy, ShopRequest};
use serde_json::{Value, json};

on_both! {
    closing_by_the_platform_is_shown_and_a_person_opens_again
    undone_closing_is_reported_once
    account_that_has_opted_in_gets_the_event
}

fn closed_by_platform() -> ShopRequest {
    ShopRequest {
        open: Some(false),
        by: Some(ClosedBy::UnansweredOrder),
        reason: Some("TOO_MANY_REJECTED_ORDERS".to_owned()),
        ..ShopRequest::default()
    }
}

async fn closing_by_the_platform_is_shown_and_a_person_opens_again(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    read_all(&world);
    for platform in Platform::ALL {
        wait_for_store(&world, platform, "is open", |it| it["state"] == json!("open")).await;
        change_shop(&world, platform, closed_by_platform()).await;
    }
    read_all(&world);
    for platform in Platform::ALL {
        let shown = wait_for_store(&world, platform, "is closed", |it| it["state"] == json!("closed")).await;
        assert_eq!(shown["by"], json!("platform"), "{shown:#}");
        if matches!(platform, Platform::Getir | Platform::Yemeksepeti) {
            assert_eq!(shown["problem"], json!("closed_by_platform"), "{shown:#}");
        }
        let (_, open) = operations(platform);
        assert_eq!(calls(&world, platform, open).await, 0, "it is not fought");
    }
    let answer = put(&world, json!({ "state": "open" })).await;
    for platform in Platform::ALL {
        assert_eq!(of(&answer, platform)["result"], json!("done"), "{answer:#}");
        assert!(shop(&world, platform).await.open, "{platform}");
        assert_eq!(store(&world, platform).await["problem"], json!(null));
    }
    let history = history(&world).await;
    let seen = "platform getir store_seen closed -".to_owned();
    assert!(history.contains(&seen), "{history:#?}");
}

async fn undone_closing_is_reported_once(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let platform = Platform::Trendyol;
    let ignores = ShopRequest {
        ignores_changes: Some(true),
        ..ShopRequest::default()
    };
    change_shop(&world, platform, ignores).await;
    let answer = put(&world, json!({ "state": "closed", "providers": ["trendyol"] })).await;
    assert_eq!(of(&answer, platform)["result"], json!("done"));
    // Right after the change the old state may still be shown.
    world.advance_clock(4).await;
    world.advance_clock(30).await;
    assert_eq!(store(&world, platform).await["state"], json!("closed"));
    world.advance_clock(40).await;
    let shown = wait_for_store(&world, platform, "is undone", |it| {
        it["wanted"]["result"] == json!("undone")
    })
    .await;
    assert_eq!(
        (&shown["state"], &shown["problem"]),
        (&json!("open"), &json!("not_closed")),
        "{shown:#}"
    );
    read_all(&world);
    world.advance_clock(400).await;
    let (close, _) = operations(platform);
    assert_eq!(calls(&world, platform, close).await, 1);
    let lines = history(&world).await;
    let undone = lines.iter().filter(|line| line.contains("store_undone"));
    assert_eq!(undone.count(), 1, "{lines:#?}");
}

async fn account_that_has_opted_in_gets_the_event(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let events = async || -> Vec<Value> {
        let events = world.a.get("/events?limit=200").await.data();
        let is_store = |event: &&Value| event["olay"] == json!("magaza.durum_degisti");
        events
            .as_array()
            .unwrap()
            .iter()
            .filter(is_store)
            .cloned()
            .collect()
    };
    let only = json!(["trendyol"]);
    read_all(&world);
    wait_for_store(&world, Platform::Trendyol, "is open", |it| {
        it["state"] == json!("open")
    })
    .await;
    put(&world, json!({ "state": "closed", "providers": only })).await;
    assert_eq!(events().await, Vec::<Value>::new());
    let wrong = world
        .a
        .put("/webhook", &json!({ "optionalEvents": ["magaza.x"] }))
        .await;
    assert_eq!(wrong.status, 422);
    let chosen = json!({ "optionalEvents": ["magaza.durum_degisti"] });
    let webhook = world.a.put("/webhook", &chosen).await.data();
    assert_eq!(webhook["optionalEvents"], chosen["optionalEvents"]);
    assert_eq!(
        world.a.get("/webhook").await.data()["optionalEvents"],
        chosen["optionalEvents"]
    );
    put(&world, json!({ "state": "open", "providers": only })).await;
    put(
        &world,
        json!({ "state": "closed", "minutes": 30, "reason": "fırın bozuldu", "providers": only }),
    )
    .await;
    let told = events().await;
    assert_eq!(told.len(), 2, "{told:#?}");
    let veri = &told[0]["veri"];
    assert_eq!(
        (&veri["oldState"], &veri["state"], &veri["by"], &veri["provider"]),
        (
            &json!("open"),
            &json!("closed"),
            &json!("account"),
            &json!("trendyol")
        )
    );
    assert_eq!(
        veri["stateReason"],
        json!({ "code": "other", "text": "fırın bozuldu" })
    );
    assert_eq!(veri["restaurantId"], json!(world.restaurant));
    let none = world
        .a
        .put("/webhook", &json!({ "optionalEvents": [] }))
        .await
        .data();
    assert_eq!(none.get("optionalEvents"), None);
    put(&world, json!({ "state": "open", "providers": only })).await;
    assert_eq!(events().await.len(), 2);
    let history = world.a.get(&path(&world, "history?limit=2")).await.success();
    assert_eq!(history["data"].as_array().unwrap().len(), 2);
    assert!(history["paging"]["next"].is_string());
}
