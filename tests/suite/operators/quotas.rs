//! Quotas of accounts.

use crate::support::{
    Backend, PlatformWorld, Scrape, TestService, fast_sim_settings, order_body, wait_until,
};
use garson_sim::Platform;
use garson_sim::views::Courier;
use serde_json::json;

on_both! {
    quotas_limit_restaurants_keys_and_orders_of_own_shops
    platform_orders_are_accepted_beyond_the_quota
}

fn quota(service: &TestService, flags: &[&str]) -> crate::support::Outcome {
    let words = [&["account", "quota", "--email", "first@example.com"][..], flags].concat();
    service.command(&words)
}

async fn quotas_limit_restaurants_keys_and_orders_of_own_shops(backend: Backend) {
    let service = TestService::open_with(backend, |settings| settings.quotas.restaurants = 1, None).await;
    let shop = service.shop(&service.a, "s").await;
    let second = json!({ "name": "second" });
    let error = service
        .a
        .post("/restaurants", &second)
        .await
        .refused(403, "quota_reached");
    assert!(
        error["message"].as_str().unwrap().contains("1 restaurants"),
        "{error}"
    );
    let shown = quota(&service, &[]);
    // The command reads its own settings, which have no limits.
    assert!(shown.out.contains("unlimited  (default)"), "{}", shown.out);
    let wrong = quota(&service, &["--keys", "many"]);
    assert!(!wrong.success && wrong.err.contains("unlimited"), "{}", wrong.err);

    let set = quota(
        &service,
        &[
            "--restaurants",
            "unlimited",
            "--keys",
            "2",
            "--endpoints",
            "1",
            "--orders-per-day",
            "2",
            "--json",
        ],
    );
    let set: serde_json::Value = serde_json::from_str(set.out.trim()).unwrap();
    let wanted = json!({ "restaurants": null, "keys": 2, "endpoints": 1, "ordersPerDay": 2 });
    assert_eq!(set, wanted);
    service.a.post("/restaurants", &second).await.data();
    service.a.act("/keys").await.data();
    service.a.act("/keys").await.refused(403, "quota_reached");
    let endpoint = json!({ "url": "https://kds.example.com/" });
    service.a.post("/webhook-endpoints", &endpoint).await.data();
    service
        .a
        .post("/webhook-endpoints", &endpoint)
        .await
        .refused(403, "quota_reached");
    // The panel says it too.
    let mut user = service.user().await;
    let form = user.open("/keys").await.form("/keys");
    let page = user.submit(&form, &[]).await;
    assert!(page.status == 403 && page.has("kotası doldu"), "{}", page.html);

    shop.order("1").await;
    shop.order("2").await;
    let third = order_body("s", "3", 100).to_string();
    let refused = shop.post(third.as_bytes()).await;
    refused.refused(429, "order_quota_reached");
    assert!(refused.header("retry-after").is_some());
    // A repeat is no new order, and another account has its own quota.
    shop.order("2").await;
    service.shop(&service.b, "t").await.order("1").await;
    assert_eq!(service.count("orders"), 3);
    // The next day counts anew.
    service.clock.advance(std::time::Duration::from_secs(24 * 3600));
    shop.order("3").await;
    let set = quota(&service, &["--orders-per-day", "default"]);
    assert!(set.success, "{}", set.err);
}

async fn platform_orders_are_accepted_beyond_the_quota(backend: Backend) {
    let world = PlatformWorld::open_with(backend, fast_sim_settings(), |settings| {
        settings.quotas.orders_per_day = 1;
    })
    .await;
    for _ in 0..3 {
        world.platforms.order(Platform::Getir, Courier::Platform).await;
    }
    let orders = world.service.a.get("/orders").await.data();
    assert_eq!(orders.as_array().unwrap().len(), 3);
    wait_until("the operator is notified", async || {
        Scrape::of(world.service.addr)
            .await
            .count("garson_orders_over_quota_total")
            >= 2.0
    })
    .await;
}
