//! Integrations: connected, changed, switched, and never telling their secrets.

use crate::support::{Caller, House};
use serde_json::{Value, json};

cases! {
    an_integration_is_made_changed_and_removed
    a_branch_is_named_once_in_an_account
    credentials_are_in_no_answer
    an_integration_needs_its_credentials_before_it_is_switched_on
    unknown_names_and_platforms_are_refused
    secrets_that_a_platform_gives_out_may_be_short
    switching_makes_events_and_repeating_does_not
    health_shows_the_last_order
    a_removed_integration_leaves_its_orders
    a_lesser_key_has_no_stored_secret_sent_elsewhere
}

const NOW: &str = "2026-03-01T09:00:00.000Z";

async fn restaurant(house: &House) -> String {
    let made = house.a.post("/restaurants", &json!({ "name": "r" })).await.data();
    format!("/restaurants/{}", made["id"].as_str().unwrap())
}

async fn an_integration_is_made_changed_and_removed(house: House) {
    let path = format!("{}/integrations/direct", restaurant(&house).await);
    house.a.get(&path).await.refused(404, "integration_not_found");
    house.a.delete(&path).await.refused(404, "integration_not_found");
    let made = house.a.put(&path, &json!({ "remoteId": "s" })).await.data();
    let health = json!({ "lastOrderAt": null, "lastErrorAt": null, "lastError": null });
    let wanted = json!({
        "provider": "direct", "isActive": false, "remoteId": "s", "branch": "unproven", "hasCredentials": false, "defaultCancelReason": null,
        "health": health, "createdAt": NOW, "updatedAt": NOW,
    });
    assert_eq!(made, wanted);
    house.advance(std::time::Duration::from_secs(1));
    let body = json!({ "isActive": true, "credentials": { "inboundKey": "key-of-s" }, "defaultCancelReason": "closed" });
    let changed = house.a.put(&path, &body).await.data();
    assert_eq!(
        (&changed["isActive"], &changed["hasCredentials"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(
        (&changed["remoteId"], &changed["createdAt"]),
        (&json!("s"), &json!(NOW))
    );
    assert_eq!(changed["updatedAt"], json!("2026-03-01T09:00:01.000Z"));
    assert_eq!(house.a.get(&path).await.data(), changed);
    let cleared = house
        .a
        .put(&path, &json!({ "defaultCancelReason": null }))
        .await
        .data();
    assert_eq!(
        (&cleared["defaultCancelReason"], &cleared["isActive"]),
        (&Value::Null, &json!(true))
    );
    house.a.delete(&path).await.done();
    house.a.get(&path).await.refused(404, "integration_not_found");
    assert_eq!(
        house.a.get("/events?limit=1").await.data()[0]["veri"]["isActive"],
        json!(false)
    );
}

async fn a_branch_is_named_once_in_an_account(house: House) {
    let shop = house.shop(&house.a, "branch").await;
    let own = format!("{}/integrations/direct", restaurant(&house).await);
    let theirs = house.b.post("/restaurants", &json!({ "name": "b" })).await.data();
    let theirs = format!(
        "/restaurants/{}/integrations/direct",
        theirs["id"].as_str().unwrap()
    );
    let body = json!({ "isActive": true, "remoteId": "branch", "credentials": { "inboundKey": "key-of-b" } });
    house.a.put(&own, &body).await.refused(409, "remote_id_taken");
    // A shop's own channel is named as its account likes, and is told from a neighbour's by its secret.
    let neighbour = house.b.put(&theirs, &body).await.data();
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
    for (caller, wanted) in [(&house.a, "of-a"), (&house.b, "of-b")] {
        let orders = caller.get("/orders").await.data();
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
    house.a.put(&first, &json!({ "remoteId": "branch" })).await.data();
    house.a.delete(&first).await.done();
    assert_eq!(house.a.put(&own, &body).await.data()["remoteId"], json!("branch"));
}

async fn credentials_are_in_no_answer(house: House) {
    let restaurant = restaurant(&house).await;
    let path = format!("{restaurant}/integrations/direct");
    let body = json!({
        "isActive": true, "remoteId": "s",
        "credentials": { "inboundKey": "MARKED-inbound", "callbackUrl": "https://shop.example.com/MARKED-callback" },
    });
    let mut answers = vec![house.a.put(&path, &body).await];
    for look in [
        path.as_str(),
        restaurant.as_str(),
        "/restaurants",
        "/events",
        "/webhook/deliveries",
        "/providers",
    ] {
        answers.push(house.a.get(look).await);
    }
    answers.push(
        house
            .a
            .put(&path, &json!({ "credentials": { "inboundKey": ["MARKED"] } }))
            .await,
    );
    answers.push(
        house
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

async fn an_integration_needs_its_credentials_before_it_is_switched_on(house: House) {
    let path = format!("{}/integrations/direct", restaurant(&house).await);
    house
        .a
        .put(&path, &json!({ "isActive": true }))
        .await
        .wrong(422, "invalid_field", "remoteId");
    house
        .a
        .put(&path, &json!({ "isActive": true, "remoteId": "s" }))
        .await
        .wrong(422, "invalid_field", "credentials.inboundKey");
    house.a.get(&path).await.refused(404, "integration_not_found");
    let whole = json!({ "isActive": true, "remoteId": "s", "credentials": { "inboundKey": "key-of-s" } });
    house.a.put(&path, &whole).await.data();
    // What makes it work cannot be taken away while it works.
    house
        .a
        .put(&path, &json!({ "credentials": { "inboundKey": null } }))
        .await
        .wrong(422, "invalid_field", "credentials.inboundKey");
    house
        .a
        .put(&path, &json!({ "remoteId": null }))
        .await
        .wrong(422, "invalid_field", "remoteId");
    let off = json!({ "isActive": false, "remoteId": null, "credentials": { "inboundKey": null } });
    let off = house.a.put(&path, &off).await.data();
    assert_eq!(
        (&off["remoteId"], &off["hasCredentials"]),
        (&Value::Null, &json!(false))
    );
}

async fn secrets_that_a_platform_gives_out_may_be_short(house: House) {
    let restaurant = restaurant(&house).await;
    for (provider, given) in [
        ("getir", ["appSecretKey", "restaurantSecretKey"]),
        ("yemeksepeti", ["password", "pluginSecret"]),
        ("trendyol", ["apiKey", "apiSecret"]),
        ("migros", ["apiKey", "secretKey"]),
    ] {
        let path = format!("{restaurant}/integrations/{provider}");
        for name in given {
            let made = house
                .a
                .put(&path, &json!({ "credentials": { name: "1234" } }))
                .await;
            assert_eq!(made.data()["hasCredentials"], json!(true), "{provider} {name}");
            for wrong in ["12 34", "şifre", ""] {
                let answer = house
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
        let answer = house
            .a
            .put(&path, &json!({ "credentials": { name: "1234" } }))
            .await;
        answer.wrong(422, "invalid_field", &format!("credentials.{name}"));
    }
}

async fn unknown_names_and_platforms_are_refused(house: House) {
    let restaurant = restaurant(&house).await;
    let path = format!("{restaurant}/integrations/direct");
    house
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
        house.a.put(&path, &body).await.wrong(422, "invalid_field", field);
    }
    for (url, code) in [
        ("http://127.0.0.1/", "target_not_allowed"),
        ("not a url", "invalid_field"),
    ] {
        house
            .a
            .put(&path, &json!({ "credentials": { "callbackUrl": url } }))
            .await
            .wrong(422, code, "callbackUrl");
    }
    for method in ["GET", "PUT", "DELETE"] {
        let reply = house
            .a
            .json(method, &format!("{restaurant}/integrations/pigeon"), "{}")
            .await;
        reply.refused(404, "unknown_provider");
    }
    assert_eq!(house.a.get(&restaurant).await.data()["integrations"], json!([]));
}

async fn switching_makes_events_and_repeating_does_not(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let path = format!("/restaurants/{}/integrations/direct", shop.restaurant);
    for active in [true, false, false, true, true] {
        house.a.put(&path, &json!({ "isActive": active })).await.data();
    }
    let events = house.a.get("/events").await.data();
    let told: Vec<&Value> = events
        .as_array()
        .unwrap()
        .iter()
        .map(|event| &event["veri"]["isActive"])
        .collect();
    assert_eq!(told, [&json!(true), &json!(false), &json!(true)]);
}

async fn health_shows_the_last_order(house: House) {
    let shop = house.shop(&house.a, "s").await;
    let path = format!("/restaurants/{}/integrations/direct", shop.restaurant);
    house.advance(std::time::Duration::from_secs(90));
    shop.order("1").await;
    let shown = house.a.get(&path).await.data();
    assert_eq!(shown["health"]["lastOrderAt"], json!("2026-03-01T09:01:30.000Z"));
}

async fn a_removed_integration_leaves_its_orders(house: House) {
    let shop = house.shop(&house.a, "s").await;
    shop.order("1").await;
    house
        .a
        .delete(&format!("/restaurants/{}/integrations/direct", shop.restaurant))
        .await
        .done();
    assert_eq!(house.a.get("/orders").await.data().as_array().unwrap().len(), 1);
    assert_eq!(
        house.a.get("/orders/reasons/1").await.data()["reasons"]
            .as_array()
            .unwrap()
            .len(),
        6
    );
    house.a.act("/orders/verify/1").await.data();
    house.a.act("/orders/cancel/1").await.data();
    shop.post(b"{}").await.refused(401, "unauthorized");
}

async fn a_lesser_key_has_no_stored_secret_sent_elsewhere(house: House) {
    let made = house.a.act("/keys").await.data();
    let lesser = Caller::new(house.addr, made["apiKey"].as_str().unwrap());
    let path = format!("{}/integrations/direct", restaurant(&house).await);
    let url =
        |host: &str| json!({ "credentials": { "callbackUrl": format!("https://{host}.example.com/") } });
    // Nothing is stored yet that could be sent there.
    lesser.put(&path, &url("shop")).await.data();
    let body = json!({ "isActive": true, "remoteId": "s", "credentials": { "inboundKey": "key-of-s" } });
    house.a.put(&path, &body).await.data();
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
    house.a.put(&path, &url("shop")).await.data();
}
