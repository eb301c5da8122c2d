//! Every operation of the OpenAPI document, so that a new one without these checks fails: no key, wrong key, other account.

use crate::support::{Caller, House, Shop, request, send};
use serde_json::{Value, json};

cases! {
    no_operation_works_without_a_key
    no_operation_reaches_into_another_account
    ids_in_bodies_and_queries_do_not_reach_either
    nonsense_ids_are_unknown_ids
}

/// The operations of the document as method and path.
async fn operations(house: &House) -> Vec<(String, String, Value)> {
    let reply = send(house.addr, &request("GET", "/openapi.json", &[], &[])).await;
    assert_eq!(reply.status, 200);
    let document = reply.json();
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            found.push((method.to_ascii_uppercase(), path.clone(), operation.clone()));
        }
    }
    assert!(found.len() >= 43, "only {} operations", found.len());
    found
}

async fn no_operation_works_without_a_key(house: House) {
    let kind = ("content-type", "application/json");
    for (method, path, _) in operations(&house).await {
        let path = path.replace(['{', '}'], "");
        for wrong in [
            vec![],
            vec![("authorization", "Bearer gsn_wrong")],
            vec![("authorization", "Bearer ")],
            vec![("authorization", house.a.key.as_str())],
            vec![("authorization", "Basic Z2Fyc29uOmdhcnNvbg==")],
        ] {
            let headers: Vec<_> = wrong.iter().copied().chain([kind]).collect();
            let reply = send(house.addr, &request(&method, &path, &headers, b"{}")).await;
            reply.refused(401, "unauthorized");
            // A shop presents its key in a header of its own.
            if !path.starts_with("/hooks/") {
                let asked = reply.header("www-authenticate");
                assert_eq!(asked, Some("Bearer"), "{method} {path}");
            }
        }
    }
}

/// What an account has, to be reached for by another.
struct Property {
    shop: Shop,
    business: String,
    order: String,
    key: String,
    event: String,
    retry: String,
}

async fn property(house: &House) -> Property {
    let business = house
        .a
        .post("/businesses", &json!({ "name": "A.Ş." }))
        .await
        .data();
    let shop = house.shop(&house.a, "kadikoy-1").await;
    let order = shop.order("W-1").await;
    let keys = house.a.get("/keys").await.data();
    let events = house.a.get("/events").await.data();
    let webhook = json!({ "url": "https://example.com/" });
    house.a.put("/webhook", &webhook).await.data();
    let since = json!({ "since": "2026-01-01T00:00:00Z" });
    let retry = house.a.post("/webhook/deliveries/retry", &since).await.data();
    let retry = retry["id"].as_str().unwrap().to_owned();
    // It comes to its end by itself; what is compared later must not change.
    let path = format!("/webhook/deliveries/retries/{retry}");
    crate::support::until("the retry is done", async || {
        house.a.get(&path).await.data()["state"] == json!("done")
    })
    .await;
    Property {
        retry,
        shop,
        business: business["id"].as_str().unwrap().to_owned(),
        order,
        key: keys[0]["id"].as_str().unwrap().to_owned(),
        event: events[0]["veri"]["id"].as_str().unwrap().to_owned(),
    }
}

/// Everything that the first account can see.
async fn look(caller: &Caller, own: &Property) -> Vec<Value> {
    let mut seen = Vec::new();
    for path in [
        "/orders",
        "/events",
        "/businesses",
        "/restaurants",
        "/webhook",
        "/webhook/deliveries",
        "/webhook/deliveries/retries",
        "/orders/grouped-payments",
        "/orders/reports/pending",
        &format!("/orders/{}", own.order),
    ] {
        seen.push(caller.get(path).await.success());
    }
    seen
}

/// A body with which the operation would work for its own account.
fn body_for(method: &str, path: &str) -> Value {
    match (method, path.trim_start_matches("/web-api/v1")) {
        ("PUT", "/businesses/{businessId}" | "/restaurants/{restaurantId}") => {
            json!({ "name": "Taken over" })
        }
        ("POST", "/businesses/{businessId}/restaurants") => json!({ "restaurantId": "own" }),
        ("PUT", "/restaurants/{restaurantId}/integrations/{provider}") => json!({ "isActive": false }),
        ("PUT", "/restaurants/{restaurantId}/packages") => json!({ "packages": [] }),
        ("PUT", "/restaurants/{restaurantId}/payment-matching") => json!({ "matches": [] }),
        _ => json!({}),
    }
}

async fn no_operation_reaches_into_another_account(house: House) {
    let own = property(&house).await;
    let theirs = house.shop(&house.b, "theirs").await;
    let before = look(&house.a, &own).await;
    let mut checked = 0;
    for (method, path, operation) in operations(&house).await {
        // What a shop's key reaches has tests of its own.
        if !path.contains('{') || path.starts_with("/hooks/") {
            continue;
        }
        let target = path
            .replace("/web-api/v1", "")
            .replace("{orderId}", &own.order)
            .replace("{businessId}", &own.business)
            .replace("{restaurantId}", &own.shop.restaurant)
            .replace("{keyId}", &own.key)
            .replace("{retryId}", &own.retry)
            .replace("{provider}", "direct");
        assert!(
            !target.contains('{'),
            "{path} has a parameter that this test does not know"
        );
        let query = match operation["parameters"].to_string().contains("\"restaurantId\"")
            && path.contains("/menus")
        {
            true => format!("?restaurantId={}", own.shop.restaurant),
            false => String::new(),
        };
        let body = body_for(&method, &path)
            .to_string()
            .replace("own", &theirs.restaurant);
        let needs_body = operation["requestBody"]["required"] == true;
        assert!(
            !needs_body || body != "{}",
            "{method} {path} has a body that this test does not know"
        );
        let reply = match method.as_str() {
            "GET" | "DELETE" => house.b.call(&method, &format!("{target}{query}"), &[], &[]).await,
            _ => house.b.json(&method, &target, &body).await,
        };
        assert_eq!(reply.status, 404, "{method} {path}: {}", reply.text());
        assert!(
            reply.json()["error"]["code"]
                .as_str()
                .unwrap()
                .ends_with("_not_found")
        );
        checked += 1;
    }
    assert!(checked >= 20, "only {checked} operations take an id");
    assert_eq!(look(&house.a, &own).await, before);
}

async fn ids_in_bodies_and_queries_do_not_reach_either(house: House) {
    let own = property(&house).await;
    let theirs = house.shop(&house.b, "theirs").await;
    let b = &house.b;
    let theirs_business = b.post("/businesses", &json!({ "name": "B" })).await.data();
    let theirs_business = theirs_business["id"].as_str().unwrap();
    let before = look(&house.a, &own).await;
    let restaurant = &own.shop.restaurant;
    for path in ["/orders", "/orders/reports/pending", "/orders/grouped-payments"] {
        b.get(&format!("{path}?restaurantId={restaurant}"))
            .await
            .refused(404, "restaurant_not_found");
    }
    for id in [&own.order, "W-1"] {
        b.get(&format!("/webhook/deliveries?orderId={id}"))
            .await
            .refused(404, "order_not_found");
    }
    b.post("/orders/reports/mark", &json!({ "providerOrderId": "W-1" }))
        .await
        .refused(404, "order_not_found");
    for id in [&own.event, &own.order, "W-1"] {
        let body = json!({ "webhookOrderId": id, "url": "https://example.com/", "headers": {} });
        b.post("/orders/retry-webhook", &body)
            .await
            .refused(404, "webhook_record_not_found");
    }
    b.post(
        &format!("/businesses/{theirs_business}/restaurants"),
        &json!({ "restaurantId": restaurant }),
    )
    .await
    .refused(404, "restaurant_not_found");
    b.post(
        "/restaurants",
        &json!({ "name": "x", "businessId": own.business }),
    )
    .await
    .refused(404, "business_not_found");
    b.put(
        &format!("/restaurants/{}", theirs.restaurant),
        &json!({ "name": "x", "businessId": own.business }),
    )
    .await
    .refused(404, "business_not_found");
    assert_eq!(look(&house.a, &own).await, before);
    let unchanged = b.get(&format!("/restaurants/{}", theirs.restaurant)).await.data();
    assert_eq!(
        (&unchanged["name"], &unchanged["businessId"]),
        (&json!("theirs"), &Value::Null)
    );
    assert_eq!(b.get("/restaurants").await.data().as_array().unwrap().len(), 1);
}

async fn nonsense_ids_are_unknown_ids(house: House) {
    let a = &house.a;
    for id in [
        "x",
        "0",
        "../etc",
        "%C5%9F",
        "00000000-0000-0000-0000-000000000000",
        "%20",
    ] {
        let id = id.replace('/', "%2F");
        a.get(&format!("/orders/{id}"))
            .await
            .refused(404, "order_not_found");
        a.act(&format!("/orders/verify/{id}"))
            .await
            .refused(404, "order_not_found");
        a.get(&format!("/businesses/{id}"))
            .await
            .refused(404, "business_not_found");
        a.get(&format!("/restaurants/{id}"))
            .await
            .refused(404, "restaurant_not_found");
        a.delete(&format!("/keys/{id}"))
            .await
            .refused(404, "key_not_found");
        a.get(&format!("/restaurants/{id}/packages"))
            .await
            .refused(404, "restaurant_not_found");
        a.get(&format!("/orders?restaurantId={id}"))
            .await
            .refused(404, "restaurant_not_found");
    }
}
