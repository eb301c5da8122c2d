//! Getir: login, states, gaps, refusals, limits, pushes.

use garson_sim::{
    Platform, SimSettings,
    views::{Courier, OrderRequest, Step},
};
use serde_json::{Value, json};

use crate::support::{Answer, Stage, get, post, put, quick};

const JSON: (&str, &str) = ("content-type", "application/json");
const KEYS: &str = r#"{"appSecretKey":"app","restaurantSecretKey":"rest"}"#;

struct Restaurant {
    stage: Stage,
    token: String,
}

impl Restaurant {
    async fn new() -> Self {
        Self::on(Stage::new(Platform::Getir, "5f0000000000000000000001").await).await
    }

    async fn on(stage: Stage) -> Self {
        let answer = post(&stage.url("/auth/login"), &[JSON], KEYS).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.body["restaurantId"], stage.remote_id.as_str());
        Self {
            token: answer.body["token"].as_str().unwrap().to_owned(),
            stage,
        }
    }

    async fn post(&self, path: &str) -> Answer {
        post(&self.stage.url(path), &[("token", &self.token)], "").await
    }

    async fn get(&self, path: &str) -> Answer {
        get(&self.stage.url(path), &[("token", &self.token)]).await
    }

    async fn make(&self, id: &str, operation: &str) -> Answer {
        self.post(&format!("/food-orders/{id}/{operation}")).await
    }

    async fn cancel(&self, id: &str, body: Value) -> Answer {
        let url = self.stage.url(&format!("/food-orders/{id}/cancel"));
        post(&url, &[("token", &self.token), JSON], body.to_string()).await
    }

    async fn made(&self, id: &str, operation: &str, state: &str) {
        let answer = self.make(id, operation).await;
        assert_eq!(
            (answer.status, &answer.body),
            (200, &json!({"result": true})),
            "{operation}"
        );
        assert_eq!(self.stage.state(id).await, state);
    }

    async fn refused(&self, id: &str, operation: &str, code: i64) {
        let answer = self.make(id, operation).await;
        assert!(answer.status >= 400, "{operation}: {answer:?}");
        assert_eq!(answer.body["code"], code, "{operation}: {answer:?}");
        assert!(answer.body["message"].is_string() && answer.body["details"].is_array());
    }
}

#[tokio::test]
async fn getirs_courier_takes_the_order_away() {
    let restaurant = Restaurant::new().await;
    let stage = &restaurant.stage;
    let order = stage.place(stage.request(Courier::Platform)).await;
    let pushed = stage.receiver.next().await;
    assert_eq!(pushed.path, "/hooks/getir/new-order");
    assert_eq!(pushed.header("x-api-key"), "knock");
    let body = &pushed.body["foodOrder"];
    let id = body["id"].as_str().unwrap();
    assert_eq!((id, id.len()), (order.provider_order_id.as_str(), 24));
    assert_eq!((&body["status"], &body["deliveryType"]), (&json!(400), &json!(1)));
    assert_eq!(body["restaurant"]["id"], stage.remote_id.as_str());

    restaurant.made(id, "verify", "500").await;
    restaurant.made(id, "prepare", "550").await;
    restaurant.refused(id, "deliver", 3).await;
    restaurant.made(id, "handover", "600").await;
    for (step, state) in [
        (Step::Assigned, "600"),
        (Step::Arrived, "600"),
        (Step::PickedUp, "700"),
        (Step::Delivered, "900"),
    ] {
        let order = stage.control.courier(Platform::Getir, id, step).await.unwrap();
        assert_eq!(order.state_text(), state);
    }
    let body = restaurant.get(&format!("/food-orders/{id}")).await.body;
    assert_eq!(body["status"], 900);
    for date in [
        "checkoutDate",
        "verifyDate",
        "prepareDate",
        "handoverDate",
        "reachDate",
        "deliverDate",
    ] {
        assert!(body[date].as_str().unwrap().ends_with('Z'), "{date}");
    }
    let states: Vec<_> = stage
        .order(id)
        .await
        .history
        .iter()
        .map(|line| line.state.clone())
        .collect();
    assert_eq!(states, [400, 500, 550, 600, 700, 800, 900]);
}

#[tokio::test]
async fn the_restaurant_delivers_itself() {
    let restaurant = Restaurant::new().await;
    let order = restaurant.stage.quiet_order(Courier::Restaurant).await;
    let id = order.provider_order_id.as_str();
    restaurant.refused(id, "prepare", 3).await;
    restaurant.made(id, "verify", "500").await;
    restaurant.refused(id, "verify", 2).await;
    restaurant.made(id, "prepare", "700").await;
    restaurant.refused(id, "handover", 3).await;
    restaurant.made(id, "deliver", "900").await;
    restaurant.refused(id, "deliver", 3).await;
    restaurant.refused(id, "verify", 2).await;
    assert!(
        restaurant
            .stage
            .control
            .courier(Platform::Getir, id, Step::Delivered)
            .await
            .is_err()
    );
}

#[tokio::test]
async fn a_scheduled_order_is_accepted_twice() {
    let restaurant = Restaurant::new().await;
    let stage = &restaurant.stage;
    let request = OrderRequest {
        scheduled_in_minutes: Some(180),
        ..stage.request(Courier::Restaurant)
    };
    let id = stage.place(request).await.provider_order_id;
    let pushed = stage.receiver.next().await;
    assert_eq!(pushed.body["foodOrder"]["status"], 325);
    assert_eq!(pushed.body["foodOrder"]["isScheduled"], true);
    assert!(pushed.body["foodOrder"]["scheduledDate"].is_string());
    restaurant.refused(&id, "verify", 3).await;
    assert!(stage.control.due(Platform::Getir, &id).await.is_err());
    assert_eq!(
        restaurant
            .post("/food-orders/periodic/unapproved")
            .await
            .body
            .as_array()
            .unwrap()
            .len(),
        1
    );
    restaurant.made(&id, "verify-scheduled", "350").await;
    restaurant.refused(&id, "verify-scheduled", 2).await;
    assert_eq!(
        restaurant.post("/food-orders/periodic/unapproved").await.body,
        json!([])
    );
    stage.control.due(Platform::Getir, &id).await.unwrap();
    assert_eq!(stage.receiver.next().await.body["foodOrder"]["status"], 400);
    restaurant.made(&id, "verify", "500").await;
}

#[tokio::test]
async fn moves_need_their_time() {
    let settings = SimSettings {
        getir_gap_seconds: 60,
        ..quick()
    };
    let stage = Stage::with(Platform::Getir, "1", settings, |_| {}).await;
    let restaurant = Restaurant::on(stage).await;
    let order = restaurant.stage.quiet_order(Courier::Restaurant).await;
    let id = order.provider_order_id.as_str();
    restaurant.made(id, "verify", "500").await;
    restaurant.refused(id, "prepare", 74).await;
    restaurant.stage.control.advance_clock(61).await.unwrap();
    restaurant.made(id, "prepare", "700").await;
    restaurant.refused(id, "deliver", 62).await;
    restaurant.stage.control.advance_clock(61).await.unwrap();
    restaurant.made(id, "deliver", "900").await;
    let order = restaurant.stage.quiet_order(Courier::Platform).await;
    let id = order.provider_order_id.as_str();
    restaurant.made(id, "verify", "500").await;
    restaurant.stage.control.advance_clock(61).await.unwrap();
    restaurant.made(id, "prepare", "550").await;
    restaurant.refused(id, "handover", 62).await;
}

#[tokio::test]
async fn cancelling_needs_a_reason_of_the_list() {
    let restaurant = Restaurant::new().await;
    let stage = &restaurant.stage;
    let id = stage.quiet_order(Courier::Restaurant).await.provider_order_id;
    let options = restaurant
        .get(&format!("/food-orders/{id}/cancel-options"))
        .await
        .body;
    let reason = options[0]["id"].as_str().unwrap();
    assert_eq!(restaurant.cancel(&id, json!({})).await.body["code"], 59);
    assert_eq!(
        restaurant
            .cancel(&id, json!({"cancelReasonId": "5c5b49a768f6a45d427f0a8f"}))
            .await
            .body["code"],
        59
    );
    assert_eq!(
        restaurant.cancel(&id, json!({"cancelReasonId": 5})).await.body["code"],
        -2
    );
    let body = json!({"cancelReasonId": reason, "cancelNote": "bitti", "productId": "no such thing"});
    assert_eq!(restaurant.cancel(&id, body).await.body["code"], -2);
    assert_eq!(
        restaurant
            .cancel(&id, json!({"cancelReasonId": reason, "cancelNote": "bitti"}))
            .await
            .status,
        200
    );
    let order = stage.order(&id).await;
    assert_eq!(
        (order.state_text().as_str(), order.cancelled_by.as_deref()),
        ("1600", Some("restaurant"))
    );
    assert_eq!(order.cancel_reason.as_deref(), Some(reason));
    assert_eq!(
        restaurant
            .cancel(&id, json!({"cancelReasonId": reason}))
            .await
            .body["code"],
        13
    );
    restaurant.refused(&id, "verify", 13).await;
    let listed = restaurant.post("/food-orders/periodic/cancelled").await.body;
    assert_eq!(listed[0]["cancelReason"]["id"], reason);
    assert_eq!(listed[0]["cancelNote"], "bitti");
    assert_eq!(restaurant.post("/food-orders/active").await.body, json!([]));
    assert!(
        stage.receiver.is_quiet().await,
        "what the restaurant did over the API is not pushed back"
    );

    let id = stage.quiet_order(Courier::Platform).await.provider_order_id;
    for (operation, state) in [("verify", "500"), ("prepare", "550"), ("handover", "600")] {
        restaurant.made(&id, operation, state).await;
    }
    assert_eq!(
        restaurant
            .cancel(&id, json!({"cancelReasonId": reason}))
            .await
            .body["code"],
        11
    );
}

#[tokio::test]
async fn others_cancel_too() {
    let restaurant = Restaurant::new().await;
    let stage = &restaurant.stage;
    for (by, state) in [("customer", 1500), ("platform", 1500), ("restaurant", 1600)] {
        let id = stage.quiet_order(Courier::Platform).await.provider_order_id;
        stage.control.cancel(Platform::Getir, &id, by).await.unwrap();
        let pushed = stage.receiver.next().await;
        assert_eq!(pushed.path, "/hooks/getir/cancel-order");
        assert_eq!(pushed.body["foodOrder"]["status"], state);
        assert!(pushed.body["foodOrder"]["cancelReason"]["messages"]["tr"].is_string());
        assert!(stage.control.cancel(Platform::Getir, &id, by).await.is_err());
    }
}

#[tokio::test]
async fn an_order_that_nobody_answers_ends() {
    let settings = SimSettings {
        getir_answer_seconds: 300,
        ..quick()
    };
    let stage = Stage::with(Platform::Getir, "1", settings, |store| store.quirks.flat = true).await;
    let id = stage
        .place(stage.request(Courier::Platform))
        .await
        .provider_order_id;
    assert_eq!(
        stage.receiver.next().await.body["status"],
        400,
        "flat, as asked for"
    );
    stage.control.advance_clock(301).await.unwrap();
    let order = stage.until(&id, |order| order.state == 1600).await;
    assert_eq!(order.cancelled_by.as_deref(), Some("platform"));
    let pushed = stage.receiver.next().await;
    assert_eq!(
        (pushed.path.as_str(), &pushed.body["status"]),
        ("/hooks/getir/cancel-order", &json!(1600))
    );
}

#[tokio::test]
async fn keys_and_tokens_are_checked() {
    let settings = SimSettings {
        getir_token_seconds: 3600,
        ..quick()
    };
    let restaurant = Restaurant::on(Stage::with(Platform::Getir, "1", settings, |_| {}).await).await;
    let stage = &restaurant.stage;
    let login = stage.url("/auth/login");
    assert_eq!(
        post(&login, &[JSON], r#"{"appSecretKey":"app"}"#).await.body["code"],
        -2
    );
    assert_eq!(post(&login, &[], KEYS).await.body["code"], -2);
    let wrong = post(
        &login,
        &[JSON],
        r#"{"appSecretKey":"app","restaurantSecretKey":"x"}"#,
    )
    .await;
    assert_eq!((wrong.status, &wrong.body["code"]), (401, &json!(73)));
    let active = stage.url("/food-orders/active");
    assert_eq!(post(&active, &[], "").await.status, 401);
    assert_eq!(post(&active, &[("token", "made up")], "").await.status, 401);
    assert_eq!(
        post(&active, &[("authorization", &restaurant.token)], "")
            .await
            .status,
        401
    );
    assert_eq!(restaurant.post("/food-orders/active").await.status, 200);
    assert_eq!(
        restaurant
            .get("/food-orders/5f0000000000000000000009")
            .await
            .status,
        404
    );
    assert_eq!(restaurant.get("/no/such/path").await.body["code"], 22);
    stage.control.advance_clock(3601).await.unwrap();
    assert_eq!(restaurant.post("/food-orders/active").await.status, 401);
}

#[tokio::test]
async fn a_token_opens_its_own_restaurant_only() {
    let restaurant = Restaurant::new().await;
    let mut other = crate::support::store(Platform::Getir, "other", None);
    other.credentials["restaurantSecretKey"] = json!("another");
    restaurant.stage.control.put_store(&other).await.unwrap();
    let request = OrderRequest {
        remote_id: Some("other".to_owned()),
        ..OrderRequest::new(Platform::Getir)
    };
    let id = restaurant.stage.place(request).await.provider_order_id;
    restaurant.refused(&id, "verify", 1).await;
    assert_eq!(restaurant.post("/food-orders/active").await.body, json!([]));
}

#[tokio::test]
async fn a_passive_restaurant_cannot_verify() {
    let restaurant = Restaurant::new().await;
    let url = restaurant.stage.url("/restaurants/pos-status");
    let body = json!({"posStatus": 200, "appSecretKey": "app", "restaurantSecretKey": "rest"});
    assert_eq!(put(&url, &[JSON], body.to_string()).await.status, 200);
    assert_eq!(post(&url, &[JSON], KEYS).await.body["posStatus"], 200);
    let id = restaurant
        .stage
        .quiet_order(Courier::Platform)
        .await
        .provider_order_id;
    restaurant.refused(&id, "verify", 79).await;
}

#[tokio::test]
async fn calls_are_counted() {
    let restaurant = Restaurant::new().await;
    let menu = restaurant.get("/restaurants/menu").await;
    let products = menu.body["productCategories"][0]["products"].as_array().unwrap();
    assert!(
        products
            .iter()
            .all(|product| product["price"].is_number() && product["name"]["tr"].is_string())
    );
    assert_eq!(restaurant.get("/restaurants/menu").await.status, 200);
    assert_eq!(restaurant.get("/restaurants/menu").await.status, 429);
    assert_eq!(
        restaurant.get("/restaurants").await.status,
        200,
        "each has its own count"
    );
    restaurant.stage.control.advance_clock(61).await.unwrap();
    assert_eq!(restaurant.get("/restaurants/menu").await.status, 200);
    let id = restaurant
        .stage
        .quiet_order(Courier::Platform)
        .await
        .provider_order_id;
    for _ in 0..40 {
        assert_eq!(
            restaurant
                .get(&format!("/food-orders/{id}/cancel-options"))
                .await
                .status,
            200
        );
    }
    assert_eq!(
        restaurant
            .get(&format!("/food-orders/{id}/cancel-options"))
            .await
            .status,
        429
    );
    for _ in 0..300 {
        assert_eq!(restaurant.post("/food-orders/active").await.status, 200);
    }
    assert_eq!(restaurant.post("/food-orders/active").await.status, 429);
    restaurant.made(&id, "verify", "500").await;
}

#[tokio::test]
async fn sums_of_an_order_add_up() {
    let restaurant = Restaurant::new().await;
    let request = OrderRequest {
        count: 60,
        push: false,
        ..OrderRequest::new(Platform::Getir)
    };
    restaurant.stage.control.place_orders(&request).await.unwrap();
    let orders = restaurant.post("/food-orders/active").await.body;
    let kurus = |value: &Value| (value.as_f64().unwrap() * 100.0).round() as i64;
    for order in orders.as_array().unwrap() {
        let lines = order["products"].as_array().unwrap();
        for line in lines {
            let count = line["count"].as_i64().unwrap();
            assert_eq!(
                kurus(&line["price"]) + kurus(&line["optionPrice"]),
                kurus(&line["priceWithOption"])
            );
            assert_eq!(
                kurus(&line["priceWithOption"]) * count,
                kurus(&line["totalPriceWithOption"])
            );
        }
        let sum: i64 = lines
            .iter()
            .map(|line| kurus(&line["totalPriceWithOption"]))
            .sum();
        assert!(kurus(&order["totalPrice"]) >= sum);
        assert!(kurus(&order["totalDiscountedPrice"]) <= kurus(&order["totalPrice"]));
        assert!(order["client"]["name"].is_string() && order["paymentMethod"].is_number());
    }
}
