//! Channels: secrets stay secret, targets stay public, accounts stay apart.

use super::setup::{gateway, mail_channel, message_step, private, set_steps};
use crate::support::{Backend, Receiver, TestService};
use serde_json::json;

cases! {
    channel_is_created_read_changed_and_deleted
    wrong_channels_are_refused
    channel_of_another_account_is_not_found
}

mod own_service {
    use super::*;

    on_both! {
        secrets_are_never_shown_and_stay_with_their_address
        channel_in_use_is_not_deleted
        ; sqlite_only:
        private_target_is_refused
    }
}

async fn channel_is_created_read_changed_and_deleted(service: TestService) {
    let id = mail_channel(&service.a, "Müdür", "mudur@example.com").await;
    let path = format!("/channels/{id}");
    let channel = service.a.get(&path).await.data();
    assert_eq!(channel["recipients"], json!(["mudur@example.com"]));
    assert_eq!(
        (&channel["kind"], &channel["language"]),
        (&json!("email"), &json!("tr"))
    );
    let body = json!({ "name": "Gece", "kind": "email", "language": "en", "recipients": ["a@example.com"] });
    let changed = service.a.put(&path, &body).await.data();
    assert_eq!(
        (&changed["name"], &changed["language"]),
        (&json!("Gece"), &json!("en"))
    );
    assert_eq!(service.a.get("/channels").await.data(), json!([changed]));
    let result = service.a.act(&format!("{path}/test")).await.data();
    assert_eq!(result["isSent"], json!(false));
    assert!(result["message"].as_str().unwrap().contains("no mail server"));
    service.a.delete(&path).await.done();
    service.a.get(&path).await.refused(404, "channel_not_found");
}

async fn wrong_channels_are_refused(service: TestService) {
    let url = "https://sms.example.com/send";
    for (wrong, field) in [
        (json!({ "name": "x", "kind": "fax" }), "kind"),
        (
            json!({ "name": "x", "kind": "email", "recipients": [] }),
            "recipients",
        ),
        (
            json!({ "name": "x", "kind": "email", "recipients": ["a@b.c", "nobody"] }),
            "recipients[1]",
        ),
        (
            json!({ "name": "x", "kind": "email", "language": "fr", "recipients": ["a@b.c"] }),
            "language",
        ),
        (json!({ "name": "x", "kind": "http" }), "url"),
        (json!({ "name": "x", "kind": "http", "url": "ftp://x" }), "url"),
        (
            json!({ "name": "x", "kind": "http", "url": "https://{code}.example.com/" }),
            "url",
        ),
        (
            json!({ "name": "x", "kind": "http", "url": url, "method": "PATCH" }),
            "method",
        ),
        (
            json!({ "name": "x", "kind": "http", "url": url, "body": "{name}" }),
            "body",
        ),
        (
            json!({ "name": "x", "kind": "http", "url": url, "body": "{secret.key}" }),
            "body",
        ),
        (
            json!({ "name": "x", "kind": "http", "url": url, "headers": { "host": "y" } }),
            "headers.host",
        ),
        (
            json!({ "name": "x", "kind": "http", "url": url, "secrets": { "key": "***" } }),
            "secrets.key",
        ),
    ] {
        service
            .a
            .post("/channels", &wrong)
            .await
            .wrong(422, "invalid_field", field);
    }
    assert_eq!(service.a.get("/channels").await.data(), json!([]));
    for number in 0..20 {
        mail_channel(&service.a, &number.to_string(), "a@example.com").await;
    }
    let one_more = json!({ "name": "x", "kind": "email", "recipients": ["a@example.com"] });
    service
        .a
        .post("/channels", &one_more)
        .await
        .refused(409, "too_many_channels");
}

async fn channel_of_another_account_is_not_found(service: TestService) {
    let id = mail_channel(&service.a, "Mail", "a@example.com").await;
    let path = format!("/channels/{id}");
    let body = json!({ "name": "x", "kind": "email", "recipients": ["b@example.com"] });
    service.b.get(&path).await.refused(404, "channel_not_found");
    service
        .b
        .put(&path, &body)
        .await
        .refused(404, "channel_not_found");
    service.b.delete(&path).await.refused(404, "channel_not_found");
    service
        .b
        .act(&format!("{path}/test"))
        .await
        .refused(404, "channel_not_found");
    let notices = json!({ "kinds": ["platformDown"], "channelIds": [id] });
    service
        .b
        .put("/notices", &notices)
        .await
        .wrong(422, "invalid_field", "channelIds[0]");
    let shop = service.shop(&service.b, "b").await;
    let steps = json!({ "steps": [message_step(&id, 1)] });
    let escalation = format!("/restaurants/{}/escalation", shop.restaurant);
    service
        .b
        .put(&escalation, &steps)
        .await
        .wrong(422, "invalid_field", "steps[0].channelId");
}

async fn secrets_are_never_shown_and_stay_with_their_address(backend: Backend) {
    let service = private(backend).await;
    let receiver = Receiver::start().await;
    let id = gateway(&service.a, &receiver, "SMS").await;
    let path = format!("/channels/{id}");
    let mut channel = service.a.get(&path).await.data();
    assert_eq!(channel["headers"], json!({ "authorization": "***" }));
    assert_eq!(channel["secrets"], json!({ "token": "***" }));
    // Sent back, the masked values are kept.
    channel["name"] = json!("Other");
    service.a.put(&path, &channel).await.data();
    let result = service.a.act(&format!("{path}/test")).await.data();
    assert_eq!(result["isSent"], json!(true));
    assert_eq!(
        receiver.seen()[0].header("authorization"),
        Some("Bearer s3cret-token")
    );
    // But not for another address.
    channel["url"] = json!("https://elsewhere.example.com/");
    let moved = service.a.put(&path, &channel).await;
    moved.wrong(422, "invalid_field", "headers.authorization");
    assert!(!service.a.get("/channels").await.text().contains("s3cret"));
}

async fn channel_in_use_is_not_deleted(backend: Backend) {
    let service = private(backend).await;
    let receiver = Receiver::start().await;
    let shop = service.shop(&service.a, "Moda").await;
    let id = gateway(&service.a, &receiver, "SMS").await;
    set_steps(&service.a, &shop, json!([message_step(&id, 60)])).await;
    let path = format!("/channels/{id}");
    let refused = service.a.delete(&path).await.refused(409, "channel_in_use");
    assert!(refused.to_string().contains("Moda"), "{refused}");
    set_steps(&service.a, &shop, json!([])).await;
    service.a.delete(&path).await.done();
}

async fn private_target_is_refused(backend: Backend) {
    let service = TestService::open(backend).await;
    let body = json!({ "name": "x", "kind": "http", "url": "http://127.0.0.1:9/sms" });
    service
        .a
        .post("/channels", &body)
        .await
        .wrong(422, "target_not_allowed", "url");
}
