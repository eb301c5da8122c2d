//! What cannot be taken is kept, shown to the operator, and taken again when its reason has gone.

use super::road::own_couriers;
use crate::support::{Kind, Town, quick, remote_id, request, send, store, until};
use garson_core::secret::Secret;
use garson_sim::Platform::{self, Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{Courier, Fault, OrderRequest};
use serde_json::{Value, json};

on_both! {
    half_a_message_is_kept_and_comes_again
    the_place_that_cannot_be_read_is_named
    an_unknown_branch_is_taken_when_it_is_connected
    an_unknown_branch_of_the_operators_is_taken_when_it_is_connected
    an_unknown_branch_without_a_secret_is_refused_and_not_kept
    everything_is_taken_again_at_once
}

async fn half_a_message_is_kept_and_comes_again(kind: Kind) {
    let town = Town::open(kind).await;
    for road in own_couriers() {
        town.fault(road.platform, "push", Fault::Malformed, Some(1)).await;
        let meal = town.place(OrderRequest::new(road.platform)).await;
        // It is answered so that it comes again, whole.
        town.reaches(&meal, 400).await;
        let pushes = town.view(&meal).await.pushes;
        assert_eq!(pushes[0].status, Some(500), "{road:?} {pushes:?}");
        assert_eq!(town.story(&meal).await, ["created 400"]);
    }
    let kept = town.house.kept().await;
    assert_eq!(kept.len(), 4, "{kept:?}");
    assert!(
        kept.iter().all(|message| message.state == "unreadable"),
        "{kept:?}"
    );
    let listed = town.house.command(&["inbox", "list"]);
    assert!(listed.success, "{}", listed.err);
    assert_eq!(listed.out.lines().count(), 4, "{}", listed.out);
    for message in &kept {
        let id = message.id.to_string();
        let line = listed.out.lines().find(|line| line.starts_with(&id)).unwrap();
        assert!(line.contains("unreadable"), "{line}");
        assert!(line.contains(message.reason.as_deref().unwrap()), "{line}");
        // It does not become readable by itself.
        let again = town.house.command(&["inbox", "retry", &id]);
        assert!(!again.success && again.out.contains(&id), "{again:?}");
    }
    assert_eq!(town.house.kept().await.len(), 4);
    assert_eq!(town.orders().await.len(), 4);
}

async fn the_place_that_cannot_be_read_is_named(kind: Kind) {
    let town = Town::open(kind).await;
    let body = json!({ "foodOrder": {
        "id": "6af959e10d64f36dd8f72d5a", "status": 400, "restaurant": { "id": remote_id(Getir) },
        "products": [{ "name": "Çay", "price": 20, "count": 1 }], "totalPrice": 20, "totalDiscountedPrice": "on lira",
    } })
    .to_string();
    let headers = [
        ("x-api-key", "getir-knocks"),
        ("content-type", "application/json"),
    ];
    let bytes = request("POST", "/hooks/getir/new-order", &headers, body.as_bytes());
    for _ in 0..3 {
        assert_eq!(send(town.house.addr, &bytes).await.status, 500);
    }
    let kept = town.house.kept().await;
    assert_eq!((kept.len(), kept[0].times), (1, 3), "{kept:?}");
    let listed = town.house.command(&["inbox", "list"]);
    let line = listed.out.trim();
    assert!(line.contains("foodOrder.totalDiscountedPrice "), "{line}");
    assert!(
        line.contains("getir new-order") && line.contains("3 times"),
        "{line}"
    );
    assert!(
        !line.contains("on lira"),
        "nothing of what a customer wrote is shown: {line}"
    );
}

/// Another branch that nobody has connected, of a sender who is known.
fn elsewhere(platform: Platform) -> &'static str {
    match platform {
        Getir => "5f0000000000000000000002",
        Yemeksepeti => "moda-2",
        Trendyol => "2738:16",
        Migros => "4712",
    }
}

/// Places an order at the other branch, waits until nobody tries to push it any more, and connects the branch.
async fn from_elsewhere(town: &Town, platform: Platform, credentials: &Value) -> crate::support::Meal {
    let mut other = store(platform, &format!("http://{}", town.house.addr));
    other.remote_id = elsewhere(platform).to_owned();
    if platform == Migros {
        other.credentials["apiKey"] = json!("other-branch-key");
    }
    if platform == Getir {
        other.credentials["restaurantSecretKey"] = json!("other-restaurant-secret");
    }
    town.control.put_store(&other).await.unwrap();
    let request = OrderRequest {
        remote_id: Some(elsewhere(platform).to_owned()),
        courier: Some(Courier::Restaurant),
        ..OrderRequest::new(platform)
    };
    let meal = town.place(request).await;
    let times = if platform == Yemeksepeti { 11 } else { 4 };
    let is_over = async || town.view(&meal).await.pushes.len() >= times;
    until("the platform has given up", is_over).await;
    let pushes = town.view(&meal).await.pushes;
    assert!(
        pushes.iter().all(|push| push.status == Some(500)),
        "{platform} {pushes:?}"
    );
    let kept = town.house.kept().await;
    assert_eq!(kept.len(), 1, "{platform} {kept:?}");
    assert_eq!(kept[0].state, "unmatched");
    assert_eq!(kept[0].branch.as_deref(), Some(elsewhere(platform)));
    let id = kept[0].id.to_string();
    // Too early.
    let early = town.house.command(&["inbox", "retry", &id]);
    assert!(
        !early.success && early.out.contains(elsewhere(platform)),
        "{early:?}"
    );

    let made = town
        .a
        .post("/restaurants", &json!({ "name": "Kadıköy" }))
        .await
        .data();
    let path = format!(
        "/restaurants/{}/integrations/{platform}",
        made["id"].as_str().unwrap()
    );
    // Its own credentials, as far as it needs any.
    let mut credentials = credentials.clone();
    for (name, given) in credentials.as_object_mut().unwrap() {
        let known = &other.credentials[name];
        *given = json!(known.as_str().map_or_else(|| known.to_string(), str::to_owned));
    }
    let body = json!({ "isActive": true, "remoteId": elsewhere(platform), "credentials": credentials });
    town.a.put(&path, &body).await.data();
    if credentials == json!({}) {
        // It has nothing of its own to prove that the branch is its own.
        let (provider, branch) = (platform.to_string(), elsewhere(platform));
        let assign = ["branch", "assign", "--provider", &provider, "--branch", branch];
        let assigned = town
            .house
            .command(&[&assign[..], &["--email", "first@example.com"]].concat());
        assert!(assigned.success, "{assigned:?}");
    }
    let retried = town.house.command(&["inbox", "retry", &id]);
    assert!(retried.success, "{platform} {retried:?}");
    assert!(retried.out.contains("taken into order"), "{}", retried.out);
    let order = town.reaches(&meal, 400).await;
    assert_eq!(order["restaurantId"], made["id"], "{platform}");
    assert_eq!(town.story(&meal).await, ["created 400"]);
    assert!(
        town.house.kept().await.is_empty(),
        "{platform} {:?}",
        town.house.kept().await
    );
    let gone = town.house.command(&["inbox", "retry", &id]);
    assert!(!gone.success, "{platform} it has been taken");
    meal
}

async fn an_unknown_branch_is_taken_when_it_is_connected(kind: Kind) {
    let town = Town::open(kind).await;
    for platform in [Getir, Trendyol, Migros] {
        let meal = from_elsewhere(&town, platform, &crate::support::credentials(platform)).await;
        assert_eq!(
            town.verify(&meal).await.data()["status"],
            json!(500),
            "{platform}"
        );
    }
}

async fn an_unknown_branch_of_the_operators_is_taken_when_it_is_connected(kind: Kind) {
    let town = Town::open_with(kind, quick(), |settings| {
        let shared = &mut settings.platforms.get_mut("yemeksepeti").unwrap().credentials;
        for (name, value) in [
            ("username", "user"),
            ("password", "pa&ss-word"),
            ("chain_code", "chain"),
            ("plugin_secret", "plugin-secret"),
        ] {
            shared.insert(name.to_owned(), Secret::new(value.to_owned()));
        }
    })
    .await;
    let meal = from_elsewhere(&town, Yemeksepeti, &json!({})).await;
    // The platform has not heard that we have it; a message tells it when it comes again.
    town.control.push(Yemeksepeti, &meal.id).await.unwrap();
    town.stands_at(&meal, "RECEIVED").await;
    assert_eq!(town.verify(&meal).await.data()["status"], json!(500));
}

/// Without the branch's secret a message of Yemeksepeti cannot be checked.
async fn an_unknown_branch_without_a_secret_is_refused_and_not_kept(kind: Kind) {
    let town = Town::open(kind).await;
    let mut other = store(Yemeksepeti, &format!("http://{}", town.house.addr));
    other.remote_id = elsewhere(Yemeksepeti).to_owned();
    town.control.put_store(&other).await.unwrap();
    let request = OrderRequest {
        remote_id: Some(elsewhere(Yemeksepeti).to_owned()),
        ..OrderRequest::new(Yemeksepeti)
    };
    let meal = town.place(request).await;
    town.pushed(&meal, "order", 401, 1).await;
    assert!(town.house.kept().await.is_empty());
}

async fn everything_is_taken_again_at_once(kind: Kind) {
    let town = Town::open(kind).await;
    let mut other = store(Getir, &format!("http://{}", town.house.addr));
    other.remote_id = elsewhere(Getir).to_owned();
    town.control.put_store(&other).await.unwrap();
    let request = OrderRequest {
        remote_id: Some(elsewhere(Getir).to_owned()),
        count: 3,
        ..OrderRequest::new(Getir)
    };
    let meals = town.place_many(request).await;
    until("all are kept", async || town.house.kept().await.len() == 3).await;
    for meal in &meals {
        until("the platform has given up", async || {
            town.view(meal).await.pushes.len() >= 4
        })
        .await;
    }
    let none = town.house.command(&["inbox", "retry", "--all"]);
    assert!(none.out.contains("0 taken, 3 left"), "{none:?}");
    let path = format!("/restaurants/{}/integrations/getir", town.restaurant);
    town.a
        .put(&path, &json!({ "remoteId": elsewhere(Getir) }))
        .await
        .data();
    let all = town.house.command(&["inbox", "retry", "--all"]);
    assert!(all.success && all.out.contains("3 taken, 0 left"), "{all:?}");
    for meal in &meals {
        assert_eq!(town.story(meal).await, ["created 400"]);
    }
}
