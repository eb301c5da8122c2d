//! Trendyol: moves with exact bodies, partial cancellation, webhooks.

mod reading;

use garson_sim::{
    Platform,
    views::{Courier, OrderRequest, Step},
};
use http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Stage, call, get, put, quick, store};

// key:secret
const BASIC: &str = "Basic a2V5OnNlY3JldA==";
const HEADERS: [(&str, &str); 5] = [
    ("authorization", BASIC),
    ("user-agent", "2738 - Garson"),
    ("x-agentname", "Garson"),
    ("x-executor-user", "kasa@example.com"),
    ("content-type", "application/json"),
];

async fn stage() -> Stage {
    Stage::new(Platform::Trendyol, "2738:77").await
}

fn orders(stage: &Stage, path: &str) -> String {
    stage.url(&format!("/integrator/order/meal/suppliers/2738{path}"))
}

async fn make(stage: &Stage, path: &str, body: Value) -> Answer {
    put(
        &orders(stage, &format!("/packages/{path}")),
        &HEADERS,
        body.to_string(),
    )
    .await
}

async fn package(stage: &Stage, id: &str) -> Value {
    get(&orders(stage, &format!("/packages/{id}")), &HEADERS)
        .await
        .body
}

/// Takes a package through moves up to Invoiced.
async fn prepare(stage: &Stage, id: &str) {
    assert_eq!(
        make(stage, "picked", json!({"packageId": id, "preparationTime": 20}))
            .await
            .status,
        200
    );
    assert_eq!(
        make(stage, "invoiced", json!({"packageId": id})).await.status,
        200
    );
    assert_eq!(stage.state(id).await, "Invoiced");
}

#[tokio::test]
async fn the_platforms_courier_takes_the_package() {
    let stage = stage().await;
    let id = stage
        .place(stage.request(Courier::Platform))
        .await
        .provider_order_id;
    let pushed = stage.receiver.next().await;
    assert_eq!(
        (pushed.path.as_str(), pushed.header("x-api-key")),
        ("/hooks/trendyol/created", "knock")
    );
    assert_eq!((pushed.body["id"].as_str().unwrap(), id.len()), (id.as_str(), 64));
    assert_eq!(
        (&pushed.body["supplierId"], &pushed.body["storeId"]),
        (&json!(2738), &json!(77))
    );
    assert_eq!(pushed.body["deliveryType"], "GO");
    assert_eq!(pushed.body["address"]["doorNumber"], "Trendyol Go Yemek");
    assert_eq!(pushed.body, package(&stage, &id).await);

    prepare(&stage, &id).await;
    for path in ["manual-shipped", "manual-delivered"] {
        assert_eq!(make(&stage, &format!("{id}/{path}"), json!({})).await.status, 400);
    }
    for (step, event, state) in [
        (Step::Assigned, "pickupEtaCalculated", "Invoiced"),
        (Step::Arrived, "courierNearby", "Invoiced"),
        (Step::PickedUp, "shipped", "Shipped"),
        (Step::Delivered, "delivered", "Delivered"),
    ] {
        stage
            .control
            .courier(Platform::Trendyol, &id, step)
            .await
            .unwrap();
        let pushed = stage.receiver.next().await;
        assert_eq!(pushed.path, format!("/hooks/trendyol/{event}"));
        assert_eq!(
            (&pushed.body["id"], &pushed.body["packageStatus"]),
            (&json!(id), &Value::Null),
            "short"
        );
        assert_eq!(stage.state(&id).await, state);
    }
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "compares with the system clock")]
async fn the_restaurant_delivers_or_the_customer_comes() {
    let stage = stage().await;
    let id = stage.quiet_order(Courier::Restaurant).await.provider_order_id;
    assert_eq!(package(&stage, &id).await["storePickupSelected"], false);
    prepare(&stage, &id).await;
    assert_eq!(
        make(&stage, &format!("{id}/manual-delivered"), json!({}))
            .await
            .status,
        409,
        "not shipped"
    );
    assert_eq!(
        make(&stage, &format!("{id}/manual-shipped"), json!({}))
            .await
            .status,
        200
    );
    assert_eq!(stage.receiver.next().await.path, "/hooks/trendyol/shipped");
    let past = jiff::Timestamp::now().as_millisecond() - 1000;
    assert_eq!(
        make(
            &stage,
            &format!("{id}/manual-delivered"),
            json!({"actualDate": past})
        )
        .await
        .status,
        200
    );
    assert_eq!(stage.state(&id).await, "Delivered");

    let id = stage.quiet_order(Courier::Pickup).await.provider_order_id;
    assert_eq!(package(&stage, &id).await["storePickupSelected"], true);
    prepare(&stage, &id).await;
    assert_eq!(
        make(&stage, &format!("{id}/manual-shipped"), json!({}))
            .await
            .status,
        400
    );
    assert_eq!(
        make(&stage, &format!("{id}/manual-delivered"), json!({}))
            .await
            .status,
        200
    );
    assert!(
        stage
            .control
            .courier(Platform::Trendyol, &id, Step::Delivered)
            .await
            .is_err()
    );
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "compares with the system clock")]
async fn bodies_and_states_are_checked() {
    let stage = stage().await;
    let id = stage.quiet_order(Courier::Restaurant).await.provider_order_id;
    let future = jiff::Timestamp::now().as_millisecond() + 60_000;
    for (path, body) in [
        ("picked", json!({"packageId": id})),
        ("picked", json!({"preparationTime": 20})),
        ("picked", json!({"packageId": id, "preparationTime": 0})),
        ("picked", json!({"packageId": id, "preparationTime": "20"})),
        (
            "picked",
            json!({"packageId": id, "preparationTime": 20, "note": "x"}),
        ),
        ("picked", json!([id])),
        ("invoiced", json!({"packageId": id, "actualDate": future})),
        ("invoiced", json!({"packageId": id, "preparationTime": 3})),
    ] {
        let answer = make(&stage, path, body.clone()).await;
        assert_eq!(answer.status, 400, "{path} {body}");
        assert!(answer.body["errors"][0]["message"].is_string());
    }
    assert_eq!(
        make(&stage, &format!("{id}/manual-shipped"), json!({"packageId": id}))
            .await
            .status,
        400
    );
    assert_eq!(
        put(&orders(&stage, "/packages/picked"), &HEADERS[..4], "{}")
            .await
            .status,
        400,
        "no type"
    );
    assert_eq!(
        make(&stage, "invoiced", json!({"packageId": id})).await.status,
        409,
        "not picked"
    );
    let unknown = make(
        &stage,
        "picked",
        json!({"packageId": "nope", "preparationTime": 5}),
    )
    .await;
    assert_eq!(
        (unknown.status, &unknown.body["exception"]),
        (404, &json!("DomainNotFound"))
    );
    prepare(&stage, &id).await;
    assert_eq!(
        make(&stage, "invoiced", json!({"packageId": id})).await.status,
        409,
        "twice"
    );
    assert_eq!(stage.state(&id).await, "Invoiced");
}

#[tokio::test]
async fn items_that_are_not_there_are_taken_out() {
    let stage = stage().await;
    let request = OrderRequest {
        count: 60,
        push: false,
        ..stage.request(Courier::Restaurant)
    };
    let placed = stage.control.place_orders(&request).await.unwrap();
    let (mut id, mut items) = (String::new(), Vec::new());
    for order in placed {
        let body = package(&stage, &order.provider_order_id).await;
        stage.control.advance_clock(10).await.unwrap();
        items = item_ids(&body);
        id = order.provider_order_id;
        if items.len() > 1 {
            break;
        }
    }
    let unsupply = async |items: &[String], reason: u64| {
        make(
            &stage,
            "unsupplied",
            json!({"packageId": id, "itemIdList": items, "reasonId": reason}),
        )
        .await
        .status
    };
    assert_eq!(unsupply(&items, 625).await, 400, "the platform's reason");
    assert_eq!(unsupply(&[], 621).await, 400);
    assert_eq!(unsupply(&["nope".to_owned()], 621).await, 400);
    let before = package(&stage, &id).await["totalPrice"].as_f64().unwrap();
    assert_eq!(unsupply(&items[..1], 621).await, 200);
    let after = package(&stage, &id).await;
    assert_eq!(
        (&after["packageStatus"], item_ids(&after).len()),
        (&json!("Created"), items.len() - 1)
    );
    assert!(after["totalPrice"].as_f64().unwrap() < before);
    assert_eq!(unsupply(&items[..1], 621).await, 400, "gone already");
    assert_eq!(
        unsupply(&items[1..], 624).await,
        200,
        "the rest, for want of a courier"
    );
    let pushed = stage.receiver.next().await;
    assert_eq!(pushed.path, "/hooks/trendyol/unsupplied");
    assert_eq!(
        (&pushed.body["status"], &pushed.body["cancelInfo"]["reasonCode"]),
        (&json!("UnSupplied"), &json!(624))
    );
    assert_eq!(stage.order(&id).await.cancelled_by.as_deref(), Some("restaurant"));
}

fn item_ids(package: &Value) -> Vec<String> {
    let items = package["lines"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|line| line["items"].as_array().unwrap());
    let left = items.filter(|item| item["isCancelled"] == false);
    left.map(|item| item["packageItemId"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn some_reasons_are_for_those_who_deliver_themselves() {
    let stage = stage().await;
    for (reason, status) in [
        (624, 400),
        (626, 400),
        (621, 200),
        (622, 200),
        (623, 200),
        (627, 200),
    ] {
        let id = stage.quiet_order(Courier::Platform).await.provider_order_id;
        let items = item_ids(&package(&stage, &id).await);
        let body = json!({"packageId": id, "itemIdList": items, "reasonId": reason});
        assert_eq!(make(&stage, "unsupplied", body).await.status, status, "{reason}");
    }
}

#[tokio::test]
async fn customers_cancel() {
    let stage = stage().await;
    let id = stage.quiet_order(Courier::Platform).await.provider_order_id;
    stage
        .control
        .cancel(Platform::Trendyol, &id, "customer")
        .await
        .unwrap();
    let pushed = stage.receiver.next().await;
    assert_eq!(pushed.path, "/hooks/trendyol/cancelled");
    assert_eq!(
        (&pushed.body["status"], &pushed.body["cancelInfo"]["reasonCode"]),
        (&json!("Cancelled"), &json!(604))
    );
    assert_eq!(
        make(&stage, "picked", json!({"packageId": id, "preparationTime": 5}))
            .await
            .status,
        409
    );
    let body = json!({"packageId": id, "itemIdList": ["x"], "reasonId": 621});
    assert_eq!(make(&stage, "unsupplied", body).await.status, 409);
}
