//! Operational notices: once per incident, with recovery and a daily limit.

use super::setup::{gateway, message_states, private};
use crate::support::{
    Backend, CannedResponse, PlatformWorld, Receiver, TestService, fast_sim_settings, wait_until,
};
use garson::flow::notices;
use garson_sim::Platform;
use garson_sim::Platform::{Migros, Trendyol};
use garson_sim::views::Fault;
use serde_json::{Value, json};

on_both! {
    failing_webhook_is_reported_once_and_its_recovery
    delivery_that_was_given_up_is_reported_once_per_incident
    daily_limit_ends_with_one_message
    refused_log_in_and_platform_outage_are_reported
    outage_and_refusal_last_until_a_poll_succeeds
    switched_off_integration_ends_an_outage_without_a_message
    ; sqlite_only:
    notices_are_chosen_by_the_account
}

async fn want(service: &TestService, receiver: &Receiver, kinds: Value) -> String {
    let channel = gateway(&service.a, receiver, "SMS").await;
    let body = json!({ "kinds": kinds, "channelIds": [channel] });
    service.a.put("/notices", &body).await.data();
    channel
}

async fn subjects(service: &TestService) -> Vec<String> {
    let messages = service.a.get("/messages").await.data();
    let mut subjects: Vec<String> = messages
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["subject"].as_str().unwrap().to_owned())
        .collect();
    subjects.reverse();
    subjects
}

async fn check(service: &TestService) {
    notices::step(&service.app).await.unwrap();
}

/// Sets how the account's newest event went.
fn settle(service: &TestService, state: &str) {
    service.execute_sql(&format!("UPDATE events SET state = '{state}'"));
}

async fn failing_webhook_is_reported_once_and_its_recovery(backend: Backend) {
    let service = private(backend).await;
    let receiver = Receiver::start().await;
    want(&service, &receiver, json!(["webhookFailing"])).await;
    let pos = Receiver::start().await;
    pos.set_default_response(CannedResponse::Status(200));
    let hook = json!({ "url": pos.url("/hook") });
    service.a.put("/webhook", &hook).await.data();
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    wait_until("all is delivered", async || {
        service.count("events WHERE state = 'pending'") == 0
    })
    .await;
    check(&service).await;
    assert!(subjects(&service).await.is_empty());
    settle(&service, "failed");
    check(&service).await;
    check(&service).await;
    assert_eq!(subjects(&service).await, ["Orders do not reach your POS"]);
    settle(&service, "delivered");
    check(&service).await;
    check(&service).await;
    assert_eq!(
        subjects(&service).await,
        ["Orders do not reach your POS", "Orders reach your POS again"]
    );
    wait_until("both are sent", async || {
        message_states(&service.a).await == ["sent", "sent"]
    })
    .await;
    assert_eq!(receiver.count(), 2);
}

async fn delivery_that_was_given_up_is_reported_once_per_incident(backend: Backend) {
    let service = private(backend).await;
    let receiver = Receiver::start().await;
    want(&service, &receiver, json!(["deliveryGivenUp"])).await;
    let shop = service.shop(&service.a, "s").await;
    let pos = Receiver::start().await;
    pos.set_default_response(CannedResponse::Status(500));
    service
        .a
        .put("/webhook", &json!({ "url": pos.url("/hook") }))
        .await
        .data();
    let given_up = async |number: i64| {
        shop.order(&number.to_string()).await;
        wait_until("the event is given up", async || {
            service.advance(super::setup::seconds(60));
            service.count("events WHERE state = 'failed'") == number
        })
        .await;
    };
    check(&service).await;
    assert!(subjects(&service).await.is_empty());
    given_up(1).await;
    check(&service).await;
    let one = subjects(&service).await;
    assert_eq!(one, ["Some events could not be delivered"]);
    // A second one belongs to the same incident.
    given_up(2).await;
    check(&service).await;
    check(&service).await;
    assert_eq!(subjects(&service).await, one);
    // A delivery ends the incident, without a message: what was given up stays so.
    pos.set_default_response(CannedResponse::Status(200));
    shop.order("3").await;
    wait_until("it is delivered", async || {
        service.count("events WHERE state = 'delivered'") == 1
    })
    .await;
    check(&service).await;
    assert_eq!(subjects(&service).await, one);
    assert_eq!(service.count("incidents"), 0);
    // Another incident is reported again.
    pos.set_default_response(CannedResponse::Status(500));
    shop.order("4").await;
    wait_until("the event is given up", async || {
        service.advance(super::setup::seconds(60));
        service.count("events WHERE state = 'failed'") == 3
    })
    .await;
    check(&service).await;
    check(&service).await;
    assert_eq!(subjects(&service).await.len(), 2);
}

async fn daily_limit_ends_with_one_message(backend: Backend) {
    let change = |settings: &mut garson::config::Settings| {
        settings.allow_private_targets = true;
        settings.messages.notices_per_day = 3;
    };
    let service = TestService::open_with(backend, change, None).await;
    let receiver = Receiver::start().await;
    want(&service, &receiver, json!(["webhookFailing"])).await;
    let pos = Receiver::start().await;
    service
        .a
        .put("/webhook", &json!({ "url": pos.url("/hook") }))
        .await
        .data();
    service.shop(&service.a, "s").await.order("1").await;
    wait_until("all is delivered", async || {
        service.count("events WHERE state = 'pending'") == 0
    })
    .await;
    for _ in 0..4 {
        settle(&service, "failed");
        check(&service).await;
        settle(&service, "delivered");
        check(&service).await;
    }
    let sent = subjects(&service).await;
    assert_eq!(sent.len(), 4, "{sent:?}");
    assert_eq!(sent[3], "Daily limit of notices reached");
    // The next day begins anew.
    service.clock.advance(super::setup::seconds(24 * 60 * 60));
    settle(&service, "failed");
    check(&service).await;
    assert_eq!(subjects(&service).await.len(), 5);
}

async fn refused_log_in_and_platform_outage_are_reported(backend: Backend) {
    let service = private(backend).await;
    let receiver = Receiver::start().await;
    want(&service, &receiver, json!(["loginRefused", "platformDown"])).await;
    let shop = service.shop(&service.a, "Moda").await;
    let trouble = |error: &str| {
        let now = service.app.now().as_millis();
        service.execute_sql(&format!(
            "UPDATE integrations SET trouble_at = {now}, last_error_at = {now}, last_error = '{error}'"
        ));
    };
    let refused = r#"{"code":"login_refused","cause":{"code":"answered","status":401}}"#;
    trouble(refused);
    check(&service).await;
    check(&service).await;
    assert_eq!(subjects(&service).await.len(), 1);
    assert!(subjects(&service).await[0].contains("refuses the log-in"));
    // The trouble passes, and an order comes.
    service.advance(super::setup::seconds(200));
    shop.order("1").await;
    check(&service).await;
    assert!(subjects(&service).await[1].contains("accepts the log-in again"));
    // A single failure of the platform is no outage; one that lasts is.
    let down = r#"{"code":"answered","status":503}"#;
    service.advance(super::setup::seconds(10));
    trouble(down);
    check(&service).await;
    assert_eq!(subjects(&service).await.len(), 2);
    service.advance(super::setup::seconds(40));
    trouble(down);
    check(&service).await;
    check(&service).await;
    assert_eq!(subjects(&service).await.len(), 3);
    service.advance(super::setup::seconds(200));
    check(&service).await;
    assert!(subjects(&service).await[3].contains("works again"));
}

/// A service with platforms that may call a gateway.
async fn private_world(backend: Backend) -> PlatformWorld {
    let change = |settings: &mut garson::config::Settings| settings.allow_private_targets = true;
    PlatformWorld::open_with(backend, fast_sim_settings(), change).await
}

/// Polls all platforms, and waits until this one is noted to be in trouble since then, or in none.
async fn poll(world: &PlatformWorld, platform: Platform, is_in_trouble: bool) {
    let now = world.service.app.now().as_millis();
    world.poll().await;
    let of_platform = format!("integrations WHERE provider = '{platform}' AND trouble_at");
    let wanted = if is_in_trouble {
        format!("{of_platform} >= {now}")
    } else {
        format!("{of_platform} IS NULL")
    };
    wait_until(&wanted, async || world.service.count(&wanted) == 1).await;
}

async fn answers_with(world: &PlatformWorld, platform: Platform, status: u16) {
    let fault = Fault::Status { status, body: None };
    world.fault(platform, "*", fault, None).await;
}

async fn outage_and_refusal_last_until_a_poll_succeeds(backend: Backend) {
    let world = private_world(backend).await;
    let service = &world.service;
    let receiver = Receiver::start().await;
    want(service, &receiver, json!(["loginRefused", "platformDown"])).await;
    poll(&world, Trendyol, false).await;
    // One platform answers no request, and another refuses the credentials of each.
    answers_with(&world, Migros, 503).await;
    answers_with(&world, Trendyol, 401).await;
    poll(&world, Migros, true).await;
    poll(&world, Trendyol, true).await;
    check(service).await;
    assert!(subjects(service).await.is_empty(), "once is no outage");
    world.advance_clock(60).await;
    poll(&world, Migros, true).await;
    poll(&world, Trendyol, true).await;
    check(service).await;
    check(service).await;
    let told = subjects(service).await;
    let mut sorted = told.clone();
    sorted.sort();
    assert_eq!(
        sorted,
        ["Migros Yemek does not answer", "Trendyol Go refuses the log-in"]
    );
    // The pauses between polls grow, and a restarted service has not polled yet.
    let mut user = service.user().await;
    for minutes in [4, 10, 40, 180] {
        world.advance_clock(60 * minutes).await;
        check(service).await;
        assert_eq!(subjects(service).await, told, "{minutes}");
        let away = user.open("/").await.within("away", "div");
        // After hours without a failed poll no node seems to poll.
        assert_eq!(away.has("Migros Yemek"), minutes < 180, "{}", away.text());
    }
    world.control.clear_faults().await.unwrap();
    poll(&world, Migros, false).await;
    poll(&world, Trendyol, false).await;
    check(service).await;
    check(service).await;
    let mut ended = subjects(service).await.split_off(2);
    ended.sort();
    assert_eq!(
        ended,
        ["Migros Yemek works again", "Trendyol Go accepts the log-in again"]
    );
    let away = user.open("/").await.within("away", "div");
    assert_eq!(away.text().trim(), "");
}

async fn switched_off_integration_ends_an_outage_without_a_message(backend: Backend) {
    let world = private_world(backend).await;
    let service = &world.service;
    let receiver = Receiver::start().await;
    want(service, &receiver, json!(["loginRefused", "platformDown"])).await;
    answers_with(&world, Migros, 503).await;
    poll(&world, Migros, true).await;
    check(service).await;
    world.advance_clock(60).await;
    poll(&world, Migros, true).await;
    check(service).await;
    assert_eq!(subjects(service).await.len(), 1);
    let path = format!("/restaurants/{}/integrations/migros", world.restaurant);
    service.a.put(&path, &json!({ "isActive": false })).await.data();
    check(service).await;
    assert_eq!(service.count("incidents"), 0);
    assert_eq!(subjects(service).await.len(), 1, "it does not work again");
}

async fn notices_are_chosen_by_the_account(backend: Backend) {
    let service = private(backend).await;
    assert_eq!(
        service.a.get("/notices").await.data(),
        json!({ "kinds": [], "channelIds": [] })
    );
    let wrong = json!({ "kinds": ["rain"], "channelIds": [] });
    service
        .a
        .put("/notices", &wrong)
        .await
        .wrong(422, "invalid_field", "kinds[0]");
    let nowhere = json!({ "kinds": ["platformDown"], "channelIds": [] });
    service
        .a
        .put("/notices", &nowhere)
        .await
        .wrong(422, "invalid_field", "channelIds");
    let receiver = Receiver::start().await;
    let channel = want(&service, &receiver, json!(["platformDown", "loginRefused"])).await;
    let stored = service.a.get("/notices").await.data();
    assert_eq!(stored["kinds"], json!(["loginRefused", "platformDown"]));
    assert_eq!(stored["channelIds"], json!([channel]));
    let refused = service.a.delete(&format!("/channels/{channel}")).await;
    refused.refused(409, "channel_in_use");
}
