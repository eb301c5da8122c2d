//! The request log: what is noted of API calls, and for whom.

use crate::support::{ApiClient, Backend, Program, TestService, TestStorage, block_on, wait_until};
use serde_json::{Value, json};

cases! {
    calls_are_listed_with_what_they_were_answered
    account_sees_its_own_calls_only
    refused_calls_are_listed_with_their_codes
    nothing_secret_or_personal_is_noted
    calls_are_filtered_and_paged
    calls_before_a_stop_are_stored
    ; sqlite_only:
    only_the_last_thousand_calls_are_kept
}

/// Waits until so many calls of all accounts are stored, at least.
async fn stored(service: &TestService, calls: i64) {
    wait_until("the calls are stored", async || {
        service.count("request_log") >= calls
    })
    .await;
}

async fn listed(client: &ApiClient, query: &str) -> Vec<Value> {
    let page = client.get(&format!("/requests{query}")).await.data();
    page.as_array().unwrap().clone()
}

fn paths(calls: &[Value]) -> Vec<&str> {
    calls.iter().map(|call| call["path"].as_str().unwrap()).collect()
}

async fn calls_are_listed_with_what_they_were_answered(service: TestService) {
    let keys = service.a.get("/keys").await.data();
    let named = [("x-request-id", "kasa-7")];
    let orders = service
        .a
        .call("GET", "/orders?limit=5&open=true", &named, &[])
        .await;
    service.a.get("/orders/not-there").await;
    stored(&service, 3).await;
    let calls = listed(&service.a, "").await;
    assert_eq!(paths(&calls), ["/orders/not-there", "/orders", "/keys"]);
    let [missing, found, _] = calls.as_slice() else {
        panic!("{calls:?}");
    };
    assert_eq!(found["method"], "GET");
    assert_eq!(found["parameters"], json!(["limit", "open"]));
    assert_eq!(found["status"], 200);
    assert_eq!(found["code"], Value::Null);
    assert_eq!(found["requestId"], "kasa-7");
    assert_eq!(found["address"], "127.0.0.1");
    assert_eq!(found["size"], orders.text().len());
    assert_eq!(found["at"], "2026-03-01T09:00:00.000Z");
    assert_eq!(found["key"]["id"], keys[0]["id"]);
    assert!(found["durationMs"].as_i64().unwrap() >= 0);
    assert_eq!(missing["status"], 404);
    assert_eq!(missing["code"], "order_not_found");
    assert_eq!(missing["parameters"], json!([]));
}

async fn account_sees_its_own_calls_only(service: TestService) {
    service.a.get("/orders").await.data();
    service.b.get("/restaurants").await.data();
    let wrong = ApiClient {
        key: "gsn_wrong".to_owned(),
        ..service.a.clone()
    };
    wrong.get("/users").await.refused(401, "unauthorized");
    stored(&service, 2).await;
    assert_eq!(paths(&listed(&service.a, "").await), ["/orders"]);
    assert_eq!(paths(&listed(&service.b, "").await), ["/restaurants"]);
    // Not even by the id of another account's key.
    let keys = service.b.get("/keys").await.data();
    let query = format!("?keyId={}", keys[0]["id"].as_str().unwrap());
    assert_eq!(listed(&service.a, &query).await, Vec::<Value>::new());
    assert_eq!(service.count("request_log WHERE path = '/users'"), 0);
}

async fn refused_calls_are_listed_with_their_codes(service: TestService) {
    let limits = json!({ "label": "Ekran", "scopes": ["orders:read"] });
    let made = service.a.post("/keys", &limits).await.data();
    let limited = ApiClient::new(service.addr, made["apiKey"].as_str().unwrap());
    limited.get("/users").await.refused(403, "insufficient_scope");
    limited.get("/requests").await.refused(403, "insufficient_scope");
    // The answer to a repeated request is stored, and this one comes from there.
    for _ in 0..2 {
        let reply = service.a.keyed("once", "/restaurants", "{}").await;
        assert_eq!(reply.status, 422, "{}", reply.text());
    }
    stored(&service, 5).await;
    let calls = listed(&service.a, "?status=failed").await;
    let shown: Vec<(&str, &Value)> = calls
        .iter()
        .map(|call| (call["path"].as_str().unwrap(), &call["code"]))
        .collect();
    let (scope, field) = (json!("insufficient_scope"), json!("invalid_field"));
    let expected = [
        ("/restaurants", &Value::Null),
        ("/restaurants", &field),
        ("/requests", &scope),
        ("/users", &scope),
    ];
    assert_eq!(shown, expected);
    assert_eq!(calls[3]["key"]["name"], "Ekran");
}

async fn nothing_secret_or_personal_is_noted(service: TestService) {
    let made = service
        .a
        .get("/orders?search=Ay%C5%9Fe&05321234567=1&limit=7&provider=getir")
        .await;
    made.success();
    let secret = json!({ "name": "Moda", "remoteSecret": "gizli-deger" });
    service.a.post("/restaurants?limit=gizli-deger", &secret).await;
    stored(&service, 2).await;
    let text = service.a.get("/requests").await.text();
    let tail = &service.a.key[service.a.key.len() - 12..];
    for secret in ["gizli", "Ay%C5", "Ayşe", "05321234567", "getir", tail] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    let calls = listed(&service.a, "?path=/orders").await;
    assert_eq!(calls[0]["parameters"], json!(["search", "limit", "provider"]));
    for column in ["path", "query", "code", "key_name", "request_id"] {
        let rows = format!(
            "request_log WHERE {column} LIKE '%gizli%' OR {column} LIKE '%Ay%C5%' OR {column} LIKE '%05321234567%'"
        );
        assert_eq!(service.count(&rows), 0, "{column}");
    }
}

async fn calls_are_filtered_and_paged(service: TestService) {
    let second = service.a.post("/keys", &json!({ "label": "Ekran" })).await.data();
    let other = ApiClient::new(service.addr, second["apiKey"].as_str().unwrap());
    for _ in 0..3 {
        other.get("/orders").await.data();
        service.a.get("/orders/not-there").await;
    }
    stored(&service, 7).await;
    let of_key = format!("?keyId={}", second["id"].as_str().unwrap());
    assert_eq!(paths(&listed(&service.a, &of_key).await), ["/orders"; 3]);
    assert_eq!(listed(&service.a, "?status=4xx").await.len(), 3);
    assert_eq!(listed(&service.a, "?status=5xx").await.len(), 0);
    assert_eq!(listed(&service.a, "?status=2xx&path=/orders").await.len(), 3);
    assert_eq!(listed(&service.a, "?path=/web-api/v1/orders/").await.len(), 3);
    let (mut cursor, mut seen) = (String::new(), Vec::new());
    loop {
        let page = service
            .a
            .get(&format!("/requests?path=/orders&limit=4{cursor}"))
            .await
            .success();
        seen.extend(page["data"].as_array().unwrap().iter().cloned());
        match page["paging"]["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let expected: Vec<&str> = ["/orders/not-there", "/orders"]
        .into_iter()
        .cycle()
        .take(6)
        .collect();
    assert_eq!(paths(&seen), expected);
    let long = "x".repeat(201);
    for (wrong, field) in [
        ("status=404", "status"),
        ("keyId=x", "keyId"),
        (&*format!("path={long}"), "path"),
        ("limit=0", "limit"),
    ] {
        service
            .a
            .get(&format!("/requests?{wrong}"))
            .await
            .wrong(422, "invalid_parameter", field);
    }
}

async fn calls_before_a_stop_are_stored(mut service: TestService) {
    service.a.get("/orders").await.data();
    service.restart().await;
    assert_eq!(paths(&listed(&service.a, "").await), ["/orders"]);
}

async fn only_the_last_thousand_calls_are_kept(service: TestService) {
    service.b.get("/orders").await.data();
    let mut calling = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let client = service.a.clone();
        calling.spawn(async move {
            for _ in 0..320 {
                client.get("/orders/not-there").await;
            }
        });
    }
    while let Some(ended) = calling.join_next().await {
        ended.unwrap();
    }
    service.a.get("/keys").await.data();
    wait_until("the last call is stored", async || {
        service.count("request_log WHERE path = '/keys'") == 1
    })
    .await;
    let (mut cursor, mut seen) = (String::new(), 0);
    loop {
        let page = service
            .a
            .get(&format!("/requests?limit=200{cursor}"))
            .await
            .success();
        seen += page["data"].as_array().unwrap().len();
        match page["paging"]["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    // A call of this loop may have been stored in between.
    assert!((994..=1_000).contains(&seen), "{seen}");
    let kept = service.count("request_log");
    assert!(kept <= 1_101, "{kept}");
    assert_eq!(paths(&listed(&service.b, "").await), ["/orders"]);
}

/// Nodes show each other's calls, and a kill loses those of the last second only.
async fn calls_survive_a_kill(backend: Backend) {
    let storage = TestStorage::new(backend);
    let key = storage.create_account("one@example.com");
    let mut server = Program::serve(&storage, &[]);
    let client = ApiClient::new(server.address().await, &key);
    client.get("/orders").await.data();
    let has_order_call = async |client: &ApiClient| {
        let calls = listed(client, "?path=/orders").await;
        calls.len() == 1 && calls[0]["status"] == 200
    };
    let mut second = None;
    if backend == Backend::Postgres {
        let mut node = Program::serve(&storage, &[]);
        let other = ApiClient::new(node.address().await, &key);
        wait_until("the other node shows the call", async || {
            has_order_call(&other).await
        })
        .await;
        second = Some(node);
    } else {
        wait_until("the call is stored", async || has_order_call(&client).await).await;
    }
    server.kill();
    drop(second);
    let mut server = Program::serve(&storage, &[]);
    let client = ApiClient::new(server.address().await, &key);
    assert!(has_order_call(&client).await);
}

#[test]
fn calls_survive_a_kill_on_sqlite() {
    block_on(calls_survive_a_kill(Backend::Sqlite));
}

#[test]
fn calls_survive_a_kill_on_postgres() {
    block_on(calls_survive_a_kill(Backend::Postgres));
}
