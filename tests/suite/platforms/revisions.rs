//! Platforms change orders later: partial cancellations and modifications, with sums that are computed again independently.

use crate::support::{Caller, Kind, Meal, Town, request, send, until};
use garson_sim::Platform::{self, Getir, Migros, Trendyol, Yemeksepeti};
use garson_sim::views::{Courier, OrderRequest, Step};
use serde_json::{Value, json};
use std::collections::BTreeMap;

on_both! {
    a_piece_is_taken_out_of_orders_of_every_platform
    a_piece_that_was_cancelled_is_not_cancelled_again
    a_modification_that_a_list_shows_is_found
    an_old_document_does_not_lead_back
    promised_times_are_shown_and_the_couriers_follows
}

/// A verified order of more than one piece.
async fn large(town: &Town, platform: Platform) -> Meal {
    for _ in 0..40 {
        let meal = town.verified(platform, Courier::Restaurant).await;
        let order = town.shown(&meal).await.unwrap();
        if pieces(&order) > 1 {
            return meal;
        }
    }
    panic!("no order of {platform} had more than one piece");
}

fn pieces(order: &Value) -> i64 {
    let items = order["items"].as_array().unwrap().iter();
    items.map(|item| item["quantity"].as_i64().unwrap()).sum()
}

/// Lines, discount and fees come to the total, which is the platform's.
async fn adds_up(town: &Town, meal: &Meal, order: &Value) {
    let amount = |name: &str| order["amount"][name].as_i64().unwrap_or(0);
    let items = order["items"].as_array().unwrap().iter();
    let lines: i64 = items.map(|item| item["total"].as_i64().unwrap()).sum();
    assert_eq!(lines, amount("subtotal"), "{order:#}");
    let sum = lines - amount("discount") + amount("deliveryFee") + amount("tip") + amount("adjustment");
    assert_eq!(sum, amount("total"), "{order:#}");
    assert_eq!(amount("total"), town.view(meal).await.total, "{order:#}");
    if order["payment"]["isPaid"] == json!(false) {
        assert_eq!(order["payment"]["collect"], order["amount"]["total"], "{order:#}");
    }
}

/// The totals by payment are those of the details of all orders.
async fn totals_agree(caller: &Caller) {
    let mut expected: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for listed in caller.get("/orders?limit=200").await.data().as_array().unwrap() {
        let path = format!("/orders/{}", listed["id"].as_str().unwrap());
        let order = caller.get(&path).await.data();
        assert_eq!(listed["total"], order["amount"]["total"]);
        assert_eq!(listed["paymentType"], order["payment"]["type"]);
        if order["status"].as_i64().unwrap() < 1500 {
            let kind = order["payment"]["type"].as_str().unwrap().to_owned();
            let sum = expected.entry(kind).or_default();
            *sum = (sum.0 + 1, sum.1 + order["amount"]["total"].as_i64().unwrap());
        }
    }
    let groups = caller.get("/orders/grouped-payments").await.data()["groups"].clone();
    let told = groups.as_array().unwrap().iter().map(|group| {
        let sum = (group["count"].as_i64().unwrap(), group["total"].as_i64().unwrap());
        (group["type"].as_str().unwrap().to_owned(), sum)
    });
    assert_eq!(told.collect::<BTreeMap<_, _>>(), expected);
}

/// Waits for a later version; platforms are asked again and again, since a list that is made while an order changes may have
/// been made before it.
async fn later(town: &Town, meal: &Meal) -> Value {
    let mut order = Value::Null;
    until("there is a later version", async || {
        town.poll().await;
        order = town.shown(meal).await.unwrap();
        order["revision"] == json!(2)
    })
    .await;
    order
}

async fn a_piece_is_taken_out_of_orders_of_every_platform(kind: Kind) {
    let town = Town::open(kind).await;
    for platform in Platform::ALL {
        let meal = large(&town, platform).await;
        let before = town.shown(&meal).await.unwrap();
        adds_up(&town, &meal, &before).await;
        town.pass(1).await;
        town.control.remove_piece(platform, &meal.id).await.unwrap();
        let after = later(&town, &meal).await;
        assert_eq!(pieces(&after), pieces(&before) - 1, "{platform}");
        adds_up(&town, &meal, &after).await;
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
        town.control.push(platform, &meal.id).await.unwrap();
        town.poll().await;
        town.poll().await;
        assert_eq!(
            town.shown(&meal).await.unwrap()["revision"],
            json!(2),
            "{platform}"
        );
        // It goes on as it would have.
        town.advance(&meal).await.data();
        town.synced(&meal, "done").await;
    }
    totals_agree(&town.a).await;
    let kinds = town.a.get("/events?limit=200").await.text();
    assert!(
        !kinds.contains("siparis.guncellendi"),
        "nobody has asked for these"
    );
}

async fn a_piece_that_was_cancelled_is_not_cancelled_again(kind: Kind) {
    let town = Town::open(kind).await;
    town.a
        .put("/webhook", &json!({ "orderUpdates": true }))
        .await
        .data();
    let meal = large(&town, Trendyol).await;
    town.pass(1).await;
    town.control.remove_piece(Trendyol, &meal.id).await.unwrap();
    later(&town, &meal).await;
    // The platform refuses a list that names a piece which is not there any more.
    town.cancel(&meal, json!({})).await.data();
    let view = town.stands_at(&meal, "UnSupplied").await;
    assert_eq!(view.cancelled_by.as_deref(), Some("restaurant"));
    let cancelled = town.reaches(&meal, 1600).await;
    assert_eq!(cancelled["revision"], json!(2));
    // Nor does a package that is cancelled as a whole bring back what it once was.
    let before = town.shown(&meal).await.unwrap();
    town.control.push(Trendyol, &meal.id).await.unwrap();
    town.poll().await;
    assert_eq!(town.shown(&meal).await.unwrap(), before);
    let events = town.a.get("/events?limit=200").await.data();
    let of_order = events
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["veri"]["pid"] == json!(meal.id));
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
    totals_agree(&town.a).await;
}

async fn a_modification_that_a_list_shows_is_found(kind: Kind) {
    let town = Town::open(kind).await;
    for platform in [Getir, Trendyol, Migros] {
        let meal = large(&town, platform).await;
        // Nobody tells of it.
        let fault = garson_sim::views::Fault::Drop;
        town.fault(platform, "push", fault, Some(1)).await;
        town.pass(1).await;
        town.control.remove_piece(platform, &meal.id).await.unwrap();
        let after = later(&town, &meal).await;
        adds_up(&town, &meal, &after).await;
    }
    totals_agree(&town.a).await;
}

/// Getir's documents have no number: one that was there before does not come back, however it comes.
async fn an_old_document_does_not_lead_back(kind: Kind) {
    let town = Town::open_quiet(kind).await;
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
        assert_eq!(send(town.house.addr, &bytes).await.status, 200);
        let order = town
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
    let order = town
        .a
        .get(&format!("/orders/{}", first["id"].as_str().unwrap()))
        .await
        .data();
    assert_eq!(order["customer"]["name"], first["client"]["name"]);
    totals_agree(&town.a).await;
}

/// What the customer was promised and when the courier comes, as each platform says it. Trendyol says the latter only when a
/// courier is found: its message makes the order be read.
async fn promised_times_are_shown_and_the_couriers_follows(kind: Kind) {
    let town = Town::open_quiet(kind).await;
    let meal = town.order(Yemeksepeti, Courier::Platform).await;
    let order = town.shown(&meal).await.unwrap();
    assert!(order["fulfilment"]["promisedAt"].is_string(), "{order:#}");
    assert!(order["fulfilment"]["courierPickupAt"].is_string(), "{order:#}");

    let later = OrderRequest {
        courier: Some(Courier::Platform),
        scheduled_in_minutes: Some(180),
        ..OrderRequest::new(Getir)
    };
    let meal = town.place(later).await;
    let order = town.reaches(&meal, 325).await;
    assert_eq!(order["fulfilment"]["promisedAt"], order["scheduledFor"]);
    assert!(order["scheduledFor"].is_string());

    let meal = town.verified(Trendyol, Courier::Platform).await;
    let order = town.shown(&meal).await.unwrap();
    let promised = order["fulfilment"]["promisedAt"].clone();
    assert!(promised.is_string(), "{order:#}");
    assert_eq!(order["fulfilment"].get("courierPickupAt"), None);
    town.pass(1).await;
    town.courier(&meal, Step::Assigned).await;
    let order = town
        .shows(&meal, "when the courier comes", |order| {
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
    totals_agree(&town.a).await;
}
