//! Yemeksepeti: signed dispatch, callbacks, conflicts, expiry, reports.

use garson_sim::{
    Platform, SimSettings,
    views::{Courier, OrderRequest, Step},
};
use serde_json::{Value, json};

use crate::support::{Answer, Pushed, Stage, get, post, quick};

const JSON: (&str, &str) = ("content-type", "application/json");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const LOGIN: &str = "username=user&password=pa%26ss&grant_type=client_credentials";

struct Plugin {
    stage: Stage,
    bearer: String,
}

/// A timestamp this many minutes from now.
#[expect(clippy::disallowed_methods, reason = "compares with the system clock")]
fn later(minutes: i64) -> String {
    (jiff::Timestamp::now() + jiff::SignedDuration::from_mins(minutes)).to_string()
}

impl Plugin {
    async fn new() -> Self {
        Self::on(Stage::new(Platform::Yemeksepeti, "şube 1").await).await
    }

    async fn on(stage: Stage) -> Self {
        let answer = post(&stage.url("/v2/login"), &[FORM], LOGIN).await;
        assert_eq!(
            (answer.status, &answer.body["token_type"]),
            (200, &json!("bearer")),
            "{answer:?}"
        );
        assert_eq!(answer.body["expires_in"], 1800);
        Self {
            bearer: format!("Bearer {}", answer.body["access_token"].as_str().unwrap()),
            stage,
        }
    }

    /// A pushed order that the service has acknowledged.
    async fn received(&self, courier: Courier) -> (String, Pushed) {
        let placed = self.stage.place(self.stage.request(courier)).await;
        let pushed = self.stage.receiver.next().await;
        self.stage
            .until(&placed.provider_order_id, |order| {
                order.state != "ASSIGNED_TO_TRANSPORT"
            })
            .await;
        assert_eq!(pushed.body["token"], placed.token.clone().unwrap());
        (placed.provider_order_id, pushed)
    }

    async fn status(&self, order: &Pushed, body: Value) -> Answer {
        let url = order.body["callbackUrls"]["orderAcceptedUrl"].as_str().unwrap();
        post(url, &[("authorization", &self.bearer), JSON], body.to_string()).await
    }

    async fn accept(&self, order: &Pushed) -> Answer {
        let body = json!({"status": "order_accepted", "acceptanceTime": later(20), "remoteOrderId": "g-1"});
        self.status(order, body).await
    }

    async fn prepared(&self, token: &Value) -> Answer {
        let path = format!("/v2/orders/{}/preparation-completed", token.as_str().unwrap());
        post(&self.stage.url(&path), &[("authorization", &self.bearer)], "").await
    }

    async fn get(&self, path: &str) -> Answer {
        get(&self.stage.url(path), &[("authorization", &self.bearer)]).await
    }
}

#[tokio::test]
async fn a_rider_of_the_platform_carries_the_order() {
    let plugin = Plugin::new().await;
    let (id, order) = plugin.received(Courier::Platform).await;
    assert_eq!(order.path, "/hooks/yemeksepeti/order/%C5%9Fube%201");
    let token = order.header("authorization").strip_prefix("Bearer ").unwrap();
    assert_eq!(token.split('.').nth(1), Some("eyJzZXJ2aWNlIjoibWlkZGxld2FyZSJ9"));
    assert!(token.ends_with("R63Y_R9g"), "signed with the plugin's secret");
    assert!(
        order.body["delivery"]["address"].is_null() && order.body["delivery"]["riderPickupTime"].is_string()
    );
    let urls = &order.body["callbackUrls"];
    assert!(urls["orderPickedUpUrl"].is_null() && urls["orderPreparedUrl"].is_string());
    assert!(
        urls["orderPreparedUrl"]
            .as_str()
            .unwrap()
            .starts_with(&plugin.stage.url("/v2/orders/"))
    );

    assert_eq!(
        plugin.prepared(&order.body["token"]).await.status,
        409,
        "not accepted yet"
    );
    assert_eq!(plugin.accept(&order).await.status, 200);
    assert_eq!(plugin.stage.state(&id).await, "ACCEPTED");
    assert_eq!(
        plugin
            .status(&order, json!({"status": "order_picked_up"}))
            .await
            .status,
        409
    );
    let again = plugin.accept(&order).await;
    assert_eq!(
        (again.status, &again.body["currentState"]),
        (409, &json!("ACCEPTED"))
    );
    assert_eq!(
        plugin.prepared(&order.body["token"]).await.body,
        json!({"code": "OK"})
    );
    assert_eq!(
        plugin.prepared(&order.body["token"]).await.body["code"],
        "INVALID_ORDER_STATUS"
    );

    let control = &plugin.stage.control;
    for (step, told) in [
        (Step::Arrived, "COURIER_ARRIVED_AT_VENDOR"),
        (Step::PickedUp, "ORDER_PICKED_UP"),
    ] {
        control.courier(Platform::Yemeksepeti, &id, step).await.unwrap();
        let pushed = plugin.stage.receiver.next().await;
        assert_eq!(pushed.method, http::Method::PUT);
        let path = "/hooks/yemeksepeti/remoteId/%C5%9Fube%201/remoteOrder/g-1/posOrderStatus";
        assert_eq!(
            (pushed.path.as_str(), &pushed.body["status"]),
            (path, &json!(told))
        );
    }
    control
        .courier(Platform::Yemeksepeti, &id, Step::Delivered)
        .await
        .unwrap();
    assert_eq!(plugin.stage.state(&id).await, "DELIVERED");
    assert!(
        plugin
            .stage
            .control
            .cancel(Platform::Yemeksepeti, &id, "customer")
            .await
            .is_err()
    );
}

#[tokio::test]
async fn the_restaurant_delivers_or_the_customer_comes() {
    let plugin = Plugin::new().await;
    for courier in [Courier::Restaurant, Courier::Pickup] {
        let (id, order) = plugin.received(courier).await;
        let is_pickup = courier == Courier::Pickup;
        assert_eq!(
            order.body["expeditionType"],
            if is_pickup { "pickup" } else { "delivery" }
        );
        assert_eq!(order.body["pickup"]["pickupTime"].is_string(), is_pickup);
        assert_eq!(
            order.body["delivery"]["address"]["street"].is_string(),
            !is_pickup
        );
        assert!(order.body["delivery"]["riderPickupTime"].is_null());
        assert_eq!(
            plugin
                .status(&order, json!({"status": "order_picked_up"}))
                .await
                .status,
            409
        );
        assert_eq!(plugin.accept(&order).await.status, 200);
        assert_eq!(
            plugin.prepared(&order.body["token"]).await.status,
            409,
            "only for riders"
        );
        assert_eq!(
            plugin
                .status(&order, json!({"status": "order_picked_up"}))
                .await
                .status,
            200
        );
        assert_eq!(plugin.stage.state(&id).await, "PICKED_UP");
    }
}

#[tokio::test]
async fn statuses_are_checked() {
    let plugin = Plugin::new().await;
    let (id, order) = plugin.received(Courier::Restaurant).await;
    let accepted = |time: String, remote: &str| json!({"status": "order_accepted", "acceptanceTime": time, "remoteOrderId": remote});
    for body in [
        json!({}),
        json!({"status": "order_delivered"}),
        accepted(later(-1), "1"),
        accepted(later(1), "1"),
        accepted("soon".to_owned(), "1"),
        accepted(later(20), ""),
        json!({"status": "order_rejected"}),
        json!({"status": "order_rejected", "reason": "BORED"}),
        json!({"status": "order_rejected", "reason": "LATE_DELIVERY"}),
    ] {
        let answer = plugin.status(&order, body.clone()).await;
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
        assert!(answer.body["code"].is_string() && answer.body["message"].is_string());
    }
    let url = order.body["callbackUrls"]["orderAcceptedUrl"].as_str().unwrap();
    let body = accepted(later(20), "1").to_string();
    assert_eq!(
        post(url, &[("authorization", &plugin.bearer)], body.clone())
            .await
            .status,
        400,
        "no type"
    );
    assert_eq!(post(url, &[JSON], body.clone()).await.status, 401);
    assert_eq!(
        post(url, &[JSON, ("authorization", "Bearer nope")], body.clone())
            .await
            .status,
        401
    );
    let by_code = plugin.stage.url(&format!("/v2/order/status/{id}"));
    let answer = post(&by_code, &[JSON, ("authorization", &plugin.bearer)], body).await;
    assert_eq!(answer.body["code"], "ORDER_NOT_FOUND");
    assert_eq!(plugin.prepared(&json!("nope")).await.status, 404);
    assert_eq!(plugin.stage.state(&id).await, "RECEIVED");

    let body = json!({"status": "order_rejected", "reason": "ITEM_UNAVAILABLE", "message": "bitti"});
    assert_eq!(plugin.status(&order, body).await.status, 200);
    assert_eq!(plugin.stage.state(&id).await, "REJECTED");
    assert_eq!(plugin.accept(&order).await.body["currentState"], "REJECTED");

    let (id, order) = plugin.received(Courier::Restaurant).await;
    plugin.accept(&order).await;
    let body = json!({"status": "order_rejected", "reason": "LATE_DELIVERY"});
    assert_eq!(
        plugin.status(&order, body).await.status,
        200,
        "once it was accepted"
    );
    assert_eq!(plugin.stage.state(&id).await, "CANCELLED");
}

#[tokio::test]
async fn nothing_moves_before_the_push_is_acknowledged_and_settled() {
    let settings = SimSettings {
        not_ready_seconds: 30,
        ..quick()
    };
    let plugin = Plugin::on(Stage::with(Platform::Yemeksepeti, "1", settings, |_| {}).await).await;
    let quiet = plugin.stage.quiet_order(Courier::Platform).await;
    let url = plugin
        .stage
        .url(&format!("/v2/order/status/{}", quiet.token.unwrap()));
    let body =
        json!({"status": "order_accepted", "acceptanceTime": later(20), "remoteOrderId": "1"}).to_string();
    let answer = post(&url, &[JSON, ("authorization", &plugin.bearer)], body).await;
    assert_eq!(
        (answer.status, &answer.body["currentState"]),
        (409, &json!("ASSIGNED_TO_TRANSPORT"))
    );

    let (_, order) = plugin.received(Courier::Platform).await;
    let answer = plugin.accept(&order).await;
    assert_eq!(
        (answer.status, &answer.body["currentState"]),
        (409, &json!("WAITING_FOR_ACKNOWLEDGEMENT"))
    );
    plugin.stage.control.advance_clock(31).await.unwrap();
    assert_eq!(plugin.accept(&order).await.status, 200);
}

#[tokio::test]
async fn customers_cancel_and_orders_expire() {
    let plugin = Plugin::new().await;
    let (id, order) = plugin.received(Courier::Platform).await;
    assert!(order.body["expiryDate"].is_string());
    plugin
        .stage
        .control
        .cancel(Platform::Yemeksepeti, &id, "customer")
        .await
        .unwrap();
    let pushed = plugin.stage.receiver.next().await;
    assert_eq!(pushed.body["status"], "ORDER_CANCELLED");
    assert!(pushed.path.contains(&format!("/remoteOrder/garson-{id}/")));
    let answer = plugin.accept(&order).await;
    assert_eq!(
        (answer.status, &answer.body["currentState"]),
        (409, &json!("CANCELLED"))
    );

    let (id, _) = plugin.received(Courier::Platform).await;
    let (accepted, order) = plugin.received(Courier::Platform).await;
    plugin.accept(&order).await;
    plugin.stage.control.advance_clock(901).await.unwrap();
    let order = plugin.stage.until(&id, |order| order.state == "CANCELLED").await;
    assert_eq!(order.cancel_reason.as_deref(), Some("NO_RESPONSE"));
    assert_eq!(
        plugin.stage.receiver.next().await.body["status"],
        "ORDER_CANCELLED"
    );
    assert_eq!(plugin.stage.state(&accepted).await, "ACCEPTED");
}

#[tokio::test]
async fn dispatch_is_repeated_for_trouble_and_not_for_refusals() {
    let plugin = Plugin::new().await;
    let stage = &plugin.stage;
    (0..10).for_each(|_| stage.receiver.answer_next(503, json!({})));
    let id = stage
        .place(stage.request(Courier::Platform))
        .await
        .provider_order_id;
    let order = stage.until(&id, |order| order.state == "RECEIVED").await;
    assert_eq!(order.pushes.len(), 11);
    (0..11).for_each(|_| stage.receiver.answer_next(429, json!({})));
    let id = stage
        .place(stage.request(Courier::Platform))
        .await
        .provider_order_id;
    let order = stage.until(&id, |order| order.pushes.len() == 11).await;
    assert_eq!(
        order.state, "ASSIGNED_TO_TRANSPORT",
        "ten more tries, and that is all"
    );
    stage.receiver.answer_next(401, json!({}));
    let id = stage
        .place(stage.request(Courier::Platform))
        .await
        .provider_order_id;
    stage.until(&id, |order| order.pushes.len() == 1).await;
    stage
        .receiver
        .answer_next(400, json!({"reason": "CLOSED", "message": "kapalı"}));
    let id = stage
        .place(stage.request(Courier::Platform))
        .await
        .provider_order_id;
    let order = stage.until(&id, |order| order.state == "REJECTED").await;
    assert_eq!(order.cancel_reason.as_deref(), Some("CLOSED"));
    stage.receiver.answer_next(200, json!({}));
    let id = stage
        .place(stage.request(Courier::Platform))
        .await
        .provider_order_id;
    stage.until(&id, |order| order.state == "RECEIVED").await;
    stage
        .control
        .cancel(Platform::Yemeksepeti, &id, "customer")
        .await
        .unwrap();
    let order = stage.until(&id, |order| order.pushes.len() == 2).await;
    assert!(order.pushes[1].note.contains("never said"), "no id, no updates");
}

#[tokio::test]
async fn reports_know_what_was_answered() {
    let plugin = Plugin::new().await;
    let (new, _) = plugin.received(Courier::Platform).await;
    let (_, accepted) = plugin.received(Courier::Platform).await;
    plugin.accept(&accepted).await;
    let (cancelled, _) = plugin.received(Courier::Platform).await;
    plugin
        .stage
        .control
        .cancel(Platform::Yemeksepeti, &cancelled, "customer")
        .await
        .unwrap();
    let ids = plugin
        .get("/v2/chains/chain/orders/ids?status=accepted")
        .await
        .body;
    assert_eq!(
        ids,
        json!({"count": 1, "orderIdentifiers": [accepted.body["token"]]})
    );
    let ids = plugin
        .get("/v2/chains/chain/orders/ids?status=cancelled&pastNumberOfHours=1&vendorId=other")
        .await
        .body;
    assert_eq!(ids["count"], 0);
    for wrong in ["status=new", "", "status=accepted&pastNumberOfHours=25"] {
        assert_eq!(
            plugin
                .get(&format!("/v2/chains/chain/orders/ids?{wrong}"))
                .await
                .status,
            400
        );
    }
    assert_eq!(
        plugin
            .get("/v2/chains/other/orders/ids?status=accepted")
            .await
            .status,
        403
    );
    let order = plugin
        .get(&format!("/v2/chains/chain/orders/{cancelled}"))
        .await
        .body;
    assert_eq!(order["order"]["status"], "cancelled");
    assert_eq!(order["order"]["reason"], "CUSTOMER_CANCELLED");
    assert_eq!(
        plugin.get(&format!("/v2/chains/chain/orders/{new}")).await.body["code"],
        "ORDER_NOT_FOUND"
    );
}

#[tokio::test]
async fn logins_are_checked_and_end() {
    let plugin = Plugin::new().await;
    let login = plugin.stage.url("/v2/login");
    assert_eq!(post(&login, &[JSON], LOGIN).await.status, 400);
    assert_eq!(
        post(&login, &[FORM], "username=user&password=pa%26ss")
            .await
            .status,
        400
    );
    assert_eq!(
        post(&login, &[FORM], LOGIN.replace("pa%26ss", "x")).await.status,
        401
    );
    let ids = "/v2/chains/chain/orders/ids?status=accepted";
    assert_eq!(plugin.get(ids).await.status, 200);
    plugin.stage.control.advance_clock(1801).await.unwrap();
    assert_eq!(plugin.get(ids).await.status, 401);
    assert_eq!(plugin.get("/v2/nothing").await.status, 404);
}

#[tokio::test]
async fn sums_and_schedules_are_told() {
    let plugin = Plugin::new().await;
    let stage = &plugin.stage;
    let request = OrderRequest {
        count: 40,
        scheduled_in_minutes: Some(120),
        ..stage.request(Courier::Restaurant)
    };
    stage.control.place_orders(&request).await.unwrap();
    let kurus = |value: &Value| (value.as_str().unwrap().parse::<f64>().unwrap() * 100.0).round() as i64;
    fn toppings(list: &Value, kurus: &impl Fn(&Value) -> i64) -> i64 {
        let list = list.as_array().unwrap().iter();
        list.map(|topping| kurus(&topping["price"]) + toppings(&topping["children"], kurus))
            .sum()
    }
    for _ in 0..40 {
        let order = stage.receiver.next().await.body;
        assert_eq!(order["preOrder"], true);
        let line = |line: &Value| {
            let quantity: i64 = line["quantity"].as_str().unwrap().parse().unwrap();
            kurus(&line["paidPrice"]) + quantity * toppings(&line["selectedToppings"], &kurus)
        };
        let sum: i64 = order["products"].as_array().unwrap().iter().map(line).sum();
        let price = &order["price"];
        assert_eq!(sum, kurus(&price["subTotal"]));
        let total = sum - kurus(&price["discountAmountTotal"]) + kurus(&price["deliveryFee"]);
        assert_eq!(total, kurus(&price["grandTotal"]));
        let collected = kurus(&price["collectFromCustomer"]);
        assert_eq!(
            collected,
            if order["payment"]["status"] == "paid" {
                0
            } else {
                total
            }
        );
    }
}
