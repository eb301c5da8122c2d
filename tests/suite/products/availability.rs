//! Products are switched on and off on every platform.

use super::setup::{ProductWorld, by_provider};
use crate::support::{Backend, wait_until};
use garson_sim::Platform;
use garson_sim::Platform::{Getir, Migros, Trendyol};
use garson_sim::views::{Fault, ItemRequest, ShopRequest};
use serde_json::json;
use std::time::Duration;

on_both! {
    dish_is_switched_off_and_on_everywhere
    timed_switch_ends_by_the_platform_or_by_us_after_a_restart
    unreachable_platform_receives_the_change_later
    last_request_takes_effect
    ; sqlite_only:
    conflict_is_repeated
    lost_answer_is_read_before_it_is_repeated
    contradiction_of_the_menu_is_reported
    forgotten_timer_of_a_platform_is_made_up_for
    change_by_the_platform_ends_a_request
    option_is_switched_where_the_platform_can
    accounts_that_opted_in_get_events
}

async fn dish_is_switched_off_and_on_everywhere(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    for is_available in [false, true] {
        let results = world.switch(&json!({ "available": is_available })).await;
        assert_eq!(results.len(), 4);
        for platform in Platform::ALL {
            let result = &results[&platform.to_string()];
            assert_eq!(result["result"], json!("done"), "{platform}: {result:#}");
            assert_eq!(result["timer"], json!(null));
            assert_eq!(world.is_available(platform).await, is_available, "{platform}");
        }
        let product = world.get(&format!("/products/{}", world.product)).await.data();
        assert_eq!(product["available"], json!(is_available));
    }
    // Repeating a request sends nothing.
    let calls = world.calls(Trendyol, "product-status").await;
    assert_eq!(calls, 2);
    world.switch(&json!({ "available": true })).await;
    assert_eq!(world.calls(Trendyol, "product-status").await, calls);
    let only = world
        .switch(&json!({ "available": false, "providers": ["migros"] }))
        .await;
    assert_eq!(only.keys().collect::<Vec<_>>(), ["migros"]);
    assert!(world.is_available(Trendyol).await && !world.is_available(Migros).await);
}

async fn timed_switch_ends_by_the_platform_or_by_us_after_a_restart(backend: Backend) {
    let mut world = ProductWorld::open(backend).await;
    let until = world
        .service
        .app
        .now()
        .plus(Duration::from_secs(1_800))
        .to_string();
    let results = world.switch(&json!({ "available": false, "until": until })).await;
    for (provider, timer) in [
        ("getir", "garson"),
        ("migros", "garson"),
        ("trendyol", "garson"),
        ("yemeksepeti", "platform"),
    ] {
        let result = &results[provider];
        assert_eq!(result["result"], json!("done"), "{provider}: {result:#}");
        assert_eq!(result["timer"], json!(timer), "{provider}");
        assert_eq!(result["until"], json!(until), "{provider}");
    }
    world.service.restart().await;
    world.world.platforms.a = world.service.a.clone();
    world.advance_clock(1_700).await;
    world.wake();
    assert!(!world.is_available(Trendyol).await);
    world.advance_clock(110).await;
    for platform in Platform::ALL {
        world.wait_until_available(platform, true).await;
    }
    wait_until("the requests are done", async || {
        world.wake();
        let wanted = world.wanted().await;
        [Getir, Migros, Trendyol].iter().all(|platform| {
            let wanted = &wanted[&platform.to_string()]["wanted"];
            wanted["by"] == json!("schedule") && wanted["result"] == json!("done")
        })
    })
    .await;
    assert_eq!(
        world.calls(Trendyol, "product-status").await,
        2,
        "off once, on once"
    );
}

async fn unreachable_platform_receives_the_change_later(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let down = Fault::Status {
        status: 503,
        body: None,
    };
    world.fault(Migros, "product-status", down, Some(2)).await;
    let results = world.switch(&json!({ "available": false })).await;
    assert_eq!(
        results["trendyol"]["result"],
        json!("done"),
        "another platform does not wait"
    );
    wait_until("the platform has received it", async || {
        world.world.advance_clock(30).await;
        world.wake();
        world.wanted().await["migros"]["wanted"]["result"] == json!("done")
    })
    .await;
    assert!(!world.is_available(Migros).await);
}

async fn last_request_takes_effect(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let slow = Fault::Latency { ms: 1_000 };
    world.fault(Trendyol, "product-status", slow, Some(1)).await;
    let (off, on) = (json!({ "available": false }), json!({ "available": true }));
    let (_, _) = tokio::join!(world.switch(&off), async {
        wait_until("the first request is being sent", async || {
            world.control.faults().await.unwrap().is_empty()
        })
        .await;
        world.switch(&on).await
    });
    wait_until("the last request is done", async || {
        let wanted = world.wanted().await["trendyol"]["wanted"].clone();
        wanted["result"] == json!("done") && wanted["available"] == json!(true)
    })
    .await;
    assert!(world.is_available(Trendyol).await);
}

async fn conflict_is_repeated(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let conflict = Fault::Status {
        status: 409,
        body: None,
    };
    world.fault(Trendyol, "product-status", conflict, Some(1)).await;
    world.switch(&json!({ "available": false })).await;
    wait_until("it is repeated", async || {
        world.world.advance_clock(5).await;
        world.wake();
        world.wanted().await["trendyol"]["wanted"]["result"] == json!("done")
    })
    .await;
    assert_eq!(world.calls(Trendyol, "product-status").await, 2);
}

async fn lost_answer_is_read_before_it_is_repeated(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    world
        .fault(Trendyol, "product-status", Fault::DropAfterWork, Some(1))
        .await;
    world.switch(&json!({ "available": false })).await;
    wait_until("it is found to be done", async || {
        world.world.advance_clock(5).await;
        world.wake();
        world.wanted().await["trendyol"]["wanted"]["result"] == json!("done")
    })
    .await;
    assert_eq!(
        world.calls(Trendyol, "product-status").await,
        1,
        "it is not sent twice"
    );
    assert!(!world.wanted().await["trendyol"]["wanted"]["confirmedAt"].is_null());
}

async fn contradiction_of_the_menu_is_reported(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let ignoring = ShopRequest {
        ignores_changes: Some(true),
        ..ShopRequest::default()
    };
    world.change_shop(Trendyol, ignoring).await;
    let results = world.switch(&json!({ "available": false })).await;
    assert_eq!(results["trendyol"]["result"], json!("done"));
    // The menu is read again by itself, some time after the change.
    wait_until("the menu shows it", async || {
        world.world.advance_clock(20).await;
        world.wake();
        let wanted = world.wanted().await;
        wanted["trendyol"]["wanted"]["result"] == json!("refused")
            && !wanted["migros"]["wanted"]["confirmedAt"].is_null()
    })
    .await;
    assert_eq!(
        world.calls(Trendyol, "product-status").await,
        1,
        "it is reported, not repeated"
    );
    assert_eq!(
        world
            .service
            .count("restaurant_history WHERE action = 'product_undone'"),
        1
    );
}

async fn forgotten_timer_of_a_platform_is_made_up_for(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let forgetful = ShopRequest {
        forgets_timers: Some(true),
        ..ShopRequest::default()
    };
    world.change_shop(Getir, forgetful).await;
    let results = world
        .switch(&json!({ "available": false, "until": "end_of_day", "providers": ["getir"] }))
        .await;
    assert_eq!(results["getir"]["timer"], json!("platform"));
    world.advance_clock(30 * 3_600).await;
    world.wait_until_available(Getir, true).await;
}

async fn change_by_the_platform_ends_a_request(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    world
        .switch(&json!({ "available": false, "providers": ["migros"] }))
        .await;
    world.world.advance_clock(60).await;
    world.read_menus().await;
    assert!(!world.wanted().await["migros"]["wanted"]["confirmedAt"].is_null());
    let on = ItemRequest {
        available: Some(true),
        ..ItemRequest::default()
    };
    let (remote, id) = (crate::support::remote_id(Migros), &world.dish["migros"]);
    world.control.change_item(Migros, remote, id, &on).await.unwrap();
    world.world.advance_clock(60).await;
    world.read_menus().await;
    let item = world.wanted().await["migros"].clone();
    assert_eq!(
        (&item["available"], &item["wanted"]),
        (&json!(true), &json!(null))
    );
}

async fn option_is_switched_where_the_platform_can(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    let options = world.get("/products?kind=option&limit=200").await.data();
    let of = |provider: &str| {
        let mut all = options.as_array().unwrap().iter();
        let found = all.find(|it| it["platforms"][0]["provider"] == json!(provider));
        found.unwrap()["id"].as_str().unwrap().to_owned()
    };
    // On Trendyol an option is a product; on Getir it is not known which calls still work.
    for (provider, result) in [("trendyol", "done"), ("getir", "unsupported")] {
        let path = format!("/products/{}/availability", of(provider));
        let results = world.put(&path, &json!({ "available": false })).await.data();
        let results = by_provider(&results["results"]);
        assert_eq!(
            results[provider]["result"],
            json!(result),
            "{provider}: {results:#?}"
        );
    }
}

async fn accounts_that_opted_in_get_events(backend: Backend) {
    let world = ProductWorld::open(backend).await;
    world.switch(&json!({ "available": false })).await;
    assert!(
        !world.events().await.contains(&"urun.durum_degisti".to_owned()),
        "not by default"
    );
    world
        .service
        .execute_sql("UPDATE accounts SET optional_events = 6");
    world.switch(&json!({ "available": true })).await;
    let names = world.events().await;
    assert_eq!(
        names.iter().filter(|name| *name == "urun.durum_degisti").count(),
        4,
        "{names:?}"
    );
    let changed = ItemRequest {
        price: Some(30_000),
        ..ItemRequest::default()
    };
    let (remote, id) = (crate::support::remote_id(Migros), &world.dish["migros"]);
    world
        .control
        .change_item(Migros, remote, id, &changed)
        .await
        .unwrap();
    world.world.advance_clock(60).await;
    world.read_menus().await;
    assert!(world.events().await.contains(&"menu.degisti".to_owned()));
}
