//! `callbackUrl`: every status is sent to the shop in order, one at a time, with retries.

use crate::support::{Backend, CannedResponse, Receiver, Shop, TestService, block_on, wait_until};
use garson_core::id::{CallId, NodeId};
use garson_core::order::{Actor, CallArgument, CallKind};
use garson_core::testing::an_order;
use garson_store::tables::calls::DueCall;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// Runs a case on both engines, with a shop that has a callback URL.
fn both(case: impl AsyncFn(TestService, Shop, Receiver)) {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        block_on(async {
            let service = TestService::open_private(backend).await;
            let receiver = Receiver::start().await;
            let made = service
                .a
                .post("/restaurants", &json!({ "name": "r" }))
                .await
                .data();
            let more = json!({ "callbackUrl": receiver.url("/status") });
            let shop = service
                .connect(&service.a, made["id"].as_str().unwrap(), "s", more)
                .await;
            case(service, shop, receiver).await;
        });
    }
}

async fn sync(service: &TestService, id: &str) -> Value {
    service.a.get(&format!("/orders/{id}")).await.data()["providerSync"].clone()
}

async fn until_state(service: &TestService, id: &str, state: &str) {
    wait_until(state, async || sync(service, id).await["state"] == json!(state)).await;
}

#[test]
fn every_status_is_called_back_in_order() {
    both(async |service, shop, receiver| {
        let id = shop.order("W-1").await;
        let moved = service.a.act("/orders/change-status/W-1").await.data();
        assert_eq!(moved["providerSync"]["state"], json!("pending"));
        assert_eq!(moved["providerSync"]["dueAt"], json!("2026-03-01T09:00:00.000Z"));
        service.a.act("/orders/change-status/W-1").await.data();
        service.a.act("/orders/change-status/W-1").await.data();
        service.a.act("/orders/cancel/W-1").await.data();
        until_state(&service, "W-1", "done").await;
        let seen = receiver.seen();
        let told: Vec<i64> = seen
            .iter()
            .map(|seen| seen.json()["status"].as_i64().unwrap())
            .collect();
        // A cancellation drops callbacks that are not sent yet; those that are sent arrive in order, and it arrives last.
        assert_eq!(told.last(), Some(&1600));
        assert!(told.windows(2).all(|two| two[0] < two[1]), "{told:?}");
        assert_eq!(receiver.most_open(), 1);
        let first = &seen[0];
        assert_eq!(first.line, "POST /status HTTP/1.1");
        assert_eq!(first.header("x-api-key"), Some("inbound-s"));
        assert_eq!(first.header("content-type"), Some("application/json"));
        assert_eq!(first.header("authorization"), None);
        let body = first.json();
        assert_eq!(
            (&body["providerOrderId"], &body["orderId"]),
            (&json!("W-1"), &json!(id))
        );
        assert!(body["statusName"].is_string());
    });
}

#[test]
fn every_status_is_called_back_without_a_cancellation() {
    both(async |service, shop, receiver| {
        for n in 0..8 {
            shop.order(&n.to_string()).await;
            for _ in 0..3 {
                service.a.act(&format!("/orders/change-status/{n}")).await.data();
            }
        }
        let seen = receiver.wait_for(24).await;
        for n in 0..8 {
            let told: Vec<i64> = seen
                .iter()
                .map(crate::support::ReceivedRequest::json)
                .filter(|body| body["providerOrderId"] == json!(n.to_string()))
                .map(|body| body["status"].as_i64().unwrap())
                .collect();
            assert_eq!(told, [500, 600, 900], "order {n}");
            until_state(&service, &n.to_string(), "done").await;
        }
        assert_eq!(receiver.seen().len(), 24);
    });
}

#[test]
fn unavailable_shop_is_called_later() {
    both(async |service, shop, receiver| {
        receiver.set_default_response(CannedResponse::Status(503));
        shop.order("1").await;
        service.a.act("/orders/verify/1").await.data();
        service.a.act("/orders/change-status/1").await.data();
        receiver.wait_for(1).await;
        wait_until("the call is put off", async || {
            sync(&service, "1").await["dueAt"]
                .as_str()
                .is_some_and(|at| at > "2026-03-01T09:00:00.500Z")
        })
        .await;
        assert_eq!(receiver.seen().len(), 1);
        // The order has moved all the same.
        assert_eq!(service.a.get("/orders/1").await.data()["status"], json!(600));
        receiver.set_default_response(CannedResponse::Status(200));
        service.advance(Duration::from_secs(2));
        until_state(&service, "1", "done").await;
        let told: Vec<Value> = receiver
            .seen()
            .iter()
            .map(|seen| seen.json()["status"].clone())
            .collect();
        assert_eq!(told, [json!(500), json!(500), json!(600)]);
    });
}

#[test]
fn refusal_of_a_shop_is_final() {
    both(async |service, shop, receiver| {
        receiver.next(CannedResponse::Body(410, "no such order".to_owned()));
        shop.order("1").await;
        service.a.act("/orders/verify/1").await.data();
        until_state(&service, "1", "failed").await;
        let message = sync(&service, "1").await["message"].as_str().unwrap().to_owned();
        assert!(
            message.contains("410") && message.contains("no such order"),
            "{message}"
        );
        let path = format!("/restaurants/{}/integrations/direct", shop.restaurant);
        let health = service.a.get(&path).await.data()["health"].clone();
        assert!(health["lastError"].as_str().unwrap().contains("410"));
        assert_eq!(health["lastErrorAt"], json!("2026-03-01T09:00:00.000Z"));
        assert_eq!(receiver.seen().len(), 1);
    });
}

#[test]
fn due_calls_survive_a_restart() {
    both(async |mut service, shop, receiver| {
        receiver.set_default_response(CannedResponse::Status(503));
        shop.order("1").await;
        service.a.act("/orders/verify/1").await.data();
        receiver.wait_for(1).await;
        service.restart().await;
        receiver.set_default_response(CannedResponse::Status(200));
        service.advance(Duration::from_secs(60));
        until_state(&service, "1", "done").await;
        assert_eq!(receiver.seen().last().unwrap().json()["status"], json!(500));
    });
}

#[test]
fn a_cancelled_order_has_nothing_pending() {
    both(async |service, shop, receiver| {
        receiver.set_default_response(CannedResponse::Status(503));
        shop.order("1").await;
        service.a.act("/orders/verify/1").await.data();
        receiver.wait_for(1).await;
        wait_until("the call is put off", async || {
            sync(&service, "1").await["state"] == json!("pending")
        })
        .await;
        shop.cancel("1", json!({})).await.success();
        // The shop has cancelled it itself: no callback is needed.
        until_state(&service, "1", "not_needed").await;
        receiver.set_default_response(CannedResponse::Status(200));
        service.advance(Duration::from_secs(600));
        assert!(
            !garson::flow::order_actions::calls::step(&service.app)
                .await
                .unwrap()
        );
        assert_eq!(receiver.seen().len(), 1);
    });
}

#[test]
fn call_is_sent_only_under_the_id_and_lease_it_was_taken_with() {
    block_on(async {
        let service = TestService::open_private(Backend::Sqlite).await;
        let app = &service.app;
        wait_until("it has joined", async || app.maker().is_some()).await;
        let maker = app.maker().unwrap();
        let lease = maker.lease(Duration::from_secs(60));
        let order = an_order("1");
        let call = DueCall {
            id: CallId::at(order.created_at),
            account_id: order.account_id,
            order_id: order.id,
            integration_id: order.integration_id,
            kind: CallKind::Verify,
            argument: CallArgument::by(Actor::Account),
            attempts: 1,
            is_unclear: false,
            not_yet_since: None,
            created_at: order.created_at,
            node: Some(lease.node),
            leased_until: lease.until,
        };
        assert!(app.may_make(&call));
        for wrong in [
            DueCall {
                leased_until: maker.clock_ms,
                ..call.clone()
            },
            DueCall {
                node: None,
                ..call.clone()
            },
        ] {
            assert!(!app.may_make(&wrong));
        }
        // The process has joined again, under another id.
        let identity = app.store.node_identity();
        identity.set(Some(NodeId::at(app.now())));
        assert!(!app.may_make(&call));
        identity.set(None);
        assert!(!app.may_make(&DueCall { node: None, ..call }));
    });
}

#[test]
fn cancellation_overtakes_an_in_flight_call() {
    for status in [200, 410, 503] {
        both(async |service, shop, receiver| {
            let release = Arc::new(Notify::new());
            receiver.next(CannedResponse::Held(Arc::clone(&release), status));
            shop.order("1").await;
            service.a.act("/orders/verify/1").await.data();
            receiver.wait_for(1).await;
            shop.cancel("1", json!({})).await.success();
            assert_eq!(sync(&service, "1").await["state"], json!("not_needed"));
            let before = service.a.get("/orders/1").await.data();
            release.notify_one();
            // Another order's call comes after it, so its end has been seen when that one is done.
            shop.order("2").await;
            service.a.act("/orders/verify/2").await.data();
            until_state(&service, "2", "done").await;
            assert_eq!(service.a.get("/orders/1").await.data(), before);
        });
    }
}

#[test]
fn disallowed_target_is_not_called() {
    for backend in [Backend::Sqlite, Backend::Postgres] {
        block_on(async {
            let mut service = TestService::open_private(backend).await;
            let receiver = Receiver::start().await;
            let made = service
                .a
                .post("/restaurants", &json!({ "name": "r" }))
                .await
                .data();
            let more = json!({ "callbackUrl": receiver.url("/") });
            let mut shop = service
                .connect(&service.a, made["id"].as_str().unwrap(), "s", more)
                .await;
            service
                .restart_with(|settings| settings.allow_private_targets = false)
                .await;
            shop.addr = service.addr;
            shop.order("1").await;
            service.a.act("/orders/verify/1").await.data();
            until_state(&service, "1", "failed").await;
            let message = sync(&service, "1").await["message"].to_string();
            assert!(message.contains("not allowed"), "{message}");
            assert_eq!(receiver.connections(), 0);
        });
    }
}

#[test]
fn removed_integration_is_not_called() {
    both(async |service, shop, receiver| {
        receiver.set_default_response(CannedResponse::Status(503));
        shop.order("1").await;
        service.a.act("/orders/verify/1").await.data();
        receiver.wait_for(1).await;
        service
            .a
            .delete(&format!("/restaurants/{}/integrations/direct", shop.restaurant))
            .await
            .done();
        receiver.set_default_response(CannedResponse::Status(200));
        service.advance(Duration::from_secs(600));
        wait_until("the call is given up", async || {
            sync(&service, "1").await["state"] != json!("pending")
        })
        .await;
        // Nothing was sent, so the state must not be `done`.
        assert_ne!(sync(&service, "1").await["state"], json!("done"));
        assert_eq!(receiver.seen().len(), 1);
    });
}
