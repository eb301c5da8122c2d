//! Every operation of the OpenAPI document without a key, with a wrong key, and with another account's key. A new operation
//! without these checks fails.

use crate::support::{ApiClient, Shop, TestService, request, send};
use serde_json::{Value, json};

cases! {
    every_operation_requires_a_key
    no_operation_accesses_another_account
    ids_in_bodies_and_queries_are_scoped_to_the_account
    malformed_ids_are_not_found
    report_of_a_catalog_needs_its_token
}

/// The operations of the document as method and path.
async fn operations(service: &TestService) -> Vec<(String, String, Value)> {
    let reply = send(service.addr, &request("GET", "/openapi.json", &[], &[])).await;
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

async fn every_operation_requires_a_key(service: TestService) {
    let kind = ("content-type", "application/json");
    for (method, path, _) in operations(&service).await {
        let path = path.replace(['{', '}'], "");
        for wrong in [
            vec![],
            vec![("authorization", "Bearer gsn_wrong")],
            vec![("authorization", "Bearer ")],
            vec![("authorization", service.a.key.as_str())],
            vec![("authorization", "Basic Z2Fyc29uOmdhcnNvbg==")],
        ] {
            let headers: Vec<_> = wrong.iter().copied().chain([kind]).collect();
            let reply = send(service.addr, &request(&method, &path, &headers, b"{}")).await;
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
    printer: String,
    channel: String,
    user: String,
    endpoint: String,
}

async fn property(service: &TestService) -> Property {
    let business = service
        .a
        .post("/businesses", &json!({ "name": "A.Ş." }))
        .await
        .data();
    let shop = service.shop(&service.a, "kadikoy-1").await;
    let order = shop.order("W-1").await;
    let printer = service
        .a
        .post("/printers", &json!({ "name": "Mutfak" }))
        .await
        .data();
    let keys = service.a.get("/keys").await.data();
    let events = service.a.get("/events").await.data();
    let webhook = json!({ "url": "https://example.com/" });
    service.a.put("/webhook", &webhook).await.data();
    let since = json!({ "since": "2026-01-01T00:00:00Z" });
    let retry = service.a.post("/webhook/deliveries/retry", &since).await.data();
    let retry = retry["id"].as_str().unwrap().to_owned();
    // Wait for its end; what is compared later must not change.
    let path = format!("/webhook/deliveries/retries/{retry}");
    crate::support::wait_until("the retry is done", async || {
        service.a.get(&path).await.data()["state"] == json!("done")
    })
    .await;
    let channel = json!({ "name": "Mail", "kind": "email", "recipients": ["a@example.com"] });
    let channel = service.a.post("/channels", &channel).await.data();
    let users = service.a.get("/users").await.data();
    let endpoint = json!({ "url": "https://kds.example.com/", "events": ["menu.degisti"], "signed": true });
    let endpoint = service.a.post("/webhook-endpoints", &endpoint).await.data();
    Property {
        user: users[0]["id"].as_str().unwrap().to_owned(),
        endpoint: endpoint["id"].as_str().unwrap().to_owned(),
        channel: channel["id"].as_str().unwrap().to_owned(),
        retry,
        printer: printer["id"].as_str().unwrap().to_owned(),
        shop,
        business: business["id"].as_str().unwrap().to_owned(),
        order,
        key: keys[0]["id"].as_str().unwrap().to_owned(),
        event: events[0]["veri"]["id"].as_str().unwrap().to_owned(),
    }
}

/// Everything that the first account can see.
async fn look(client: &ApiClient, own: &Property) -> Vec<Value> {
    let mut seen = Vec::new();
    for path in [
        "/orders",
        "/events",
        "/businesses",
        "/restaurants",
        "/webhook",
        "/webhook/deliveries",
        "/webhook-endpoints",
        "/webhook/deliveries/retries",
        "/printers",
        "/channels",
        "/users",
        "/notices",
        "/orders/grouped-payments",
        "/reports/summary",
        "/orders/reports/pending",
        &format!("/orders/{}", own.order),
    ] {
        seen.push(client.get(path).await.success());
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
        ("POST", "/printers/{printerId}/report") => json!({ "state": "ready" }),
        ("POST", "/orders/{orderId}/print") => json!({ "printerId": "00000000-0000-0000-0000-000000000000" }),
        ("PUT", "/restaurants/{restaurantId}/escalation") => json!({ "steps": [] }),
        ("PUT", "/channels/{channelId}") => {
            json!({ "name": "Taken over", "kind": "email", "recipients": ["b@example.com"] })
        }
        ("POST", "/restaurants/{restaurantId}/products") => {
            json!({ "provider": "direct", "itemId": "K-1", "name": "Taken over" })
        }
        ("PUT", "/restaurants/{restaurantId}/products/{productId}/links/{provider}") => {
            json!({ "itemId": "K-1" })
        }
        ("PUT", "/restaurants/{restaurantId}/products/{productId}/availability") => {
            json!({ "available": false })
        }
        ("PUT", "/restaurants/{restaurantId}/products/availability") => {
            json!({ "products": [{ "productId": SOME_ID, "available": false }] })
        }
        ("PUT", "/restaurants/{restaurantId}/store") => json!({ "state": "closed" }),
        ("PUT", "/restaurants/{restaurantId}/throttle") => json!({ "enabled": false }),
        ("PUT", "/restaurants/{restaurantId}/hours") => json!({ "weekly": [] }),
        ("POST", "/restaurants/{restaurantId}/catalog") => json!({ "from": "getir", "to": "yemeksepeti" }),
        ("POST", "/restaurants/{restaurantId}/prices/preview") => {
            json!({ "prices": [{ "productId": SOME_ID, "price": 1 }] })
        }
        ("PATCH", "/webhook-endpoints/{endpointId}") => json!({ "label": "Taken over" }),
        ("POST", "/webhook-endpoints/{endpointId}/secret/rotate") => json!({ "overlapHours": 1 }),
        ("POST", "/webhook-endpoints/{endpointId}/deliveries/retry") => {
            json!({ "since": "2026-01-01T00:00:00Z" })
        }
        ("POST", "/restaurants/{restaurantId}/prices") => json!({ "previewId": SOME_ID }),
        ("PATCH", "/users/{userId}") => json!({ "name": "Taken over" }),
        _ => json!({}),
    }
}

/// An id that nothing has.
const SOME_ID: &str = "018f3c1e-7b1a-7c3e-8d2a-1b2c3d4e5f60";

async fn no_operation_accesses_another_account(service: TestService) {
    let own = property(&service).await;
    let theirs = service.shop(&service.b, "theirs").await;
    let before = look(&service.a, &own).await;
    let mut checked = 0;
    for (method, path, operation) in operations(&service).await {
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
            .replace("{printerId}", &own.printer)
            .replace("{channelId}", &own.channel)
            .replace("{userId}", &own.user)
            .replace("{erasureId}", SOME_ID)
            .replace("{endpointId}", &own.endpoint)
            .replace("{eventId}", &own.event)
            .replace("{productId}", SOME_ID)
            .replace("{priceChangeId}", SOME_ID)
            .replace("{catalogPushId}", SOME_ID)
            .replace("{provider}", "direct");
        assert!(
            !target.contains('{'),
            "{path} has a parameter that this test does not know"
        );
        let query =
            if operation["parameters"].to_string().contains("\"restaurantId\"") && path.contains("/menus") {
                format!("?restaurantId={}", own.shop.restaurant)
            } else if path.ends_with("/menu-differences") {
                "?between=platforms".to_owned()
            } else {
                String::new()
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
            "GET" | "DELETE" => {
                service
                    .b
                    .call(&method, &format!("{target}{query}"), &[], &[])
                    .await
            }
            _ => service.b.json(&method, &target, &body).await,
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
    assert_eq!(look(&service.a, &own).await, before);
}

async fn ids_in_bodies_and_queries_are_scoped_to_the_account(service: TestService) {
    let own = property(&service).await;
    let theirs = service.shop(&service.b, "theirs").await;
    let b = &service.b;
    let theirs_business = b.post("/businesses", &json!({ "name": "B" })).await.data();
    let theirs_business = theirs_business["id"].as_str().unwrap();
    let before = look(&service.a, &own).await;
    let restaurant = &own.shop.restaurant;
    for path in [
        "/orders",
        "/orders/reports/pending",
        "/orders/grouped-payments",
        "/reports/summary",
    ] {
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
    assert_eq!(look(&service.a, &own).await, before);
    let unchanged = b.get(&format!("/restaurants/{}", theirs.restaurant)).await.data();
    assert_eq!(
        (&unchanged["name"], &unchanged["businessId"]),
        (&json!("theirs"), &Value::Null)
    );
    assert_eq!(b.get("/restaurants").await.data().as_array().unwrap().len(), 1);
}

async fn malformed_ids_are_not_found(service: TestService) {
    let a = &service.a;
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

/// The route for these reports is not in the document: only platforms get its address.
async fn report_of_a_catalog_needs_its_token(service: TestService) {
    let kind = ("content-type", "application/json");
    let body = br#"{"catalogImportId": "i-1", "status": "done"}"#;
    let long = "x".repeat(500);
    for (id, token) in [
        (SOME_ID, "x"),
        (SOME_ID, ""),
        ("x", "x"),
        (SOME_ID, long.as_str()),
    ] {
        for headers in [vec![kind], vec![kind, ("authorization", "Bearer gsn_wrong")]] {
            let path = format!("/hooks/yemeksepeti/catalogs/{id}/{token}");
            let reply = send(service.addr, &request("POST", &path, &headers, body)).await;
            reply.refused(404, "not_found");
        }
    }
    let other = format!("/hooks/getir/catalogs/{SOME_ID}/x");
    let reply = send(service.addr, &request("POST", &other, &[kind], body)).await;
    assert_eq!(
        reply.status, 404,
        "a platform that reports nothing has no such route"
    );
}
