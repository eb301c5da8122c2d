//! Ways in which stores of one platform are known to differ, and orders that nobody answers.

use super::road::{ROADS, answered};
use crate::support::{Kind, Town, credentials, quick, store};
use garson_sim::Platform::{Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::SimSettings;
use garson_sim::views::{Courier, Replies};
use serde_json::{Value, json};

on_both! {
    getirs_messages_come_bare_too
    trendyols_uber_packages_are_ready_by_themselves
    migros_answers_in_every_known_form
    an_order_that_a_tablet_accepts_is_accepted_without_a_call
    orders_say_until_when_they_must_be_accepted
    an_order_that_nobody_answers_ends_on_the_restaurants_behalf
}

async fn getirs_messages_come_bare_too(kind: Kind) {
    let town = Town::open(kind).await;
    let mut bare = store(Getir, &format!("http://{}", town.house.addr));
    bare.quirks.flat = true;
    town.control.put_store(&bare).await.unwrap();
    for courier in [Courier::Platform, Courier::Restaurant] {
        let meal = town.verified(Getir, courier).await;
        town.they_cancel(&meal, "customer").await;
        town.reaches(&meal, 1500).await;
        let story = ["created 400", "400>500 account", "cancelled 1500 platform"];
        assert_eq!(town.story(&meal).await, story);
    }
    assert!(town.house.kept().await.is_empty());
}

async fn trendyols_uber_packages_are_ready_by_themselves(kind: Kind) {
    let town = Town::open(kind).await;
    let mut uber = store(Trendyol, &format!("http://{}", town.house.addr));
    uber.quirks.uber = true;
    town.control.put_store(&uber).await.unwrap();
    for road in ROADS.iter().filter(|road| road.platform == Trendyol) {
        let meal = town.verified(Trendyol, road.courier).await;
        town.stands_at(&meal, "Invoiced").await;
        town.ready(&meal).await.data();
        town.synced(&meal, "done").await;
        assert_eq!(town.sent(&meal).await, ["picked 200", "invoiced 409"], "{road:?}");
        town.advance(&meal).await.data();
        town.advance(&meal).await.data();
        town.synced(&meal, road.delivered.sync()).await;
        town.stands_at(&meal, road.delivered.state).await;
        let story = [
            "created 400",
            "400>500 account",
            "500>600 account",
            "600>900 account",
        ];
        assert_eq!(town.story(&meal).await, story, "{road:?}");
    }
}

async fn an_order_that_a_tablet_accepts_is_accepted_without_a_call(kind: Kind) {
    let town = Town::open(kind).await;
    let mut indirect = store(Yemeksepeti, &format!("http://{}", town.house.addr));
    indirect.quirks.indirect = true;
    town.control.put_store(&indirect).await.unwrap();
    let meal = town.order(Yemeksepeti, Courier::Restaurant).await;
    town.verify(&meal).await.data();
    town.synced(&meal, "done").await;
    assert_eq!(town.story(&meal).await, ["created 400", "400>500 account"]);
    assert!(town.sent(&meal).await.is_empty());
}

async fn migros_answers_in_every_known_form(kind: Kind) {
    let town = Town::open(kind).await;
    for (replies, derivation) in [
        (Replies::Plain, "sha256"),
        (Replies::Text, "raw"),
        (Replies::Value, "sha256"),
    ] {
        let mut keys = credentials(Migros);
        keys["keyDerivation"] = json!(derivation);
        let mut known = store(Migros, &format!("http://{}", town.house.addr));
        known.credentials = keys.clone();
        known.quirks.replies = replies;
        town.control.put_store(&known).await.unwrap();
        town.connect(Migros, &keys).await.data();
        let meal = town.order(Migros, Courier::Restaurant).await;
        assert!(!town.reasons(&meal).await.is_empty());
        town.verify(&meal).await.data();
        town.poll().await;
        town.advance(&meal).await.data();
        town.advance(&meal).await.data();
        town.synced(&meal, "done").await;
        assert_eq!(town.view(&meal).await.state_text(), "COMPLETED", "{replies:?}");
        assert_eq!(
            town.sent(&meal).await,
            answered(&["update-status"; 4]),
            "{replies:?}"
        );
    }
}

async fn orders_say_until_when_they_must_be_accepted(kind: Kind) {
    let sim = SimSettings {
        yemeksepeti_expiry_seconds: 900,
        ..quick()
    };
    let town = Town::open_with(kind, sim, |_| {}).await;
    for road in ROADS {
        let meal = town.order(road.platform, road.courier).await;
        let order = town.shown(&meal).await.unwrap();
        let accept_by = &order["acceptBy"];
        match road.platform {
            Getir | Yemeksepeti => assert!(accept_by.as_str() > order["placedAt"].as_str(), "{order:#}"),
            // Theirs is not public.
            Trendyol | Migros => assert_eq!(accept_by, &Value::Null, "{order:#}"),
        }
        let listed = town.orders().await;
        let line = listed.iter().find(|line| line["id"] == order["id"]).unwrap();
        assert_eq!(&line["acceptBy"], accept_by);
    }
}

async fn an_order_that_nobody_answers_ends_on_the_restaurants_behalf(kind: Kind) {
    let sim = SimSettings {
        getir_answer_seconds: 300,
        yemeksepeti_expiry_seconds: 900,
        ..quick()
    };
    let town = Town::open_with(kind, sim, |_| {}).await;
    for road in ROADS
        .iter()
        .filter(|road| [Getir, Yemeksepeti].contains(&road.platform))
    {
        let meal = town.order(road.platform, road.courier).await;
        town.pass(901).await;
        let order = town.reaches(&meal, 1600).await;
        assert_eq!(order["cancellation"]["by"], json!("account"), "{road:?}");
        assert_eq!(
            town.story(&meal).await,
            ["created 400", "cancelled 1600 account"],
            "{road:?}"
        );
        assert!(town.sent(&meal).await.is_empty(), "{road:?}");
    }
}
