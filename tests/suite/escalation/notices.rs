//! Operational notices: once per incident, with recovery and a daily limit.

use super::setup::{gateway, message_states, private};
use crate::support::{Backend, CannedResponse, Receiver, TestService, wait_until};
use garson::flow::notices;
use serde_json::{Value, json};

on_both! {
    failing_webhook_is_reported_once_and_its_recovery
    delivery_that_was_given_up_is_reported_once_per_incident
    daily_limit_ends_with_one_message
    refused_log_in_and_platform_outage_are_reported
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
