//! Known differences between stores of one platform, and unanswered orders.

use super::expected_calls::{EXPECTED_CALLS, answered};
use crate::support::{Backend, PlatformWorld, credentials, fast_sim_settings, store};
use garson_sim::Platform::{Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::SimSettings;
use garson_sim::views::{Courier, Replies};
use serde_json::{Value, json};

on_both! {
    getir_bare_messages_are_accepted
    trendyol_uber_packages_become_ready_automatically
    migros_responses_are_read_in_every_known_form
    order_accepted_on_a_tablet_is_accepted_without_a_call
    orders_show_their_acceptance_deadline
    unanswered_order_is_cancelled_by_the_platform
}

async fn getir_bare_messages_are_accepted(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let mut bare = store(Getir, &format!("http://{}", world.service.addr));
    bare.quirks.flat = true;
    world.control.put_store(&bare).await.unwrap();
    for courier in [Courier::Platform, Courier::Restaurant] {
        let placed = world.verified(Getir, courier).await;
        world.cancel_on_platform(&placed, "customer").await;
        world.wait_for_status(&placed, 1500).await;
        let story = ["created 400", "400>500 account", "cancelled 1500 platform"];
        assert_eq!(world.event_summary(&placed).await, story);
    }
    assert!(world.service.open_messages().await.is_empty());
}

async fn trendyol_uber_packages_become_ready_automatically(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let mut uber = store(Trendyol, &format!("http://{}", world.service.addr));
    uber.quirks.uber = true;
    world.control.put_store(&uber).await.unwrap();
    for expected in EXPECTED_CALLS
        .iter()
        .filter(|expected| expected.platform == Trendyol)
    {
        let placed = world.verified(Trendyol, expected.courier).await;
        world.wait_for_platform_state(&placed, "Invoiced").await;
        world.ready(&placed).await.data();
        world.wait_for_sync(&placed, "done").await;
        assert_eq!(
            world.sent(&placed).await,
            ["picked 200", "invoiced 409"],
            "{expected:?}"
        );
        world.advance(&placed).await.data();
        world.advance(&placed).await.data();
        world.wait_for_sync(&placed, expected.delivered.sync()).await;
        world
            .wait_for_platform_state(&placed, expected.delivered.state)
            .await;
        let story = [
            "created 400",
            "400>500 account",
            "500>600 account",
            "600>900 account",
        ];
        assert_eq!(world.event_summary(&placed).await, story, "{expected:?}");
    }
}

async fn order_accepted_on_a_tablet_is_accepted_without_a_call(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let mut indirect = store(Yemeksepeti, &format!("http://{}", world.service.addr));
    indirect.quirks.indirect = true;
    world.control.put_store(&indirect).await.unwrap();
    let placed = world.order(Yemeksepeti, Courier::Restaurant).await;
    world.verify(&placed).await.data();
    world.wait_for_sync(&placed, "done").await;
    assert_eq!(
        world.event_summary(&placed).await,
        ["created 400", "400>500 account"]
    );
    assert!(world.sent(&placed).await.is_empty());
}

async fn migros_responses_are_read_in_every_known_form(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for (replies, derivation) in [
        (Replies::Plain, "sha256"),
        (Replies::Text, "raw"),
        (Replies::Value, "sha256"),
    ] {
        let mut keys = credentials(Migros);
        keys["keyDerivation"] = json!(derivation);
        let mut known = store(Migros, &format!("http://{}", world.service.addr));
        known.credentials = keys.clone();
        known.quirks.replies = replies;
        world.control.put_store(&known).await.unwrap();
        world.connect(Migros, &keys).await.data();
        let placed = world.order(Migros, Courier::Restaurant).await;
        assert!(!world.reasons(&placed).await.is_empty());
        world.verify(&placed).await.data();
        world.poll().await;
        world.advance(&placed).await.data();
        world.advance(&placed).await.data();
        world.wait_for_sync(&placed, "done").await;
        assert_eq!(world.view(&placed).await.state_text(), "COMPLETED", "{replies:?}");
        assert_eq!(
            world.sent(&placed).await,
            answered(&["update-status"; 4]),
            "{replies:?}"
        );
    }
}

async fn orders_show_their_acceptance_deadline(backend: Backend) {
    let sim = SimSettings {
        yemeksepeti_expiry_seconds: 900,
        ..fast_sim_settings()
    };
    let world = PlatformWorld::open_with(backend, sim, |_| {}).await;
    for expected in EXPECTED_CALLS {
        let placed = world.order(expected.platform, expected.courier).await;
        let order = world.find_order(&placed).await.unwrap();
        let accept_by = &order["acceptBy"];
        match expected.platform {
            Getir | Yemeksepeti => assert!(accept_by.as_str() > order["placedAt"].as_str(), "{order:#}"),
            // Theirs is not public.
            Trendyol | Migros => assert_eq!(accept_by, &Value::Null, "{order:#}"),
        }
        let listed = world.orders().await;
        let line = listed.iter().find(|line| line["id"] == order["id"]).unwrap();
        assert_eq!(&line["acceptBy"], accept_by);
    }
}

async fn unanswered_order_is_cancelled_by_the_platform(backend: Backend) {
    let sim = SimSettings {
        getir_answer_seconds: 300,
        yemeksepeti_expiry_seconds: 900,
        ..fast_sim_settings()
    };
    let world = PlatformWorld::open_with(backend, sim, |_| {}).await;
    for expected in EXPECTED_CALLS
        .iter()
        .filter(|expected| [Getir, Yemeksepeti].contains(&expected.platform))
    {
        let placed = world.order(expected.platform, expected.courier).await;
        world.advance_clock(901).await;
        let order = world.wait_for_status(&placed, 1600).await;
        assert_eq!(order["cancellation"]["by"], json!("account"), "{expected:?}");
        assert_eq!(
            world.event_summary(&placed).await,
            ["created 400", "cancelled 1600 account"],
            "{expected:?}"
        );
        assert!(world.sent(&placed).await.is_empty(), "{expected:?}");
    }
}
