//! Keys with limits: scopes, restaurants, networks, expiry, and their replacement.

use crate::support::{ApiClient, EventStream, Shop, TestService, order_body, wait_until};
use garson::api::access::{OPERATIONS, Subject};
use garson_core::key_access::Scope;
use serde_json::{Value, json};
use std::time::Duration;

cases! {
    every_operation_with_every_scope
    key_of_one_restaurant_reaches_no_other
    key_is_refused_when_it_expires
    replaced_primary_key_is_carried_until_it_expires
    ; sqlite_only:
    key_of_several_restaurants_names_one_of_them
    events_of_other_restaurants_are_left_out
    key_is_used_only_from_its_networks
    key_issues_nothing_that_it_may_not_do
    wrong_limits_are_refused
    expired_key_ends_streams
    revoking_the_replacement_keeps_the_primary_key
    answer_of_a_limited_key_is_repeated_to_no_other
    commands_issue_limited_keys
}

const SOME_ID: &str = "018f3c1e-7b1a-7c3e-8d2a-1b2c3d4e5f60";
const HOUR: Duration = Duration::from_secs(60 * 60);

async fn issue(service: &TestService, limits: Value) -> (Value, ApiClient) {
    let made = service.a.post("/keys", &limits).await.data();
    let client = ApiClient::new(service.addr, made["apiKey"].as_str().unwrap());
    (made, client)
}

async fn limited(service: &TestService, limits: Value) -> ApiClient {
    issue(service, limits).await.1
}

async fn every_operation_with_every_scope(service: TestService) {
    for scope in Scope::ALL {
        let client = limited(&service, json!({ "scopes": [scope.as_str()] })).await;
        for operation in OPERATIONS {
            let path = operation.path.replace("{provider}", "direct");
            let parts = path
                .split('/')
                .map(|part| if part.starts_with('{') { SOME_ID } else { part });
            let path = parts.collect::<Vec<_>>().join("/");
            let method = operation.method.as_str();
            let reply = match method {
                "GET" | "DELETE" => client.call(method, &path, &[], &[]).await,
                _ => client.json(method, &path, "{}").await,
            };
            let is_allowed = operation
                .needs
                .permission
                .is_none_or(|permission| scope.permissions().contains(&permission));
            let what = format!("{} {method} {path}: {}", scope.as_str(), reply.text());
            if is_allowed {
                assert_ne!(reply.json()["error"]["code"], "insufficient_scope", "{what}");
                assert!(reply.status < 500, "{what}");
            } else {
                let error = reply.refused(403, "insufficient_scope");
                assert!(error.to_string().contains("needs the scope"), "{what}");
            }
        }
    }
}

/// What a foreign restaurant has.
async fn state(client: &ApiClient, shop: &Shop) -> Vec<Value> {
    let mut all = Vec::new();
    for path in [
        "",
        "/store",
        "/hours",
        "/throttle",
        "/packages",
        "/products",
        "/escalation",
    ] {
        let path = format!("/restaurants/{}{path}", shop.restaurant);
        all.push(client.get(&path).await.success());
    }
    all.push(
        client
            .get(&format!("/orders?restaurantId={}", shop.restaurant))
            .await
            .success(),
    );
    all
}

async fn key_of_one_restaurant_reaches_no_other(service: TestService) {
    let (own, other) = (
        service.shop(&service.a, "own").await,
        service.shop(&service.a, "other").await,
    );
    let (of_own, of_other) = (own.order("K-1").await, other.order("K-2").await);
    let client = limited(&service, json!({ "restaurantIds": [own.restaurant] })).await;
    let before = state(&service.a, &other).await;
    for operation in OPERATIONS {
        let path = operation
            .path
            .replace("{restaurantId}", &other.restaurant)
            .replace("{orderId}", &of_other)
            .replace("{provider}", "direct");
        let parts = path
            .split('/')
            .map(|part| if part.starts_with('{') { SOME_ID } else { part });
        let path = parts.collect::<Vec<_>>().join("/");
        let (method, subject) = (operation.method.as_str(), operation.needs.subject);
        let is_of_account = operation.needs.permission.is_some_and(|it| it.is_of_account());
        let path = match subject {
            Subject::Parameter => format!("{path}?restaurantId={}", other.restaurant),
            _ => path,
        };
        let reply = match method {
            "GET" | "DELETE" => client.call(method, &path, &[], &[]).await,
            _ => client.json(method, &path, "{}").await,
        };
        if is_of_account {
            let error = reply.refused(403, "insufficient_scope");
            assert!(
                error.to_string().contains("account as a whole"),
                "{path}: {error}"
            );
        } else if matches!(subject, Subject::Parameter | Subject::Restaurant | Subject::Order) {
            assert_eq!(reply.status, 404, "{method} {path}: {}", reply.text());
        }
        assert!(!reply.text().contains("K-2"), "{method} {path}: {}", reply.text());
    }
    // Ids in bodies, and the platform's ids.
    for path in ["/orders/reports/mark", "/orders/reports/unmark"] {
        for id in ["K-2", of_other.as_str()] {
            let body = json!({ "providerOrderId": id });
            client.post(path, &body).await.refused(404, "order_not_found");
        }
    }
    let many = json!({ "providerOrderIds": ["K-1", "K-2"] });
    let results = client.post("/orders/reports/mark", &many).await.data();
    let results: Vec<&Value> = results["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["result"])
        .collect();
    assert_eq!(results, ["marked", "unknown"]);
    client.get("/orders/K-2").await.refused(404, "order_not_found");
    client
        .act("/orders/verify/K-2")
        .await
        .refused(404, "order_not_found");
    let names = json!({ "restaurantIds": [own.restaurant, other.restaurant], "names": ["Simit"], "available": false });
    client
        .put("/products/availability", &names)
        .await
        .refused(404, "restaurant_not_found");
    for printer in [
        json!({ "name": "P" }),
        json!({ "name": "P", "restaurantId": other.restaurant }),
    ] {
        assert!([404, 422].contains(&client.post("/printers", &printer).await.status));
    }
    let of_all = service
        .a
        .post("/printers", &json!({ "name": "All" }))
        .await
        .data();
    let report = format!("/printers/{}/report", of_all["id"].as_str().unwrap());
    let of_other_printer = json!({ "name": "Theirs", "restaurantId": other.restaurant });
    let theirs = service.a.post("/printers", &of_other_printer).await.data();
    let print = json!({ "printerId": theirs["id"] });
    client
        .post("/orders/K-1/print", &print)
        .await
        .refused(404, "printer_not_found");
    let business = json!({ "name": "own", "businessId": null });
    client
        .put(&format!("/restaurants/{}", own.restaurant), &business)
        .await
        .refused(403, "insufficient_scope");
    let ready = json!({ "state": "ready" });
    client
        .post(&report, &ready)
        .await
        .refused(404, "printer_not_found");
    assert_eq!(state(&service.a, &other).await, before);
    // Its own restaurant is there.
    let restaurants = client.get("/restaurants").await.data();
    assert_eq!(restaurants.as_array().unwrap().len(), 1);
    let orders = client.get("/orders").await.data();
    let ids: Vec<&Value> = orders.as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, [&json!(of_own)]);
    client.act("/orders/verify/K-1").await.data();
    client
        .get(&format!("/restaurants/{}/store", own.restaurant))
        .await
        .data();
    let printer = json!({ "name": "P", "restaurantId": own.restaurant });
    let printer = client.post("/printers", &printer).await.data();
    let report = format!("/printers/{}/report", printer["id"].as_str().unwrap());
    client.post(&report, &ready).await.data();
}

async fn key_of_several_restaurants_names_one_of_them(service: TestService) {
    let mut shops = Vec::new();
    for store in ["one", "two", "three"] {
        let shop = service.shop(&service.a, store).await;
        shop.order(&format!("K-{store}")).await;
        shops.push(shop);
    }
    let ids = json!([shops[0].restaurant, shops[1].restaurant]);
    let client = limited(
        &service,
        json!({ "scopes": ["orders:read", "reports"], "restaurantIds": ids }),
    )
    .await;
    for path in ["/orders", "/orders/grouped-payments", "/orders/reports/pending"] {
        client.get(path).await.wrong(422, "invalid_field", "restaurantId");
        for shop in &shops[..2] {
            client
                .get(&format!("{path}?restaurantId={}", shop.restaurant))
                .await
                .data();
        }
        let foreign = format!("{path}?restaurantId={}", shops[2].restaurant);
        client.get(&foreign).await.refused(404, "restaurant_not_found");
        let both = format!(
            "{path}?restaurantId={}&restaurantId={}",
            shops[0].restaurant, shops[2].restaurant
        );
        client.get(&both).await.refused(404, "restaurant_not_found");
    }
    client.get("/orders/K-two").await.data();
    client
        .get("/orders/K-three")
        .await
        .refused(404, "order_not_found");
}

async fn events_of_other_restaurants_are_left_out(service: TestService) {
    let (own, other) = (
        service.shop(&service.a, "own").await,
        service.shop(&service.a, "other").await,
    );
    let client = limited(
        &service,
        json!({ "scopes": ["orders:read"], "restaurantIds": [own.restaurant] }),
    )
    .await;
    let mut stream = client.follow().await;
    let start = client.get("/events?dir=prev&limit=1").await.success();
    for n in 0..60 {
        other.order(&format!("F-{n}")).await;
    }
    own.order("K-1").await;
    // Without data there is only a place to go on from, which clients do not dispatch.
    let mut next = stream.next().await.unwrap();
    while next.data.is_empty() {
        next = stream.next().await.unwrap();
    }
    let event = next.json();
    assert_eq!(event["veri"]["restaurantId"], json!(own.restaurant));
    let listed = client.get("/events?limit=200").await;
    assert!(!listed.text().contains(&other.restaurant), "{}", listed.text());
    assert!(listed.text().contains(&own.restaurant));
    // A long poll goes on behind what it may not see.
    let cursor = start["paging"]["prev"].as_str().unwrap();
    let polled = client
        .get(&format!("/events?dir=prev&limit=5&wait=30&cursor={cursor}"))
        .await;
    let events = polled.data();
    assert!(!events.as_array().unwrap().is_empty());
    assert!(!polled.text().contains(&other.restaurant), "{}", polled.text());
}

async fn key_is_used_only_from_its_networks(mut service: TestService) {
    service
        .restart_with(|settings| settings.server.trusted_proxies = vec!["127.0.0.1".to_owned()])
        .await;
    let client = limited(
        &service,
        json!({ "networks": ["203.0.113.0/24", "2001:db8::/32"] }),
    )
    .await;
    let from = async |address: &str| {
        client
            .call("GET", "/orders", &[("x-forwarded-for", address)], &[])
            .await
    };
    for allowed in ["203.0.113.7", "2001:db8::7"] {
        let reply = from(allowed).await;
        assert_eq!(reply.status, 200, "{allowed}: {}", reply.text());
    }
    for refused in ["203.0.114.7", "2001:db9::7", "::1"] {
        from(refused).await.refused(403, "address_not_allowed");
    }
    // Behind no proxy it is the address of the connection.
    client.get("/orders").await.refused(403, "address_not_allowed");
    wait_until("the address of its use is listed", async || {
        key_with(&service.a, "isPrimary", &json!(false)).await["lastUsedFrom"] == "203.0.113.7"
    })
    .await;
    let metrics = crate::support::send(
        service.addr,
        &crate::support::request("GET", "/metrics", &[], &[]),
    )
    .await;
    assert!(
        metrics
            .text()
            .contains("garson_refusals_total{kind=\"wrong_address\"} 4"),
        "{}",
        metrics.text()
    );
}

async fn key_issues_nothing_that_it_may_not_do(service: TestService) {
    let shop = service.shop(&service.a, "own").await;
    let own = json!({ "scopes": ["keys", "orders:read"], "networks": ["127.0.0.0/8"], "expiresAt": "2026-04-01T00:00:00Z" });
    let (made, client) = issue(&service, own).await;
    let too_much = [
        json!({}),
        json!({ "scopes": ["orders:act"], "networks": ["127.0.0.1"], "expiresAt": "2026-03-15T00:00:00Z" }),
        json!({ "scopes": ["orders:read"], "networks": ["126.0.0.0/7"], "expiresAt": "2026-03-15T00:00:00Z" }),
        json!({ "scopes": ["orders:read"], "expiresAt": "2026-03-15T00:00:00Z" }),
        json!({ "scopes": ["orders:read"], "networks": ["127.0.0.1"], "expiresAt": "2026-04-02T00:00:00Z" }),
        json!({ "scopes": ["orders:read"], "networks": ["127.0.0.1"] }),
    ];
    for wanted in too_much {
        client.post("/keys", &wanted).await.refused(403, "not_allowed");
    }
    let less = json!({ "scopes": ["orders:read"], "networks": ["127.0.0.1"], "expiresAt": "2026-03-15T00:00:00Z",
                       "restaurantIds": [shop.restaurant] });
    let less = client.post("/keys", &less).await.data();
    ApiClient::new(service.addr, less["apiKey"].as_str().unwrap())
        .get("/orders")
        .await
        .data();
    // Replacing a stronger one would be the same.
    let (strong, _) = issue(&service, json!({ "label": "strong" })).await;
    let rotate = |id: &Value| format!("/keys/{}/rotate", id.as_str().unwrap());
    client
        .act(&rotate(&strong["id"]))
        .await
        .refused(403, "not_allowed");
    let first = primary(&service.a).await;
    client
        .act(&rotate(&first))
        .await
        .refused(403, "primary_key_required");
    let revoke = format!("/keys/{}", first.as_str().unwrap());
    client.delete(&revoke).await.refused(403, "primary_key_required");
    // Its own replacement lasts no longer.
    let again = client.act(&rotate(&made["id"])).await.data();
    assert_eq!(again["scopes"], json!(["orders:read", "keys"]));
    assert_eq!(again["expiresAt"], made["expiresAt"]);
    client
        .act(&rotate(&made["id"]))
        .await
        .refused(409, "key_replaced");
    let primary = format!("/keys/{}/primary", again["id"].as_str().unwrap());
    service.a.act(&primary).await.refused(409, "primary_key_limited");
}

async fn wrong_limits_are_refused(service: TestService) {
    let theirs = service.shop(&service.b, "theirs").await;
    for (wrong, field) in [
        (json!({ "scopes": [] }), "scopes"),
        (json!({ "scopes": ["orders"] }), "scopes[0]"),
        (json!({ "restaurantIds": [] }), "restaurantIds"),
        (
            json!({ "restaurantIds": [theirs.restaurant] }),
            "restaurantIds[0]",
        ),
        (json!({ "networks": ["10.0.0.0/8", "here"] }), "networks[1]"),
        (json!({ "expiresAt": "2026-03-01T08:59:59Z" }), "expiresAt"),
    ] {
        service
            .a
            .post("/keys", &wrong)
            .await
            .wrong(422, "invalid_field", field);
    }
    let keys = service.a.get("/keys").await.data();
    assert_eq!(keys.as_array().unwrap().len(), 1);
    let rotate = format!("/keys/{}/rotate", keys[0]["id"].as_str().unwrap());
    for hours in [721, -1] {
        let body = json!({ "overlapHours": hours });
        service
            .a
            .post(&rotate, &body)
            .await
            .wrong(422, "invalid_field", "overlapHours");
    }
    service
        .a
        .act(&format!("/keys/{SOME_ID}/rotate"))
        .await
        .refused(404, "key_not_found");
    service.b.act(&rotate).await.refused(404, "key_not_found");
}

async fn key_is_refused_when_it_expires(service: TestService) {
    let client = limited(&service, json!({ "expiresAt": "2026-03-01T10:00:00Z" })).await;
    client.get("/orders").await.data();
    service.advance(HOUR - Duration::from_secs(1));
    client.get("/orders").await.data();
    service.advance(Duration::from_secs(1));
    let refused = client.get("/orders").await;
    assert!(refused.text().contains("expired"), "{}", refused.text());
    assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
    refused.refused(401, "unauthorized");
    service.sweep().await;
    assert_eq!(service.a.get("/keys").await.data().as_array().unwrap().len(), 2);
    service.advance(31 * 24 * HOUR);
    service.sweep().await;
    assert_eq!(service.a.get("/keys").await.data().as_array().unwrap().len(), 1);
    let log = service.a.get("/audit?action=api_key.deleted").await.data();
    assert_eq!(log[0]["actor"]["kind"], "system", "{log}");
}

async fn expired_key_ends_streams(service: TestService) {
    let shop = service.shop(&service.a, "own").await;
    let client = limited(&service, json!({ "expiresAt": "2026-03-01T10:00:00Z" })).await;
    let mut stream: EventStream = client.follow().await;
    shop.order("K-1").await;
    assert!(stream.next().await.is_some());
    service.advance(HOUR);
    shop.order("K-2").await;
    assert!(stream.next().await.is_none());
}

/// The key with that value of a field.
async fn key_with(client: &ApiClient, field: &str, value: &Value) -> Value {
    let keys = client.get("/keys").await.data();
    let found = keys.as_array().unwrap().iter().find(|key| key[field] == *value);
    found.unwrap().clone()
}

/// The primary key of the account, by its id.
async fn primary(client: &ApiClient) -> Value {
    key_with(client, "isPrimary", &json!(true)).await["id"].clone()
}

async fn replaced_primary_key_is_carried_until_it_expires(service: TestService) {
    let old = primary(&service.a).await;
    let rotate = format!("/keys/{}/rotate", old.as_str().unwrap());
    let new = service
        .a
        .post(&rotate, &json!({ "overlapHours": 2 }))
        .await
        .data();
    let client = ApiClient::new(service.addr, new["apiKey"].as_str().unwrap());
    assert_eq!(new["isPrimary"], false);
    // The primary key has no end of its own: it may still issue keys without one.
    issue(&service, json!({ "scopes": ["orders:read"] })).await;
    let replaced = key_with(&client, "id", &old).await;
    assert_eq!(replaced["replacedBy"], new["id"]);
    assert_eq!(replaced["expiresAt"], "2026-03-01T11:00:00.000Z");
    service.advance(HOUR);
    service.sweep().await;
    assert_eq!(primary(&client).await, old);
    service.a.get("/orders").await.data();
    service.advance(HOUR);
    service.a.get("/orders").await.refused(401, "unauthorized");
    service.sweep().await;
    assert_eq!(primary(&client).await, new["id"]);
    // The new one may do what only the primary key may.
    client
        .put("/webhook", &json!({ "url": "https://pos.example.com/" }))
        .await
        .data();
    // Without an overlap the change is at once.
    let rotate = format!("/keys/{}/rotate", new["id"].as_str().unwrap());
    let last = client.post(&rotate, &json!({ "overlapHours": 0 })).await.data();
    assert_eq!(last["isPrimary"], true);
    client.get("/orders").await.refused(401, "unauthorized");
    ApiClient::new(service.addr, last["apiKey"].as_str().unwrap())
        .get("/orders")
        .await
        .data();
}

async fn revoking_the_replacement_keeps_the_primary_key(service: TestService) {
    let old = primary(&service.a).await;
    let rotate = format!("/keys/{}/rotate", old.as_str().unwrap());
    let new = service.a.act(&rotate).await.data();
    service
        .a
        .delete(&format!("/keys/{}", new["id"].as_str().unwrap()))
        .await
        .done();
    service.advance(48 * HOUR);
    service.sweep().await;
    service.a.get("/orders").await.data();
    let kept = key_with(&service.a, "id", &old).await;
    assert_eq!(
        (&kept["expiresAt"], &kept["replacedBy"]),
        (&Value::Null, &Value::Null)
    );
}

async fn answer_of_a_limited_key_is_repeated_to_no_other(service: TestService) {
    let shop = service.shop(&service.a, "own").await;
    shop.post(order_body("own", "K-1", 1_000).to_string().as_bytes())
        .await
        .data();
    let first = limited(&service, json!({ "scopes": ["orders:act"] })).await;
    let other = limited(&service, json!({ "scopes": ["orders:act"] })).await;
    let answer = first.keyed("once", "/orders/verify/K-1", "{}").await.data();
    assert_eq!(
        first.keyed("once", "/orders/verify/K-1", "{}").await.data(),
        answer
    );
    other
        .keyed("once", "/orders/verify/K-1", "{}")
        .await
        .refused(409, "idempotency_key_reused");
    let reader = limited(&service, json!({ "scopes": ["orders:read"] })).await;
    reader
        .keyed("once", "/orders/verify/K-1", "{}")
        .await
        .refused(403, "insufficient_scope");
}

async fn commands_issue_limited_keys(service: TestService) {
    let shop = service.shop(&service.a, "own").await;
    let made = service.command(&[
        "key",
        "issue",
        "--email",
        "first@example.com",
        "--label",
        "Till",
        "--scope",
        "orders:read",
        "--restaurant",
        &shop.restaurant,
        "--network",
        "127.0.0.0/8",
        "--expires-days",
        "30",
    ]);
    assert!(made.success, "{}", made.err);
    let listed = service.command(&["key", "list", "--email", "first@example.com"]);
    for text in [
        "orders:read",
        "1 restaurants",
        "from 127.0.0.0/8",
        "until ",
        "everything",
    ] {
        assert!(listed.out.contains(text), "{text}: {}", listed.out);
    }
    let wrong = service.command(&["key", "issue", "--email", "first@example.com", "--scope", "all"]);
    assert!(
        !wrong.success && wrong.err.contains("orders:read"),
        "{}",
        wrong.err
    );
}
