//! The control API itself: what it refuses, what it shows, and the autopilot.

use garson_sim::{
    ControlClient, Platform, Sim,
    views::{Autopilot, Courier, Fault, FaultRequest, OrderRequest},
};
use http::Method;

use crate::support::{Stage, call, get, quick, store};

#[tokio::test]
async fn stores_are_shown_without_their_secrets() {
    let stage = Stage::new(Platform::Getir, "one").await;
    let url = format!("http://{}/control/stores", stage.sim.address());
    let answer = get(&url, &[]).await;
    assert_eq!(answer.body["stores"][0]["remoteId"], "one");
    assert!(
        !answer.text.contains("knock") && !answer.text.contains("rest\""),
        "{}",
        answer.text
    );
    let mut wrong = store(Platform::Getir, "two", Some("https://example.com".to_owned()));
    assert!(
        stage
            .control
            .put_store(&wrong)
            .await
            .unwrap_err()
            .contains("hookUrl")
    );
    wrong.hook_url = None;
    wrong.credentials = serde_json::json!({"appSecretKey": "a"});
    assert!(
        stage
            .control
            .put_store(&wrong)
            .await
            .unwrap_err()
            .contains("restaurantSecretKey")
    );
    assert_eq!(stage.control.stores().await.unwrap().len(), 1);
    assert_eq!(stage.control.health().await.unwrap().stores, 1);
}

#[tokio::test]
async fn what_a_platform_does_not_have_is_refused() {
    let stage = Stage::new(Platform::Getir, "1").await;
    for (platform, courier, scheduled) in [
        (Platform::Getir, Courier::Pickup, None),
        (Platform::Migros, Courier::Pickup, None),
        (Platform::Migros, Courier::Platform, Some(60)),
        (Platform::Trendyol, Courier::Platform, Some(60)),
    ] {
        stage
            .control
            .put_store(&store(platform, "1", None))
            .await
            .unwrap();
        let request = OrderRequest {
            courier: Some(courier),
            scheduled_in_minutes: scheduled,
            ..OrderRequest::new(platform)
        };
        assert!(
            stage
                .control
                .place_orders(&request)
                .await
                .unwrap_err()
                .starts_with("422")
        );
    }
}

#[tokio::test]
async fn unknown_stores_orders_and_paths() {
    let stage = Stage::new(Platform::Getir, "1").await;
    let nowhere = OrderRequest {
        remote_id: Some("2".to_owned()),
        ..OrderRequest::new(Platform::Getir)
    };
    assert!(
        stage
            .control
            .place_orders(&nowhere)
            .await
            .unwrap_err()
            .starts_with("404")
    );
    let closed = OrderRequest::new(Platform::Migros);
    assert!(
        stage
            .control
            .place_orders(&closed)
            .await
            .unwrap_err()
            .starts_with("422")
    );
    let none = OrderRequest {
        count: 0,
        ..OrderRequest::new(Platform::Getir)
    };
    assert!(
        stage
            .control
            .place_orders(&none)
            .await
            .unwrap_err()
            .starts_with("422")
    );
    assert!(
        stage
            .control
            .order(Platform::Getir, "nope")
            .await
            .unwrap_err()
            .starts_with("404")
    );
    let fault = FaultRequest {
        platform: Platform::Getir,
        on: "fly".to_owned(),
        fault: Fault::Drop,
        order: None,
        times: None,
    };
    assert!(
        stage
            .control
            .order_fault(&fault)
            .await
            .unwrap_err()
            .starts_with("422")
    );
    let base = format!("http://{}", stage.sim.address());
    assert_eq!(get(&format!("{base}/control/nope"), &[]).await.status, 404);
    assert_eq!(get(&format!("{base}/"), &[]).await.status, 404);
    let broken = call(Method::POST, &format!("{base}/control/orders"), &[], "{")
        .await
        .unwrap();
    assert_eq!(broken.status, 422);
}

#[tokio::test]
async fn the_journal_keeps_every_call_and_no_secret() {
    let stage = Stage::new(Platform::Getir, "1").await;
    let keys = r#"{"appSecretKey":"app","restaurantSecretKey":"wrong-secret"}"#;
    crate::support::post(
        &stage.url("/auth/login"),
        &[("content-type", "application/json")],
        keys,
    )
    .await;
    get(&stage.url("/food-orders/abc?x=1"), &[("token", "t-secret")]).await;
    let lines = stage.control.journal(Some(Platform::Getir), 0).await.unwrap();
    assert_eq!(lines.len(), 2);
    assert_eq!(
        (lines[0].operation.as_str(), lines[0].status),
        ("login", Some(401))
    );
    assert_eq!(
        (lines[1].path.as_str(), lines[1].order_id.as_deref()),
        ("/food-orders/abc?x=1", Some("abc"))
    );
    assert!(!format!("{lines:?}").contains("secret"));
    assert_eq!(
        stage.control.journal(None, lines[0].number).await.unwrap().len(),
        1
    );
    assert!(
        stage
            .control
            .journal(Some(Platform::Migros), 0)
            .await
            .unwrap()
            .is_empty()
    );
    stage.control.clear_journal().await.unwrap();
    assert!(stage.control.journal(None, 0).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_autopilot_orders_by_itself_and_stops() {
    let stage = Stage::new(Platform::Getir, "1").await;
    let pilot = Autopilot {
        orders_per_minute: 6_000,
        customers_cancel_percent: 100,
        courier_seconds: 0,
    };
    stage.control.autopilot(pilot).await.unwrap();
    let pushed = stage.receiver.next().await;
    stage
        .control
        .autopilot(Autopilot {
            orders_per_minute: 0,
            ..pilot
        })
        .await
        .unwrap();
    let id = pushed.body["foodOrder"]["id"].as_str().unwrap().to_owned();
    stage.control.advance_clock(61).await.unwrap();
    let order = stage.until(&id, |order| order.state == 1500).await;
    assert_eq!(order.cancelled_by.as_deref(), Some("customer"));
}

#[tokio::test]
async fn the_autopilots_couriers_come_when_the_food_is_ready() {
    let stage = Stage::new(Platform::Migros, "1").await;
    let pilot = Autopilot {
        orders_per_minute: 1,
        customers_cancel_percent: 0,
        courier_seconds: 0,
    };
    stage.control.autopilot(pilot).await.unwrap();
    let url = format!("http://{}", stage.sim.address());
    stage
        .control
        .put_store(&store(Platform::Trendyol, "77", None))
        .await
        .unwrap();
    let request = OrderRequest {
        courier: Some(Courier::Platform),
        ..OrderRequest::new(Platform::Trendyol)
    };
    let id = stage.place(request).await.provider_order_id;
    let headers = [
        ("authorization", "Basic a2V5OnNlY3JldA=="),
        ("user-agent", "2738 - Garson"),
        ("x-agentname", "Garson"),
        ("x-executor-user", "kasa@example.com"),
        ("content-type", "application/json"),
    ];
    for (path, body) in [
        (
            "picked",
            serde_json::json!({"packageId": id, "preparationTime": 10}),
        ),
        ("invoiced", serde_json::json!({"packageId": id})),
    ] {
        let url = format!("{url}/trendyol/integrator/order/meal/suppliers/2738/packages/{path}");
        assert_eq!(
            crate::support::put(&url, &headers, body.to_string()).await.status,
            200
        );
    }
    let order = stage
        .until_on(Platform::Trendyol, &id, |order| order.state == "Delivered")
        .await;
    let by: Vec<_> = order.history.iter().map(|line| line.by.as_str()).collect();
    assert_eq!(by, ["customer", "api", "api", "courier", "courier"]);
}

#[tokio::test]
async fn the_same_seed_gives_the_same_orders_with_other_ids() {
    let (one, two) = (
        Stage::new(Platform::Getir, "1").await,
        Stage::new(Platform::Getir, "1").await,
    );
    let request = OrderRequest {
        count: 20,
        push: false,
        ..OrderRequest::new(Platform::Getir)
    };
    one.control.place_orders(&request).await.unwrap();
    two.control.place_orders(&request).await.unwrap();
    let (one, two) = (
        one.control.orders(None).await.unwrap(),
        two.control.orders(None).await.unwrap(),
    );
    let totals =
        |orders: &[garson_sim::views::OrderView]| orders.iter().map(|order| order.total).collect::<Vec<_>>();
    assert_eq!(totals(&one), totals(&two));
    assert_ne!(one[0].provider_order_id, two[0].provider_order_id);
}

#[tokio::test]
async fn a_simulator_that_is_stopped_is_gone() {
    let sim = Sim::start(quick()).await.unwrap();
    let client = ControlClient::new(format!("http://{}", sim.address()));
    client.health().await.unwrap();
    sim.stop().await;
    assert!(client.health().await.is_err());
}
