//! Orders and cancellations of the restaurant's own shop.

use crate::support::{Backend, TestService, order_body, wait_until};
use serde_json::json;

cases! {
    secret_hashed_by_an_earlier_version_is_accepted_and_rehashed
    acknowledged_order_is_readable_immediately
    repeated_order_is_the_same_order
    same_id_with_different_content_is_refused
    wrong_key_is_refused_and_nothing_is_stored
    one_key_may_serve_several_stores
    of_64_posts_of_one_order_one_is_created
    inactive_integration_accepts_orders_with_a_flag
    customer_cancellation_is_applied
    restaurant_cancellation_is_applied
    a_cancellation_may_be_repeated
    late_cancellation_overrides_delivery
    an_order_of_another_store_cannot_be_cancelled
    a_body_needs_no_content_type
    whole_numbers_may_have_a_zero_fraction
}

async fn acknowledged_order_is_readable_immediately(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    for n in 0..20 {
        let id = shop.order(&n.to_string()).await;
        assert_eq!(
            service.a.get(&format!("/orders/{n}")).await.data()["id"],
            json!(id)
        );
        let newest = service.a.get("/orders?limit=1").await.data();
        assert_eq!(newest[0]["id"], json!(id));
        let event = service.a.get("/events?limit=1").await.data();
        assert_eq!(event[0]["veri"]["orderId"], json!(id));
    }
}

async fn repeated_order_is_the_same_order(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("1").await;
    service.a.act("/orders/verify/1").await.data();
    let before = (
        service.a.get("/orders/1").await.data(),
        service.a.get("/events").await.data(),
    );
    service.advance(std::time::Duration::from_secs(5));
    // Other white space and another order of fields are the same content.
    let mut body = order_body("s", "1", 10_000);
    body["note"] = json!(null);
    for text in [order_body("s", "1", 10_000).to_string(), format!("{body:#}")] {
        let again = shop.post(text.as_bytes()).await.success();
        assert_eq!(again, json!({ "success": true, "data": { "orderId": id } }));
    }
    let after = (
        service.a.get("/orders/1").await.data(),
        service.a.get("/events").await.data(),
    );
    assert_eq!(after, before);
    assert!(service.open_messages().await.is_empty());
}

async fn same_id_with_different_content_is_refused(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let id = shop.order("1").await;
    let before = service.a.get("/orders/1").await.data();
    for _ in 0..2 {
        let other = order_body("s", "1", 10_001).to_string();
        let error = shop
            .post(other.as_bytes())
            .await
            .refused(409, "duplicate_order_id");
        assert!(error["message"].as_str().unwrap().contains(&id));
    }
    assert_eq!(service.a.get("/orders/1").await.data(), before);
    assert_eq!(service.a.get("/orders").await.data().as_array().unwrap().len(), 1);
    let kept = service.open_messages().await;
    assert_eq!(
        (kept.len(), kept[0].state.as_str(), kept[0].times),
        (1, "conflicting", 2)
    );
}

async fn wrong_key_is_refused_and_nothing_is_stored(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let theirs = service.shop(&service.b, "theirs").await;
    let body = order_body("s", "1", 100).to_string();
    for key in [
        None,
        Some(""),
        Some("wrong"),
        Some("inbound-S"),
        Some(service.a.key.as_str()),
    ] {
        for body in [body.as_bytes(), b"{", b"", b"\xff\x00"] {
            shop.hook("/hooks/direct/orders", key, body)
                .await
                .refused(401, "unauthorized");
            shop.hook("/hooks/direct/orders/1/cancel", key, body)
                .await
                .refused(401, "unauthorized");
        }
    }
    // Another account's key opens only its own stores.
    shop.hook("/hooks/direct/orders", Some(&theirs.key), body.as_bytes())
        .await
        .refused(404, "unknown_store");
    assert_eq!(service.a.get("/orders").await.data(), json!([]));
    assert_eq!(service.b.get("/orders").await.data(), json!([]));
    let kept = service.open_messages().await;
    assert_eq!((kept.len(), kept[0].state.as_str()), (1, "unmatched"));
    assert_eq!(service.count("inbox"), 1);
}

async fn one_key_may_serve_several_stores(service: TestService) {
    let mut restaurants = Vec::new();
    for store in ["one", "two"] {
        let made = service
            .a
            .post("/restaurants", &json!({ "name": store }))
            .await
            .data();
        let path = format!(
            "/restaurants/{}/integrations/direct",
            made["id"].as_str().unwrap()
        );
        let body =
            json!({ "isActive": true, "remoteId": store, "credentials": { "inboundKey": "shared-key" } });
        service.a.put(&path, &body).await.data();
        restaurants.push(made["id"].clone());
    }
    let shop = service.shop(&service.a, "three").await;
    for (store, restaurant) in ["one", "two"].into_iter().zip(&restaurants) {
        let body = order_body(store, store, 100).to_string();
        shop.hook("/hooks/direct/orders", Some("shared-key"), body.as_bytes())
            .await
            .success();
        assert_eq!(
            &service.a.get(&format!("/orders/{store}")).await.data()["restaurantId"],
            restaurant
        );
    }
}

async fn of_64_posts_of_one_order_one_is_created(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..64 {
        let shop = shop.clone();
        running.spawn(async move { shop.order("1").await });
    }
    let ids = running.join_all().await;
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(service.a.get("/orders").await.data().as_array().unwrap().len(), 1);
    let events = service.a.get("/events").await.data();
    assert_eq!(events.as_array().unwrap().len(), 2);
    let sums = service.a.get("/orders/grouped-payments").await.data();
    assert_eq!(sums["currencies"][0]["count"], json!(1));
}

async fn inactive_integration_accepts_orders_with_a_flag(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let path = format!("/restaurants/{}/integrations/direct", shop.restaurant);
    service.a.put(&path, &json!({ "isActive": false })).await.data();
    let id = shop.order("1").await;
    let detail = service.a.get("/orders/1").await.data();
    assert_eq!(
        (&detail["id"], &detail["flag"], &detail["status"]),
        (&json!(id), &json!("integration_off"), &json!(400))
    );
    assert_eq!(
        service.a.get("/events?limit=1").await.data()[0]["olay"],
        json!("siparis.olusturuldu")
    );
    shop.cancel("1", json!({})).await.success();
}

async fn customer_cancellation_is_applied(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    for (order, by) in [("1", json!({})), ("2", json!({ "by": "customer" }))] {
        let id = shop.order(order).await;
        let mut body = by;
        body["note"] = json!("Vazgeçtim");
        body["reason"] = json!("customer_request");
        let reply = shop.cancel(order, body).await.success();
        assert_eq!(reply, json!({ "success": true, "data": { "orderId": id } }));
        let detail = service.a.get(&format!("/orders/{order}")).await.data();
        assert_eq!(
            (&detail["status"], &detail["statusName"]),
            (&json!(1500), &json!("cancelled_by_platform"))
        );
        let wanted = json!({
            "by": "customer", "note": "Vazgeçtim", "at": "2026-03-01T09:00:00.000Z",
            "reason": { "id": "customer_request", "name": "The customer asked for it" },
        });
        assert_eq!(detail["cancellation"], wanted);
    }
}

async fn restaurant_cancellation_is_applied(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    shop.cancel("1", json!({ "by": "restaurant" })).await.success();
    let detail = service.a.get("/orders/1").await.data();
    assert_eq!(
        (&detail["status"], &detail["cancellation"]["by"]),
        (&json!(1600), &json!("account"))
    );
    let event = service.a.get("/events?limit=1").await.data()[0]["veri"].clone();
    assert_eq!(
        (&event["status"], &event["by"]),
        (&json!(1600), &json!("account"))
    );
}

async fn a_cancellation_may_be_repeated(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    shop.cancel("1", json!({})).await.success();
    let before = (
        service.a.get("/orders/1").await.data(),
        service.a.get("/events").await.data(),
    );
    shop.cancel("1", json!({})).await.success();
    shop.cancel("1", json!({ "by": "restaurant", "note": "x" }))
        .await
        .success();
    let after = (
        service.a.get("/orders/1").await.data(),
        service.a.get("/events").await.data(),
    );
    assert_eq!(after, before);
}

async fn late_cancellation_overrides_delivery(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    for _ in 0..3 {
        service.a.act("/orders/change-status/1").await.data();
    }
    shop.cancel("1", json!({})).await.success();
    assert_eq!(service.a.get("/orders/1").await.data()["status"], json!(1500));
}

async fn an_order_of_another_store_cannot_be_cancelled(service: TestService) {
    let (one, two) = (
        service.shop(&service.a, "one").await,
        service.shop(&service.b, "two").await,
    );
    one.order("1").await;
    two.cancel("1", json!({})).await.refused(404, "order_not_found");
    one.cancel("2", json!({})).await.refused(404, "order_not_found");
    let body = json!({ "storeId": "one" }).to_string();
    two.hook("/hooks/direct/orders/1/cancel", Some(&two.key), body.as_bytes())
        .await
        .refused(404, "unknown_store");
    assert_eq!(service.a.get("/orders/1").await.data()["status"], json!(400));
    assert_eq!(service.open_messages().await.len(), 3);
}

async fn whole_numbers_may_have_a_zero_fraction(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let order = |price: &str| {
        format!(
            r#"{{"storeId":"s","providerOrderId":"1","items":[{{"name":"Simit","quantity":2.0,"unitPrice":{price}}}],
                "amount":{{"total":3e3,"tip":0.0}},"payment":{{"type":"cash"}}}}"#
        )
    };
    shop.post(order("1500.0").as_bytes()).await.data();
    let detail = service.a.get("/orders/1").await.data();
    assert_eq!(
        (&detail["items"][0]["unitPrice"], &detail["amount"]["total"]),
        (&json!(1_500), &json!(3_000))
    );
    for wrong in ["1500.5", "1e300", "\"1500\"", "true"] {
        let reply = shop.post(order(wrong).as_bytes()).await;
        reply.wrong(422, "invalid_field", "items[0].unitPrice");
    }
}

async fn a_body_needs_no_content_type(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let body = order_body("s", "1", 100).to_string();
    let bytes = crate::support::request(
        "POST",
        "/hooks/direct/orders",
        &[("x-api-key", &shop.key)],
        body.as_bytes(),
    );
    crate::support::send(service.addr, &bytes).await.success();
}

async fn secret_hashed_by_an_earlier_version_is_accepted_and_rehashed(mut service: TestService) {
    let mut shop = service.shop(&service.a, "s").await;
    let former = garson_store::vault::lookup_hash(shop.key.as_bytes());
    let hex: String = former.iter().map(|byte| format!("{byte:02x}")).collect();
    let value = match service.backend {
        Backend::Sqlite => format!("x'{hex}'"),
        Backend::Postgres => format!("'\\x{hex}'"),
    };
    let has_former = async |service: &TestService| -> bool {
        let found = service
            .app
            .store
            .read(|tx| -> garson_store::Result<Vec<Vec<u8>>> {
                let sql = "SELECT inbound_hash FROM integrations";
                tx.query(sql, garson_store::params![], |row| row.get(0))
            })
            .await
            .unwrap();
        found == [former.to_vec()]
    };
    assert!(!has_former(&service).await, "it lies there as a bare hash");
    service.execute_sql(&format!("UPDATE integrations SET inbound_hash = {value}"));
    shop.order("1").await;
    service.restart().await;
    shop.addr = service.addr;
    shop.order("2").await;
    wait_until("it is hashed anew", async || !has_former(&service).await).await;
    shop.order("3").await;
    assert_eq!(service.a.get("/orders").await.data().as_array().unwrap().len(), 3);
}
