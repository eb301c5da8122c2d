//! Opening, closing and busy mode on all platforms, and what happens while a platform cannot be asked.

use super::setup::{
    calls, changes, history, of, operations, path, put, results, shop, store, wait_for_store,
};
use crate::support::{Backend, PlatformWorld};
use garson_sim::Platform;
use garson_sim::views::Fault;
use serde_json::{Value, json};

on_both! {
    stores_are_closed_and_opened_everywhere
    only_named_platforms_are_changed
    busy_mode_is_used_where_it_exists
    rate_limit_delays_only_its_platform_and_keeps_the_last_request
    failing_platform_receives_the_change_when_it_is_back
    later_of_two_requests_counts
}

async fn stores_are_closed_and_opened_everywhere(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let answer = put(&world, json!({ "state": "closed", "reason": "kitchen_busy" })).await;
    assert_eq!(results(&answer), ["done"; 4], "{answer:#}");
    for platform in Platform::ALL {
        assert!(!shop(&world, platform).await.open, "{platform}");
        let shown = store(&world, platform).await;
        assert_eq!(
            (&shown["state"], &shown["by"], &shown["wanted"]["result"]),
            (&json!("closed"), &json!("account"), &json!("done")),
            "{shown:#}"
        );
        assert_eq!(shown["reason"]["code"], json!("kitchen_busy"));
    }
    // It is read back.
    world.advance_clock(4).await;
    for platform in Platform::ALL {
        wait_for_store(&world, platform, "is read back", |it| !it["checkedAt"].is_null()).await;
    }
    let answer = put(&world, json!({ "state": "open" })).await;
    assert_eq!(results(&answer), ["done"; 4], "{answer:#}");
    for platform in Platform::ALL {
        assert!(shop(&world, platform).await.open, "{platform}");
        assert_eq!(store(&world, platform).await["state"], json!("open"));
    }
    let history = history(&world).await;
    for platform in Platform::ALL {
        for line in [
            format!("account {platform} store_requested closed -"),
            format!("account {platform} store_result closed done"),
            format!("account {platform} store_result open done"),
        ] {
            assert!(history.contains(&line), "{line} in {history:#?}");
        }
    }
    // The same again at once changes nothing.
    let (_, open) = operations(Platform::Trendyol);
    let before = calls(&world, Platform::Trendyol, open).await;
    let answer = put(&world, json!({ "state": "open" })).await;
    assert_eq!(results(&answer), ["done"; 4]);
    assert_eq!(calls(&world, Platform::Trendyol, open).await, before);
    // Other accounts see nothing of it.
    let foreign = world.service.b.get(&path(&world, "store")).await;
    assert_eq!(foreign.status, 404);
    let foreign = world
        .service
        .b
        .put(&path(&world, "store"), &json!({ "state": "closed" }))
        .await;
    assert_eq!(foreign.status, 404);
}

async fn only_named_platforms_are_changed(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let body = json!({ "state": "closed", "providers": ["trendyol", "migros"] });
    let answer = put(&world, body).await;
    assert_eq!(answer.as_array().unwrap().len(), 2);
    for platform in Platform::ALL {
        let is_named = matches!(platform, Platform::Trendyol | Platform::Migros);
        assert_eq!(shop(&world, platform).await.open, !is_named, "{platform}");
    }
    // An integration that is switched off keeps its store as it is.
    let integration = path(&world, "integrations/trendyol");
    world
        .a
        .put(&integration, &json!({ "isActive": false }))
        .await
        .data();
    let answer = put(&world, json!({ "state": "open" })).await;
    assert_eq!(answer.as_array().unwrap().len(), 3);
    assert!(!shop(&world, Platform::Trendyol).await.open);
    let answer = put(&world, json!({ "state": "open", "providers": ["trendyol"] })).await;
    assert_eq!(of(&answer, Platform::Trendyol)["result"], json!("refused"));
    let shown = store(&world, Platform::Trendyol).await;
    assert_eq!(
        (&shown["enabled"], &shown["state"]),
        (&json!(false), &json!("closed"))
    );
}

async fn busy_mode_is_used_where_it_exists(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let answer = put(&world, json!({ "state": "busy", "busyMinutes": 20 })).await;
    let expected = Platform::ALL.map(|platform| match platform {
        Platform::Getir => "done",
        _ => "unsupported",
    });
    assert_eq!(results(&answer), expected, "{answer:#}");
    assert_eq!(shop(&world, Platform::Getir).await.busy_minutes, Some(30));
    assert_eq!(store(&world, Platform::Getir).await["state"], json!("busy"));
    put(&world, json!({ "state": "open", "providers": ["getir"] })).await;
    assert_eq!(shop(&world, Platform::Getir).await.busy_minutes, None);
    assert_eq!(store(&world, Platform::Getir).await["state"], json!("open"));
}

async fn rate_limit_delays_only_its_platform_and_keeps_the_last_request(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let request = |mut body: Value| {
        body["providers"] = json!(["getir", "trendyol"]);
        put(&world, body)
    };
    for state in ["closed", "open"] {
        let answer = request(json!({ "state": state })).await;
        let result = &of(&answer, Platform::Getir)["result"];
        assert_eq!(*result, json!("done"), "{answer:#}");
    }
    // Getir takes two changes a minute.
    let is_held = |version: i64| {
        wait_for_store(&world, Platform::Getir, "is held back", move |it| {
            let message = it["wanted"]["message"].as_str().unwrap_or_default();
            it["wanted"]["version"] == json!(version) && message.contains("2 such calls")
        })
    };
    let version = store(&world, Platform::Getir).await["wanted"]["version"].clone();
    let version = version.as_i64().unwrap();
    let one = request(json!({ "state": "closed", "minutes": 240 }));
    let two = async {
        is_held(version + 1).await;
        request(json!({ "state": "closed", "minutes": 300 })).await
    };
    let a_minute_later = async {
        is_held(version + 2).await;
        assert_eq!(changes(&world, Platform::Getir).await, ["closed", "open"]);
        assert!(!shop(&world, Platform::Trendyol).await.open, "it is not held up");
        world.advance_clock(61).await;
    };
    let (one, two, ()) = tokio::join!(one, two, a_minute_later);
    assert_eq!(of(&one, Platform::Getir)["result"], json!("replaced"), "{one:#}");
    assert_eq!(of(&two, Platform::Trendyol)["result"], json!("done"), "{two:#}");
    let shown = wait_for_store(&world, Platform::Getir, "is closed", |it| {
        it["wanted"]["result"] == json!("done")
    })
    .await;
    assert_eq!(shown["wanted"]["version"], json!(version + 2), "{shown:#}");
    assert!(!shop(&world, Platform::Getir).await.open);
    assert_eq!(
        changes(&world, Platform::Getir).await,
        ["closed", "open", "closed"],
        "only the last request is sent"
    );
}

async fn failing_platform_receives_the_change_when_it_is_back(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let down = Fault::Status {
        status: 503,
        body: None,
    };
    for (state, fault) in [
        ("closed", Fault::Drop),
        ("open", Fault::RateLimited),
        ("closed", down),
    ] {
        for platform in Platform::ALL {
            let (close, open) = operations(platform);
            let operation = if state == "open" { open } else { close };
            world.fault(platform, operation, fault.clone(), Some(1)).await;
        }
        let later = async {
            for platform in Platform::ALL {
                wait_for_store(&world, platform, "has had no success", |it| {
                    it["wanted"]["state"] == json!(state) && it["wanted"]["message"].is_string()
                })
                .await;
            }
            if fault == Fault::Drop {
                // The request is answered although platforms are away.
                return;
            }
            world.advance_clock(121).await;
        };
        let (answer, ()) = tokio::join!(put(&world, json!({ "state": state })), later);
        if fault == Fault::Drop {
            assert_eq!(results(&answer), ["pending"; 4], "{answer:#}");
            world.advance_clock(121).await;
        }
        for platform in Platform::ALL {
            wait_for_store(&world, platform, "has received it", |it| {
                it["wanted"]["result"] == json!("done")
            })
            .await;
            let is_open = shop(&world, platform).await.open;
            assert_eq!(is_open, state == "open", "{platform} {fault:?}");
        }
    }
    for platform in Platform::ALL {
        let asked = changes(&world, platform).await;
        let twice = ["closed", "closed", "open", "open", "closed", "closed"];
        assert_eq!(asked, twice, "{platform}");
    }
}

async fn later_of_two_requests_counts(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let request = |state: &str| put(&world, json!({ "state": state }));
    let answers = tokio::join!(request("closed"), request("open"));
    for platform in Platform::ALL {
        let shown = wait_for_store(&world, platform, "has come to rest", |it| {
            it["wanted"]["version"] == it["wanted"]["finishedVersion"]
        })
        .await;
        assert_eq!(shown["wanted"]["result"], json!("done"), "{shown:#}");
        let is_open = shop(&world, platform).await.open;
        assert_eq!(
            json!(is_open),
            json!(shown["wanted"]["state"] == json!("open")),
            "{shown:#}"
        );
        let results = [&answers.0, &answers.1].map(|answer| of(answer, platform)["result"].clone());
        assert!(results.contains(&json!("done")), "{results:?}");
        let is_known = |result: &Value| *result == json!("done") || *result == json!("replaced");
        assert!(results.iter().all(is_known), "{results:?}");
        assert!(changes(&world, platform).await.len() <= 2, "{platform}");
    }
    let history = history(&world).await;
    let requested = history.iter().filter(|line| line.contains("store_requested"));
    assert_eq!(requested.count(), 8, "{history:#?}");
}
