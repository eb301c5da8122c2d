//! Webhook endpoints: create, change, secrets, foreign ids.

use crate::support::{ApiClient, TestService};
use serde_json::{Value, json};

cases! {
    endpoint_is_created_changed_and_deleted
    secrets_are_shown_once
    changes_of_an_endpoint_are_audited_without_secrets
    wrong_settings_of_an_endpoint_are_refused
    endpoints_are_limited_and_belong_to_their_account
    only_the_primary_key_decides_where_events_go
    deleting_the_webhook_removes_its_settings
}

const ENDPOINTS: &str = "/webhook-endpoints";

async fn patch(client: &ApiClient, path: &str, body: &Value) -> crate::support::Reply {
    client.json("PATCH", path, &body.to_string()).await
}

fn path(made: &Value) -> String {
    format!("{ENDPOINTS}/{}", made["id"].as_str().unwrap())
}

async fn endpoint_is_created_changed_and_deleted(service: TestService) {
    let listed = service.a.get(ENDPOINTS).await.data();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(
        (&listed[0]["isDefault"], &listed[0]["url"]),
        (&json!(true), &Value::Null)
    );
    let url = "https://kds.example.com/olay";
    let made = service
        .a
        .post(ENDPOINTS, &json!({ "url": url, "label": "KDS" }))
        .await
        .data();
    assert_eq!(
        (&made["state"], &made["authorization"]),
        (&json!("active"), &json!("key"))
    );
    assert_eq!(
        (&made["signed"], &made["retries"]),
        (&json!(false), &json!("standard"))
    );
    assert_eq!(service.a.get(&path(&made)).await.data(), made);
    let change =
        json!({ "retries": "long", "body": "withOrder", "events": ["menu.degisti"], "platforms": ["getir"] });
    let changed = patch(&service.a, &path(&made), &change).await.data();
    assert_eq!((&changed["url"], &changed["label"]), (&json!(url), &json!("KDS")));
    assert_eq!(
        (&changed["retries"], &changed["body"]),
        (&json!("long"), &json!("withOrder"))
    );
    assert_eq!(changed["events"], json!(["menu.degisti"]));
    // The contract's webhook is the first endpoint.
    service
        .a
        .put(
            "/webhook",
            &json!({ "url": "https://pos.example.com", "authorization": "bare" }),
        )
        .await
        .data();
    let listed = service.a.get(ENDPOINTS).await.data();
    assert_eq!(listed[0]["url"], json!("https://pos.example.com"));
    assert_eq!(listed[0]["authorization"], json!("bareKey"));
    assert_eq!(listed[1], service.a.get(&path(&made)).await.data());
    let first = path(&listed[0]);
    patch(
        &service.a,
        &first,
        &json!({ "url": "https://till.example.com", "authorization": "key" }),
    )
    .await
    .data();
    let webhook = service.a.get("/webhook").await.data();
    assert_eq!(webhook["url"], json!("https://till.example.com"));
    assert_eq!(webhook["authorization"], json!("bearer"));
    service.a.delete(&first).await.done();
    assert_eq!(service.a.get("/webhook").await.data()["url"], Value::Null);
    service.a.delete(&path(&made)).await.done();
    service
        .a
        .delete(&path(&made))
        .await
        .refused(404, "endpoint_not_found");
}

async fn changes_of_an_endpoint_are_audited_without_secrets(service: TestService) {
    let body =
        json!({ "url": "https://kds.example.com/?key=s3cret", "authorization": "token", "signed": true });
    let made = service.a.post(ENDPOINTS, &body).await.data();
    let rotate = format!("{}/secret/rotate", path(&made));
    let rotated = service.a.post(&rotate, &json!({})).await.data();
    patch(&service.a, &path(&made), &json!({ "label": "Kitchen" }))
        .await
        .data();
    // What changes nothing is not recorded.
    patch(&service.a, &path(&made), &json!({ "label": "Kitchen" }))
        .await
        .data();
    service.a.delete(&path(&made)).await.success();
    let log = service
        .a
        .get(&format!("/audit?recordId={}", made["id"].as_str().unwrap()))
        .await;
    let entries = log.data();
    let entries = entries.as_array().unwrap();
    let actions: Vec<&str> = entries.iter().map(|it| it["action"].as_str().unwrap()).collect();
    assert_eq!(
        actions,
        [
            "webhook.deleted",
            "webhook.changed",
            "webhook.changed",
            "webhook.created"
        ]
    );
    assert_eq!(entries[1]["after"], json!({ "label": "Kitchen" }));
    assert_eq!(
        entries[2]["before"]["signingSecret"],
        entries[2]["after"]["oldSigningSecret"]
    );
    for secret in [
        &made["token"],
        &made["signingSecret"],
        &rotated["signingSecret"],
        &json!("s3cret"),
    ] {
        assert!(
            !log.text().contains(secret.as_str().unwrap()),
            "{secret} is in {}",
            log.text()
        );
    }
}

async fn secrets_are_shown_once(service: TestService) {
    let body = json!({ "url": "https://kds.example.com", "authorization": "token", "signed": true });
    let made = service.a.post(ENDPOINTS, &body).await.data();
    let (token, secret) = (
        made["token"].as_str().unwrap(),
        made["signingSecret"].as_str().unwrap(),
    );
    assert!(token.starts_with("gwt_") && secret.starts_with("whsec_"));
    let is_hidden = |text: String| !text.contains(token) && !text.contains(secret);
    assert!(is_hidden(service.a.get(&path(&made)).await.text()));
    assert!(is_hidden(
        patch(&service.a, &path(&made), &json!({ "label": "x", "signed": true }))
            .await
            .text()
    ));
    let rotate = format!("{}/secret/rotate", path(&made));
    let rotated = service.a.post(&rotate, &json!({})).await.data();
    assert_ne!(rotated["signingSecret"], made["signingSecret"]);
    assert_eq!(rotated["oldSecretUntil"], json!("2026-03-02T09:00:00.000Z"));
    service
        .a
        .post(&rotate, &json!({ "overlapHours": 169 }))
        .await
        .wrong(422, "invalid_field", "overlapHours");
    let own = json!({ "token": "a-token-of-our-own-0123" });
    assert!(
        patch(&service.a, &path(&made), &own)
            .await
            .data()
            .get("token")
            .is_none()
    );
    let off = patch(
        &service.a,
        &path(&made),
        &json!({ "signed": false, "authorization": "none" }),
    )
    .await
    .data();
    assert_eq!(
        (&off["signed"], &off["oldSecretUntil"]),
        (&json!(false), &Value::Null)
    );
    service
        .a
        .post(&rotate, &json!({}))
        .await
        .wrong(422, "invalid_field", "signed");
}

async fn wrong_settings_of_an_endpoint_are_refused(service: TestService) {
    let foreign = service.shop(&service.b, "foreign").await.restaurant;
    service
        .a
        .post(ENDPOINTS, &json!({}))
        .await
        .wrong(422, "invalid_field", "url");
    for (more, field) in [
        (json!({ "events": ["test"] }), "events[0]"),
        (json!({ "restaurantIds": [foreign] }), "restaurantIds[0]"),
        (json!({ "restaurantIds": ["x"] }), "restaurantIds[0]"),
        (json!({ "platforms": ["x"] }), "platforms[0]"),
        (json!({ "authorization": "basic" }), "authorization"),
        (json!({ "authorization": "token", "token": "short" }), "token"),
        (json!({ "token": "a-long-token-0123456" }), "token"),
        (json!({ "body": "all" }), "body"),
        (json!({ "retries": "forever" }), "retries"),
    ] {
        let mut body = json!({ "url": "https://kds.example.com" });
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        service
            .a
            .post(ENDPOINTS, &body)
            .await
            .wrong(422, "invalid_field", field);
    }
    let inside = json!({ "url": "http://127.0.0.1/" });
    service
        .a
        .post(ENDPOINTS, &inside)
        .await
        .wrong(422, "target_not_allowed", "url");
    assert_eq!(service.a.get(ENDPOINTS).await.data().as_array().unwrap().len(), 1);
}

async fn endpoints_are_limited_and_belong_to_their_account(service: TestService) {
    let mut last = Value::Null;
    for n in 0..20 {
        let body = json!({ "url": format!("https://kds{n}.example.com") });
        last = service.a.post(ENDPOINTS, &body).await.data();
    }
    let one_more = json!({ "url": "https://kds.example.com" });
    service
        .a
        .post(ENDPOINTS, &one_more)
        .await
        .wrong(422, "invalid_field", "endpoints");
    service
        .b
        .get(&path(&last))
        .await
        .refused(404, "endpoint_not_found");
    patch(&service.b, &path(&last), &json!({ "label": "x" }))
        .await
        .refused(404, "endpoint_not_found");
    for action in ["test", "deliveries/retry", "secret/rotate"] {
        let body = json!({ "since": "2026-01-01T00:00:00Z" });
        let path = format!("{}/{action}", path(&last));
        service
            .b
            .post(&path, &body)
            .await
            .refused(404, "endpoint_not_found");
    }
    for read in ["statistics", "deliveries"] {
        let path = format!("{}/{read}", path(&last));
        service.b.get(&path).await.refused(404, "endpoint_not_found");
        service.a.get(&path).await.data();
    }
}

async fn only_the_primary_key_decides_where_events_go(service: TestService) {
    let key = service.a.post("/keys", &json!({ "label": "Till" })).await.data();
    let till = ApiClient {
        key: key["apiKey"].as_str().unwrap().to_owned(),
        ..service.a.clone()
    };
    let body = json!({ "url": "https://kds.example.com", "authorization": "none" });
    till.post(ENDPOINTS, &body)
        .await
        .refused(403, "primary_key_required");
    let made = service.a.post(ENDPOINTS, &body).await.data();
    patch(&till, &path(&made), &json!({ "url": "https://evil.example.com" }))
        .await
        .refused(403, "primary_key_required");
    // Otherwise it could replace the secret that signs requests, and learn the new one.
    patch(&till, &path(&made), &json!({ "signed": true }))
        .await
        .refused(403, "primary_key_required");
    patch(&till, &path(&made), &json!({ "isActive": false }))
        .await
        .data();
}

async fn deleting_the_webhook_removes_its_settings(service: TestService) {
    let first = service.a.get(ENDPOINTS).await.data()[0].clone();
    let webhook = json!({ "url": "https://pos.example.com" });
    service.a.put("/webhook", &webhook).await.data();
    let own = json!({ "authorization": "token", "signed": true, "retries": "long" });
    patch(&service.a, &path(&first), &own).await.data();
    service.a.delete("/webhook").await.success();
    service.a.put("/webhook", &webhook).await.data();
    let again = service.a.get(&path(&first)).await.data();
    assert_eq!(
        (&again["authorization"], &again["signed"], &again["retries"]),
        (&first["authorization"], &json!(false), &first["retries"])
    );
}
