//! Messages that cannot be applied are stored, listed for the operator, and applied later.

use super::expected_calls::own_couriers;
use crate::support::{
    Backend, PlatformWorld, fast_sim_settings, remote_id, request, send, store, wait_until,
};
use garson_core::secret::Secret;
use garson_sim::Platform::{self, Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{Courier, Fault, OrderRequest};
use serde_json::{Value, json};

on_both! {
    truncated_message_is_stored_and_sent_again
    unreadable_field_is_named
    message_of_an_unknown_branch_is_applied_when_connected
    message_of_an_unknown_operator_branch_is_applied_when_connected
    message_of_an_unknown_branch_without_secret_is_refused
    all_stored_messages_are_reprocessed_at_once
}

async fn truncated_message_is_stored_and_sent_again(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for expected in own_couriers() {
        world
            .fault(expected.platform, "push", Fault::Malformed, Some(1))
            .await;
        let placed = world.place(OrderRequest::new(expected.platform)).await;
        // It is answered so that it comes again, whole.
        world.wait_for_status(&placed, 400).await;
        let pushes = world.view(&placed).await.pushes;
        assert_eq!(pushes[0].status, Some(500), "{expected:?} {pushes:?}");
        assert_eq!(world.event_summary(&placed).await, ["created 400"]);
    }
    let kept = world.service.open_messages().await;
    assert_eq!(kept.len(), 4, "{kept:?}");
    assert!(
        kept.iter().all(|message| message.state == "unreadable"),
        "{kept:?}"
    );
    let listed = world.service.command(&["inbox", "list"]);
    assert!(listed.success, "{}", listed.err);
    assert_eq!(listed.out.lines().count(), 5, "{}", listed.out);
    let as_json = world.service.command(&["inbox", "list", "--json"]).out;
    let lines: Vec<Value> = as_json
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        lines.len() == 4
            && lines
                .iter()
                .all(|line| line["state"] == "unreadable" && line["reason"].is_string()),
        "{as_json}"
    );
    for message in &kept {
        let id = message.id.to_string();
        let line = listed.out.lines().find(|line| line.starts_with(&id)).unwrap();
        assert!(line.contains("unreadable"), "{line}");
        assert!(line.contains(message.reason.as_deref().unwrap()), "{line}");
        // It stays unreadable.
        let again = world.service.command(&["inbox", "retry", &id]);
        assert!(!again.success && again.out.contains(&id), "{again:?}");
    }
    assert_eq!(world.service.open_messages().await.len(), 4);
    assert_eq!(world.orders().await.len(), 4);
}

async fn unreadable_field_is_named(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
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
        assert_eq!(send(world.service.addr, &bytes).await.status, 500);
    }
    let kept = world.service.open_messages().await;
    assert_eq!((kept.len(), kept[0].times), (1, 3), "{kept:?}");
    let listed = world.service.command(&["inbox", "list"]);
    let line = listed.out.lines().last().unwrap();
    assert!(line.contains("foodOrder.totalDiscountedPrice "), "{line}");
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[2..6], ["getir", "new-order", "unreadable", "3"], "{line}");
    assert!(
        !line.contains("on lira"),
        "nothing of what a customer wrote is shown: {line}"
    );
}

/// Another branch, not connected, of a known sender.
fn elsewhere(platform: Platform) -> &'static str {
    match platform {
        Getir => "5f0000000000000000000002",
        Yemeksepeti => "moda-2",
        Trendyol => "2738:16",
        Migros => "4712",
    }
}

/// Places an order at the other branch, waits until the platform stops pushing it, and connects the branch.
async fn from_elsewhere(
    world: &PlatformWorld,
    platform: Platform,
    credentials: &Value,
) -> crate::support::PlatformOrder {
    let mut other = store(platform, &format!("http://{}", world.service.addr));
    other.remote_id = elsewhere(platform).to_owned();
    if platform == Migros {
        other.credentials["apiKey"] = json!("other-branch-key");
    }
    if platform == Getir {
        other.credentials["restaurantSecretKey"] = json!("other-restaurant-secret");
    }
    world.control.put_store(&other).await.unwrap();
    let request = OrderRequest {
        remote_id: Some(elsewhere(platform).to_owned()),
        courier: Some(Courier::Restaurant),
        ..OrderRequest::new(platform)
    };
    let placed = world.place(request).await;
    let times = if platform == Yemeksepeti { 11 } else { 4 };
    let is_over = async || world.view(&placed).await.pushes.len() >= times;
    wait_until("the platform has given up", is_over).await;
    let pushes = world.view(&placed).await.pushes;
    assert!(
        pushes.iter().all(|push| push.status == Some(500)),
        "{platform} {pushes:?}"
    );
    let kept = world.service.open_messages().await;
    assert_eq!(kept.len(), 1, "{platform} {kept:?}");
    assert_eq!(kept[0].state, "unmatched");
    assert_eq!(kept[0].branch.as_deref(), Some(elsewhere(platform)));
    let id = kept[0].id.to_string();
    // Too early.
    let early = world.service.command(&["inbox", "retry", &id]);
    assert!(
        !early.success && early.out.contains(elsewhere(platform)),
        "{early:?}"
    );

    let made = world
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
    world.a.put(&path, &body).await.data();
    if credentials == json!({}) {
        // It has nothing of its own to prove that the branch is its own.
        let (provider, branch) = (platform.to_string(), elsewhere(platform));
        let assign = ["branch", "assign", "--provider", &provider, "--branch", branch];
        let assigned = world
            .service
            .command(&[&assign[..], &["--email", "first@example.com"]].concat());
        assert!(assigned.success, "{assigned:?}");
    }
    let retried = world.service.command(&["inbox", "retry", &id]);
    assert!(retried.success, "{platform} {retried:?}");
    assert!(retried.out.contains("taken into order"), "{}", retried.out);
    let order = world.wait_for_status(&placed, 400).await;
    assert_eq!(order["restaurantId"], made["id"], "{platform}");
    assert_eq!(world.event_summary(&placed).await, ["created 400"]);
    assert!(
        world.service.open_messages().await.is_empty(),
        "{platform} {:?}",
        world.service.open_messages().await
    );
    let gone = world.service.command(&["inbox", "retry", &id]);
    assert!(!gone.success, "{platform} it has been taken");
    placed
}

async fn message_of_an_unknown_branch_is_applied_when_connected(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for platform in [Getir, Trendyol, Migros] {
        let placed = from_elsewhere(&world, platform, &crate::support::credentials(platform)).await;
        assert_eq!(
            world.verify(&placed).await.data()["status"],
            json!(500),
            "{platform}"
        );
    }
}

async fn message_of_an_unknown_operator_branch_is_applied_when_connected(backend: Backend) {
    let world = PlatformWorld::open_with(backend, fast_sim_settings(), |settings| {
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
    let placed = from_elsewhere(&world, Yemeksepeti, &json!({})).await;
    // The platform has no acknowledgement yet; it gets one when it sends the message again.
    world.control.push(Yemeksepeti, &placed.id).await.unwrap();
    world.wait_for_platform_state(&placed, "RECEIVED").await;
    assert_eq!(world.verify(&placed).await.data()["status"], json!(500));
}

/// Without the branch's secret a message of Yemeksepeti cannot be checked.
async fn message_of_an_unknown_branch_without_secret_is_refused(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let mut other = store(Yemeksepeti, &format!("http://{}", world.service.addr));
    other.remote_id = elsewhere(Yemeksepeti).to_owned();
    world.control.put_store(&other).await.unwrap();
    let request = OrderRequest {
        remote_id: Some(elsewhere(Yemeksepeti).to_owned()),
        ..OrderRequest::new(Yemeksepeti)
    };
    let placed = world.place(request).await;
    world.wait_for_pushes(&placed, "order", 401, 1).await;
    assert!(world.service.open_messages().await.is_empty());
}

async fn all_stored_messages_are_reprocessed_at_once(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    let mut other = store(Getir, &format!("http://{}", world.service.addr));
    other.remote_id = elsewhere(Getir).to_owned();
    world.control.put_store(&other).await.unwrap();
    let request = OrderRequest {
        remote_id: Some(elsewhere(Getir).to_owned()),
        count: 3,
        ..OrderRequest::new(Getir)
    };
    let placed_orders = world.place_many(request).await;
    wait_until("all are kept", async || {
        world.service.open_messages().await.len() == 3
    })
    .await;
    for placed in &placed_orders {
        wait_until("the platform has given up", async || {
            world.view(placed).await.pushes.len() >= 4
        })
        .await;
    }
    let none = world.service.command(&["inbox", "retry", "--all"]);
    assert!(none.out.contains("0 taken, 3 left"), "{none:?}");
    let path = format!("/restaurants/{}/integrations/getir", world.restaurant);
    world
        .a
        .put(&path, &json!({ "remoteId": elsewhere(Getir) }))
        .await
        .data();
    let all = world.service.command(&["inbox", "retry", "--all"]);
    assert!(all.success && all.out.contains("3 taken, 0 left"), "{all:?}");
    for placed in &placed_orders {
        assert_eq!(world.event_summary(placed).await, ["created 400"]);
    }
}
