//! Platforms change orders later: partial cancellations and modifications, with independently computed sums.

use crate::support::{ApiClient, Backend, PlatformOrder, PlatformWorld, request, send, wait_until};
use garson_sim::Platform::{self, Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{Courier, OrderRequest, Step};
use serde_json::{Value, json};
use std::collections::BTreeMap;

on_both! {
    partial_cancellation_works_on_every_platform
    cancelled_item_is_not_cancelled_again
    modification_is_found_by_polling
    old_document_does_not_revert_the_order
    promised_times_are_shown_and_updated
}

/// A verified order of more than one piece.
async fn large(world: &PlatformWorld, platform: Platform) -> PlatformOrder {
    for _ in 0..40 {
        let placed = world.verified(platform, Courier::Restaurant).await;
        let order = world.find_order(&placed).await.unwrap();
        if pieces(&order) > 1 {
            return placed;
        }
    }
    panic!("no order of {platform} had more than one piece");
}

fn pieces(order: &Value) -> i64 {
    let items = order["items"].as_array().unwrap().iter();
    items.map(|item| item["quantity"].as_i64().unwrap()).sum()
}

/// Lines, discount and fees come to the total, which is the platform's.
async fn adds_up(world: &PlatformWorld, placed: &PlatformOrder, order: &Value) {
    let amount = |name: &str| order["amount"][name].as_i64().unwrap_or(0);
    let items = order["items"].as_array().unwrap().iter();
    let lines: i64 = items.map(|item| item["total"].as_i64().unwrap()).sum();
    assert_eq!(lines, amount("subtotal"), "{order:#}");
    let sum = lines - amount("discount") + amount("deliveryFee") + amount("tip") + amount("adjustment");
    assert_eq!(sum, amount("total"), "{order:#}");
    assert_eq!(amount("total"), world.view(placed).await.total, "{order:#}");
    if order["payment"]["isPaid"] == json!(false) {
        assert_eq!(order["payment"]["collect"], order["amount"]["total"], "{order:#}");
    }
}

/// The totals by payment are those of the details of all orders.
async fn totals_agree(client: &ApiClient) {
    let mut expected: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for listed in client.get("/orders?limit=200").await.data().as_array().unwrap() {
        let path = format!("/orders/{}", listed["id"].as_str().unwrap());
        let order = client.get(&path).await.data();
        assert_eq!(listed["total"], order["amount"]["total"]);
        assert_eq!(listed["paymentType"], order["payment"]["type"]);
        if order["status"].as_i64().unwrap() < 1500 {
            let kind = order["payment"]["type"].as_str().unwrap().to_owned();
            let sum = expected.entry(kind).or_default();
            *sum = (sum.0 + 1, sum.1 + order["amount"]["total"].as_i64().unwrap());
        }
    }
    let groups = client.get("/orders/grouped-payments").await.data()["groups"].clone();
    let told = groups.as_array().unwrap().iter().map(|group| {
        let sum = (group["count"].as_i64().unwrap(), group["total"].as_i64().unwrap());
        (group["type"].as_str().unwrap().to_owned(), sum)
    });
    assert_eq!(told.collect::<BTreeMap<_, _>>(), expected);
}

/// Waits for a later version; platforms are asked again and again, since a list that is made while an order changes may have
/// been made before it.
async fn later(world: &PlatformWorld, placed: &PlatformOrder) -> Value {
    let mut order = Value::Null;
    wait_until("there is a later version", async || {
        world.poll().await;
        order = world.find_order(placed).await.unwrap();
        order["revision"] == json!(2)
    })
    .await;
    order
}

async fn partial_cancellation_works_on_every_platform(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for platform in Platform::ALL {
        let placed = large(&world, platform).await;
        let before = world.find_order(&placed).await.unwrap();
        adds_up(&world, &placed, &before).await;
        world.advance_clock(1).await;
        world.control.remove_piece(platform, &placed.id).await.unwrap();
        let after = later(&world, &placed).await;
        assert_eq!(pieces(&after), pieces(&before) - 1, "{platform}");
        adds_up(&world, &placed, &after).await;
        assert_eq!(after["status"], before["status"]);
        assert_eq!(after["customer"], before["customer"]);
        let line = after["timeline"].as_array().unwrap().last().unwrap().clone();
        assert_eq!((&line["revision"], &line["by"]), (&json!(2), &json!("platform")));
        let total = json!({
            "field": "total", "from": before["amount"]["total"], "to": after["amount"]["total"],
        });
        assert!(
            line["changes"].as_array().unwrap().contains(&total),
            "{platform}: {line:#}"
        );
        // The same again, by message and by list, is the same version.
        world.control.push(platform, &placed.id).await.unwrap();
        world.poll().await;
        world.poll().await;
        assert_eq!(
            world.find_order(&placed).await.unwrap()["revision"],
            json!(2),
            "{platform}"
        );
        // It goes on as it would have.
        world.advance(&placed).await.data();
        world.wait_for_sync(&placed, "done").await;
    }
    totals_agree(&world.a).await;
    let kinds = world.a.get("/events?limit=200").await.text();
    assert!(
        !kinds.contains("siparis.guncellendi"),
        "nobody has asked for these"
    );
}

async fn cancelled_item_is_not_cancelled_again(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    world
        .a
        .put("/webhook", &json!({ "orderUpdates": true }))
        .await
        .data();
    let placed = large(&world, Trendyol).await;
    world.advance_clock(1).await;
    world.control.remove_piece(Trendyol, &placed.id).await.unwrap();
    later(&world, &placed).await;
    // The platform refuses a list that names a piece which is not there any more.
    world.cancel(&placed, json!({})).await.data();
    let view = world.wait_for_platform_state(&placed, "UnSupplied").await;
    assert_eq!(view.cancelled_by.as_deref(), Some("restaurant"));
    let cancelled = world.wait_for_status(&placed, 1600).await;
    assert_eq!(cancelled["revision"], json!(2));
    // Nor does a package that is cancelled as a whole bring back what it once was.
    let before = world.find_order(&placed).await.unwrap();
    world.control.push(Trendyol, &placed.id).await.unwrap();
    world.poll().await;
    assert_eq!(world.find_order(&placed).await.unwrap(), before);
    let events = world.a.get("/events?limit=200").await.data();
    let of_order = events
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["veri"]["pid"] == json!(placed.id));
    let mut told: Vec<_> = of_order
        .map(|it| {
            (
                it["veri"]["sequence"].as_i64().unwrap(),
                it["olay"].as_str().unwrap(),
            )
        })
        .collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            (1, "siparis.olusturuldu"),
            (2, "siparis.durum_degisti"),
            (3, "siparis.guncellendi"),
            (4, "siparis.iptal_edildi"),
        ]
    );
    totals_agree(&world.a).await;
}

async fn modification_is_found_by_polling(backend: Backend) {
    let world = PlatformWorld::open(backend).await;
    for platform in [Getir, Trendyol, Migros] {
        let placed = large(&world, platform).await;
        // No message is sent.
        let fault = garson_sim::views::Fault::Drop;
        world.fault(platform, "push", fault, Some(1)).await;
        world.advance_clock(1).await;
        world.control.remove_piece(platform, &placed.id).await.unwrap();
        let after = later(&world, &placed).await;
        adds_up(&world, &placed, &after).await;
    }
    totals_agree(&world.a).await;
}

/// Getir's documents have no number: one that was there before does not come back, however it comes.
async fn old_document_does_not_revert_the_order(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let text = include_str!("../../../crates/garson-platforms/src/getir/fixtures/new-order.json");
    let mut first: Value = serde_json::from_str(text).unwrap();
    first["restaurant"]["id"] = json!("5f0000000000000000000001");
    let mut second = first.clone();
    second["products"].as_array_mut().unwrap().pop();
    let mut third = first.clone();
    third["client"]["name"] = json!("***");
    let push = async |body: &Value| {
        let headers = [
            ("x-api-key", "getir-knocks"),
            ("content-type", "application/json"),
        ];
        let bytes = request(
            "POST",
            "/hooks/getir/new-order",
            &headers,
            body.to_string().as_bytes(),
        );
        assert_eq!(send(world.service.addr, &bytes).await.status, 200);
        let order = world
            .a
            .get(&format!("/orders/{}", body["id"].as_str().unwrap()))
            .await
            .data();
        (
            order["revision"].as_i64().unwrap(),
            order["items"].as_array().unwrap().len(),
        )
    };
    let all = first["products"].as_array().unwrap().len();
    assert!(all > 1);
    assert_eq!(push(&first).await, (1, all));
    // A name that is hidden later is no change.
    assert_eq!(push(&third).await, (1, all));
    assert_eq!(push(&second).await, (2, all - 1));
    for old in [&first, &third, &second] {
        assert_eq!(push(old).await, (2, all - 1));
    }
    let order = world
        .a
        .get(&format!("/orders/{}", first["id"].as_str().unwrap()))
        .await
        .data();
    assert_eq!(order["customer"]["name"], first["client"]["name"]);
    totals_agree(&world.a).await;
}

/// What the customer was promised and when the courier comes, as each platform says it. Trendyol says the latter only when a
/// courier is found: its message makes the order be read.
async fn promised_times_are_shown_and_updated(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let placed = world.order(Yemeksepeti, Courier::Platform).await;
    let order = world.find_order(&placed).await.unwrap();
    assert!(order["fulfilment"]["promisedAt"].is_string(), "{order:#}");
    assert!(order["fulfilment"]["courierPickupAt"].is_string(), "{order:#}");

    let later = OrderRequest {
        courier: Some(Courier::Platform),
        scheduled_in_minutes: Some(180),
        ..OrderRequest::new(Getir)
    };
    let placed = world.place(later).await;
    let order = world.wait_for_status(&placed, 325).await;
    assert_eq!(order["fulfilment"]["promisedAt"], order["scheduledFor"]);
    assert!(order["scheduledFor"].is_string());

    let placed = world.verified(Trendyol, Courier::Platform).await;
    let order = world.find_order(&placed).await.unwrap();
    let promised = order["fulfilment"]["promisedAt"].clone();
    assert!(promised.is_string(), "{order:#}");
    assert_eq!(order["fulfilment"].get("courierPickupAt"), None);
    world.advance_clock(1).await;
    world.courier(&placed, Step::Assigned).await;
    let order = world
        .wait_for_order(&placed, "when the courier comes", |order| {
            order["fulfilment"]["courierPickupAt"].is_string()
        })
        .await;
    assert_eq!(order["fulfilment"]["promisedAt"], promised);
    assert_eq!(order["revision"], json!(2));
    let line = order["timeline"].as_array().unwrap().last().unwrap();
    let change = json!({
        "field": "courier_pickup_at", "from": null, "to": order["fulfilment"]["courierPickupAt"],
    });
    assert_eq!(line["changes"], json!([change]), "{order:#}");
    totals_agree(&world.a).await;
}
