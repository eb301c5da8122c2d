//! Integrations: created, changed, activated; secrets are never returned.

use crate::support::{ApiClient, TestService};
use serde_json::{Value, json};

cases! {
    integration_is_created_updated_and_removed
    branch_is_unique_within_an_account
    credentials_are_never_returned
    integration_requires_credentials_to_be_activated
    unknown_fields_and_platforms_are_refused
    short_platform_secrets_are_accepted
    switching_creates_an_event_once
    integration_health_shows_the_last_order
    removing_an_integration_keeps_its_orders
    non_primary_key_cannot_redirect_stored_secrets
}

const NOW: &str = "2026-03-01T09:00:00.000Z";

async fn restaurant(service: &TestService) -> String {
    let made = service
        .a
        .post("/restaurants", &json!({ "name": "r" }))
        .await
        .data();
    format!("/restaurants/{}", made["id"].as_str().unwrap())
}

async fn integration_is_created_updated_and_removed(service: TestService) {
    let path = format!("{}/integrations/direct", restaurant(&service).await);
    service.a.get(&path).await.refused(404, "integration_not_found");
    service
        .a
        .delete(&path)
        .await
        .refused(404, "integration_not_found");
    let made = service.a.put(&path, &json!({ "remoteId": "s" })).await.data();
    let health = json!({ "lastOrderAt": null, "lastErrorAt": null, "lastError": null });
    let wanted = json!({
        "provider": "direct", "isActive": false, "remoteId": "s", "branch": "unproven", "hasCredentials": false, "defaultCancelReason": null,
        "health": health, "createdAt": NOW, "updatedAt": NOW,
    });
    assert_eq!(made, wanted);
    service.advance(std::time::Duration::from_secs(1));
    let body = json!({ "isActive": true, "credentials": { "inboundKey": "key-of-s" }, "defaultCancelReason": "closed" });
    let changed = service.a.put(&path, &body).await.data();
    assert_eq!(
        (&changed["isActive"], &changed["hasCredentials"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(
        (&changed["remoteId"], &changed["createdAt"]),
        (&json!("s"), &json!(NOW))
    );
    assert_eq!(changed["updatedAt"], json!("2026-03-01T09:00:01.000Z"));
    assert_eq!(service.a.get(&path).await.data(), changed);
    let cleared = service
        .a
        .put(&path, &json!({ "defaultCancelReason": null }))
        .await
        .data();
    assert_eq!(
        (&cleared["defaultCancelReason"], &cleared["isActive"]),
        (&Value::Null, &json!(true))
    );
    service.a.delete(&path).await.done();
    service.a.get(&path).await.refused(404, "integration_not_found");
    assert_eq!(
        service.a.get("/events?limit=1").await.data()[0]["veri"]["isActive"],
        json!(false)
    );
}

async fn branch_is_unique_within_an_account(service: TestService) {
    let shop = service.shop(&service.a, "branch").await;
    let own = format!("{}/integrations/direct", restaurant(&service).await);
    let theirs = service
        .b
        .post("/restaurants", &json!({ "name": "b" }))
        .await
        .data();
    let theirs = format!(
        "/restaurants/{}/integrations/direct",
        theirs["id"].as_str().unwrap()
    );
    let body = json!({ "isActive": true, "remoteId": "branch", "credentials": { "inboundKey": "key-of-b" } });
    service.a.put(&own, &body).await.refused(409, "remote_id_taken");
    // Accounts choose the ids of their own shops, which are distinguished by their secrets.
    let neighbour = service.b.put(&theirs, &body).await.data();
    assert_eq!(
        (&neighbour["remoteId"], &neighbour["branch"]),
        (&json!("branch"), &json!("proven"))
    );
    let other = crate::support::Shop {
        key: "key-of-b".to_owned(),
        ..shop.clone()
    };
    shop.order_of("of-a", 100).await;
    other.order_of("of-b", 100).await;
    for (client, wanted) in [(&service.a, "of-a"), (&service.b, "of-b")] {
        let orders = client.get("/orders").await.data();
        let ids: Vec<_> = orders
            .as_array()
            .unwrap()
            .iter()
            .map(|it| &it["providerOrderId"])
            .collect();
        assert_eq!(ids, [&json!(wanted)]);
    }
    // Repeating one's own is fine, and what is let go can be taken.
    let first = format!("/restaurants/{}/integrations/direct", shop.restaurant);
    service
        .a
        .put(&first, &json!({ "remoteId": "branch" }))
        .await
        .data();
    service.a.delete(&first).await.done();
    assert_eq!(
        service.a.put(&own, &body).await.data()["remoteId"],
        json!("branch")
    );
}

async fn credentials_are_never_returned(service: TestService) {
    let restaurant = restaurant(&service).await;
    let path = format!("{restaurant}/integrations/direct");
    let body = json!({
        "isActive": true, "remoteId": "s",
        "credentials": { "inboundKey": "MARKED-inbound", "callbackUrl": "https://shop.example.com/MARKED-callback" },
    });
    let mut answers = vec![service.a.put(&path, &body).await];
    for look in [
        path.as_str(),
        restaurant.as_str(),
        "/restaurants",
        "/events",
        "/webhook/deliveries",
        "/providers",
    ] {
        answers.push(service.a.get(look).await);
    }
    answers.push(
        service
            .a
            .put(&path, &json!({ "credentials": { "inboundKey": ["MARKED"] } }))
            .await,
    );
    answers.push(
        service
            .a
            .put(
                &path,
                &json!({ "credentials": { "MARKED": "x", "inboundKey": "MARKED-key" } }),
            )
            .await,
    );
    let (last, before) = answers.split_last().unwrap();
    for answer in before {
        assert!(!answer.text().contains("MARKED"), "{}", answer.text());
    }
    // The name that was wrong is said, the value of its neighbour is not.
    last.wrong(422, "invalid_field", "credentials.MARKED");
}

async fn integration_requires_credentials_to_be_activated(service: TestService) {
    let path = format!("{}/integrations/direct", restaurant(&service).await);
    service
        .a
        .put(&path, &json!({ "isActive": true }))
        .await
        .wrong(422, "invalid_field", "remoteId");
    service
        .a
        .put(&path, &json!({ "isActive": true, "remoteId": "s" }))
        .await
        .wrong(422, "invalid_field", "credentials.inboundKey");
    service.a.get(&path).await.refused(404, "integration_not_found");
    let whole = json!({ "isActive": true, "remoteId": "s", "credentials": { "inboundKey": "key-of-s" } });
    service.a.put(&path, &whole).await.data();
    // What makes it work cannot be taken away while it works.
    service
        .a
        .put(&path, &json!({ "credentials": { "inboundKey": null } }))
        .await
        .wrong(422, "invalid_field", "credentials.inboundKey");
    service
        .a
        .put(&path, &json!({ "remoteId": null }))
        .await
        .wrong(422, "invalid_field", "remoteId");
    let off = json!({ "isActive": false, "remoteId": null, "credentials": { "inboundKey": null } });
    let off = service.a.put(&path, &off).await.data();
    assert_eq!(
        (&off["remoteId"], &off["hasCredentials"]),
        (&Value::Null, &json!(false))
    );
}

async fn short_platform_secrets_are_accepted(service: TestService) {
    let restaurant = restaurant(&service).await;
    for (provider, given) in [
        ("getir", ["appSecretKey", "restaurantSecretKey"]),
        ("yemeksepeti", ["password", "pluginSecret"]),
        ("trendyol", ["apiKey", "apiSecret"]),
        ("migros", ["apiKey", "secretKey"]),
    ] {
        let path = format!("{restaurant}/integrations/{provider}");
        for name in given {
            let made = service
                .a
                .put(&path, &json!({ "credentials": { name: "1234" } }))
                .await;
            assert_eq!(made.data()["hasCredentials"], json!(true), "{provider} {name}");
            for wrong in ["12 34", "şifre", ""] {
                let answer = service
                    .a
                    .put(&path, &json!({ "credentials": { name: wrong } }))
                    .await;
                answer.wrong(422, "invalid_field", &format!("credentials.{name}"));
            }
        }
    }
    // Those that an account makes up itself keep strangers out.
    for (provider, name) in [("getir", "inboundKey"), ("migros", "inboundPassword")] {
        let path = format!("{restaurant}/integrations/{provider}");
        let answer = service
            .a
            .put(&path, &json!({ "credentials": { name: "1234" } }))
            .await;
        answer.wrong(422, "invalid_field", &format!("credentials.{name}"));
    }
}

async fn unknown_fields_and_platforms_are_refused(service: TestService) {
    let restaurant = restaurant(&service).await;
    let path = format!("{restaurant}/integrations/direct");
    service
        .a
        .put(&path, &json!({ "credentials": { "password": "x" } }))
        .await
        .wrong(422, "invalid_field", "credentials.password");
    for (body, field) in [
        (json!({ "isActive": "yes" }), "isActive"),
        (json!({ "remoteId": 7 }), "remoteId"),
        (json!({ "remoteId": "" }), "remoteId"),
        (json!({ "credentials": [] }), "credentials"),
        (
            json!({ "credentials": { "inboundKey": "" } }),
            "credentials.inboundKey",
        ),
    ] {
        service
            .a
            .put(&path, &body)
            .await
            .wrong(422, "invalid_field", field);
    }
    for (url, code) in [
        ("http://127.0.0.1/", "target_not_allowed"),
        ("not a url", "invalid_field"),
    ] {
        service
            .a
            .put(&path, &json!({ "credentials": { "callbackUrl": url } }))
            .await
            .wrong(422, code, "callbackUrl");
    }
    for method in ["GET", "PUT", "DELETE"] {
        let reply = service
            .a
            .json(method, &format!("{restaurant}/integrations/pigeon"), "{}")
            .await;
        reply.refused(404, "unknown_provider");
    }
    assert_eq!(service.a.get(&restaurant).await.data()["integrations"], json!([]));
}

async fn switching_creates_an_event_once(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let path = format!("/restaurants/{}/integrations/direct", shop.restaurant);
    for active in [true, false, false, true, true] {
        service.a.put(&path, &json!({ "isActive": active })).await.data();
    }
    let events = service.a.get("/events").await.data();
    let told: Vec<&Value> = events
        .as_array()
        .unwrap()
        .iter()
        .map(|event| &event["veri"]["isActive"])
        .collect();
    assert_eq!(told, [&json!(true), &json!(false), &json!(true)]);
}

async fn integration_health_shows_the_last_order(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    let path = format!("/restaurants/{}/integrations/direct", shop.restaurant);
    service.advance(std::time::Duration::from_secs(90));
    shop.order("1").await;
    let shown = service.a.get(&path).await.data();
    assert_eq!(shown["health"]["lastOrderAt"], json!("2026-03-01T09:01:30.000Z"));
}

async fn removing_an_integration_keeps_its_orders(service: TestService) {
    let shop = service.shop(&service.a, "s").await;
    shop.order("1").await;
    service
        .a
        .delete(&format!("/restaurants/{}/integrations/direct", shop.restaurant))
        .await
        .done();
    assert_eq!(service.a.get("/orders").await.data().as_array().unwrap().len(), 1);
    assert_eq!(
        service.a.get("/orders/reasons/1").await.data()["reasons"]
            .as_array()
            .unwrap()
            .len(),
        6
    );
    service.a.act("/orders/verify/1").await.data();
    service.a.act("/orders/cancel/1").await.data();
    shop.post(b"{}").await.refused(401, "unauthorized");
}

async fn non_primary_key_cannot_redirect_stored_secrets(service: TestService) {
    let made = service.a.act("/keys").await.data();
    let lesser = ApiClient::new(service.addr, made["apiKey"].as_str().unwrap());
    let path = format!("{}/integrations/direct", restaurant(&service).await);
    let url =
        |host: &str| json!({ "credentials": { "callbackUrl": format!("https://{host}.example.com/") } });
    // Nothing is stored yet that could be sent there.
    lesser.put(&path, &url("shop")).await.data();
    let body = json!({ "isActive": true, "remoteId": "s", "credentials": { "inboundKey": "key-of-s" } });
    service.a.put(&path, &body).await.data();
    lesser
        .put(&path, &url("thief"))
        .await
        .refused(403, "primary_key_required");
    // The same address, none, and other changes decide nothing about the secret.
    lesser.put(&path, &url("shop")).await.data();
    lesser.put(&path, &json!({ "isActive": false })).await.data();
    let none = json!({ "credentials": { "callbackUrl": null } });
    lesser.put(&path, &none).await.data();
    lesser
        .put(&path, &url("thief"))
        .await
        .refused(403, "primary_key_required");
    // A key that gives the secret itself learns nothing by it.
    let mut both = url("other");
    both["credentials"]["inboundKey"] = json!("new-key-of-s");
    lesser.put(&path, &both).await.data();
    service.a.put(&path, &url("shop")).await.data();
}
