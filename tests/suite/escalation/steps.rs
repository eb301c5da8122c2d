//! Steps for orders that are not accepted: each action, once, at its time, until the order is accepted.

use super::setup::{
    gateway, message_states, message_step, private, seconds, set_steps, status, step, timeline, wait_for_line,
};
use crate::support::{ApiClient, Backend, PlatformWorld, Receiver, TestService, wait_until};
use garson::flow::admin::accounts;
use garson_sim::Platform::Getir;
use garson_sim::views::{Fault, OrderRequest};
use serde_json::json;

cases! {
    board_rings_when_an_order_is_not_accepted
    order_is_verified_automatically_after_its_time
    order_is_cancelled_automatically_after_its_time
    accepted_order_drops_its_steps
    steps_are_validated_and_belong_to_their_account
    deleted_restaurant_leaves_no_steps
    many_due_steps_do_not_hold_up_another_account
}

mod own_service {
    use super::*;

    on_both! {
        restart_neither_forgets_nor_repeats_a_step
        asking_platform_is_asked_by_the_steps
        order_is_not_verified_while_its_cancellation_is_being_decided
    }

    #[test]
    fn two_nodes_take_each_step_once() {
        crate::support::block_on(super::two_nodes_take_each_step_once(Backend::Postgres));
    }
}

async fn board_rings_when_an_order_is_not_accepted(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    set_steps(&service.a, &shop, json!([step("ring", 60)])).await;
    let order = shop.order("1").await;
    let mut user = service.user().await;
    assert!(!user.open("/").await.html.contains("data-escalated"));
    service.advance(seconds(59));
    assert!(
        !timeline(&service.a, &order)
            .await
            .iter()
            .any(|line| line.contains("ring"))
    );
    service.advance(seconds(2));
    wait_for_line(&service.a, &order, "ring urgently").await;
    assert!(user.open("/").await.html.contains("data-escalated"));
    service.a.act(&format!("/orders/verify/{order}")).await.data();
    assert!(!user.open("/").await.html.contains("data-escalated"));
}

async fn order_is_verified_automatically_after_its_time(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    set_steps(&service.a, &shop, json!([step("verify", 60)])).await;
    let order = shop.order("1").await;
    service.advance(seconds(61));
    wait_until("it is verified", async || {
        status(&service.a, &order).await == json!(500)
    })
    .await;
    wait_for_line(&service.a, &order, "not accepted in time: verified").await;
}

async fn order_is_cancelled_automatically_after_its_time(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let cancel = json!({ "when": "age", "seconds": 60, "action": "cancel", "note": "closed" });
    set_steps(&service.a, &shop, json!([cancel])).await;
    let order = shop.order("1").await;
    service.advance(seconds(61));
    wait_until("it is cancelled", async || {
        status(&service.a, &order).await == json!(1600)
    })
    .await;
    wait_for_line(&service.a, &order, "not accepted in time: cancelled").await;
}

async fn accepted_order_drops_its_steps(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    set_steps(&service.a, &shop, json!([step("ring", 30), step("cancel", 60)])).await;
    let (accepted, open) = (shop.order("1").await, shop.order("2").await);
    assert_eq!(service.count("escalation_steps"), 4);
    service.a.act(&format!("/orders/verify/{accepted}")).await.data();
    service.advance(seconds(61));
    wait_until("the other is cancelled", async || {
        status(&service.a, &open).await == json!(1600)
    })
    .await;
    wait_until("no step is left", async || service.count("escalation_steps") == 0).await;
    assert_eq!(status(&service.a, &accepted).await, json!(500));
    let lines = timeline(&service.a, &accepted).await;
    assert!(
        !lines.iter().any(|line| line.contains("not accepted")),
        "{lines:?}"
    );
}

async fn steps_are_validated_and_belong_to_their_account(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let path = format!("/restaurants/{}/escalation", shop.restaurant);
    assert_eq!(service.a.get(&path).await.data(), json!({ "steps": [] }));
    for (wrong, field) in [
        (
            json!({ "when": "soon", "seconds": 1, "action": "ring" }),
            "steps[0].when",
        ),
        (
            json!({ "when": "age", "seconds": 1, "action": "sing" }),
            "steps[0].action",
        ),
        (
            json!({ "when": "age", "seconds": 86_401, "action": "ring" }),
            "steps[0].seconds",
        ),
        (
            json!({ "when": "age", "seconds": 5_000_000_000_u64, "action": "ring" }),
            "steps[0].seconds",
        ),
        (
            json!({ "when": "age", "seconds": -1, "action": "ring" }),
            "steps[0].seconds",
        ),
        (
            json!({ "when": "age", "seconds": 1, "action": "message" }),
            "steps[0].channelId",
        ),
        (
            json!({ "when": "age", "seconds": 1, "action": "message", "channelId": shop.restaurant }),
            "steps[0].channelId",
        ),
    ] {
        let body = json!({ "steps": [wrong] });
        service
            .a
            .put(&path, &body)
            .await
            .wrong(422, "invalid_field", field);
    }
    let huge = json!({ "steps": [{ "when": "age", "seconds": u64::MAX, "action": "ring" }] });
    let error = service.a.put(&path, &huge).await.refused(422, "invalid_field");
    let said = "must be a whole number from 0 to 86400";
    assert!(error.to_string().contains(said), "{error}");
    let many: Vec<_> = (0..11).map(|at| step("ring", at)).collect();
    let many = json!({ "steps": many });
    service
        .a
        .put(&path, &many)
        .await
        .wrong(422, "invalid_field", "steps");
    service.b.get(&path).await.refused(404, "restaurant_not_found");
    let none = json!({ "steps": [] });
    service
        .b
        .put(&path, &none)
        .await
        .refused(404, "restaurant_not_found");
    let written_otherwise = json!({ "steps": [{ "when": "age", "seconds": 30.0, "action": "ring" }] });
    let stored = service.a.put(&path, &written_otherwise).await.data();
    assert_eq!(stored["steps"][0]["seconds"], json!(30));
    let steps = json!([step("ring", 5), { "when": "beforeAcceptBy", "seconds": 60, "action": "verify",
                        "onlyIfUnwatched": true }]);
    set_steps(&service.a, &shop, steps).await;
    let stored = service.a.get(&path).await.data();
    assert_eq!(stored["steps"][1]["onlyIfUnwatched"], json!(true));
    assert_eq!(stored["steps"][1]["when"], json!("beforeAcceptBy"));
}

async fn deleted_restaurant_leaves_no_steps(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    set_steps(&service.a, &shop, json!([step("ring", 600)])).await;
    shop.order("1").await;
    service
        .a
        .delete(&format!("/restaurants/{}", shop.restaurant))
        .await
        .done();
    service.sweep().await;
    assert_eq!(service.count("escalation_steps"), 0);
}

/// Ten thousand orders of two accounts have steps that are due at once; the step of a third account is taken with the first of
/// them.
async fn many_due_steps_do_not_hold_up_another_account(service: TestService) {
    const ORDERS: usize = 5_000;
    let (_, key) = accounts::create(&service.app, "Third".to_owned(), "third@example.com", None)
        .await
        .unwrap();
    let third = ApiClient::new(service.addr, key.secret.expose());
    for (client, name) in [(&service.a, "one"), (&service.b, "two")] {
        let shop = service.shop(client, name).await;
        set_steps(client, &shop, json!([step("ring", 60), step("ring", 61)])).await;
        shop.order("1").await;
    }
    let quiet = service.shop(&third, "quiet").await;
    set_steps(&third, &quiet, json!([step("ring", 60)])).await;
    service.execute_sql(&copies_of_orders(service.backend, ORDERS));
    assert_eq!(
        service.count("escalation_steps"),
        4 * i64::try_from(ORDERS).unwrap()
    );
    let order = quiet.order("1").await;
    service.advance(seconds(62));
    wait_for_line(&third, &order, "ring urgently").await;
    assert!(
        service.count("escalation_steps") > 15_000,
        "the others take their turns"
    );
    // They are taken in turns too, not one account after the other.
    wait_until("a thousand are taken", async || {
        service.count("escalation_steps") < 19_000
    })
    .await;
    let taken = |name: &str| {
        service.count(&format!(
            "orders WHERE escalated_at IS NOT NULL
             AND restaurant_id IN (SELECT id FROM restaurants WHERE name = '{name}')"
        ))
    };
    let (one, two) = (taken("one"), taken("two"));
    assert!(one.abs_diff(two) <= 200, "{one} and {two}");
}

/// SQL that makes so many of each order, with its steps.
fn copies_of_orders(backend: Backend, count: usize) -> String {
    let id = match backend {
        Backend::Sqlite => "randomblob(16)",
        Backend::Postgres => "decode(replace(CAST(gen_random_uuid() AS TEXT), '-', ''), 'hex')",
    };
    let same = "account_id, restaurant_id, integration_id, status, line, provider, content_hash, short_code, sequence, total,
                currency, payment_type, placed_at, created_at, updated_at, sync_state, revision";
    let of = same.replace(", ", ", o.");
    format!(
        "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
         INSERT INTO orders (id, position, changed, provider_order_id, identity, {same})
         SELECT {id}, o.position + n.i, o.changed + n.i, CAST(n.i AS TEXT), 'copy ' || CAST(n.i AS TEXT), o.{of}
         FROM orders o, n;
         INSERT INTO escalation_steps
             (order_id, number, account_id, restaurant_id, needs_platform, step, due_at, attempts)
         SELECT o.id, s.number, s.account_id, s.restaurant_id, s.needs_platform, s.step, s.due_at, s.attempts
         FROM orders o JOIN escalation_steps s ON s.account_id = o.account_id AND s.order_id <> o.id;"
    )
}

async fn restart_neither_forgets_nor_repeats_a_step(backend: Backend) {
    let mut service = private(backend).await;
    let receiver = Receiver::start().await;
    let shop = service.shop(&service.a, "s").await;
    let channel = gateway(&service.a, &receiver, "Manager").await;
    let steps = json!([
        message_step(&channel, 30),
        message_step(&channel, 60),
        step("verify", 90)
    ]);
    set_steps(&service.a, &shop, steps).await;
    let order = shop.order("1").await;
    service.advance(seconds(31));
    receiver.wait_for(1).await;
    wait_for_line(&service.a, &order, "message sent by Manager").await;
    // The second step becomes due while the service is down.
    service
        .restart_meanwhile(|clock| clock.advance(seconds(30)))
        .await;
    receiver.wait_for(2).await;
    wait_until("both are sent", async || {
        message_states(&service.a).await == ["sent", "sent"]
    })
    .await;
    service
        .restart_meanwhile(|clock| clock.advance(seconds(30)))
        .await;
    wait_until("it is verified", async || {
        status(&service.a, &order).await == json!(500)
    })
    .await;
    assert_eq!(receiver.count(), 2);
    assert_eq!(service.count("escalation_steps"), 0);
}

async fn two_nodes_take_each_step_once(backend: Backend) {
    let service = private(backend).await;
    let _second = service.second_node().await;
    let receiver = Receiver::start().await;
    let shop = service.shop(&service.a, "s").await;
    let channel = gateway(&service.a, &receiver, "Manager").await;
    set_steps(
        &service.a,
        &shop,
        json!([message_step(&channel, 30), step("ring", 31)]),
    )
    .await;
    let mut orders = Vec::new();
    for number in 0..20 {
        orders.push(shop.order(&number.to_string()).await);
    }
    service.advance(seconds(32));
    wait_until("all are sent", async || {
        message_states(&service.a).await == vec!["sent"; orders.len()]
    })
    .await;
    for order in &orders {
        wait_for_line(&service.a, order, "ring urgently").await;
        let lines = timeline(&service.a, order).await;
        let rang = lines.iter().filter(|line| line.contains("ring urgently")).count();
        assert_eq!(rang, 1, "{lines:?}");
    }
    assert_eq!(receiver.count(), orders.len());
}

async fn asking_platform_is_asked_by_the_steps(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let restaurant = world.restaurant.clone();
    let path = format!("/restaurants/{restaurant}/escalation");
    let api = world.service.a.clone();
    for (action, wanted) in [("verify", 500), ("cancel", 1600)] {
        let steps = json!({ "steps": [{ "when": "age", "seconds": 60, "action": action }] });
        api.put(&path, &steps).await.data();
        let placed = world.place(OrderRequest::new(Getir)).await;
        world.wait_for_status(&placed, 400).await;
        world.advance_clock(61).await;
        world.wait_for_status(&placed, wanted).await;
        world.wait_for_sync(&placed, "done").await;
    }
}

/// A manager cancels an order, and its platform takes long to answer. When the step is due meanwhile, it waits: if the order was
/// cancelled, nothing is left of it; if the platform refused, the order is verified.
async fn order_is_not_verified_while_its_cancellation_is_being_decided(backend: Backend) {
    let world = PlatformWorld::open_without_polling(backend).await;
    let path = format!("/restaurants/{}/escalation", world.restaurant);
    let steps = json!({ "steps": [step("verify", 60)] });
    world.service.a.put(&path, &steps).await.data();
    for (refusal, wanted) in [(None, 1600), (Some(400), 500)] {
        let placed = world.place(OrderRequest::new(Getir)).await;
        world.wait_for_status(&placed, 400).await;
        let reason = world.reasons(&placed).await.remove(0);
        // After a refusal the order is read, which takes long as well.
        let slow = Fault::Latency { ms: 6_000 };
        let on = match refusal {
            Some(status) => {
                let refused = Fault::Status { status, body: None };
                world.fault(Getir, "cancel", refused, Some(1)).await;
                "order"
            }
            None => "cancel",
        };
        world.fault(Getir, on, slow, Some(1)).await;
        let cancel = world.cancel(&placed, json!({ "reason": reason }));
        let meanwhile = async {
            wait_until("the platform is being asked", async || {
                world
                    .service
                    .count("calls WHERE kind = 'cancel' AND state = 'open'")
                    == 1
            })
            .await;
            world.service.advance(seconds(61));
            wait_until("the step waits", async || {
                world.service.count("escalation_steps WHERE attempts > 0") == 1
            })
            .await;
        };
        let (reply, ()) = tokio::join!(cancel, meanwhile);
        assert_eq!(reply.status == 200, refusal.is_none(), "{}", reply.status);
        wait_until("no step is left", async || {
            world.service.advance(seconds(3));
            world.service.count("escalation_steps") == 0
        })
        .await;
        world.wait_for_status(&placed, wanted).await;
    }
}
